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


def test_a_joint_moves_in_the_axes_in_which_it_rests() -> None:
    times, moved = np.array((0.0, 0.5, 1.0)), np.array(((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)))
    turned = np.stack((rot.IDENTITY, TURN, TURN))
    found, beside = with_animations(packed(hero(), b"abc"), [
        Animation("one", times, {("arm", "translation"): moved, ("arm", "rotation"): turned}),
        Animation("two", times[:2], {})], PATH) or (b"", None)
    assert beside is None
    one, two = gltf.read(Source(found, PATH)).clips
    assert (one.name, two.name) == ("one", "two") and (one.duration_s, two.duration_s) == (1.0, 0.5)
    for clip, own_moved, own_turned in ((one, moved, turned), (two, moved[:1], turned[:1])):
        pose = clip.sample(times[:len(own_moved)])
        arm = clip.skeleton.names.index("arm")
        # A reader's pose is relative to rest: along y, to which the arm's own x is turned.
        np.testing.assert_allclose(pose.translations[:, arm], own_moved[:, [1, 0, 2]], atol=1e-6)
        np.testing.assert_allclose(np.abs(np.sum(pose.rotations[:, arm] * own_turned, axis=-1)), 1.0, atol=1e-6)


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


@pytest.mark.parametrize(("of_arm", "joint"), [
    ({}, "leg"), ({"name": "hips"}, "hips"), ({"scale": [1, 1, 1.01]}, "arm"), ({"matrix": [1.0] * 16}, "arm")])
def test_other_joints_are_refused(of_arm: dict[str, Any], joint: str) -> None:
    moved = [Animation("one", np.arange(2.0), {(joint, "scale"): np.ones((2, 3))})]
    assert with_animations(packed(hero(**of_arm), b""), moved, PATH) is None
