"""Meshes that play floors: feet stand on them, also once they are moved or edited; what is none says why."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import cast, properties, score
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


def test_a_mesh_may_play_a_floor_and_an_animated_one_counts_as_the_score_begins(stroller: bpy.types.Object) -> None:
    role, stage = properties.character(stroller).cast["stage"], platform(0.2)
    assert properties._may_play(role, stage) and not properties._may_play(role, added("Empty", None))
    role.target = stage
    for frame, high in ((1, 0.2), (90, 2.0)):
        stage.location.z = high
        stage.keyframe_insert("location", frame=frame)
    (_, found), = cast.read(stroller)
    assert isinstance(found, SceneFloor) and "'Stage' or" in found.note
    np.testing.assert_allclose(found.points[:, 2], 0.2, atol=1e-6)
