"""glTF files as core reads them against what Blender plays of them, by its own importer: real files and made ones."""

from pathlib import Path
from typing import Any, NamedTuple, cast

import bpy
import numpy as np
import pytest

from takt.bridge import axes
from takt.bridge.rigs import armature
from takt.core.clips.clip import Clip
from takt.core.library.clip_files import read_clip_file
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import fingerprint
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.beside import real_file
from takt.tests.core.gltf_files import Made

SAME = 1e-5
"""Of the body's size, and of rotations; Blender keeps four bytes for a number."""
FPS = 24.0
_context = cast(Any, bpy.context)


class Played(NamedTuple):
    """What Blender plays: model_from_bone (F, J, 4, 4) in armature space, in the axes of the file; length_s."""

    world: FloatArray
    length_s: float


def imported(path: Path) -> Any:
    bpy.ops.import_scene.gltf(filepath=str(path))
    (rig,) = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    return rig


def played(rig: Any, name: str, bones: tuple[str, ...], times: FloatArray, *, of_world: bool = False) -> Played:
    action: Any = bpy.data.actions[name]
    for track in rig.animation_data.nla_tracks:
        track.mute = True
    rig.animation_data.action = action
    rig.animation_data.action_slot = next(s for s in action.slots if s.name_display == rig.name)
    start, end = float(action.frame_range[0]), float(action.frame_range[1])
    turn = rot.conjugate(axes.BLENDER_FROM_HANIM if of_world else axes.armature_from_hanim(rig))
    found = []
    for frame in (start + times * FPS).tolist():
        _context.scene.frame_set(int(frame), subframe=frame % 1)
        seen = rig.evaluated_get(_context.evaluated_depsgraph_get())
        above = np.array(seen.matrix_world) if of_world else np.eye(4)
        found.append([above @ np.array(seen.pose.bones[bone].matrix) for bone in bones])
    world = np.array(found)
    world[..., :3, :] = rot.to_matrix(turn) @ world[..., :3, :]
    return Played(world, (end - start) / FPS)


def check(clip: Clip, rig: Any, times: FloatArray | None = None, *, without: frozenset[str] = frozenset(),
          of_world: bool = False, scale: float = 1.0) -> None:
    """Raise where a clip is not what Blender plays; scale: of the armature object, which counts in the clip."""
    names = tuple(name for name in clip.skeleton.names if name not in without)
    if times is None:
        times = np.arange(int(clip.duration_s * FPS + 1e-3) + 1) / FPS
    theirs = played(rig, clip.name, names, times, of_world=of_world)
    assert clip.duration_s == pytest.approx(theirs.length_s, abs=1e-4)
    kept = [clip.skeleton.index_of[name] for name in names]
    ours = world_from_pose(clip.skeleton, clip.sample(times))[:, kept]
    size = float(np.ptp(theirs.world[..., :3, 3].reshape(-1, 3), axis=0).max())
    assert np.abs(ours[..., 3] - scale * theirs.world[..., :3, 3]).max() < SAME * scale * size
    # A bone has other axes than its joint, the same ones all the time.
    between = np.linalg.solve(ours[..., :3], theirs.world[..., :3, :3])
    assert np.abs(between - between[:1]).max() < 10 * SAME
    np.testing.assert_allclose(between[0] @ between[0].swapaxes(1, 2), np.broadcast_to(np.eye(3), between[0].shape),
                               atol=10 * SAME)


REAL = [("clips", f"{name}.glb") for name in ("bow", "dance_body_roll", "dance_charleston", "dance_reach_hip",
                                              "jumping_jacks", "victory")]
REAL += [("characters", "KayKit_Rogue_Hooded.glb"), ("characters", "cesium_man.gltf")]


@pytest.mark.parametrize("file", REAL, ids=lambda file: file[1])
def test_real_files_play_as_in_blender(file: tuple[str, str]) -> None:
    path = real_file(*file)
    rig = imported(path)
    clips = read_clip_file(path).played
    bones = {bone.name for bone in rig.data.bones}
    assert {clip.name for clip in clips} == {action.name for action in bpy.data.actions}
    for clip in clips[::9]:
        assert set(clip.skeleton.names) == bones
        check(clip, rig)


JOINTS = 12


