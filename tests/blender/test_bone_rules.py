"""Bones that take over less than all from their parents: Blender shows of them what core has, there and back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from takt.bridge.actions import action, curves
from takt.bridge.actions.channels import clip_channels
from takt.bridge.rigs import armature
from takt.bridge.rigs.bone_rules import ORDINARY, BoneRules, held_back, read_rules
from takt.bridge.scores import score
from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.blender.dancing import NAMES, evaluated, play

PARENTS = (-1, 0, 1, 2, 3, 1, 5, 0, -1, 8)
SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
FPS, FRAMES = 24, 7
SAME = 1e-5


def make_rig(random: np.random.Generator) -> Any:
    """Bones in random places with random axes and random flags; of connected ones the head is their parent's tail."""
    data: Any = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for joint, parent in enumerate(PARENTS):
        bone = data.edit_bones.new(f"bone {joint}")
        bone.length = random.uniform(0.2, 0.6)
        turn = rot.to_matrix(rot.normalized(random.normal(size=4)))
        turn[:, :2] *= np.sign(turn[1, 1])  # rest matrices of bones towards −Y are rounded to 5e-5
        bone.matrix = Matrix(np.block([[turn, random.normal(size=(3, 1))], [np.zeros(3), 1.0]]).tolist())
        bone.parent = data.edit_bones[parent] if parent >= 0 else None
        bone.use_connect = parent >= 0 and random.random() < 0.2
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in data.bones:
        bone.use_inherit_rotation, bone.use_local_location = (random.random(2) < 0.6).tolist()
        bone.use_relative_parent = bool(random.random() < 0.5)
        bone.inherit_scale = random.choice(SCALES)
    return rig


def make_clip(random: np.random.Generator, skeleton: Skeleton, connected: Sequence[int], *, scaled: bool) -> Clip:
    """Move most joints in all that they can; scales are even, as joints below them need it."""
    joints = np.flatnonzero(random.random(len(skeleton)) < 0.8)
    times = np.arange(FRAMES) / FPS
    shape = (FRAMES, len(joints))
    turns = rot.continuous(rot.from_axis_angle(random.normal(size=(*shape, 3)), random.uniform(0.0, 2.0, size=shape)))
    free = np.setdiff1d(joints, connected)
    moves = Tracks.uniform(free, times, random.normal(size=(FRAMES, len(free), 3)))
    sizes = np.repeat(random.uniform(0.5, 2.0, size=shape)[..., None], 3, axis=-1)
    return Clip("one", skeleton, (FRAMES - 1) / FPS, Tracks.uniform(joints, times, turns), moves,
                Tracks.uniform(joints, times, sizes) if scaled else Tracks.empty(3))


def shown(rig: Any) -> FloatArray:
    found = []
    for frame in range(FRAMES):
        bpy.context.scene.frame_set(1 + frame)
        found.append(armature.read_pose_world(rig.evaluated_get(bpy.context.evaluated_depsgraph_get())))
    return np.array(found)


def written(rig: Any, clip: Clip, rules: BoneRules) -> Any:
    bpy.context.scene.render.fps = FPS
    channels = clip_channels(clip, scene(), 1, rules)
    new = action.write_new_action(rig, "new", channels)
    action.assign(rig, new, channels)
    return new


@pytest.mark.parametrize("modes, far", [(("QUATERNION",), SAME), (("QUATERNION", "XYZ", "AXIS_ANGLE"), 10 * SAME)])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_written_shows_and_reads_as_it_was(seed: int, scaled: bool, modes: Sequence[str], far: float) -> None:
    random = np.random.default_rng(seed)
    rig = make_rig(random)
    for bone in rig.pose.bones:
        bone.rotation_mode = random.choice(modes)  # Euler angles lose digits near their poles
    rig.takt.rotations = "AS_RIG"
    skeleton, rules = armature.read_skeleton(rig), read_rules(rig)
    connected = [skeleton.index_of[name] for name in rules.connected]
    clip = make_clip(random, skeleton, connected, scaled=scaled)
    wanted = world_from_pose(skeleton, clip.sample(np.arange(FRAMES) / FPS))
    made = written(rig, clip, rules)
    np.testing.assert_allclose(shown(rig), wanted, rtol=far, atol=far)
    again = curves.read_clip(curves.fit(made, rig), skeleton, FPS)
    np.testing.assert_allclose(world_from_pose(skeleton, again.sample(np.arange(FRAMES) / FPS)), wanted, rtol=far,
                               atol=far)


