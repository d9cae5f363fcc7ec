"""Meshes that play floors: feet stand on them, also once they are moved or edited; what is none says why."""

from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from takt.bridge import changes, properties
from takt.bridge.scene import cast, floor_shapes
from takt.bridge.scores import score, variation
from takt.core.playing.scene.cast import SceneFloor, Unfit
from takt.samples.clip_files import LIBRARY
from takt.tests.blender.test_cast import added, rebuilt, walker

__all__ = ["walker"]  # the fixture
SCORE = """<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="stage" is="floor"/>
  <procedure name="main"><call name="left_step" duration="2"/><call name="right_step" duration="2"/></procedure>
</pha>
"""
FRAMES, NEAR_M = (1, 40, 97), 1e-4
LEG_M = 0.825


@pytest.fixture
def stroller(walker: bpy.types.Object, tmp_path: Path) -> bpy.types.Object:
    """Return the sample character with a score that goes over a floor."""
    ops: Any = bpy.ops
    path = tmp_path / "stage.pha"
    path.write_text(SCORE, encoding="utf-8")
    assert ops.takt.import_pha(filepath=str(path), library=str(LIBRARY)) == {"FINISHED"}
    return walker


@pytest.fixture
def stander() -> bpy.types.Object:
    """Return an armature whose score has a floor, as far as the cast is concerned."""
    found = added("Rig", bpy.data.armatures.new("Rig"))
    cast.keep(properties.character(found), {"stage": "floor"})
    return found


def platform(high: float, faces: tuple[tuple[int, ...], ...] = ((0, 1, 2, 3),)) -> bpy.types.Object:
    mesh = bpy.data.meshes.new("Stage")
    mesh.from_pydata([(-5.0, -5.0, 0.0), (5.0, -5.0, 0.0), (5.0, 5.0, 0.0), (-5.0, 5.0, 0.0)], [], faces)
    return added("Stage", mesh, location=(0.0, 0.0, high))


def ankles(walker: bpy.types.Object) -> np.ndarray:
    """Return how high both ankles are at some frames."""
    rebuilt()
    scene, found = bpy.context.scene, []
    assert scene is not None and walker.pose is not None
    for frame in FRAMES:
        scene.frame_set(frame)
        found.append([(walker.matrix_world @ walker.pose.bones[name].matrix).translation.z
                      for name in ("l_ankle", "r_ankle")])
    return np.array(found)


def lowest(walker: bpy.types.Object) -> float:
    """Return how high the lowest skin is at the current frame."""
    (body,) = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == walker]
    posed = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh: Any = posed.data
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    world = np.array(posed.matrix_world)
    return float((points.reshape(-1, 3) @ world[2, :3] + world[2, 3]).min())


def test_feet_are_as_high_as_the_mesh_also_once_it_is_moved_or_edited(stroller: bpy.types.Object) -> None:
    flat, stage = ankles(stroller), platform(0.3)
    properties.character(stroller).cast["stage"].target = stage
    low = ankles(stroller)
    assert abs(lowest(stroller) - 0.3) < 0.01 * LEG_M
    before = cast.key(stroller)
    assert cast.key(stroller) == before
    stage.location.z = 0.5
    assert cast.key(stroller) != before
    np.testing.assert_allclose(ankles(stroller) - low, 0.2, atol=NEAR_M)
    mesh: Any = stage.data
    for vertex in mesh.vertices:
        vertex.co.z = -0.4
    mesh.update()
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    np.testing.assert_allclose(ankles(stroller) - low, -0.2, atol=NEAR_M)
    stage.scale = 0.0, 0.0, 0.0
    np.testing.assert_allclose(ankles(stroller), flat, atol=NEAR_M)


@pytest.mark.parametrize(("make", "why"), [
    (lambda: added("Box", None), "'Box' is of the type Empty, expected a mesh"),
    (lambda: platform(0.0, ()), "the mesh 'Stage' has no faces to stand on")])
def test_what_is_no_floor_says_why(stroller: bpy.types.Object, make: Any, why: str) -> None:
    role = properties.character(stroller).cast["stage"]
    role.target = make()
    (_, found), = cast.read(stroller)
    assert isinstance(found, Unfit) and why in found.why
    motion = score.motion_of(stroller)
    assert motion is not None
    (problem,) = [each for each in motion.problems if "'stage'" in each.message]
    assert why in problem.message and problem.place.line is not None and not problem.is_note


