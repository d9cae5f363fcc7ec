"""What is attached to bones, shape keys and modifiers: the preview against Blender's own mesh."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from takt.bridge.meshes.attached import attachment_of
from takt.bridge.meshes.shape import is_shaped, not_shown
from takt.bridge.rigs.armature import read_pose_world, read_skeleton
from takt.core.maths.arrays import FloatArray
from takt.core.skinning import Palette
from takt.preview import life
from takt.preview.batch import read_geometry
from takt.preview.cast import Cast
from takt.preview.character import PreviewCharacter
from takt.preview.draw import Painter
from takt.preview.roles import DrawnRole
from takt.preview.shader import RECORD
from takt.tests.characters import Object, bend, context, evaluated, own_character
from takt.tests.gpu.readback import posed_on_gpu
from takt.tests.gpu.test_preview_playing import drawn_viewport, toggle, viewport

PLACE = 1e-4
LAST = "bone3"


def drawn_as_read() -> Any:
    """Return what the viewport shows once all that has changed was read, after a first drawing asked for it."""
    context.view_layer.update()
    drawn_viewport(1)
    life._read_waiting()
    return drawn_viewport(1)


def hat(parent: Object | None = None, bone: str = "") -> Object:
    """A box, parented where it stands."""
    data: Any = bpy.data.meshes.new("Hat")
    data.from_pydata([(-0.3, -0.2, 4.0), (0.3, -0.2, 4.0), (0.3, 0.2, 4.0), (0.0, 0.0, 4.7)], [],
                     [(0, 1, 2), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    ob: Object = bpy.data.objects.new("Hat", data)
    context.scene.collection.objects.link(ob)
    if parent is not None:
        ob.parent, ob.parent_type, ob.parent_bone = parent, "BONE" if bone else "OBJECT", bone
        context.view_layer.update()
        ob.matrix_world = Matrix.Identity(4)
    context.view_layer.update()
    return ob


def on_a_bone(rig: Object) -> Object:
    return hat(rig, LAST)


def on_the_armature(rig: Object) -> Object:
    return hat(rig)


def on_something_on_a_bone(rig: Object) -> Object:
    between: Object = bpy.data.objects.new("Between", None)
    context.scene.collection.objects.link(between)
    between.parent, between.parent_type, between.parent_bone = rig, "BONE", LAST
    return hat(between)


def constrained(kind: str, *more: str) -> Callable[[Object], Object]:
    def build(rig: Object) -> Object:
        ob = hat()
        for each in (kind, *more):
            constraint = ob.constraints.new(each)
            if each == "ARMATURE":
                constraint = constraint.targets.new()
            constraint.target, constraint.subtarget = rig, LAST
        context.view_layer.update()
        return ob

    build.__name__ = kind.lower()
    return build


ATTACHED = [on_a_bone, on_the_armature, on_something_on_a_bone, constrained("CHILD_OF"), constrained("COPY_TRANSFORMS"),
        constrained("ARMATURE"), constrained("COPY_LOCATION", "COPY_ROTATION")]
every_attachment = pytest.mark.parametrize("build", ATTACHED, ids=lambda build: build.__name__)


def in_world(ob: Object) -> FloatArray:
    world = np.array(ob.matrix_world)
    return np.asarray(evaluated(ob) @ world[:3, :3].T + world[:3, 3])


def placed(rig: Object, ob: Object, pose: FloatArray) -> FloatArray:
    """Return where the preview shows an object in the world while the bones stand as in a pose (J, 3, 4)."""
    character = PreviewCharacter(rig.session_uid)
    character.note_settings([ob])
    character.refresh(rig, [ob])
    skeleton = character.skeleton
    assert skeleton is not None
    role = DrawnRole(character, rig, [ob], None, 0.0)
    record = Painter()._placement(ob, role, ob.session_uid)
    armature_from_mesh = np.vstack((record[RECORD["ARMATURE_FROM_MESH"]:][:3], (0.0, 0.0, 0.0, 1.0)))
    geometry = character._geometry(ob)
    moved, _ = posed_on_gpu(geometry, Palette.from_matrices(pose, skeleton.rest_world), "LINEAR", armature_from_mesh)
    world = np.array(rig.matrix_world)
    points = np.empty_like(moved)
    points[:] = moved @ world[:3, :3].T + world[:3, 3]
    found = np.empty((len(ob.data.vertices), 3))
    found[geometry.vertices] = points
    return found


@every_attachment
def test_what_is_attached_to_an_armature_goes_along(build: Callable[[Object], Object]) -> None:
    """Shown from a pose of Blender's that is another one than the preview's."""
    rig, _ = own_character()
    rig.matrix_world = Matrix.LocRotScale((1.0, 2.0, 3.0), None, (2.0, 2.0, 2.0))
    ob = build(rig)
    assert attachment_of(ob) is not None
    bend(rig, seed=2)
    expected, wanted = in_world(ob), read_pose_world(rig)
    bend(rig, seed=3)
    assert np.abs(in_world(ob) - expected).max() > 0.1 or build is on_the_armature
    np.testing.assert_allclose(placed(rig, ob, wanted), expected, atol=PLACE)


@pytest.mark.parametrize("change", ["mute", "influence", "target"])
def test_what_does_not_attach_is_not_counted(change: str) -> None:
    rig, _ = own_character()
    ob = constrained("CHILD_OF")(rig)
    [constraint] = ob.constraints
    setattr(constraint, change, {"mute": True, "influence": 0.5, "target": None}[change])
    assert attachment_of(ob) is None


def test_a_viewport_shows_it_and_hides_the_original() -> None:
    rig, _ = own_character()
    ob = hat(rig, LAST)
    bend(rig)
    context.view_layer.objects.active = rig
    toggle()
    context.view_layer.update()
    assert ob.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport and ob.visible_get()
    shown = drawn_viewport(1)
    ob.hide_set(True)
    context.view_layer.update()
    assert (drawn_viewport(1) != shown).any()
    life.stop()


def mirrored(mesh: Object) -> None:
    mesh.modifiers.new("Mirror", "MIRROR")
    mesh.modifiers.move(1, 0)


def keyed(mesh: Object) -> None:
    mesh.shape_key_add(name="Basis")
    key = mesh.shape_key_add(name="Wide")
    for point in key.data:
        point.co = point.co * Vector((1.5, 1.0, 1.0))
    key.value = 0.6


def keyed_and_mirrored(mesh: Object) -> None:
    keyed(mesh)
    mirrored(mesh)


@pytest.mark.parametrize("shape", [mirrored, keyed, keyed_and_mirrored])
def test_what_comes_before_the_bones_is_shown(shape: Callable[[Object], None]) -> None:
    rig, mesh = own_character()
    before = {len(bpy.data.objects), len(bpy.data.scenes)}
    shape(mesh)
    assert is_shaped(mesh)
    bend(rig)
    skeleton = read_skeleton(rig)
    geometry = read_geometry(mesh, list(skeleton.names), np.ones((len(skeleton), 3)))
    ours, _ = posed_on_gpu(geometry, Palette.from_matrices(read_pose_world(rig), skeleton.rest_world), "LINEAR")
    theirs = evaluated(mesh)
    assert len(theirs) == geometry.vertices.max() + 1
    np.testing.assert_allclose(ours, theirs[geometry.vertices], atol=PLACE)
    assert {len(bpy.data.objects), len(bpy.data.scenes)} == before


def test_a_key_that_is_moved_is_seen_in_the_viewport() -> None:
    rig, mesh = own_character()
    keyed(mesh)
    mesh.data.shape_keys.key_blocks["Wide"].value = 0.0
    context.view_layer.objects.active = rig
    toggle()
    context.view_layer.update()
    before = drawn_viewport(1)
    mesh.data.shape_keys.key_blocks["Wide"].value = 1.0
    context.view_layer.update()
    assert (drawn_viewport(1) == before).all(), "nothing is evaluated from within a drawing"
    life._read_waiting()
    assert before.any() and (drawn_viewport(1) != before).any()
    life.stop()


def test_a_modifier_that_is_changed_is_seen_in_the_viewport() -> None:
    rig, mesh = own_character()
    mirrored(mesh)
    context.view_layer.objects.active = rig
    toggle()
    before = drawn_as_read()
    mesh.modifiers["Mirror"].use_axis = (False, False, True)
    assert before.any() and (drawn_as_read() != before).any()
    life.stop()


def test_values_of_geometry_nodes_change_what_is_drawn() -> None:
    """As those of Smooth by Angle, which Shade Auto Smooth adds."""
    rig, mesh = own_character()
    tree: Any = bpy.data.node_groups.new("Move", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    by = tree.interface.new_socket("By", in_out="INPUT", socket_type="NodeSocketVector")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    given, move, result = (tree.nodes.new(kind) for kind in
                           ("NodeGroupInput", "GeometryNodeSetPosition", "NodeGroupOutput"))
    tree.links.new(given.outputs[0], move.inputs["Geometry"])
    tree.links.new(given.outputs[1], move.inputs["Offset"])
    tree.links.new(move.outputs[0], result.inputs[0])
    modifier: Any = mesh.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    context.view_layer.objects.active = rig
    toggle()
    before = drawn_as_read()
    if hasattr(modifier, "properties"):
        getattr(modifier.properties.inputs, by.identifier).value = (0.0, 0.0, 1.0)
    else:
        modifier[by.identifier] = (0.0, 0.0, 1.0)
    mesh.update_tag()
    assert before.any() and (drawn_as_read() != before).any()
    life.stop()


def test_what_works_on_the_posed_mesh_is_named() -> None:
    _, mesh = own_character()
    mesh.modifiers.new("Solid", "SOLIDIFY")
    mesh.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    assert not_shown(mesh) == ["Smooth"]
    mesh.modifiers["Smooth"].show_viewport = False
    assert not_shown(mesh) == [] and is_shaped(mesh)


@pytest.mark.parametrize("in_front", [True, False])
def test_bones_stand_where_the_body_plays(monkeypatch: pytest.MonkeyPatch, in_front: bool) -> None:
    """Blender's own, which stand elsewhere, are hidden; in Pose Mode they are Blender's again."""
    rig, _ = own_character()
    rig.show_in_front = in_front
    context.view_layer.objects.active = rig
    rig.takt.text = bpy.data.texts.new("score.pha")
    toggle()
    actors: list[Any] = []
    monkeypatch.setattr(Cast, "draw", lambda _, them, *__: actors.extend(them))
    overlay = viewport()["area"].spaces.active.overlay
    for shown in (True, False):
        overlay.show_bones = shown
        context.view_layer.update()
        assert rig.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport and rig.visible_get()
        drawn_viewport(1)
    overlay.show_bones = True
    bpy.ops.object.mode_set(mode="POSE")
    rig.update_tag()
    context.view_layer.update()
    assert not rig.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport
    drawn_viewport(1)
    assert [actor.bones for actor in actors] == ["IN_FRONT" if in_front else "BEHIND", "", ""]
    bpy.ops.object.mode_set(mode="OBJECT")
    life.stop()
    context.view_layer.update()
    assert not rig.evaluated_get(context.evaluated_depsgraph_get()).hide_viewport
