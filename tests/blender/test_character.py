"""The sample character as Blender's objects."""

import bpy
import numpy as np

from takt.samples.body import PALETTE, build_body
from takt.samples.character import build_character
from takt.samples.skeleton import build_skeleton, rest_positions

PLACE_M = 1e-6


def test_the_armature_has_the_joints_in_blenders_axes() -> None:
    armature, _ = build_character(bpy.context)
    assert isinstance(armature.data, bpy.types.Armature)
    bones = armature.data.bones
    skeleton = build_skeleton()
    assert {bone.name for bone in bones} == set(skeleton.names)
    for (name, (x, y, z)), parent in zip(rest_positions().items(), skeleton.parents, strict=True):
        np.testing.assert_allclose(np.array(bones[name].head_local), (x, -z, y), atol=PLACE_M)
        above = bones[name].parent
        assert (above.name if above else None) == (skeleton.names[parent] if parent >= 0 else None)
        assert bones[name].use_deform
        assert bones[name].length > 0.005


def test_bones_point_to_the_next_joint_and_mirror_each_other() -> None:
    armature, _ = build_character(bpy.context)
    assert isinstance(armature.data, bpy.types.Armature)
    bones = armature.data.bones
    np.testing.assert_allclose(np.array(bones["l_hip"].tail_local), np.array(bones["l_knee"].head_local), atol=PLACE_M)
    np.testing.assert_allclose(np.array(bones["vt3"].tail_local), np.array(bones["vc7"].head_local), atol=PLACE_M)
    mirror = np.diag((-1.0, 1.0, 1.0))
    for bone in (b for b in bones if b.name.startswith("l_")):
        other = np.array(bones["r_" + bone.name[2:]].matrix_local)[:3, :3]
        np.testing.assert_allclose(other, mirror @ np.array(bone.matrix_local)[:3, :3] @ mirror, atol=1e-5)


def test_the_mesh_stands_on_the_ground_and_faces_the_viewer() -> None:
    _, mesh = build_character(bpy.context)
    data = mesh.data
    assert isinstance(data, bpy.types.Mesh)
    flat = np.empty(len(data.vertices) * 3, np.float32)
    data.vertices.foreach_get("co", flat)
    points = flat.reshape(-1, 3)
    assert len(points) == len(build_body().positions)
    assert abs(points[:, 2].min()) < PLACE_M
    assert points[np.argmin(points[:, 1]), 2] < 0.05, "toes point to −Y"
    assert not data.validate(), "nothing for Blender to mend"
    assert [material.name for material in data.materials if material] == [name for name, _ in PALETTE.values()]
    slots = np.empty(len(data.polygons), np.int32)
    data.polygons.foreach_get("material_index", slots)
    assert set(slots.tolist()) == set(range(len(PALETTE)))
    assert not mesh.modifiers
    assert not mesh.vertex_groups
