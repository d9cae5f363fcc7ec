"""Armatures read as skeletons and poses, and groups read back, against Blender's own matrices."""

from typing import Any

import bpy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from takt.bridge import axes
from takt.bridge.meshes import groups
from takt.bridge.rigs import armature
from takt.core.maths import rotations as rot
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.core.skinning.influences import Influences

MATRIX_TOLERANCE = 2e-6
WEIGHT_TOLERANCE = 1e-6
PARENTS = {"hip": None, "spine": "hip", "head": "spine", "arm": "spine", "hand": "arm", "prop": None}


def make_rig(seed: int = 5) -> bpy.types.Object:
    """Six bones pointing anywhere, with rolls."""
    random = np.random.default_rng(seed)
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent in PARENTS.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = random.normal(size=(2, 3)).tolist()
        bone.roll = float(random.normal())
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def blender_world(rig: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    return np.array([np.array(rig.pose.bones[bone.name].matrix)[:3] for bone in rig.data.bones])


def move(rig: bpy.types.Object, random: np.random.Generator, uneven: bool) -> None:
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
        bone.location = random.normal(size=3).tolist()
        bone.rotation_quaternion = random.normal(size=4).tolist()
        size = random.uniform(0.5, 2.0)
        bone.scale = random.uniform(0.5, 2.0, size=3).tolist() if uneven and not bone.children else (size,) * 3


def test_rest_is_blenders_rest() -> None:
    rig = make_rig()
    skeleton = armature.read_skeleton(rig)
    assert dict(zip(skeleton.names, (skeleton.names[p] if p >= 0 else None for p in skeleton.parents), strict=True)
                ) == PARENTS
    expected = np.array([np.array(bone.matrix_local)[:3] for bone in rig.data.bones])
    np.testing.assert_allclose(skeleton.rest_world, expected, atol=MATRIX_TOLERANCE)
    pose = armature.read_pose(rig, skeleton)
    np.testing.assert_allclose(pose.rotations, rot.identities(6), atol=MATRIX_TOLERANCE)
    np.testing.assert_allclose(pose.translations, 0.0, atol=MATRIX_TOLERANCE)
    np.testing.assert_allclose(pose.scales, 1.0, atol=MATRIX_TOLERANCE)


@pytest.mark.parametrize("uneven", [False, True])
def test_pose_is_blenders_pose(uneven: bool) -> None:
    rig = make_rig()
    skeleton = armature.read_skeleton(rig)
    move(rig, np.random.default_rng(2), uneven)
    expected = blender_world(rig)
    np.testing.assert_allclose(armature.read_pose_world(rig), expected, atol=0.0)
    np.testing.assert_allclose(world_from_pose(skeleton, armature.read_pose(rig, skeleton)), expected,
                               atol=10 * MATRIX_TOLERANCE)


def test_pose_means_what_the_channels_mean() -> None:
    rig = make_rig()
    skeleton = armature.read_skeleton(rig)
    move(rig, np.random.default_rng(3), uneven=False)
    bpy.context.view_layer.update()
    pose = armature.read_pose(rig, skeleton)
    for joint, name in enumerate(skeleton.names):
        bone = rig.pose.bones[name]
        assert rot.angle_between(pose.rotations[joint], rot.normalized(np.array(bone.rotation_quaternion))
                                 ) < 10 * MATRIX_TOLERANCE
        np.testing.assert_allclose(pose.scales[joint], np.array(bone.scale), rtol=10 * MATRIX_TOLERANCE)
        in_bone_axes = rot.rotate(rot.conjugate(skeleton.rest_rotations[joint]), pose.translations[joint])
        np.testing.assert_allclose(in_bone_axes, np.array(bone.location), atol=10 * MATRIX_TOLERANCE)


def test_a_mirrored_bone_is_read_back() -> None:
    rig = make_rig()
    skeleton = armature.read_skeleton(rig)
    rig.pose.bones["hand"].scale = (-1.0, 2.0, 0.5)
    expected = blender_world(rig)
    np.testing.assert_allclose(world_from_pose(skeleton, armature.read_pose(rig, skeleton)), expected,
                               atol=10 * MATRIX_TOLERANCE)


def test_constraints_count() -> None:
    rig = make_rig()
    constraint: Any = rig.pose.bones["arm"].constraints.new("LIMIT_SCALE")
    constraint.use_max_x, constraint.max_x = True, 0.5
    bpy.context.view_layer.update()
    scales = armature.read_pose(rig, armature.read_skeleton(rig)).scales
    assert scales[list(PARENTS).index("arm")].round(5).tolist() == [0.5, 1.0, 1.0]


def test_bone_scaled_to_nothing_is_finite() -> None:
    rig = make_rig()
    rig.pose.bones["spine"].scale = (0, 0, 0)
    bpy.context.view_layer.update()
    pose: Pose = armature.read_pose(rig, armature.read_skeleton(rig))
    assert all(np.isfinite(values).all() for values in (pose.rotations, pose.translations, pose.scales))


def test_deforming_bones_skip_helpers() -> None:
    rig = make_rig()
    rig.data.bones["spine"].use_deform = False
    bones = armature.read_deforming_bones(rig, left_out={"prop"})
    assert bones.names == ("hip", "head", "arm", "hand")
    assert bones.parents.tolist() == [-1, 0, 0, 2]
    np.testing.assert_allclose(bones.heads[3], np.array(rig.data.bones["hand"].head_local))
    np.testing.assert_allclose(bones.tails[3], np.array(rig.data.bones["hand"].tail_local))


def test_axes_turn_up_and_forward() -> None:
    turned = rot.rotate(axes.BLENDER_FROM_HANIM, np.eye(3)).round(12)
    assert turned.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]