@pytest.mark.parametrize("flags", [{"use_inherit_rotation": False}, {"use_local_location": False},
                                   {"inherit_scale": "NONE"}])
def test_without_the_rules_it_would_show_something_else(flags: dict[str, Any]) -> None:
    random = np.random.default_rng(3)
    rig = make_rig(random)
    for bone in rig.data.bones:
        bone.use_inherit_rotation, bone.use_local_location, bone.inherit_scale = True, True, "FULL"
    ordinary = read_rules(rig)
    assert ordinary._replace(connected=frozenset()) == ORDINARY
    for name, value in flags.items():
        for bone in rig.data.bones:
            setattr(bone, name, value)
    clip = make_clip(random, armature.read_skeleton(rig), (), scaled=True)
    written(rig, clip, ordinary)
    other = shown(rig)
    written(rig, clip, read_rules(rig))
    assert np.abs(other - shown(rig)).max() > 0.1


@pytest.mark.parametrize("key_mode", ["EVERY_FRAME", "KEYS"])
@pytest.mark.parametrize("seed", range(3))
def test_a_score_plays_on_such_bones(rig: bpy.types.Object, library: Path, key_mode: str, seed: int) -> None:
    random, data = np.random.default_rng(seed), armature_of(rig)
    for bone in data.bones:
        bone.use_inherit_rotation, bone.use_local_location = (random.random(2) < 0.5).tolist()
        bone.inherit_scale = random.choice(SCALES)
    play(library / "dance.pha", key_mode=key_mode)
    motion, skeleton = score.motion_of(rig), armature.read_skeleton(rig)
    assert motion is not None
    order = [skeleton.index_of[name] for name in NAMES]
    far = SAME if key_mode == "EVERY_FRAME" else 5e-3
    for frame in range(1, 110, 9):
        wanted = world_from_pose(skeleton, motion.sample(np.array(((frame - 1) / 24,))))[0, order]
        np.testing.assert_allclose(evaluated(rig, frame), wanted, atol=far)


def armature_of(rig: bpy.types.Object) -> Any:
    return rig.data


def test_what_bones_take_over_belongs_to_what_was_read() -> None:
    rig = make_rig(np.random.default_rng(5))
    made = written(rig, make_clip(np.random.default_rng(5), armature.read_skeleton(rig), (), scaled=False), ORDINARY)
    before = curves.fingerprint(curves.fit(made, rig))
    assert before == curves.fingerprint(curves.fit(made, rig))
    rig.data.bones[3].use_local_location = not rig.data.bones[3].use_local_location
    assert before != curves.fingerprint(curves.fit(made, rig))


def test_bones_that_cannot_leave_their_parents_are_told_of(rig: bpy.types.Object) -> None:
    skeleton, random = armature.read_skeleton(rig), np.random.default_rng(1)
    clip = make_clip(random, skeleton, (), scaled=False)
    moved = {skeleton.names[joint] for joint in clip.translations.joints}
    assert held_back(rig, [clip]) == ()
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in armature_of(rig).edit_bones:
        bone.use_connect = bone.parent is not None
    bpy.ops.object.mode_set(mode="OBJECT")
    assert held_back(rig, [clip]) == tuple(sorted(moved - {NAMES[0]}))
    curves_of = clip_channels(clip, scene(), 1, read_rules(rig)).curves
    shifted = next(names for path, names, _, _ in curves_of if path == "location")
    assert not set(shifted) & set(NAMES[1:])


def scene() -> bpy.types.Scene:
    found = bpy.context.scene
    assert found is not None
    return found
