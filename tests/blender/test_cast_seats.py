"""Meshes and empties that play a seat: the lowest skin is on them, also once they are moved."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scene import cast
from takt.bridge.scores import score
from takt.core.formats import ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.playing.scene.cast import ScenePlace
from takt.samples.posing import build_clip
from takt.tests.blender.test_cast import added, rebuilt, walker
from takt.tests.core.test_scene_seats import DOWN, STILL

__all__ = ["walker"]  # the fixture
SCORE = """<pha version="2" tickLength="1"><load src="rooms.Chairs"/><role name="seat" is="place"/>
  <procedure name="main"><call name="stand" duration="1"/><call name="sit_down" at="seat" duration="2"/>
    <call name="sit_still" duration="2"/></procedure>
</pha>
"""
SITS, LEG_M = (73, 90, 115), 0.825


@pytest.fixture
def sitter(walker: bpy.types.Object, tmp_path: Path) -> bpy.types.Object:
    """Return the sample character with a score that sits down."""
    ops: Any = bpy.ops
    clips = build_clip("stand", 1.0, {}), build_clip("sit_down", 2.0, DOWN), build_clip("sit_still", 2.0, STILL)
    skeleton = clips[0].skeleton
    (tmp_path / "rooms").mkdir()
    (tmp_path / "rooms" / "Chairs.skeleton.xml").write_bytes(ogre_xml.write(
        OgreSkeleton(skeleton, clips, np.arange(len(skeleton)))))
    path = tmp_path / "sits.pha"
    path.write_text(SCORE, encoding="utf-8")
    assert ops.takt.import_pha(filepath=str(path), library=str(tmp_path)) == {"FINISHED"}
    return walker


def cube(high: float, origin: float = 0.0) -> bpy.types.Object:
    """Return a cube that is so high, on the ground; origin: of it above its middle."""
    corners = [(x, y, z - origin) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-high / 2.0, high / 2.0)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new("Chair")
    mesh.from_pydata(corners, [], faces)
    return added("Chair", mesh, location=(0.3, -0.4, high / 2.0 + origin), rotation_euler=(0.0, 0.0, 0.5))


def seat_heights(sitter: bpy.types.Object) -> np.ndarray:
    """Return how high the lowest skin of hips and the first third of the thighs is at some frames."""
    rebuilt()
    (body,) = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == sitter]
    data: Any = body.data
    assert isinstance(sitter.data, bpy.types.Armature)
    bones, named = sitter.data.bones, {group.index: group.name for group in body.vertex_groups}
    own, height = [], bones["l_hip"].head_local.z - bones["l_knee"].head_local.z
    for vertex in data.vertices:
        strongest = max(vertex.groups, key=lambda each: each.weight, default=None)
        name = "" if strongest is None else named[strongest.group]
        of_thigh = name in ("l_hip", "r_hip") and bones["l_hip"].head_local.z - vertex.co.z < 0.35 * height
        if of_thigh or name.lower().replace("_", "") in ("humanoidroot", "sacroiliac", "vl5"):
            own.append(vertex.index)
    assert len(own) > 20 and bpy.context.scene is not None
    found = []
    for frame in SITS:
        bpy.context.scene.frame_set(frame)
        posed = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh: Any = posed.data
        points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        world = np.array(posed.matrix_world)
        found.append(float((points.reshape(-1, 3)[own] @ world[2, :3] + world[2, 3]).min()))
    return np.array(found)


def test_the_seat_is_on_a_cube_also_once_that_is_moved_or_edited(sitter: bpy.types.Object) -> None:
    chair = cube(0.3)
    properties.character(sitter).cast["seat"].target = chair
    for lift in (0.0, 0.25):
        chair.location.z = 0.15 + lift
        np.testing.assert_allclose(seat_heights(sitter), 0.3 + lift, atol=0.01 * LEG_M)
    mesh: Any = chair.data
    for vertex in mesh.vertices:
        vertex.co.z *= 0.5
    mesh.update()
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    np.testing.assert_allclose(seat_heights(sitter), 0.475, atol=0.01 * LEG_M)


def test_an_empty_is_as_high_as_its_seat_and_a_mark_on_the_ground_is_none(sitter: bpy.types.Object) -> None:
    role, mark = properties.character(sitter).cast["seat"], added("Mark", None, location=(0.3, -0.4, 0.0))
    own = seat_heights(sitter)
    role.target = mark
    np.testing.assert_allclose(seat_heights(sitter), own, atol=1e-4)
    mark.location.z = 0.52
    np.testing.assert_allclose(seat_heights(sitter), 0.52, atol=0.01 * LEG_M)


@pytest.mark.parametrize(("turn", "size"), [((0.0, 0.0, 0.0), 1.0), ((0.4, 0.2, 1.0), 0.7)])
def test_the_surface_is_the_highest_of_the_mesh_at_its_origin(sitter: bpy.types.Object, turn: Any,
                                                              size: float) -> None:
    chair = cube(0.5, origin=0.6)
    chair.rotation_euler, chair.scale = turn, (size,) * 3
    sitter.location, sitter.rotation_euler = (0.2, 0.5, 0.1), (0.0, 0.0, 1.0)
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()
    properties.character(sitter).cast["seat"].target = chair
    (_, found), = cast.read(sitter)
    assert isinstance(found, ScenePlace) and found.surface is not None
    world = np.array(sitter.matrix_world) @ np.append(found.surface, 1.0)
    is_hit, at, *_ = chair.ray_cast(*(np.array(chair.matrix_world.inverted())[:3] @ np.array(each) for each in (
        (*chair.location[:2], 9.0, 1.0), (0.0, 0.0, -1.0, 0.0))))
    assert is_hit
    np.testing.assert_allclose(world[:3], np.array(chair.matrix_world @ at), atol=1e-5)


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.0, 0.0, 0.7), (np.pi / 2.0, 0.0, 0.0)])
def test_a_footprint_has_the_outermost_points_of_the_mesh_also_once_it_is_edited(sitter: bpy.types.Object,
                                                                               turn: Any) -> None:
    chair = cube(0.5)
    chair.rotation_euler, chair.scale = turn, (0.5, 0.5, 1.0)
    role = properties.character(sitter).cast["seat"]
    role.target = chair
    for wider in (1.0, 2.0):
        data: Any = chair.data
        data.transform(((wider, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)))
        data.update()
        bpy.context.view_layer.update()
        ((_, place),) = cast.read(sitter)
        assert isinstance(place, ScenePlace)
        corners = {tuple(np.round(corner[:2], 4)) for corner in place.footprint}
        into = np.linalg.inv(np.array(sitter.matrix_world)) @ np.array(chair.matrix_world)
        every = np.array([into @ (*vertex.co, 1.0) for vertex in data.vertices])[:, :2].round(4)
        assert corners == set(map(tuple, every.tolist())) and len(corners) == 4
    role.target = added("Mark", None, location=(0.0, 0.0, 0.4))
    ((_, mark),) = cast.read(sitter)
    assert isinstance(mark, ScenePlace) and not mark.footprint


def test_a_mesh_beside_its_origin_says_what_to_do(sitter: bpy.types.Object) -> None:
    chair = cube(0.4)
    mesh: Any = chair.data
    for vertex in mesh.vertices:
        vertex.co.x += 2.0
    mesh.update()
    properties.character(sitter).cast["seat"].target = chair
    motion = score.motion_of(sitter)
    assert motion is not None
    (problem,) = [each for each in motion.problems if "no surface" in each.message]
    assert "the role 'seat': 'Chair' has no surface above or below its origin" in problem.message
    assert problem.place.line is not None and not problem.is_note


@pytest.mark.parametrize("unit_m", [1.0, 0.1])
def test_lengths_are_told_in_metres_of_the_scene(sitter: bpy.types.Object, unit_m: float) -> None:
    assert bpy.context.scene is not None
    bpy.context.scene.unit_settings.scale_length = unit_m
    sitter.scale = 2.0, 2.0, 2.0
    properties.character(sitter).cast["seat"].target = added("Below", None, location=(0.3, -0.4, -0.5))
    rebuilt()
    motion = score.motion_of(sitter)
    assert motion is not None
    assert [each.message for each in motion.problems if f"its seat is {0.5 * unit_m:.2g} m below" in each.message]
