"""glTF without Blender: what is read, by construction, and what is refused; tests/blender/test_gltf.py asks Blender."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.errors import FileError, NoClipError
from takt.core.formats import gltf
from takt.core.formats.format import Source
from takt.core.library.clip_files import read_clip_file
from takt.core.library.library import Library
from takt.core.library.store import ClipStore
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.gltf_files import Made, figure, packed

TIMES = np.linspace(0.0, 1.0, 13)


def clips_of(made: Made | bytes) -> tuple[Clip, ...]:
    return gltf.read(Source(made if isinstance(made, bytes) else made.glb(), Path("made.glb"))).clips


def spine(clip: Clip, times: FloatArray = TIMES) -> FloatArray:
    """Return how far the spine is turned, in radians."""
    turns = clip.sample(times, "SLERP").rotations[:, clip.skeleton.index_of["spine"]]
    return 2.0 * np.arctan2(turns[:, 1] * np.sign(turns[:, 0]), np.abs(turns[:, 0]))


def test_a_small_file_is_read_as_it_was_made() -> None:
    (clip,) = clips_of(figure())
    assert clip.skeleton.names == ("hips", "spine", "chest", "neck", "head") and clip.skeleton.name == "Figure"
    np.testing.assert_allclose(clip.skeleton.rest_world[:, 1, 3], 1.0 + 0.2 * np.arange(5), atol=1e-6)
    assert (clip.name, clip.duration_s) == ("Bow", 1.0)
    straight = 2.0 * np.arcsin(0.6) * np.interp(TIMES, (0.0, 0.5, 1.0), (0.0, 1.0, 0.0))
    np.testing.assert_allclose(spine(clip), straight, atol=1e-6)
    hips = world_from_pose(clip.skeleton, clip.sample(TIMES))[:, 0, :, 3]
    np.testing.assert_allclose(hips[:, 1], np.interp(TIMES, (0.0, 0.5, 1.0), (1.0, 0.9, 1.0)), atol=1e-6)


def test_clips_keep_the_vertices_of_their_skin_where_the_mesh_has_them() -> None:
    (clip,) = clips_of(figure())
    assert clip.skin is not None and clip.skin.joints.tolist() == [0, 0, 0]
    every = np.ones(len(clip.skeleton), np.bool_)
    np.testing.assert_allclose(clip.skin.of_joints(clip.skeleton, every), np.eye(3), atol=1e-6)
    assert not len(clip.skin.of_joints(clip.skeleton, ~every))


@pytest.mark.parametrize("damaged", ["JOINTS_0", "WEIGHTS_0", "POSITION"])
def test_a_skin_that_cannot_be_read_is_no_matter(damaged: str) -> None:
    made = figure()
    made.meshes[0]["primitives"][0]["attributes"][damaged] = 1000
    (clip,) = clips_of(made)
    assert clip.skin is None
    np.testing.assert_allclose(spine(clip), spine(clips_of(figure())[0]))


def test_a_step_is_done_at_its_key_and_not_before() -> None:
    (clip,) = clips_of(figure())
    neck = clip.sample(np.array((0.0, 0.4999, 0.5, 0.9999, 1.0))).rotations[:, 3, 1]
    np.testing.assert_allclose(neck, (0.0, 0.0, 0.6, 0.6, 0.0), atol=1e-6)


def test_splines_follow_their_tangents() -> None:
    """A parabola is a Hermite spline: its keys and slopes at 0 and 1 give all of it."""
    made = figure()
    rows = [((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 2.0, 4.0)), ((0.0, -2.0, 4.0), (0.0, 1.0, 4.0), (0.0, 0.0, 0.0))]
    made.animation("Hop", {(1, "translation"): (made.accessor([0.0, 1.0]), made.accessor(np.reshape(rows, (6, 3))),
                                                "CUBICSPLINE")})
    hop = clips_of(made)[1]
    moved = hop.sample(TIMES).translations[:, 0]
    np.testing.assert_allclose(moved[:, 1], 2.0 * TIMES - 2.0 * TIMES**2, atol=2e-4)
    np.testing.assert_allclose(moved[:, 2], 4.0 * TIMES, atol=1e-6)


@pytest.mark.parametrize("flipped", [(1,), (0, 2), (3,), (1, 2, 4), (0, 1, 2, 3, 4)])
def test_splines_of_rotations_go_the_short_way_whatever_the_signs_of_their_keys(flipped: tuple[int, ...]) -> None:
    random, every = np.random.default_rng(6), list[FloatArray]()
    about_x = 0.3 * random.normal(size=5)
    rows = np.zeros((5, 3, 4))
    rows[:, 1, 0], rows[:, 1, 3] = np.sin(about_x), np.cos(about_x)
    rows[:, ::2, 0] = 0.1 * random.normal(size=(5, 2))
    for signs in (np.ones(5), np.where(np.isin(np.arange(5), flipped), -1.0, 1.0)):
        made = figure()
        made.animation("Sway", {(2, "rotation"): (made.accessor(np.linspace(0.0, 1.0, 5)), made.accessor(
            (rows * signs[:, None, None]).reshape(15, 4)), "CUBICSPLINE")})
        every.append(spine(clips_of(made)[1]))
    np.testing.assert_allclose(every[1], every[0], atol=1e-6)
    np.testing.assert_allclose(every[0][::3], 2.0 * about_x, atol=1e-6)


def test_nodes_that_move_are_joints_where_there_is_no_skin() -> None:
    made = Made()
    rig = made.node("Rig")
    way = [made.node("hips", rig)]
    for number in range(9):
        way.append(made.node("bone", way[-1], translation=(0.0, 0.1 * number, 0.0)))
    made.node("eye", way[-1], camera=0)
    made.node("tip", way[-1])
    times, moves = made.accessor([0.0, 2.0]), made.accessor([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    made.animation("Walk", {(way[0], "translation"): (times, moves, "LINEAR")})
    (clip,) = clips_of(made)
    assert clip.skeleton.names == ("hips", "bone", *(f"bone.{i:03}" for i in range(1, 9)), "tip")
    assert clip.duration_s == 2.0


def test_few_nodes_without_skin_are_no_body() -> None:
    made = Made()
    door = made.node("door")
    made.animation("Open", {(door, "rotation"): (made.accessor([0.0, 1.0]), made.accessor(
        [(0.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.0)]), "LINEAR")})
    with pytest.raises(FileError, match=r"made\.glb: has no animation that moves the joints of a skin"):
        clips_of(made)


def test_a_skin_of_few_joints_belongs_to_the_body_beside_it() -> None:
    made = Made()
    rig = made.node("Rig")
    body = [made.node("hips", rig)]
    for number in range(9):
        body.append(made.node(f"bone{number}", body[-1]))
    sword = made.node("sword", rig)
    made.skin([sword])
    made.skin(body)
    times, turns = made.accessor([0.0, 1.0]), made.accessor([(0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)])
    made.animation("Cut", {(node, "rotation"): (times, turns, "LINEAR") for node in (body[0], sword)})
    (clip,) = clips_of(made)
    assert clip.skeleton.names == ("hips", *(f"bone{i}" for i in range(9)), "sword")


def test_a_still_armature_is_no_joint_and_a_moving_one_is() -> None:
    for height, joints in ((0.0, 5), (0.5, 6)):
        made = figure()
        made.animation("Hop", {(0, "translation"): (made.accessor([0.0, 1.0]), made.accessor(
            [(0.0, 0.0, 0.0), (0.0, height, 0.0)]), "LINEAR")})
        clips = clips_of(made)
        assert [len(clip.skeleton) for clip in clips] == [joints] * (1 + (joints == 6))


@pytest.mark.parametrize(("off", "is_scaled"), [(3e-5, False), (3e-3, True)])
def test_scales_that_differ_from_one_by_rounding_alone_are_none(off: float, is_scaled: bool) -> None:
    made = figure()
    bound = np.stack([np.diag((size, size, size, 1.0)) for size in (1.0, 1.0, 1.0 + off, 1.0 + off, 1.0 + off)])
    bound[:, 1, 3] = 1.0 + 0.2 * np.arange(5)
    made.skins[0]["inverseBindMatrices"] = made.accessor(np.linalg.inv(bound).swapaxes(1, 2).reshape(-1, 16))
    made.nodes[3]["scale"] = [1.0 + off] * 3
    made.animation("Grow", {(node, "scale"): (made.accessor([0.0, 1.0]), made.accessor(
        [(size,) * 3, (size * (1.0 + off),) * 3]), "LINEAR") for node, size in ((2, 1.0), (3, 1.0 + off))})
    bow, grown = clips_of(made)
    assert bool((bow.skeleton.rest_scales != 1.0).any()) is is_scaled
    assert grown.scales.joints.tolist() == ([1, 2] if is_scaled else []) and not len(bow.scales)
    np.testing.assert_allclose(grown.skeleton.rest_world[..., 3][:, 1], bound[:, 1, 3], atol=off)


def test_lying_files_are_set_upright_and_keep_their_heading_and_size() -> None:
    made = figure()
    turn = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), -np.pi / 2)
    made.nodes[0] |= {"rotation": np.roll(turn, -1).tolist(), "scale": [0.01] * 3}
    (clip,) = clips_of(made)
    np.testing.assert_allclose(clip.skeleton.rest_world[:, 2, 3], 0.01 * (-1.0 - 0.2 * np.arange(5)), atol=1e-8)
    hips = world_from_pose(clip.skeleton, clip.sample(np.array((0.5,))))[0, 0, :, 3]
    np.testing.assert_allclose(hips, (0.0, 0.001, -0.009), atol=1e-8)


def test_the_library_reads_buffers_that_lie_beside_but_none_further_away(tmp_path: Path) -> None:
    made = figure()
    (tmp_path / "secret.bin").write_bytes(made.binary)
    folder = tmp_path / "clips"
    folder.mkdir()
    (folder / "bow.bin").write_bytes(made.binary)
    path = folder / "bow.gltf"
    path.write_bytes(made.gltf("bow.bin"))
    assert read_clip_file(path).played[0].name == "Bow"
    for uri in ("../secret.bin", "%2e%2e/secret.bin", str(tmp_path / "secret.bin"), "file:///etc/passwd",
                "..\\secret.bin"):
        path.write_bytes(made.gltf(uri))
        with pytest.raises(FileError, match=r"bow\.gltf: names the file .*; only a file in its own folder"):
            read_clip_file(path)
    path.write_bytes(made.gltf("none.bin"))
    with pytest.raises(FileError, match=r"none\.bin: cannot be opened"):
        read_clip_file(path)
    with pytest.raises(FileError, match=r"buffers\[0\]: the file 'none\.bin' is not at hand"):
        clips_of(made.gltf("none.bin"))


def test_a_link_leads_to_no_buffer_outside_the_folder_of_the_file(tmp_path: Path) -> None:
    made, outside, folder = figure(), tmp_path / "outside", tmp_path / "clips"
    for there in (outside, folder / "own"):
        there.mkdir(parents=True)
        (there / "bow.bin").write_bytes(made.binary)
    (folder / "linked").symlink_to(outside)
    (folder / "inside").symlink_to(folder / "own")
    (tmp_path / "also").symlink_to(folder)
    path = folder / "bow.gltf"
    for uri in ("own/bow.bin", "inside/bow.bin"):
        path.write_bytes(made.gltf(uri))
        assert read_clip_file(path).played and read_clip_file(tmp_path / "also" / "bow.gltf").played
    path.write_bytes(made.gltf("linked/bow.bin"))
    with pytest.raises(FileError, match=r"bow\.gltf: names the file .*linked.*, which a link leads out of .*clips"):
        read_clip_file(path)


def test_compressed_meshes_are_no_matter_and_a_buffer_without_data_is_named() -> None:
    made = figure()
    document = made.document()
    document["meshes"][0]["primitives"][0]["extensions"] = {"KHR_draco_mesh_compression": {}}
    document["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    assert clips_of(packed(json.dumps(document).encode(), bytes(made.binary)))
    document["buffers"].append({"byteLength": 1000})
    document["bufferViews"][-1] |= {"buffer": 1, "extensions": {"EXT_other": {"buffer": 0}}}
    with pytest.raises(FileError, match=r"bufferViews\[\d+\]: buffer 1 has no data"):
        clips_of(packed(json.dumps(document).encode(), bytes(made.binary)))


def changed(where: str, value: Any) -> bytes:
    """Return the file with one value of its JSON replaced; where: keys and indices with points between."""
    made = figure()
    document: Any = made.document()
    *way, last = [int(part) if part.isdecimal() else part for part in where.split(".")]
    part = document
    for step in way:
        part = part[step]
    part[last] = value
    return packed(json.dumps(document).encode(), bytes(made.binary))


@pytest.mark.parametrize(("where", "value", "says"), [
    ("asset.version", "1.0", "asset.version is '1.0'; 2.0 is read"),
    ("nodes", 5, "nodes is '5', a list of objects is wanted"),
    ("nodes.0.children", [99], r"nodes\[0\]: children is '\[99\]', a list of different whole numbers from 0 to 6"),
    ("nodes.5.children", [1], r"nodes\[5\]: node 1 is a child of node 0 already"),
    ("nodes.5.children", [0], r"nodes\[0\]: is its own ancestor"),
    ("nodes.1.translation", [0, 1], r"nodes\[1\]: translation is '\[0, 1\]', 3 finite numbers is wanted"),
    ("nodes.1.translation", [0, 1, float("nan")], "3 finite numbers"),
    ("nodes.1.name", 7, r"nodes\[1\]: name is '7', a text is wanted"),
    ("skins.0.joints", [1, 1], "a list of different whole numbers"),
    ("skins.0.joints", [1, 2, 3, 4, 5, 0], r"skins\[0\]: has 6 joints, but 5 inverse bind matrices"),
    ("animations.0.channels.0.sampler", 9, r"channels\[0\]: sampler is '9', a whole number from 0 to 2"),
    ("animations.0.samplers.0.output", 4, r"accessors\[4\]: type is 'SCALAR', but 4 components are wanted by "
                                          r"animations\[0\]\.samplers\[0\]"),
    ("animations.0.samplers.0.interpolation", "ODD", r"samplers\[0\]: 3 keys and 3 values .* or 'ODD' is none of"),
    ("animations.0.samplers.0.interpolation", "CUBICSPLINE", "3 keys and 3 values do not belong together"),
    ("accessors.4.count", 0, r"samplers\[0\]: has no keys"),
    ("accessors.4.count", 10**7, "elements of 4 bytes do not fit into bufferViews"),
    ("accessors.4.componentType", 5124, "componentType is 5124; one of 5120"),
    ("accessors.4.type", "MAT3", r"accessors\[4\]: type is 'MAT3'; one of SCALAR"),
    ("accessors.4.bufferView", 99, "bufferView is '99', a whole number from 0 to"),
    ("bufferViews.4.buffer", 3, r"bufferViews\[4\]: buffer is 3, but there are 1"),
    ("bufferViews.4.byteStride", 1, "do not fit into"),
    ("buffers.0.uri", "data:;base64,abc", r"buffers\[0\]: uri holds damaged base64; export the file again"),
    ("animations", [], "has no animation that moves the joints of a skin"),
])
def test_what_is_wrong_is_said_with_its_place(where: str, value: Any, says: str) -> None:
    with pytest.raises(FileError, match=says):
        clips_of(changed(where, value))


def test_a_model_without_motion_is_sound_but_holds_no_clip() -> None:
    with pytest.raises(NoClipError, match="has no animation that moves"):
        clips_of(changed("animations", []))
    with pytest.raises(FileError) as damaged:
        clips_of(b"{")
    assert not isinstance(damaged.value, NoClipError)


@pytest.mark.parametrize(("data", "says"), [
    (b"", r"made\.glb:1:1: the JSON of this file is damaged here: Expecting value, found the end; export the "),
    (b"rubbish", "is damaged here: Expecting value"), (b"[1]", "a JSON object is wanted"),
    (b"{", r"made\.glb:1:2: the JSON"),
    (b'{\n"a": \xff}', r"made\.glb:2:6: .* here: byte 0xff is no text \(UTF-8\); export the file again"),
    (packed(b'{"asset": "\xe9', b""), r"made\.glb \(byte 31\): .* byte 0xe9 is no text"),
    (packed('{"ä": 1]'.encode(), b""), r"made\.glb \(byte 28\): .* here: Expecting ',' delimiter"),
    (b'{"a":' * 100_000, "too many brackets are in each other"), (b"glTF", "begins with a chunk of JSON"),
    (b"glTF\x02\0\0\0\xff\0\0\0\xff\0\0\0JSON", r"\(byte 12\): the file is cut off: a chunk of 255 bytes "),
    (packed(b"{}", b"")[:12] + packed(b"{}", b"")[24:], "a GLB file begins with a chunk of JSON")])
def test_what_is_no_gltf_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(FileError, match=says):
        clips_of(data)


def test_numbers_that_are_not_finite_are_refused() -> None:
    made = figure()
    made.animation("Bad", {(1, "translation"): (made.accessor([0.0]), made.accessor([(np.nan, 0.0, 0.0)]), "LINEAR")})
    with pytest.raises(FileError, match=r"accessors\[\d+\]: holds numbers that are not finite"):
        clips_of(made)


def test_a_file_of_endless_motion_is_refused() -> None:
    made = figure()
    values = made.accessor([(0.0, 1.0, 0.0)] * 6)
    made.animation("Bad", {(1, "translation"): (made.accessor([0.0, 1e30]), values, "CUBICSPLINE")})
    with pytest.raises(FileError, match=r"samplers\[0\]: here the file has more than 20000000 numbers"):
        clips_of(made)


def test_a_buffer_that_alone_was_written_anew_is_noticed(tmp_path: Path) -> None:
    path, buffer, store = tmp_path / "bow.gltf", tmp_path / "bow.bin", ClipStore()
    path.write_bytes(figure().gltf("bow.bin"))
    reads = list[Clip]()
    for forwards in (0.1, None, 0.4, 0.1):
        if forwards is not None:
            buffer.write_bytes(figure(forwards).binary)
            os.utime(buffer, (len(reads), len(reads)))
        reads.append(Library([tmp_path], store=store).clips_of_file(path)[0][0])
    assert reads[0] is reads[1]
    assert [float(clip.translations.values[:, 2].max()) for clip in reads] == pytest.approx([0.1, 0.1, 0.4, 0.1])