def body(made: Made, random: np.random.Generator, *, below: int = -1, scaled: str = "") -> tuple[list[int], FloatArray]:
    """Add joints in a tree of chance; return their nodes, and the matrices in which a skin was bound.

    scaled: "evenly", "unevenly", "mirrored".
    """
    joints, world = list[int](), list[FloatArray]()
    for number in range(JOINTS):
        above = int(random.integers(number)) if number else -1
        turn, move = rot.normalized(random.normal(size=4)), 0.3 * random.normal(size=3)
        scale = {"": np.ones(3), "evenly": np.full(3, random.uniform(0.5, 2.0)),
                 "unevenly": random.uniform(0.5, 2.0, 3), "mirrored": np.array((-1.0, 1.0, 1.0))}[scaled]
        joints.append(made.node(f"joint {number}", joints[above] if number else below, translation=move,
                                rotation=np.roll(turn, -1), scale=scale))
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rot.to_matrix(turn) * scale, move
        world.append(world[above] @ matrix if number else matrix)
    return joints, np.array(world)


def moved(made: Made, random: np.random.Generator, nodes: list[int], kinds: tuple[str, ...] = ("LINEAR",),
          paths: tuple[str, ...] = ("translation", "rotation"), *, name: str = "Wave", begins: float = 0.0,
          **stored: Any) -> FloatArray:
    """Add an animation that moves nodes in ways of chance; return the times of all its keys."""
    channels, every = dict[tuple[int, str], tuple[int, int, str]](), [begins]
    for number, (node, path) in enumerate((node, path) for node in nodes for path in paths):
        kind = kinds[number % len(kinds)]
        times = begins + np.unique(np.append(random.integers(1, 48, 6), 0)) / FPS
        rows = len(times) * (3 if kind == "CUBICSPLINE" else 1)
        values = random.uniform(0.8, 1.2, (rows, 3)) if path == "scale" else 0.3 * random.normal(size=(rows, 3))
        if path == "rotation":
            values = rot.normalized(random.normal(size=(rows, 4)))
        channels[node, path] = (made.accessor(times), made.accessor(values, **(stored if path == "rotation" else {})),
                                kind)
        every += times.tolist()
    made.animation(name, channels)
    return np.unique(every)


def written(path: Path, made: Made) -> Path:
    path.write_bytes(made.glb())
    return path


def only(path: Path) -> Clip:
    (clip,) = read_clip_file(path).played
    return clip


FRAMES = np.arange(0.0, 1.5, 1.0 / FPS)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("kinds", "paths", "scaled"), [
    (("LINEAR",), ("translation", "rotation", "scale"), ""), (("STEP", "LINEAR"), ("translation", "rotation"), ""),
    (("LINEAR",), ("rotation",), "evenly"), (("LINEAR",), ("rotation", "scale"), "unevenly"),
    (("LINEAR",), ("rotation",), "mirrored")])
def test_made_files_play_as_in_blender(tmp_path: Path, seed: int, kinds: tuple[str, ...], paths: tuple[str, ...],
                                       scaled: str) -> None:
    made, random = Made(), np.random.default_rng(seed)
    joints, bound = body(made, random, below=made.node("Rig"), scaled=scaled)
    made.skin(joints, bound)
    moved(made, random, joints[::2], kinds, paths)
    path = written(tmp_path / "made.glb", made)
    check(only(path), imported(path), FRAMES)


def test_splines_are_met_at_their_keys(tmp_path: Path) -> None:
    """Between them Blender leaves the file's tangents out."""
    made, random = Made(), np.random.default_rng(4)
    joints, bound = body(made, random)
    made.skin(joints, bound)
    times = moved(made, random, joints[:1], ("CUBICSPLINE",), ("rotation",))
    path = written(tmp_path / "made.glb", made)
    check(only(path), imported(path), times)


@pytest.mark.parametrize("stored", [{"kind": "i2"}, {"kind": "i1"}, {"is_sparse": True}, {"padding": 8}], ids=str)
def test_numbers_may_be_stored_in_other_ways(tmp_path: Path, stored: dict[str, Any]) -> None:
    made, random = Made(), np.random.default_rng(5)
    joints, bound = body(made, random)
    made.skin(joints, bound)
    times = moved(made, random, joints[:1], paths=("rotation",), **stored)
    path = written(tmp_path / "made.glb", made)
    check(only(path), imported(path), times)


