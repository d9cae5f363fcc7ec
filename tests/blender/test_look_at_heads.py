"""Looking at another character looks at its head, found by its skeleton map, wherever that goes."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.rigs import object_courses, person
from takt.bridge.scene import cast
from takt.bridge.scores import score
from takt.core.playing.scene.cast import Moving, ScenePlace
from takt.samples.clip_files import LIBRARY
from takt.tests.blender.test_cast import added, walker

__all__ = ["walker"]  # the fixture
LOOK = """<pha version="2" tickLength="1"><load src="gestures.Greetings"/>
  <role name="her" is="place"/>
  <procedure name="main"><together>
    <lane><call name="hello" duration="6"/></lane><lane><look at="her" duration="6"/></lane>
  </together></procedure>
</pha>
"""
NEAR_M, NEAR_RAD = 1e-4, np.radians(5.0)


@pytest.fixture
def looker(walker: bpy.types.Object, tmp_path: Path) -> bpy.types.Object:
    """Return the sample character with a score that looks at somebody."""
    ops: Any = bpy.ops
    path = tmp_path / "look.pha"
    path.write_text(LOOK, encoding="utf-8")
    assert ops.takt.import_pha(filepath=str(path), library=str(LIBRARY)) == {"FINISHED"}
    return walker


def partner(looker: bpy.types.Object, **placed: Any) -> bpy.types.Object:
    assert looker.data is not None
    return added("Partner", looker.data.copy(), **placed)


def head_of(ob: bpy.types.Object) -> np.ndarray:
    layer = bpy.context.view_layer
    assert layer is not None and ob.pose is not None
    layer.update()
    return np.array(ob.matrix_world @ ob.pose.bones["skullbase"].head)


def shown_at(frame: int) -> None:
    assert bpy.context.scene is not None
    bpy.context.scene.frame_set(frame)


def read(looker: bpy.types.Object) -> tuple[float, float, float]:
    found = dict(cast.read(looker))["her"]
    assert isinstance(found, ScenePlace) and found.head is not None
    return found.head


def test_a_gaze_goes_to_the_head_not_to_the_origin(looker: bpy.types.Object) -> None:
    other = partner(looker, location=(0.3, -1.5, 0.0))
    properties.character(looker).cast["her"].target = other
    assert bpy.ops.takt.rebuild() == {"FINISHED"}  # type: ignore[attr-defined]
    shown_at(1 + 3 * 24)
    assert looker.pose is not None
    bone = looker.pose.bones["skullbase"]
    turned = np.array((looker.matrix_world @ bone.matrix @ bone.bone.matrix_local.inverted()).to_3x3())
    wanted = head_of(other) - head_of(looker)
    gaze = turned @ (0.0, -1.0, 0.0)
    assert np.arccos(gaze @ wanted / np.linalg.norm(wanted)) < NEAR_RAD


def test_a_mesh_of_a_character_has_its_head_and_an_empty_has_none(looker: bpy.types.Object) -> None:
    other = partner(looker, location=(1.0, 0.0, 0.0))
    mesh = added("Partner Body", bpy.data.meshes.new("Partner Body"))
    mesh.parent, mesh.parent_type = other, "ARMATURE"
    role = properties.character(looker).cast["her"]
    role.target = mesh
    np.testing.assert_allclose(read(looker), np.array(looker.matrix_world.inverted())[:3, :3] @ head_of(other),
                               atol=NEAR_M)
    role.target = added("Empty", None)
    (_, place), = cast.read(looker)
    assert isinstance(place, ScenePlace) and place.head is None


@pytest.mark.parametrize("seed", range(5))
def test_the_head_is_where_blender_has_it_at_each_frame_whatever_is_shown(looker: bpy.types.Object, seed: int) -> None:
    rng, other = np.random.default_rng(seed), partner(looker, location=(0.3, -1.5, 0.2), rotation_euler=(0.0, 0.3, 2.0))
    assert other.pose is not None
    bone: Any = other.pose.bones["skullbase"]
    for each in (bone, *bone.parent_recursive):
        each.rotation_mode = str(rng.choice(["XYZ", "QUATERNION", "AXIS_ANGLE"]))
        path = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(each.rotation_mode,
                                                                                              "rotation_euler")
        each.bone.inherit_scale = str(rng.choice(["FULL", "NONE", "AVERAGE"]))
        each.bone.use_inherit_rotation = bool(rng.integers(4))
        for frame in (1, 50):
            setattr(each, path, rng.uniform(0.1, 0.6, len(getattr(each, path))).tolist())
            each.location, each.scale = rng.normal(0.0, 0.05, 3).tolist(), rng.uniform(0.8, 1.2, 3).tolist()
            for keyed in (path, "location", "scale"):
                each.keyframe_insert(keyed, frame=frame)
    properties.character(looker).cast["her"].target = other
    wanted = []
    for frame in (1, 20, 50):
        shown_at(frame)
        wanted.append(head_of(other))
    assert np.linalg.norm(wanted[2] - wanted[0]) > 10.0 * NEAR_M
    found = object_courses.world_over(person.head(other), np.array((1.0, 20.0, 50.0)))
    np.testing.assert_allclose(found[:, :3, 3], wanted, atol=NEAR_M)
    (_, target), = cast.read(looker)
    assert isinstance(target, Moving) and target.heads is not None and not target.note
    np.testing.assert_allclose(target.heads[[0, 19, 49]], wanted @ np.array(looker.matrix_world)[:3, :3], atol=NEAR_M)
    motion = score.motion_of(looker)
    assert motion is not None and not [each for each in motion.problems if "'Partner'" in each.message]