def test_a_mesh_may_play_a_floor_and_one_that_moves_counts_as_the_score_begins(stander: bpy.types.Object) -> None:
    role, stage = properties.character(stander).cast["stage"], platform(0.2)
    assert properties._may_play(role, stage) and not properties._may_play(role, added("Empty", None))
    role.target = stage
    lifted(stage)
    found = read(stander)
    assert "'Stage' moves independently of" in found.note and "parent the character to it" in found.note
    np.testing.assert_allclose(found.points[:, 2], 0.2, atol=1e-6)


def test_a_floor_that_carries_the_character_along_needs_no_word(stander: bpy.types.Object) -> None:
    ship, stage = added("Ship", None), platform(0.2)
    stage.parent = stander.parent = ship
    properties.character(stander).cast["stage"].target = stage
    before = read(stander)
    lifted(ship)
    found = read(stander)
    assert not found.note
    np.testing.assert_allclose(found.points, before.points, atol=1e-5)


def lifted(ob: bpy.types.Object) -> None:
    for frame, high in ((1, ob.location.z), (90, 2.0)):
        ob.location.z = high
        ob.keyframe_insert("location", frame=frame)


def read(stander: bpy.types.Object) -> SceneFloor:
    (_, found), = cast.read(stander)
    assert isinstance(found, SceneFloor)
    return found


def updated() -> None:
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()


def array(ob: bpy.types.Object, count: int) -> Any:
    """Let a mesh be repeated along x by a modifier."""
    modifier: Any = ob.modifiers.new("Array", "ARRAY")
    modifier.count = count
    return modifier


def test_the_mesh_counts_as_modifiers_and_shape_keys_make_it_and_is_read_again_once_they_change(
        stander: bpy.types.Object) -> None:
    stage = platform(0.2)
    properties.character(stander).cast["stage"].target = stage
    modifier = array(stage, 3)
    updated()
    assert len(read(stander).triangles) == 6
    key = cast.key(stander)
    assert cast.key(stander) == key
    modifier.count = 5
    updated()
    assert len(read(stander).triangles) == 10 and cast.key(stander) != key
    modifier.show_viewport = False
    stage.shape_key_add(name="Basis")
    raised: Any = stage.shape_key_add(name="Raised")
    for point in raised.data:
        point.co.z = 0.7
    raised.value = 1.0
    updated()
    np.testing.assert_allclose(read(stander).points[:, 2], 0.9, atol=1e-5)
    raised.value = 0.5
    updated()
    np.testing.assert_allclose(read(stander).points[:, 2], 0.55, atol=1e-5)


def test_what_a_modifier_follows_counts_too(stander: bpy.types.Object) -> None:
    stage, centre = platform(0.2), added("Centre", None, location=(20.0, 0.0, 0.2))
    mirror: Any = stage.modifiers.new("Mirror", "MIRROR")
    mirror.mirror_object = centre
    properties.character(stander).cast["stage"].target = stage
    updated()
    assert read(stander).points[:, 0].max() == pytest.approx(45.0, abs=1e-4)
    centre.location.x = 30.0
    updated()
    assert read(stander).points[:, 0].max() == pytest.approx(65.0, abs=1e-4)


def out_of_the_scene(ob: bpy.types.Object) -> None:
    assert bpy.context.scene is not None and bpy.context.scene.collection is not None
    bpy.context.scene.collection.objects.unlink(ob)
    other = bpy.data.scenes.new("Other").collection
    assert other is not None
    other.objects.link(ob)


def test_a_modifier_that_is_keyed_is_told_and_counts_the_same_at_every_frame(stander: bpy.types.Object) -> None:
    stage, scene = platform(0.2), bpy.context.scene
    modifier = array(stage, 2)
    for frame, count in ((1, 2), (50, 9)):
        modifier.count = count
        modifier.keyframe_insert("count", frame=frame)
    assert scene is not None
    scene.frame_set(1)
    properties.character(stander).cast["stage"].target = stage
    key, found = cast.key(stander), read(stander)
    assert "the shape of 'Stage' is animated" in found.note and len(found.triangles) == 4
    scene.frame_set(50)
    assert cast.key(stander) == key


