"""takt.auto_bind in Blender: what it writes, what it leaves alone, and when it refuses."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from takt.bridge.meshes import groups
from takt.core.binding import BindInput, BindSettings
from takt.core.binding.euclidean import bind_euclidean
from takt.tests.core.bodies import tube
from takt.tests.rigged import BONES, armature_space, bind, linked, make_armature, make_mesh, select, weights

WEIGHT_TOLERANCE = 1e-6
PLACE_TOLERANCE = 1e-6


def seed_weights(points: np.ndarray, settings: BindSettings) -> np.ndarray:
    bones = BindInput.from_arrays(points, [], BONES[:3], [-1, 0, 0], [[0, 0, 0], [0, 0, 1], [0, 0, 1]],
                                  np.array(((0, 0, 1), (1, 0, 1.5), (-1, 0, 1.5))))
    return bind_euclidean(bones, settings).dense(3)


def add_mesh(name: str, points: np.ndarray, faces: list[list[int]]) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces)
    body = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(body)
    return body


def evaluated(body: bpy.types.Object) -> np.ndarray:
    graph = bpy.context.evaluated_depsgraph_get()
    found = body.evaluated_get(graph)
    return np.array([found.matrix_world @ v.co for v in found.data.vertices])


@pytest.mark.parametrize(("influences", "exponent"), [(4, 2.0), (2, 0.5), (1, 8.0)])
def test_writes_the_seeds_weights(influences: int, exponent: float) -> None:
    rig, body = make_armature(), make_mesh()
    select(rig, body)
    bind(influences=influences, exponent=exponent, method="EUCLIDEAN")
    expected = seed_weights(armature_space(body, rig), BindSettings(influences, exponent))
    for joint, name in enumerate(BONES[:3]):
        np.testing.assert_allclose(weights(body, name), expected[:, joint], atol=WEIGHT_TOLERANCE)
    assert [group.name for group in body.vertex_groups] == list(BONES[:3])


TRANSFORMS: dict[str, Callable[[], Matrix]] = {
    "turned": lambda: Matrix.LocRotScale((3, -2, 5), Euler((1, 2, 3)), None),
    "uneven": lambda: Matrix.LocRotScale(None, Euler((0.3, 0.1, 0)), (2, 0.5, 3)),
    "mirrored": lambda: Matrix.LocRotScale(None, None, (-1, 1, 1)),
    "tiny": lambda: Matrix.Scale(1e-3, 4),
}


@pytest.mark.parametrize("of_rig", TRANSFORMS)
@pytest.mark.parametrize("of_body", TRANSFORMS)
def test_any_object_transform_keeps_the_mesh_where_it_is(of_rig: str, of_body: str) -> None:
    rig, body = make_armature(), make_mesh()
    rig.matrix_world, body.matrix_world = TRANSFORMS[of_rig](), TRANSFORMS[of_body]()
    select(rig, body)
    before, points = evaluated(body), armature_space(body, rig)
    basis = body.matrix_basis.copy()
    farthest = max(np.abs(before).max(), rig.matrix_world.translation.length)  # float32 counts from the origin
    bind(method="EUCLIDEAN")
    np.testing.assert_allclose(evaluated(body), before, atol=PLACE_TOLERANCE * farthest)
    np.testing.assert_allclose(np.stack([weights(body, name) for name in BONES[:3]], axis=1),
                               seed_weights(points, BindSettings()), atol=1e-4)  # float32 matrices, uneven scale
    assert body.parent == rig and body.matrix_basis == basis


@pytest.mark.parametrize("away", [False, True])
def test_half_a_body_with_a_mirror_modifier_is_bound_as_the_whole(away: bool) -> None:
    rig = make_armature()
    points, faces = tube((0, 0, -0.2), (0, 0, 1.7), 0.4, 25, 16)
    points = points * (1, 0.7, 1)  # a round one has no frame of its own, and float32 turns it at will
    whole = add_mesh("Whole", points, faces)
    select(rig, whole)
    bind()
    own = np.flatnonzero(points[:, 0] > -1e-6)
    number = {int(v): i for i, v in enumerate(own)}
    half = add_mesh("Half", points[own], [[number[v] for v in face] for face in faces if set(face) <= set(number)])
    mirror = half.modifiers.new("Mirror", "MIRROR")
    if away:  # the half lies elsewhere in its own space, and is mirrored about another object
        half.data.transform(Matrix.Translation((3, 0, 0)))
        half.location.x = -3
        mirror.mirror_object = whole
    select(rig, half)
    bind()
    for name in BONES[:3]:
        np.testing.assert_allclose(weights(half, name), weights(whole, name)[own], atol=1e-3)
    mirror.show_viewport = False
    bind()
    assert max(np.abs(weights(half, name) - weights(whole, name)[own]).max() for name in BONES[:3]) > 0.02


def test_leaves_another_parent_without_moving() -> None:
    rig, body = make_armature(), make_mesh()
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.collection.objects.link(holder)
    holder.matrix_world = TRANSFORMS["uneven"]()
    body.parent = holder
    body.matrix_basis = TRANSFORMS["turned"]()  # below an uneven parent: sheared
    select(rig, body)
    before = evaluated(body)
    bind()
    assert body.parent == rig
    np.testing.assert_allclose(evaluated(body), before, atol=1e-5)


def test_binding_again_changes_nothing_but_weights() -> None:
    rig, body = make_armature(), make_mesh()
    select(rig, body)
    bind()
    bind(influences=1)
    assert [group.name for group in body.vertex_groups] == list(BONES[:3])
    assert [(m.type, getattr(m, "object", None)) for m in body.modifiers] == [("ARMATURE", rig)]
    total = sum(weights(body, name) for name in BONES[:3])
    np.testing.assert_allclose(total, 1.0, atol=WEIGHT_TOLERANCE)
    assert all(set(weights(body, name).tolist()) <= {0.0, 1.0} for name in BONES[:3])


def test_other_groups_shape_keys_and_locked_groups_stay() -> None:
    rig, body = make_armature(), make_mesh()
    body.vertex_groups.new(name="Pin").add([3, 1, 59], 0.25, "REPLACE")
    body.vertex_groups.new(name="arm.R").add(list(range(60)), 0.9, "REPLACE")
    locked = body.vertex_groups.new(name="arm.L")
    locked.add(list(range(30)), 0.375, "REPLACE")
    locked.lock_weight = True
    body.vertex_groups.new(name="control").add([5], 0.5, "REPLACE")
    body.shape_key_add(name="Basis")
    body.shape_key_add(name="Up").data.foreach_set("co", [7.0] * 180)
    select(rig, body)
    bind()
    assert [g.name for g in body.vertex_groups] == ["Pin", "arm.R", "arm.L", "control", "root"]
    assert np.flatnonzero(weights(body, "Pin")).tolist() == [1, 3, 59] and weights(body, "Pin").max() == 0.25
    assert weights(body, "control").sum() == 0.5
    assert weights(body, "arm.L").tolist() == [0.375] * 30 + [0.0] * 30
    np.testing.assert_allclose(weights(body, "arm.R") + weights(body, "root"), [0.625] * 30 + [1.0] * 30,
                               atol=WEIGHT_TOLERANCE)
    shape = np.empty(180, dtype=np.float32)
    body.data.shape_keys.key_blocks["Up"].data.foreach_get("co", shape)
    assert (shape == 7.0).all()


def test_several_meshes_and_modifier_before_subdivision() -> None:
    rig, body, hat = make_armature(), make_mesh(), make_mesh("Hat", seed=2)
    hat.modifiers.new("Mirror", "MIRROR")
    hat.modifiers.new("Smooth", "SUBSURF")
    select(body, rig, hat)
    bind()
    assert [m.type for m in hat.modifiers] == ["MIRROR", "ARMATURE", "SUBSURF"]
    for ob in (body, hat):
        np.testing.assert_allclose(groups.read_influences(ob, BONES).weights.sum(axis=1), 1.0, atol=WEIGHT_TOLERANCE)


def refusal(*selected: bpy.types.Object) -> str:
    """Press the button, expect a refusal that changes nothing, and return its text."""
    select(*selected)
    return press()


def press() -> str:
    before = [(ob.name, ob.parent, len(ob.modifiers), len(ob.vertex_groups)) for ob in bpy.data.objects]
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.takt.auto_bind()  # type: ignore[attr-defined]
    assert [(ob.name, ob.parent, len(ob.modifiers), len(ob.vertex_groups)) for ob in bpy.data.objects] == before
    return str(caught.value)


def test_says_what_to_select() -> None:
    rig, body = make_armature(), make_mesh()
    assert "Select the meshes to bind, and the armature" in refusal(rig)
    assert "Select an armature as well" in refusal(body)
    assert "Make one of the selected armatures the active object" in refusal(body, rig, make_armature())


def test_refuses_edit_mode() -> None:
    rig, body = make_armature(), make_mesh()
    select(rig, body)
    bpy.ops.object.mode_set(mode="EDIT")
    assert "'Rig' is being edited: go to Object Mode first" in press()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_refuses_what_cannot_be_bound() -> None:
    rig, body = make_armature(), make_mesh()
    empty = bpy.data.objects.new("Empty", bpy.data.meshes.new("Empty"))
    bpy.context.collection.objects.link(empty)
    assert "Mesh 'Empty' has no vertices" in refusal(rig, empty)
    body.data.vertices[4].co.x = float("nan")
    assert "not finite" in refusal(rig, body)
    body.data.vertices[4].co.x = 0.0
    rig.parent = body
    assert "Armature 'Rig' is a descendant of mesh 'Body'" in refusal(rig, body)
    rig.parent = None
    rig.scale = (1, 0, 1)
    assert "Armature 'Rig' is scaled to nothing" in refusal(rig, body)
    rig.scale = (1, 1, 1)
    for bone in rig.data.bones:
        body.vertex_groups.new(name=bone.name).lock_weight = True
    assert "All groups of 'Body' are locked" in refusal(rig, body)
    for bone in rig.data.bones:
        bone.use_deform = False
    assert "Armature 'Rig' has no bone that deforms" in refusal(rig, body)


def test_refuses_linked_meshes(tmp_path: Any) -> None:
    body, rig = linked(make_mesh(), tmp_path), make_armature()
    assert "Mesh 'Body' is linked from another file" in refusal(rig, body)
    override = body.override_create()
    bpy.context.collection.objects.link(override)
    bpy.context.collection.objects.unlink(body)
    assert "Mesh 'Body' is linked from another file" in refusal(rig, override)


def test_undo_takes_all_of_it_back() -> None:
    rig, body = make_armature(), make_mesh()
    select(rig, body)
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.takt.auto_bind("EXEC_DEFAULT", True)  # type: ignore[attr-defined]
        bpy.ops.ed.undo()
    body = bpy.data.objects["Body"]
    assert len(body.vertex_groups) == 0 and len(body.modifiers) == 0 and body.parent is None


def make_other_armature() -> Any:
    """One with other bones, but for the root."""
    other = make_armature()
    other.name = "Other"
    for name in BONES[1:]:
        other.data.bones[name].name = f"DEF-{name}"
    return other


def armatures_of(body: Any) -> list[Any]:
    return [modifier.object for modifier in body.modifiers if modifier.type == "ARMATURE"]


def test_another_skeleton_moves_the_mesh_in_place_of_the_earlier_one(capfd: pytest.CaptureFixture[str]) -> None:
    rig, body = make_armature(), make_mesh()
    select(rig, body)
    bind()
    body.modifiers.new("Smooth", "SUBSURF").levels = 0
    other = make_other_armature()
    select(other, body)
    bind()
    assert body.parent == other and [m.type for m in body.modifiers] == ["ARMATURE", "SUBSURF"]
    assert armatures_of(body) == [other]
    assert [group.name for group in body.vertex_groups] == ["root", "DEF-arm.L", "DEF-arm.R"]
    np.testing.assert_allclose(sum(weights(body, g.name) for g in body.vertex_groups), 1.0, atol=WEIGHT_TOLERANCE)
    assert "No longer moved by Rig (vertex groups removed: 2)" in capfd.readouterr().out
    before = evaluated(body)
    rig.pose.bones["root"].location = (0.0, 5.0, 0.0)
    np.testing.assert_array_equal(evaluated(body), before)
    select(rig, body)
    bind()
    assert armatures_of(body) == [rig] and sorted(group.name for group in body.vertex_groups) == sorted(BONES[:3])


def name_attribute(modifier: Any, name: str) -> None:
    """Let a number that nodes ask for be read from the attribute of that name."""
    tree: Any = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    number = tree.interface.new_socket("Number", in_out="INPUT", socket_type="NodeSocketFloat")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    modifier.node_group = tree
    if hasattr(modifier, "properties"):
        getattr(modifier.properties.inputs, number.identifier).attribute_name = name
    else:
        modifier[f"{number.identifier}_attribute_name"] = name


def test_groups_of_the_earlier_skeleton_that_something_needs_stay() -> None:
    rig, body = make_armature(), make_mesh()
    names = ("locked", "cloth", "shape", "hook", "nodes", "mask", "free")
    bpy.ops.object.mode_set(mode="EDIT")
    for x, name in enumerate(names):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (x, 2, 0), (x, 2, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    select(rig, body)
    bind()
    body.vertex_groups["locked"].lock_weight = True
    body.modifiers.new("Cloth", "CLOTH").settings.vertex_group_mass = "cloth"
    body.shape_key_add(name="Basis")
    body.shape_key_add(name="Up").vertex_group = "shape"
    body.modifiers.new("Mask", "MASK").vertex_group = "mask"
    name_attribute(body.modifiers.new("Nodes", "NODES"), "nodes")
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.collection.objects.link(holder)
    held: Any = holder.constraints.new("COPY_LOCATION")
    held.target, held.subtarget = body, "hook"
    pin = body.vertex_groups.new(name="Pin")  # nobody's bone
    pin.add([0], 1.0, "REPLACE")
    other = make_other_armature()
    select(other, body)
    bind()
    assert sorted(g.name for g in body.vertex_groups) == sorted((*names[:-1], "Pin", "root", "DEF-arm.L", "DEF-arm.R"))


def test_two_skeletons_move_a_mesh_together_where_that_is_wanted() -> None:
    rig, face, body = make_armature(), make_other_armature(), make_mesh()
    select(rig, body)
    bind()
    select(face, rig, body)  # both are selected
    bind()
    assert armatures_of(body) == [rig, face] and "arm.L" in body.vertex_groups
    select(face, body)  # it moves the mesh already: the other one beside it is meant
    bind()
    assert armatures_of(body) == [rig, face] and "arm.L" in body.vertex_groups


@pytest.mark.parametrize("option", ["only_selected_vertices", "only_selected_bones"])
def test_binding_a_part_to_another_skeleton_leaves_the_rest_to_the_earlier_one(option: str) -> None:
    rig, body, other = make_armature(), make_mesh(), make_other_armature()
    select(rig, body)
    bind()
    for bone in other.pose.bones:
        (bone if bpy.app.version >= (5, 0) else bone.bone).select = bone.name == "root"
    select(other, body)
    bind(**{option: True})
    assert armatures_of(body) == [rig, other] and "arm.L" in body.vertex_groups


def test_a_modifier_that_is_off_stays_and_a_legacy_parent_counts_as_one() -> None:
    rig, body, other = make_armature(), make_mesh(), make_other_armature()
    select(rig, body)
    bind()
    body.modifiers[0].show_viewport = body.modifiers[0].show_render = False
    select(other, body)
    bind()
    assert armatures_of(body) == [rig, other] and "arm.L" in body.vertex_groups
    old = make_mesh("Old", seed=3)
    old.parent, old.parent_type = rig, "ARMATURE"
    old.vertex_groups.new(name="arm.L").add([1], 1.0, "REPLACE")
    select(other, old)
    bind()
    assert old.parent_type == "OBJECT" and armatures_of(old) == [other] and "arm.L" not in old.vertex_groups