def make_points(count: int) -> bpy.types.Object:
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata(np.zeros((count, 3)).tolist(), [], [])
    points = bpy.data.objects.new("Points", mesh)
    bpy.context.collection.objects.link(points)
    return points


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1))
def test_groups_come_back_and_the_rest_stays(seed: int) -> None:
    """Influences written over others are read back; vertices left out and other groups keep everything."""
    random = np.random.default_rng(seed)
    names = [f"bone{i}" for i in range(7)]
    points = make_points(30)
    first, second = (Influences.strongest(random.uniform(size=(30, 7)), limit) for limit in (5, 3))
    other = points.vertex_groups.new(name="Other")
    groups.write_influences(points, names, first)
    others = [points.vertex_groups.new(name=name) for name in ("Late", "Later")]
    for group in (other, *others):
        for vertex in random.integers(0, 30, size=12).tolist():
            group.add([vertex], float(random.uniform()), "REPLACE")
    before = groups.read_influences(points, ["Other", "Late", "Later"])
    where = random.uniform(size=30) < 0.5
    groups.write_influences(points, names, second, where=where)
    found = groups.read_influences(points, names).dense(7)
    np.testing.assert_allclose(found, np.where(where[:, None], second.dense(7), first.dense(7)), atol=WEIGHT_TOLERANCE)
    after = groups.read_influences(points, ["Other", "Late", "Later"])
    np.testing.assert_array_equal(after.weights, before.weights)
    np.testing.assert_array_equal(after.joints, before.joints)


def test_reading_normalises_limits_and_skips_strangers() -> None:
    points = make_points(2)
    for name, weight in (("a", 0.2), ("Stranger", 1.0), ("b", 0.6), ("c", 0.2)):
        points.vertex_groups.new(name=name).add([0], weight, "REPLACE")
    found = groups.read_influences(points, ["c", "b", "", "a"])
    assert found.joints.tolist() == [[1, 0, 3], [0, 0, 0]]
    np.testing.assert_allclose(found.weights, [[0.6, 0.2, 0.2], [0.0, 0.0, 0.0]], atol=WEIGHT_TOLERANCE)
    limited = groups.read_influences(points, ["c", "b", "", "a"], limit=2)
    np.testing.assert_allclose(limited.weights, [[0.75, 0.25], [0.0, 0.0]], atol=WEIGHT_TOLERANCE)
