"""Animations added to a glTF file, as Takt's own reader finds them."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from takt.core.formats import gltf
from takt.core.formats.format import Source
from takt.core.formats.gltf_animations import Animation, with_animations
from takt.core.formats.gltf_data import packed
from takt.core.maths import rotations as rot

PATH = Path("hero.glb")
TURN = rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.array(np.pi / 2))


def hero(**of_arm: Any) -> dict[str, Any]:
    """Return a body of two joints; the arm is turned at rest by a quarter, a metre along x."""
    arm = {"name": "arm", "translation": [1, 0, 0], "rotation": [*TURN[1:], TURN[0]], **of_arm}
    return {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
            "nodes": [{"name": "hips", "children": [1]}, arm], "skins": [{"joints": [0, 1]}],
            "accessors": [], "bufferViews": [], "buffers": [{"byteLength": 3}]}


def channels_of(data: bytes) -> list[dict[tuple[str, str], tuple[Any, Any]]]:
    """Return each animation's times and values as the file holds them, by joint and path; all are linear."""
    length = struct.unpack_from("<I", data, 12)[0]
    document, buffer = json.loads(data[20:20 + length]), data[28 + length:]

    def values(number: int) -> Any:
        accessor = document["accessors"][number]
        view, width = document["bufferViews"][accessor["bufferView"]], {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
        assert view["byteOffset"] % 4 == 0
        return np.frombuffer(buffer, "<f4", accessor["count"] * width[accessor["type"]], view["byteOffset"]).reshape(
            accessor["count"], -1)

    found = []
    for each in document["animations"]:
        assert {sampler["interpolation"] for sampler in each["samplers"]} == {"LINEAR"}
        targets = [(document["nodes"][channel["target"]["node"]]["name"], channel["target"]["path"], channel["sampler"])
                   for channel in each["channels"]]
        found.append({(joint, path): (values(each["samplers"][sampler]["input"])[:, 0],
                                      values(each["samplers"][sampler]["output"])) for joint, path, sampler in targets})
    return found


def test_a_joint_moves_in_the_axes_in_which_it_rests() -> None:
    times, moved = np.array((0.0, 0.5, 1.0)), np.array(((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)))
    turned = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array((0.0, 1.0, 1.0)))
    found, beside = with_animations(packed(hero(), b"abc"), [
        Animation("one", times, {("arm", "translation"): moved, ("arm", "rotation"): turned}),
        Animation("two", times[:2], {})], PATH) or (b"", None)
    assert beside is None
    one, two = gltf.read(Source(found, PATH)).clips
    assert (one.name, two.name) == ("one", "two") and (one.duration_s, two.duration_s) == (1.0, 0.5)
    for clip, own_moved, own_turned in ((one, moved, turned), (two, moved[:1], turned[:1])):
        pose = clip.sample(times[:len(own_moved)])
        arm = clip.skeleton.names.index("arm")
        # A reader's pose is relative to rest: turns are in the arm's own axes, and moves along y, where its own x is.
        np.testing.assert_allclose(pose.translations[:, arm], own_moved[:, [1, 0, 2]], atol=1e-6)
        np.testing.assert_allclose(np.abs(np.sum(pose.rotations[:, arm] * own_turned, axis=-1)), 1.0, atol=1e-6)


def test_what_an_animation_does_not_move_stays_at_rest() -> None:
    times, spin = np.arange(3.0), 1.01 * np.stack((TURN, rot.IDENTITY, TURN))  # as sums of float32 are not quite 1
    one, two = channels_of((with_animations(packed(hero(), b"abc"), [
        Animation("one", times, {("hips", "rotation"): spin, ("arm", "scale"): np.full((3, 3), 2.0)}),
        Animation("two", times, {("arm", "rotation"): spin, ("hips", "translation"): np.ones((3, 3))})],
        PATH) or (b"",))[0])
    moved = {("hips", "rotation"), ("arm", "scale"), ("arm", "rotation"), ("hips", "translation")}
    assert one.keys() == two.keys() == moved
    for found, own in ((one, {("hips", "rotation"): spin / 1.01, ("arm", "scale"): np.full((2, 3), 2.0)}),
                       (two, {("arm", "rotation"): rot.multiply(TURN, spin / 1.01),
                              ("hips", "translation"): np.ones((2, 3))})):
        rest = {("hips", "rotation"): rot.IDENTITY[None], ("arm", "scale"): np.ones((1, 3)),
                ("arm", "rotation"): TURN[None], ("hips", "translation"): np.zeros((1, 3))}
        for key, values in {**{key: np.repeat(each, 2, axis=0) for key, each in rest.items()}, **own}.items():
            at, out = found[key]
            assert at.tolist() == ([0.0, 1.0, 2.0] if len(values) == 3 else [0.0, 2.0])
            np.testing.assert_allclose(out, np.roll(values, -1, axis=1) if key[1] == "rotation" else values, atol=1e-6)


def test_all_animations_have_what_one_of_them_moves_and_still_channels_have_two_keys() -> None:
    times = np.arange(5.0)
    spin = np.stack([TURN if index % 2 else rot.IDENTITY for index in range(5)])
    found, _ = with_animations(packed(hero(), b""), [
        Animation("one", times, {("arm", "rotation"): spin}),
        Animation("two", times, {("hips", "translation"): np.ones((5, 3))})], PATH) or (b"", None)
    document = json.loads(found[20:20 + struct.unpack_from("<I", found, 12)[0]])
    counts = [[document["accessors"][sampler["output"]]["count"] for sampler in each["samplers"]]
              for each in document["animations"]]
    assert counts == [[5, 2], [2, 2]]
    assert all(document["accessors"][sampler["input"]]["max"] == [4.0]
               for each in document["animations"] for sampler in each["samplers"])


def test_a_buffer_beside_the_file_gets_the_data() -> None:
    document = hero()
    document["buffers"] = [{"uri": "hero.bin", "byteLength": 3}]
    found, beside = with_animations(json.dumps(document).encode(), [
        Animation("one", np.arange(2.0), {("hips", "scale"): np.ones((2, 3))})], PATH, b"abc") or (b"", None)
    written = json.loads(found)
    assert beside is not None and beside[:4] == b"abc\0"
    assert written["buffers"] == [{"uri": "hero.bin", "byteLength": len(beside)}]
    assert written["bufferViews"] and all(view["byteOffset"] % 4 == 0 for view in written["bufferViews"])


@pytest.mark.parametrize(("of_arm", "joint"), [
    ({}, "leg"), ({"name": "hips"}, "hips"), ({"scale": [1, 1, 1.01]}, "arm"), ({"matrix": [1.0] * 16}, "arm")])
def test_other_joints_are_refused(of_arm: dict[str, Any], joint: str) -> None:
    moved = [Animation("one", np.arange(2.0), {(joint, "scale"): np.ones((2, 3))})]
    assert with_animations(packed(hero(**of_arm), b""), moved, PATH) is None