def in_a_disabled_collection(ob: bpy.types.Object) -> None:
    """Put an object into a collection that is enabled, but within one that is not."""
    scene, outer, inner = bpy.context.scene, bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    assert scene is not None and scene.collection is not None
    scene.collection.objects.unlink(ob)
    scene.collection.children.link(outer)
    outer.children.link(inner)
    inner.objects.link(ob)
    outer.hide_viewport = True


@pytest.mark.parametrize("hide", [lambda ob: setattr(ob, "hide_viewport", True), lambda ob: ob.hide_set(True),
                                  out_of_the_scene, in_a_disabled_collection])
def test_a_floor_that_is_not_shown_counts_with_its_modifiers(stander: bpy.types.Object, hide: Any) -> None:
    stage = platform(0.2)
    modifier = array(stage, 3)
    hide(stage)
    updated()
    properties.character(stander).cast["stage"].target = stage
    scenes, objects = len(bpy.data.scenes), len(bpy.data.objects)
    assert len(read(stander).triangles) == 6
    modifier.count = 4
    assert len(read(stander).triangles) == 8
    assert (len(bpy.data.scenes), len(bpy.data.objects)) == (scenes, objects)


def test_nothing_is_evaluated_within_a_drawing_but_soon_afterwards(stander: bpy.types.Object) -> None:
    stage = platform(0.2)
    array(stage, 3)
    stage.hide_viewport = True
    updated()
    properties.character(stander).cast["stage"].target = stage
    with floor_shapes.busy():
        assert len(read(stander).triangles) == 2
    assert bpy.app.timers.is_registered(floor_shapes._read_waiting)
    floor_shapes._read_waiting()
    with floor_shapes.busy():
        assert len(read(stander).triangles) == 6
    bpy.app.timers.unregister(floor_shapes._read_waiting)


def test_a_shape_that_is_animated_is_told_and_counts_the_same_at_every_frame(stander: bpy.types.Object) -> None:
    stage, scene = platform(0.2), bpy.context.scene
    stage.modifiers.new("Wave", "WAVE")
    properties.character(stander).cast["stage"].target = stage
    updated()
    key, found = cast.key(stander), read(stander)
    assert "the shape of 'Stage' is animated" in found.note
    assert scene is not None
    scene.frame_set(40)
    assert cast.key(stander) == key


def steps(count: int) -> bpy.types.Collection:
    """Return a collection of planes, each higher than the one before, and of what is no mesh."""
    found = bpy.data.collections.new("Steps")
    assert bpy.context.scene is not None
    bpy.context.scene.collection.children.link(found)
    for number in range(count):
        stage = platform(0.1 * (number + 1))
        stage.location.x = 10.0 * number
        bpy.context.scene.collection.objects.unlink(stage)
        found.objects.link(stage)
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    found.objects.link(lamp)
    updated()
    return found


def test_all_meshes_of_a_collection_are_one_floor(stander: bpy.types.Object) -> None:
    role, collection = properties.character(stander).cast["stage"], steps(3)
    role.collection = collection
    assert sorted(set(read(stander).points[:, 2].round(4).tolist())) == [0.1, 0.2, 0.3]
    key = cast.key(stander)
    assert cast.key(stander) == key
    for name, modifies in (("Body", True), ("Hat", False)):  # its own body and what it wears are no floor
        part = platform(3.0)
        part.name, part.parent = name, stander
        if modifies:
            part.modifiers.new("Armature", "ARMATURE").object = stander
        collection.objects.link(part)
    updated()
    assert len(read(stander).triangles) == 6
    collection.objects[0].location.z = 0.7
    updated()
    assert 0.7 in read(stander).points[:, 2].round(4) and cast.key(stander) != key
    role.target = platform(1.0)
    assert len(read(stander).triangles) == 8


def test_a_floor_of_many_meshes_stays_the_same_until_one_is_changed(stander: bpy.types.Object) -> None:
    collection, mesh = bpy.data.collections.new("Many"), platform(0.0).data
    assert mesh is not None
    for number in range(300):
        found = bpy.data.objects.new("Part", mesh.copy())
        found.location.x = 11.0 * number
        collection.objects.link(found)
    properties.character(stander).cast["stage"].collection = collection
    updated()
    before = read(stander)
    changes.score()
    assert len(before.triangles) == 600 and read(stander) is before


