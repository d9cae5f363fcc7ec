"""X3D as it is written: there and back, as other players want it, and its skin as X_ITE plays it."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from takt.cli import main
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.clip_file import ClipFile
from takt.core.errors import TaktError
from takt.core.formats import FORMATS, ogre_binary, x3d
from takt.core.formats.character import Look
from takt.core.formats.format import Source
from takt.core.formats.ogre import OgreSkeleton
from takt.core.formats.x3d_write import X3dFile, X3dSkin, write
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.core.skinning.influences import Influences
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import RIGS, worn

KEYS = 1e-6
"""By how much keys differ there and back."""
ANGLES_RAD = 1e-5
BODY = x3d.read(write(ClipFile(build_skeleton().with_model_axes()), 30.0)).skeleton
"""Its joints stand in the order of the file, each followed by all its descendants."""


def dance(seed: int, skeleton: Skeleton = BODY, name: str = "dance", fps: float = 30.0, frames: int = 40) -> Clip:
    """Turn every joint and move the first, smoothly, with keys in each frame."""
    rng = np.random.default_rng(seed)
    times = np.arange(frames) / fps
    axes, pace = rng.normal(size=(len(skeleton), 3)), rng.uniform(1.0, 4.0, len(skeleton))
    turns = rot.from_axis_angle(np.broadcast_to(axes, (frames, len(skeleton), 3)), np.sin(times[:, None] * pace))
    ways = rng.normal(size=3) * np.sin(times[:, None, None] * 2.0)
    return Clip(name, skeleton, float(times[-1]), Tracks.uniform(np.arange(len(skeleton)), times, turns),
                Tracks.uniform(np.zeros(1, np.int64), times, ways), Tracks.empty(3))


def back(file: ClipFile, fps: float = 30.0) -> ClipFile:
    return x3d.read(write(file, fps), Path("dance.x3d"))


def elements(data: bytes, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(data).iter(tag))


def floats(text: str | None) -> FloatArray:
    return np.array((text or "").split(), dtype=np.float64)


# There and back

@pytest.mark.parametrize("seed", range(4))
def test_keys_come_back_as_they_were(seed: int) -> None:
    clip = dance(seed)
    (found,) = back(ClipFile(BODY, (clip,))).clips
    assert (found.name, found.rotations.starts.tolist()) == (clip.name, clip.rotations.starts.tolist())
    assert abs(found.duration_s - clip.duration_s) < KEYS
    assert np.abs(found.rotations.times_s - clip.rotations.times_s).max() < KEYS
    assert rot.angle_between(found.rotations.values, clip.rotations.values).max() < KEYS
    assert np.abs(found.translations.values - clip.translations.values).max() < KEYS
    np.testing.assert_allclose(found.skeleton.rest_translations, BODY.rest_translations, atol=1e-8)


def test_frames_come_back_as_they_were() -> None:
    """HAnimMotion knows frames of Euler angles, and the same poses come of them."""
    clip = dance(5)
    (found,) = back(X3dFile(BODY, (clip,), as_frames=True)).clips
    times = np.linspace(0.0, clip.duration_s, 77)
    a, b = clip.sample(times), found.sample(times)
    assert rot.angle_between(a.rotations, b.rotations).max() < ANGLES_RAD
    assert np.abs(a.translations - b.translations).max() < KEYS
    assert found.duration_s == pytest.approx(clip.duration_s, abs=1e-9)


@pytest.mark.parametrize("as_frames", [False, True])
def test_names_of_clips_come_back_whatever_is_in_them(as_frames: bool) -> None:
    clips = tuple(dance(i, name=name, frames=3) for i, name in enumerate(("Rig|walk", "3 steps", "a<b>\"&'", "h")))
    file = X3dFile(BODY, clips, as_frames=as_frames)
    assert [clip.name for clip in back(file).clips] == [clip.name for clip in clips]


@pytest.mark.parametrize("axes", [rot.IDENTITY, rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)])
def test_a_joint_that_is_scaled_to_its_mirror_image_is_where_it_was(axes: FloatArray) -> None:
    body = BODY.turned(axes).with_model_axes()
    ways = np.array((((1.0, 2.0, 3.0),), ((-1.0, 1.0, -0.5),)))
    above = int(BODY.parents[BODY.index_of["l_knee"]])
    clip = Clip("Flip", body, 0.1, Tracks.empty(4), Tracks.empty(3),
                Tracks.uniform(np.array((above,)), np.array((0.0, 0.1)), ways))
    (found,) = x3d.read(write(X3dFile(body, (clip,)), 30.0)).clips
    times = np.array((0.0, 0.04, 0.1))
    wanted = rot.rotate(rot.conjugate(axes), world_from_pose(body, clip.sample(times))[..., 3])
    assert np.ptp(wanted, axis=0).max() > 0.1
    np.testing.assert_allclose(world_from_pose(found.skeleton, found.sample(times))[..., 3], wanted, atol=1e-6)


def test_scales_and_loops_come_back() -> None:
    clip = dance(3, frames=5)
    scales = Tracks.uniform(np.array((2,)), np.array((0.0, 0.1)), np.array((((1.0, 2.0, 3.0),), ((1.0, 1.0, 1.0),))))
    clip = replace(clip, scales=scales, is_looping=True, duration_s=1.0)
    (found,) = back(ClipFile(BODY, (clip,))).clips
    times = np.array((0.0, 0.05, 0.1, 0.5, 0.99))
    np.testing.assert_allclose(found.sample(times).scales, clip.sample(times).scales, atol=KEYS)
    assert rot.angle_between(found.sample(times).rotations, clip.sample(times).rotations).max() < 1e-2


def test_a_pose_lasts_a_moment() -> None:
    still = dance(1, frames=1)
    (found,) = back(ClipFile(BODY, (still,))).clips
    assert found.duration_s > 0.0
    assert rot.angle_between(found.sample(np.zeros(1)).rotations, still.sample(np.zeros(1)).rotations).max() < KEYS


@pytest.mark.parametrize("rig", ["Mixamo", "Unreal's mannequin", "3ds Max Biped"])
def test_a_known_rig_gets_the_names_of_the_standard(rig: str) -> None:
    body = worn(RIGS[rig])
    data = write(ClipFile(body, (dance(0, body, frames=2),)), 30.0)
    newer = {old: new for new, old in hanim.VERSION_2.items()}
    meant = find_map(body).meant
    assert sorted(str(each.get("name")) for each in elements(data, "HAnimJoint") if each.get("name")) == sorted(
        newer.get(name, name) for name in meant if name is not None)


ODD = ("arm.L", "Kopf ü", '5 "q" <b>&\'', "arm L", "arm_L", "a\\b", "l_hip", " ")


@pytest.mark.parametrize("name", ["X3D", "X3D_CLASSIC"])
@pytest.mark.parametrize("as_frames", [False, True])
def test_bones_have_their_own_names_again(name: str, as_frames: bool) -> None:
    """Those of a rig that the standard calls otherwise, and whatever a bone may be called; they mean the same."""
    entry, body = FORMATS[name], worn(RIGS["Mixamo"])
    assert entry.write is not None and entry.read is not None
    odd = Skeleton.from_arrays(ODD, np.arange(len(ODD)) - 1, rot.identities(len(ODD)), np.ones((len(ODD), 3)))
    for skeleton in (body, odd, build_skeleton().with_model_axes()):
        data = entry.write(X3dFile(skeleton, (dance(0, skeleton, frames=3),), as_frames=as_frames), 30.0)
        (clip,) = entry.read(Source(data, Path("a"))).clips
        assert sorted(clip.skeleton.names) == sorted(skeleton.names)
        before, after = (dict(zip(each.names, find_map(each).meant, strict=True)) for each in (skeleton, clip.skeleton))
        assert {bone: joint for bone, joint in before.items() if joint} == {
            bone: joint for bone, joint in after.items() if joint}
        assert len(clip.rotations) == len(skeleton)


def test_what_xml_cannot_hold_is_replaced() -> None:
    body = Skeleton.from_arrays(("a\x01", "b\ud800"), (-1, 0), rot.identities(2), np.ones((2, 3)), name="x\x02")
    assert back(ClipFile(body, (dance(0, body, frames=2),))).skeleton.names == ("a\ufffd", "b\ufffd")


@pytest.mark.parametrize("name", ["X3D", "X3D_CLASSIC"])
def test_materials_have_their_own_names_again(name: str) -> None:
    """Also those that look the same; one that several meshes have is one."""
    entry, made = FORMATS[name], textured()
    assert entry.write is not None and entry.read_characters is not None
    called = (*ODD, "Skin", "dance", f"dance_Humanoid_{BODY.names[0]}_rotation", "Skin", "")
    looks = tuple(Look(each) for each in called)
    file = X3dFile(BODY, (dance(0, frames=3),), skin=replace(made, looks=looks, material=np.arange(20) % len(looks)))
    data = entry.write(file, 30.0)
    (character,) = entry.read_characters(Source(data, Path("a"))).characters
    assert sorted(look.name for look in character.meshes[0].looks) == sorted(set(called))
    assert len(character.clips) == 1
    if name == "X3D":
        named = [each.get("DEF") for each in ET.fromstring(data).iter() if each.get("DEF")]
        assert len(set(named)) == len(named) and all(re.fullmatch(r"[A-Za-z_][\w\-]*", str(each)) for each in named)


def test_a_body_of_other_axes_comes_in_the_standards() -> None:
    turn = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)
    tilted = BODY.turned(turn).with_model_axes()
    clip = dance(2, tilted)
    (found,) = back(ClipFile(tilted, (clip,))).clips
    np.testing.assert_allclose(found.skeleton.rest_world[:, :, 3], BODY.rest_world[:, :, 3], atol=1e-7)
    times = clip.rotations.times_s[:40]
    one, other = (world_from_pose(each.skeleton, each.sample(times))[..., 3] for each in (clip, found))
    np.testing.assert_allclose(rot.rotate(turn, other), one, atol=1e-6)


# As players want it

def test_all_joints_are_listed_and_the_skin_is_one_node() -> None:
    data = write(X3dFile(BODY, (dance(0, frames=2),), skin=skin()), 30.0)
    (body,) = elements(data, "HAnimHumanoid")
    named = [each.get("DEF") for each in body.iter("HAnimJoint") if each.get("DEF")]
    assert [each.get("USE") for each in body if each.get("containerField") == "joints"] == named
    assert len(named) == len(BODY)
    (points,) = (each for each in body if each.get("containerField") == "skinCoord")
    (normals,) = (each for each in body if each.get("containerField") == "skinNormal")
    shapes = elements(data, "IndexedTriangleSet")
    assert len(shapes) == 2
    for shape in shapes:
        assert [each.get("USE") for each in shape] == [points.get("DEF"), normals.get("DEF")]
    assert len(floats(points.get("point"))) == len(floats(normals.get("vector"))) == 3 * 50


def test_every_name_is_there_once_and_known_where_it_is_used() -> None:
    clips = tuple(dance(i, name="h", frames=2) for i in range(2))
    root = ET.fromstring(write(X3dFile(BODY, clips, skin=skin()), 30.0))
    named = [each.get("DEF") for each in root.iter() if each.get("DEF")]
    assert len(set(named)) == len(named)
    for each in root.iter():
        for key in ("USE", "fromNode", "toNode"):
            assert each.get(key) is None or each.get(key) in named
    assert [each.get("enabled") for each in root.iter("TimeSensor")] == [None, "false"]


def test_colours_are_written_as_screens_show_them() -> None:
    data = write(X3dFile(BODY, (), skin=skin()), 30.0)
    assert [floats(each.get("diffuseColor")).round(3).tolist() for each in elements(data, "Material")] == [
        [1.0, 0.735, 0.0], [0.0, 0.0, 1.0]]


def skin(vertices: int = 50, seed: int = 0) -> X3dSkin:
    rng = np.random.default_rng(seed)
    triangles = rng.integers(0, vertices, (20, 3))
    weights = np.zeros((vertices, len(BODY)))
    for row in weights:
        row[rng.choice(len(BODY), 3, replace=False)] = rng.dirichlet((1.0, 1.0, 1.0))
    normals = rng.normal(size=(vertices, 3))
    return X3dSkin(rng.normal(size=(vertices, 3)), normals / np.linalg.norm(normals, axis=1, keepdims=True), triangles,
                   Influences.strongest(weights), np.repeat((0, 1), 10),
                   (Look("a", (1.0, 0.5, 0.0)), Look("b", (0.0, 0.0, 1.0))))


def test_the_skin_moves_as_the_modifier_moves_it() -> None:
    """As X_ITE does it: each joint adds its weight of where it takes a point from where that rests."""
    made, clip = skin(), dance(9)
    data = write(X3dFile(BODY, (clip,), skin=made), 30.0)
    found = x3d.read(data).clips[0]
    time = np.array((0.7,))
    world = world_from_pose(found.skeleton, found.sample(time))[0]
    rest = found.skeleton.rest_world
    written = next(each for each in elements(data, "Coordinate") if each.get("point"))
    points = floats(written.get("point")).reshape(-1, 3)
    moved = points.copy()
    joints = [each for each in elements(data, "HAnimJoint") if each.get("DEF")]
    for joint, each in enumerate(joints):
        index, weights = floats(each.get("skinCoordIndex")).astype(int), floats(each.get("skinCoordWeight"))
        at = (world[joint, :, :3] @ (points[index] - rest[joint, :, 3]).T).T + world[joint, :, 3]
        np.add.at(moved, index, (at - points[index]) * weights[:, None])
    pose = clip.sample(time)
    wanted, _ = skin_linear(Palette.from_pose(BODY, pose), made.influences, made.positions, made.normals)
    np.testing.assert_allclose(moved, wanted[0], atol=1e-6)


# What cannot be written

def test_what_x3d_cannot_hold_is_refused() -> None:
    own = build_skeleton()
    turned = Skeleton.from_arrays(own.names, own.parents, np.roll(rot.identities(len(own)), 1, axis=1),
                                  own.rest_translations)
    with pytest.raises(TaktError, match="has axes or a scale of its own at rest, which X3D cannot hold"):
        write(ClipFile(turned, ()), 30.0)
    with pytest.raises(TaktError, match="clip 'dance' belongs to another skeleton"):
        write(ClipFile(BODY, (dance(0, worn(RIGS["Mixamo"]), frames=1),)), 30.0)
    with pytest.raises(TaktError, match="moved by joint 99; there are"):
        far = Influences(np.full((50, 1), 99), np.ones((50, 1)))
        write(X3dFile(BODY, (), skin=replace(skin(), influences=far)), 30.0)
    with pytest.raises(TaktError, match="numbers; at most 20000000 are written: take fewer frames"):
        write(X3dFile(BODY, (replace(dance(0), duration_s=1e6),), as_frames=True), 10_000.0)


@pytest.mark.parametrize(("change", "message"), [
    ({"normals": np.zeros((3, 3))}, "must both be"), ({"triangles": np.full((20, 3), 50)}, "vertex 50; there are 50"),
    ({"material": np.full(20, 2)}, "look 2; there are 2"), ({"mesh": np.full(20, 1)}, "mesh 1; there are 1"),
    ({"mesh": np.zeros(3, int)}, r"meshes \(3,\) and materials \(20,\) must both be"),
    ({"material": np.zeros(3, int)}, "must be"),
    ({"influences": Influences(np.zeros((2, 1), int), np.ones((2, 1)))}, "2 rows of weights for 50 vertices")])
def test_a_skin_whose_parts_do_not_fit_is_refused(change: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(TaktError, match=message):
        replace(skin(), **change)  # type: ignore[arg-type]


# The command

def test_the_command_converts_to_x3d_and_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clips: Sequence[Clip] = [dance(0), dance(1, name="other")]
    source, out, again = tmp_path / "a.skeleton", tmp_path / "a.x3d", tmp_path / "b.skeleton"
    source.write_bytes(ogre_binary.write(OgreSkeleton.of(BODY, clips)))
    assert main(["convert", str(source), str(out)]) == 0
    assert main(["convert", str(out), str(again)]) == 0
    found = ogre_binary.read(again.read_bytes()).clips
    assert [clip.name for clip in found] == ["dance", "other"]
    assert rot.angle_between(found[0].sample(np.array((0.5,))).rotations,
                             clips[0].sample(np.array((0.5,))).rotations).max() < ANGLES_RAD
    assert main(["convert", str(source), str(out), "--hanim-motion"]) == 0
    assert len(elements(out.read_bytes(), "HAnimMotion")) == 2
    assert main(["convert", str(source), str(tmp_path / "a.bvh"), "--hanim-motion"]) == 1
    assert "--hanim-motion is for .x3d and .x3dv alone" in capsys.readouterr().err


# Textures, and the classic encoding

def textured(seed: int = 0) -> X3dSkin:
    """Return a skin whose first look has an image, with texture coordinates that differ on both sides of edges."""
    made = skin()
    rng = np.random.default_rng(seed)
    uvs = np.round(rng.uniform(size=(len(made.triangles), 3, 2)), 1)
    return replace(made, looks=(Look("a", image=b"\x89PNG\r\n\x1a\n" + bytes(range(256))), made.looks[1]), uvs=uvs)


@pytest.mark.parametrize("seed", range(3))
def test_a_vertex_with_several_texture_coordinates_is_several_points(seed: int) -> None:
    made = textured(seed)
    found, uvs = made.split()
    assert uvs is not None and made.uvs is not None
    np.testing.assert_array_equal(found.positions[:len(made.positions)], made.positions)
    np.testing.assert_array_equal(found.positions[found.triangles], made.positions[made.triangles])
    np.testing.assert_allclose(uvs[found.triangles], made.uvs, atol=1e-7)
    pairs = np.unique(np.column_stack((made.triangles.ravel(), made.uvs.reshape(-1, 2))), axis=0)
    unused = len(made.positions) - len(np.unique(made.triangles))
    assert len(found.positions) == len(pairs) + unused
    plain, none = skin().split()
    assert none is None and len(plain.positions) == len(made.positions)


@pytest.mark.parametrize("name", ["X3D", "X3D_CLASSIC"])
def test_a_textured_character_comes_back(name: str) -> None:
    made, entry = textured(), FORMATS[name]
    assert entry.write is not None and entry.read_characters is not None
    data = entry.write(X3dFile(BODY, (dance(0, frames=3),), skin=made), 30.0)
    (character,) = entry.read_characters(Source(data, Path("a"))).characters
    (found,) = character.meshes
    assert found.uvs is not None and made.uvs is not None and found.normals is not None
    np.testing.assert_allclose(found.positions[found.triangles], made.positions[made.triangles], atol=1e-6)
    is_first = made.material == 0
    np.testing.assert_allclose(found.uvs[is_first], made.uvs[is_first], atol=1e-6)
    np.testing.assert_allclose(found.normals, made.normals[made.triangles], atol=1e-6)
    points, joints = len(made.positions), [character.skeleton.index_of[each] for each in BODY.names]
    np.testing.assert_allclose(found.influences.dense(len(BODY))[:points][:, joints],
                               made.influences.dense(len(BODY)), atol=1e-6)
    assert [look.image for look in found.looks] == [made.looks[0].image, b""]
    np.testing.assert_allclose(found.looks[1].colour, made.looks[1].colour, atol=1e-6)


def named(seed: int = 0) -> X3dSkin:
    """Return a skin of three meshes of 20, 10 and 20 vertices, of which the last has both looks."""
    rng = np.random.default_rng(seed)
    made, edges = skin(), (0, 20, 30, 50)
    mesh = np.sort(rng.integers(0, 3, 20))
    mesh[:3], mesh[-2:] = (0, 1, 2), 2
    triangles = np.stack([rng.permutation(np.arange(edges[each], edges[each + 1]))[:3] for each in mesh])
    material = np.where(mesh == 2, np.arange(20) % 2, mesh)
    return replace(made, triangles=triangles, material=material, names=("Rig|skin", "Hat", 'Brill "e"'), mesh=mesh)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["X3D", "X3D_CLASSIC"])
def test_meshes_come_back_by_their_names(name: str, seed: int) -> None:
    made, entry = named(seed), FORMATS[name]
    assert entry.write is not None and entry.read_characters is not None and made.mesh is not None
    data = entry.write(X3dFile(BODY, (), skin=made), 30.0)
    (character,) = entry.read_characters(Source(data, Path("a"))).characters
    assert [mesh.name for mesh in character.meshes] == list(made.names)
    joints = [character.skeleton.index_of[each] for each in BODY.names]
    for number, found in enumerate(character.meshes):
        own = np.flatnonzero(made.mesh == number)
        own = own[np.argsort(made.material[own], kind="stable")]  # a shape for each look
        np.testing.assert_allclose(found.positions[found.triangles], made.positions[made.triangles[own]], atol=1e-6)
        assert len(found.positions) == len(np.unique(made.triangles[own]))
        np.testing.assert_allclose(found.influences.dense(len(BODY))[found.triangles][..., joints],
                                   made.influences.dense(len(BODY))[made.triangles[own]], atol=1e-6)
        assert [found.looks[each].name for each in found.material] == [made.looks[each].name
                                                                      for each in made.material[own]]


@pytest.mark.parametrize("as_frames", [False, True])
def test_the_classic_encoding_says_the_same(as_frames: bool) -> None:
    file = X3dFile(BODY, (dance(0, name='Rig|"walk\\ 2'), dance(1, name="b", frames=2)), as_frames=as_frames)
    write_classic = FORMATS["X3D_CLASSIC"].write
    assert write_classic is not None
    data = write_classic(file, 30.0)
    assert data.startswith(b"#X3D V4.0 utf8\nPROFILE Immersive\nCOMPONENT HAnim:2\n")
    ours, theirs = x3d.read_classic(data), x3d.read(write(file, 30.0))
    assert [clip.name for clip in ours.clips] == [clip.name for clip in theirs.clips]
    for one, other in zip(ours.clips, theirs.clips, strict=True):
        assert one.skeleton.names == other.skeleton.names and one.duration_s == other.duration_s
        np.testing.assert_allclose(one.rotations.values, other.rotations.values, rtol=0, atol=1e-15)
        np.testing.assert_allclose(one.translations.values, other.translations.values, rtol=0, atol=1e-15)


def test_texture_coordinates_of_another_shape_are_refused() -> None:
    with pytest.raises(TaktError, match=r"texture coordinates \(20, 2\) must be \(T, 3, 2\)"):
        replace(skin(), uvs=np.zeros((20, 2)))


@pytest.mark.parametrize("name", ["X3D", "X3D_CLASSIC"])
@pytest.mark.parametrize("as_frames", [False, True])
def test_a_character_stands_where_it_stood_and_is_looked_at_there(name: str, as_frames: bool) -> None:
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = rot.to_matrix(rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), 2.5)), (3.0, 0.5, -2.0)
    file = X3dFile(BODY, (dance(2),), skin=skin(), as_frames=as_frames, place=place)
    entry = FORMATS[name]
    assert entry.write is not None and entry.read_characters is not None
    (found,) = entry.read_characters(Source(entry.write(file, 30.0), Path("a"))).characters
    np.testing.assert_allclose(found.placed, place, atol=1e-8)
    (still,) = entry.read_characters(Source(entry.write(X3dFile(BODY, file.clips, skin=skin(), as_frames=as_frames),
                                                        30.0), Path("a"))).characters
    np.testing.assert_array_equal(found.clips[0].rotations.values, still.clips[0].rotations.values)
    np.testing.assert_allclose(still.placed, np.eye(4), atol=1e-12)
    (view,) = elements(write(file, 30.0), "Viewpoint")
    eye, middle, orientation = (floats(view.get(key)) for key in ("position", "centerOfRotation", "orientation"))
    forwards = rot.rotate(rot.from_axis_angle(orientation[:3], orientation[3]), np.array((0.0, 0.0, -1.0)))
    np.testing.assert_allclose((middle - eye) / np.linalg.norm(middle - eye), forwards, atol=1e-7)
    places = BODY.rest_world[:, :, 3] @ place[:3, :3].T + place[:3, 3]
    assert (places.min(axis=0) - 1e-6 < middle).all() and (middle < places.max(axis=0) + 1e-6).all()