@pytest.mark.parametrize("uri", ["", "made%20motion.bin", "below/motion.bin"])
def test_buffers_may_lie_in_the_text_or_beside_it(tmp_path: Path, uri: str) -> None:
    made, random = Made(), np.random.default_rng(6)
    joints, bound = body(made, random)
    made.skin(joints, bound)
    moved(made, random, joints)
    path = tmp_path / "made.gltf"
    path.write_bytes(made.gltf(uri))
    if uri:
        beside = tmp_path / uri.replace("%20", " ")
        beside.parent.mkdir(exist_ok=True)
        beside.write_bytes(made.binary)
    check(only(path), imported(path), FRAMES)


def test_what_is_not_animated_stands_as_its_node_does_not_as_it_was_bound(tmp_path: Path) -> None:
    made, random = Made(), np.random.default_rng(7)
    joints, _ = body(made, random)
    made.skin(joints, body(Made(), random)[1])
    moved(made, random, joints[5:7])
    path = written(tmp_path / "made.glb", made)
    check(only(path), imported(path), FRAMES)


def test_a_clip_begins_at_its_first_key(tmp_path: Path) -> None:
    made, random = Made(), np.random.default_rng(8)
    joints, bound = body(made, random)
    made.skin(joints, bound)
    moved(made, random, joints, begins=3.25)
    path = written(tmp_path / "made.glb", made)
    clip = only(path)
    assert clip.duration_s < 2.0
    check(clip, imported(path), FRAMES)


def test_a_pose_of_a_single_key(tmp_path: Path) -> None:
    made, random = Made(), np.random.default_rng(9)
    joints, bound = body(made, random)
    made.skin(joints, bound)
    made.animation("Pose", {(joints[2], "rotation"): (made.accessor([0.5]), made.accessor([(0.6, 0.0, 0.0, 0.8)]),
                                                      "LINEAR")})
    path = written(tmp_path / "made.glb", made)
    check(only(path), imported(path), np.zeros(1))


def test_an_armature_that_lies_on_its_back_and_is_scaled_counts_by_tilt_and_scale(tmp_path: Path) -> None:
    made, random = Made(), np.random.default_rng(10)
    scene = made.node("Scene", scale=(0.01, 0.01, 0.01))
    rig = made.node("Rig", scene, rotation=np.roll(rot.from_axis_angle(np.array((1.0, 0.2, 0.0)), -1.6), -1))
    joints, bound = body(made, random, below=rig)
    made.skin(joints, bound)
    moved(made, random, joints)
    path = written(tmp_path / "made.glb", made)
    check(only(path), imported(path), FRAMES, scale=0.01)


def test_what_moves_the_armature_itself_is_a_joint(tmp_path: Path) -> None:
    made, random = Made(), np.random.default_rng(11)
    world = made.node("World")
    rig = made.node("Rig", made.node("Mover", world), translation=(0.1, 0.2, 0.3))
    joints, bound = body(made, random, below=rig)
    made.skin(joints, bound)
    moved(made, random, [world + 2, *joints])
    path = written(tmp_path / "made.glb", made)
    clip = only(path)
    assert [name for name in clip.skeleton.names if not name.startswith("joint")] == ["Rig"]
    check(clip, imported(path), FRAMES, without=frozenset({"Rig"}), of_world=True)


def test_skins_that_share_joints_are_one_body_and_others_two(tmp_path: Path) -> None:
    made, random = Made(), np.random.default_rng(12)
    both = [body(made, random, below=made.node(name)) for name in ("One", "Other")]
    made.skin(both[0][0][:7], both[0][1][:7])
    for joints, bound in both:
        made.skin(joints, bound)
    moved(made, random, both[0][0] + both[1][0][:3])
    path = written(tmp_path / "made.glb", made)
    clips = read_clip_file(path).played
    assert [clip.name for clip in clips] == ["Wave", "Wave.001"]
    assert [clip.skeleton.name for clip in clips] == ["One", "Other"]
    assert [len(clip.skeleton) for clip in clips] == [JOINTS, JOINTS]
    bpy.ops.import_scene.gltf(filepath=str(path))


def test_clips_of_a_characters_own_file_fit_it_as_they_are_and_so_does_its_saved_map() -> None:
    path = real_file("characters", "KayKit_Rogue_Hooded.glb")
    clip = read_clip_file(path).played[3]
    skeleton = armature.read_skeleton(imported(path))
    assert fingerprint(skeleton) == fingerprint(clip.skeleton)
    done = retarget(clip, skeleton, axes.BLENDER_FROM_HANIM)
    assert done.is_own and done.unmatched_source == ()