def test_an_instance_of_a_collection_is_a_floor_where_it_stands(stander: bpy.types.Object) -> None:
    role, collection = properties.character(stander).cast["stage"], steps(2)
    collection.instance_offset = 0.0, 0.0, 0.1
    instance = added("Instance", None, location=(0.0, 0.0, 1.0))
    instance.instance_type, instance.instance_collection = "COLLECTION", collection
    assert properties._may_play(role, instance)
    role.target = instance
    assert sorted(set(read(stander).points[:, 2].round(4).tolist())) == [1.0, 1.1]
    instance.scale = 2.0, 2.0, 2.0
    updated()
    assert read(stander).points[:, 2].max() == pytest.approx(1.2, abs=1e-4)
    assert bpy.context.scene is not None
    instance.instance_collection = bpy.context.scene.collection  # holds the instance itself, and others around it
    read(stander)


def empty_collection() -> bpy.types.Collection:
    return bpy.data.collections.new("Bare")


def of_nothing() -> bpy.types.Collection:
    found = steps(1)
    found.objects[0].scale = 0.0, 0.0, 0.0
    updated()
    return found


@pytest.mark.parametrize(("make", "why"), [(empty_collection, "the collection 'Bare' has no meshes"),
                                           (of_nothing, "'Stage' is scaled to nothing")])
def test_a_collection_without_a_floor_says_why(stander: bpy.types.Object, make: Any, why: str) -> None:
    properties.character(stander).cast["stage"].collection = make()
    (_, found), = cast.read(stander)
    assert isinstance(found, Unfit) and why in found.why


@pytest.mark.parametrize("as_collection", [False, True])
def test_a_linked_floor_counts_as_its_file_has_it(stander: bpy.types.Object, tmp_path: Path,
                                                  as_collection: bool) -> None:
    collection, path = steps(2), tmp_path / "steps.blend"
    array(collection.objects["Stage"], 2)
    bpy.data.libraries.write(str(path), {collection})
    for ob in [*collection.objects]:
        bpy.data.objects.remove(ob)
    bpy.data.collections.remove(collection)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(path), link=True) as (_, to):
        to.collections = ["Steps"]
    (linked,) = [each for each in bpy.data.collections if each.library is not None]
    role = properties.character(stander).cast["stage"]
    if as_collection:
        role.collection = linked
    else:
        role.target = linked.objects["Stage"]
    assert len(read(stander).triangles) == (6 if as_collection else 4)


def test_a_floor_that_is_edited_while_it_plays_is_read_once_blender_tells(stroller: bpy.types.Object) -> None:
    stage, scene, ops = platform(0.2), bpy.context.scene, bpy.ops
    role, layer = properties.character(stroller).cast["stage"], bpy.context.view_layer
    array(stage, 2)
    role.target = stage
    updated()
    high = ankles(stroller)[0].mean()
    assert scene is not None and layer is not None and ops.object.mode_set is not None
    layer.objects.active = stage
    ops.object.mode_set(mode="EDIT")
    key = cast.key(stroller)
    editing: Any = bmesh.from_edit_mesh(stage.data)  # type: ignore[arg-type]
    for vertex in editing.verts:
        vertex.co.z += 0.3
    bmesh.update_edit_mesh(stage.data)  # type: ignore[arg-type]
    scene.frame_set(30)
    assert cast.key(stroller) == key  # as it was before
    ops.object.mode_set(mode="OBJECT")
    layer.objects.active = stroller
    updated()
    assert cast.key(stroller) != key
    assert ankles(stroller)[0].mean() - high == pytest.approx(0.3, abs=NEAR_M)


def test_a_collection_may_be_cast_by_its_name_and_goes_to_another_character(stander: bpy.types.Object) -> None:
    collection, character = steps(1), properties.character(stander)
    variation.set_cast(character, {"stage": "Steps"})
    assert character.cast["stage"].collection == collection
    other = added("Other", stander.data)
    cast.copy(character, properties.character(other))
    assert properties.character(other).cast["stage"].collection == collection
    bpy.data.collections.remove(collection)
    assert character.cast["stage"].collection is None
