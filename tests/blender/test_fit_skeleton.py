"""takt.fit_skeleton in Blender: the armature it makes, what it binds, when it refuses, and what it leaves."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.core.fitting.naming import NAMINGS
from takt.core.maths import rotations as rot
from takt.tests.core.made_people import A_POSE, T_POSE, Build, Person, person
from takt.tests.core.made_rigs import BODIES, skin
from takt.tests.rigged import linked, make_armature, select

context: Any = bpy.context
ops: Any = bpy.ops
NEAR = 0.06
"""Metres by which a joint may be off; how precise they are the tests of core tell."""

LARGE = 1.5
JOINTS = ("l_elbow", "r_wrist", "l_knee", "r_ankle", "skullbase")


@pytest.fixture(scope="module")
def dancer() -> Person:
    return person(Build(turns=A_POSE))


def add_body(of: Person, name: str = "Body", world_from_mesh: Matrix | None = None) -> Any:
    placed = world_from_mesh or Matrix()
    inverse = np.array(placed.inverted())
    points = rot.rotate(BLENDER_FROM_HANIM, of.vertices)
    data = bpy.data.meshes.new(name)
    data.from_pydata((points @ inverse[:3, :3].T + inverse[:3, 3]).tolist(), [], of.quads.tolist())
    body = bpy.data.objects.new(name, data)
    context.collection.objects.link(body)
    body.matrix_world = placed
    return body


def fit(*objects: Any, **options: Any) -> set[str]:
    select(*objects)
    found: set[str] = ops.takt.fit_skeleton(**options)
    return found


def refusal(*objects: Any) -> str:
    before = len(bpy.data.objects), len(bpy.data.armatures)
    with pytest.raises(RuntimeError) as raised:
        fit(*objects)
    assert (len(bpy.data.objects), len(bpy.data.armatures)) == before
    return str(raised.value)


def head_of(rig: Any, bone: str) -> np.ndarray:
    return np.array(rig.matrix_world @ rig.data.bones[bone].head_local)


def test_makes_an_armature_and_binds_the_mesh_to_it(dancer):
    body = add_body(dancer)
    assert fit(body) == {"FINISHED"}
    rig = context.active_object
    assert rig.type == "ARMATURE" and rig.mode == "OBJECT" and set(context.selected_objects) == {rig, body}
    for joint in JOINTS:
        assert np.linalg.norm(head_of(rig, joint) - rot.rotate(BLENDER_FROM_HANIM, dancer.joints[joint])) < NEAR
    assert rig.matrix_world.translation.z == pytest.approx(float(dancer.vertices[:, 1].min()), abs=1e-5)
    assert body.parent == rig and [modifier.object for modifier in body.modifiers] == [rig]
    assert {group.name for group in body.vertex_groups} <= {bone.name for bone in rig.data.bones}
    assert all(vertex.groups for vertex in body.data.vertices)


@pytest.mark.parametrize("turn", [(-np.pi / 2.0, 0.0, 0.0), (0.0, np.pi / 2.0, 0.0)], ids=["back", "side"])
def test_a_body_that_lies_stands_once_its_armature_is_turned_back(dancer, turn):
    placed = Euler(turn).to_matrix().to_4x4()
    body = add_body(dancer)
    body.data.transform(placed)
    fit(body)
    rig = context.active_object
    standing = rig.data.bones["skullbase"].head_local - rig.data.bones["HumanoidRoot"].head_local
    assert standing.normalized().z > 0.98
    for joint in JOINTS:
        there = rot.rotate(BLENDER_FROM_HANIM, dancer.joints[joint])
        assert np.linalg.norm(head_of(rig, joint) - np.array(placed.to_3x3()) @ there) < NEAR
    rig.rotation_euler = 0.0, 0.0, 0.0
    context.view_layer.update()
    points = np.array([body.matrix_world @ vertex.co for vertex in body.data.vertices])
    assert points[:, 2].min() == pytest.approx(rig.location.z, abs=1e-4)
    assert np.ptp(points[:, 2]) == pytest.approx(dancer.height, rel=0.02)


def test_a_body_that_stands_has_an_armature_that_is_not_turned(dancer):
    leans = Euler((0.5, 0.0, 2.0)).to_matrix().to_4x4()
    fit(add_body(dancer, world_from_mesh=leans), bind=False)
    assert context.active_object.matrix_world.to_euler()[:] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("naming", NAMINGS)
def test_bones_are_named_as_wanted(dancer, naming):
    fit(add_body(dancer), naming=naming, bind=False)
    names = {bone.name for bone in context.active_object.data.bones}
    assert {NAMINGS[naming].name_of(joint) for joint in JOINTS} <= names


def test_without_binding_the_mesh_stays_as_it_is(dancer):
    body = add_body(dancer)
    fit(body, bind=False)
    assert not body.vertex_groups and not body.modifiers and body.parent is None


def test_objects_may_be_turned_and_scaled_and_several(dancer):
    upper = dancer.vertices[dancer.quads].mean(axis=1)[:, 1] > 1.0
    placed = Matrix.LocRotScale((3, -2, 5), Euler((1, 2, 3)), (2, 2, 2))
    parts = [add_body(Person(dancer.vertices, dancer.quads[some], dancer.joints), name, placed)
             for name, some in (("Upper", upper), ("Lower", ~upper))]
    before = [np.array(part.matrix_world) for part in parts]
    fit(*parts)
    rig = context.active_object
    for joint in JOINTS:
        assert np.linalg.norm(head_of(rig, joint) - rot.rotate(BLENDER_FROM_HANIM, dancer.joints[joint])) < NEAR
    context.view_layer.update()
    for part, matrix in zip(parts, before, strict=True):
        assert part.parent == rig
        np.testing.assert_allclose(np.array(part.matrix_world), matrix, atol=1e-5)


def test_knees_bend_backwards_about_their_x_axes(dancer):
    fit(add_body(dancer), bind=False)
    rig = context.active_object
    knee = rig.pose.bones["l_knee"]
    before = np.array(knee.tail)
    knee.rotation_mode = "XYZ"
    knee.rotation_euler = (0.6, 0.0, 0.0)
    context.view_layer.update()
    assert np.array(knee.tail)[1] > before[1] + 0.1  # the dancer faces −Y


def test_half_a_body_with_a_mirror_modifier_is_the_whole(dancer):
    left = dancer.vertices[dancer.quads].mean(axis=1)[:, 0] > 0.0
    body = add_body(Person(dancer.vertices, dancer.quads[left], dancer.joints))
    body.modifiers.new("Mirror", "MIRROR")
    fit(body)
    rig = context.active_object
    for joint in JOINTS:
        assert np.linalg.norm(head_of(rig, joint) - rot.rotate(BLENDER_FROM_HANIM, dancer.joints[joint])) < NEAR


def test_joints_are_in_the_mesh_that_shape_keys_show(dancer):
    body = add_body(dancer)
    body.shape_key_add(name="Basis")
    large = body.shape_key_add(name="Large")
    for point in large.data:
        point.co *= LARGE
    large.value = 1.0
    fit(body)
    rig = context.active_object
    for joint in JOINTS:
        there = LARGE * rot.rotate(BLENDER_FROM_HANIM, dancer.joints[joint])
        assert np.linalg.norm(head_of(rig, joint) - there) < LARGE * NEAR
    assert [key.name for key in body.data.shape_keys.key_blocks] == ["Basis", "Large"] and large.value == 1.0


def test_short_collarbones_carry_the_arms_and_move_no_skin():
    body = add_body(person(Build(T_POSE, {}, {"sternoclavicular": 0.4},
                                 dict.fromkeys(("shoulder", "elbow", "wrist"), 2.3))))
    fit(body)
    bones = context.active_object.data.bones
    assert {bone.name for bone in bones if not bone.use_deform} == {"l_sternoclavicular", "r_sternoclavicular"}
    assert bones["l_shoulder"].parent == bones["l_sternoclavicular"]
    assert "l_sternoclavicular" not in body.vertex_groups and all(vertex.groups for vertex in body.data.vertices)


def test_what_is_no_humanoid_is_fitted_by_its_shape():
    points, faces, _ = skin(BODIES["insect"])
    data = bpy.data.meshes.new("Insect")
    data.from_pydata(points.tolist(), [], faces)
    body = bpy.data.objects.new("Insect", data)
    context.collection.objects.link(body)
    fit(body, naming="UNREAL")
    rig = context.active_object
    assert {"root", "head", "l_leg3_1", "r_leg3_3"} <= {bone.name for bone in rig.data.bones}
    assert body.parent == rig and all(vertex.groups for vertex in body.data.vertices)


def test_the_kind_of_body_can_be_chosen(dancer):
    fit(add_body(dancer), body="shape", bind=False)
    assert "l_leg1_1" in context.active_object.data.bones
    with pytest.raises(TypeError, match="not found in"):
        fit(add_body(dancer), body="fish")


def test_says_what_to_select(dancer):
    body, rig = add_body(dancer), make_armature()
    bpy.ops.object.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="Select the meshes"):
        ops.takt.fit_skeleton()
    assert "Deselect the armature" in refusal(rig, body)


def test_refuses_what_is_no_humanoid_and_leaves_nothing_behind():
    bpy.ops.mesh.primitive_cube_add()
    assert "a humanoid has five" in refusal(context.active_object)
    bpy.ops.mesh.primitive_plane_add()
    assert "flat" in refusal(context.active_object)


@pytest.mark.parametrize("kept", ["half", "bust", "hands"])
def test_refuses_parts_of_a_body_and_leaves_nothing_behind(dancer, kept):
    middles = dancer.vertices[dancer.quads].mean(axis=1)
    some = {"half": middles[:, 0] > 0.0, "bust": middles[:, 1] > 1.2,
            "hands": np.abs(middles[:, 0]) > dancer.joints["l_wrist"][0]}[kept]
    assert "mesh" in refusal(add_body(Person(dancer.vertices, dancer.quads[some], dancer.joints)))


def test_refuses_two_people(dancer):
    assert "separate them" in refusal(add_body(dancer), add_body(
        Person(dancer.vertices + np.array((2.5, 0.0, 0.0)), dancer.quads, dancer.joints)))


def test_refuses_linked_meshes(dancer, tmp_path):
    body = add_body(dancer)
    assert "linked from another file" in refusal(linked(body, tmp_path))


def test_refuses_edit_mode(dancer):
    body = add_body(dancer)
    select(body)
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        with pytest.raises(RuntimeError, match="Object Mode"):
            ops.takt.fit_skeleton()
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_one_undo_takes_all_of_it_back(dancer):
    body = add_body(dancer)
    select(body)
    bpy.ops.ed.undo_push(message="before")
    ops.takt.fit_skeleton("EXEC_DEFAULT", True)
    assert bpy.data.armatures
    bpy.ops.ed.undo()
    body = bpy.data.objects["Body"]
    assert not bpy.data.armatures and not body.vertex_groups and not body.modifiers and body.parent is None
