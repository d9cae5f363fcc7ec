"""Limits of Blender's bones: read as Blender means them, and which way they decide. Also: which file a name means."""

import itertools
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.rigs import limits
from takt.bridge.scores import score
from takt.core.clips.clip import Clip, Tracks
from takt.core.formats import ogre_binary, ogre_xml
from takt.core.formats.ogre import OgreSkeleton
from takt.core.maths import rotations as rot
from takt.core.maths.euler import least_euler
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.blender.dancing import make_clip, play, rebuild

HIP = 1
SIDE_RAD = np.radians(110.0)
X = np.array((1.0, 0.0, 0.0))


def limit(rig: bpy.types.Object, bone: str = "l_hip", **more: Any) -> Any:
    """Let a bone turn about its x by 120° to either side, and little about its other axes."""
    constraint: Any = rig.pose.bones[bone].constraints.new("LIMIT_ROTATION")
    constraint.owner_space = "LOCAL"
    for axis, range_ in zip("xyz", (np.radians(120.0), 0.2, 0.2), strict=True):
        setattr(constraint, f"use_limit_{axis}", True)
        setattr(constraint, f"min_{axis}", -range_)
        setattr(constraint, f"max_{axis}", range_)
    for name, value in more.items():
        setattr(constraint, name, value)
    return constraint


@pytest.fixture
def swings(tmp_path: Path, skeleton: Skeleton) -> Path:
    """Two clips that hold the hip at −110° and at 110° about the rig's own x, and their score."""
    hip = rot.from_axis_angle(X, np.array((-SIDE_RAD, SIDE_RAD)))
    held = [Clip(name, skeleton, 1.0, Tracks.uniform(np.array((HIP,)), np.zeros(1), q[None, None]), Tracks.empty(3),
                 Tracks.empty(3)) for name, q in zip(("back", "front"), hip, strict=True)]
    (tmp_path / "Swings.skeleton.xml").write_bytes(ogre_xml.write(OgreSkeleton.of(skeleton, held)))
    (tmp_path / "swing.pha").write_text(
        '<pha tickLength="1"><load src="Swings"/><procedure name="main"><call name="back" duration="1" transition="1"/>'
        '<call name="front" duration="1"/></procedure></pha>')
    return tmp_path / "swing.pha"


def turned(rig: bpy.types.Object) -> float:
    """Return by how much the hip is turned at the seam, in degrees."""
    motion = score.motion_of(rig)
    assert motion is not None
    return float(np.degrees(rot.to_axis_angle(motion.sample(np.array((1.0,))).rotations[0, HIP])[1]))


@pytest.mark.parametrize("order", ["".join(o) for o in itertools.permutations("XYZ")])
def test_angles_are_blenders_own(order: Any) -> None:
    random = np.random.default_rng(3)
    for q in rot.normalized(random.normal(size=(50, 4))):
        axes = np.array(["XYZ".index(axis) for axis in order])
        theirs: Any = Quaternion(q.tolist()).to_euler(order)
        np.testing.assert_allclose(np.array(theirs), least_euler(q, axes), atol=1e-5)


def test_limits_of_constraints_and_of_ik(rig: bpy.types.Object) -> None:
    assert limits.read_limits(rig) is None
    limit(rig, "l_knee", euler_order="ZXY", use_limit_y=False)
    for more in ({"owner_space": "WORLD"}, {"mute": True}, {"influence": 0.0}):
        limit(rig, "r_hip", **more)
    bone: Any = rig.pose.bones["l_hip"]
    bone.use_ik_limit_z, bone.ik_min_z, bone.ik_max_z = True, -0.5, 2.0
    found = limits.read_limits(rig)
    assert found is not None
    assert found.joints.tolist() == [1, 2]
    np.testing.assert_allclose(found.high, ((np.inf, np.inf, 2.0), (np.radians(120.0), np.inf, 0.2)), rtol=1e-6)
    np.testing.assert_allclose(found.low[0], (-np.inf, -np.inf, -0.5))
    assert found.order.tolist() == [[0, 1, 2], [2, 0, 1]]


def test_they_decide_the_way_only_where_that_is_wanted(rig: bpy.types.Object, swings: Path) -> None:
    constraint = limit(rig)
    play(swings, root_motion="AS_AUTHORED")
    assert turned(rig) > 170.0  # the short way, over the back
    play(swings, joint_limits=True, root_motion="AS_AUTHORED")
    assert turned(rig) < 10.0
    properties.character(rig).joint_limits = False
    assert turned(rig) > 170.0
    properties.character(rig).joint_limits = True
    constraint.mute = True  # seen at once, without anything being imported again
    assert turned(rig) > 170.0


def test_the_action_goes_that_way_too(rig: bpy.types.Object, swings: Path) -> None:
    limit(rig)
    play(swings, joint_limits=True, root_motion="AS_AUTHORED")
    scene: Any = bpy.context.scene
    scene.frame_set(scene.frame_start + scene.render.fps)
    angle = rig.pose.bones["l_hip"].matrix_basis.to_quaternion().angle
    assert min(angle, 2.0 * np.pi - angle) < 0.2


def test_wanted_without_any_is_a_warning(rig: bpy.types.Object, swings: Path,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    play(swings, joint_limits=True, root_motion="AS_AUTHORED")
    assert "No bone has limits" in capsys.readouterr().out


def test_load_format_chooses_the_file(rig: bpy.types.Object, library: Path, skeleton: Skeleton) -> None:
    longer = make_clip("left", skeleton, 7), make_clip("right", skeleton, 8)
    (library / "feet" / "Steps.skeleton").write_bytes(ogre_binary.write(OgreSkeleton.of(skeleton, longer)))
    found = []
    for chosen in ("ANY", ".skeleton.xml"):
        play(library / "dance.pha", load_format=chosen)
        motion = score.motion_of(rig)
        assert motion is not None
        found.append(motion.sample(np.array((0.5,))).rotations[0, HIP])
    assert rot.angle_between(*found) > 0.1
    properties.character(rig).load_format = "ANY"
    rebuild()
    motion = score.motion_of(rig)
    assert motion is not None
    assert rot.angle_between(motion.sample(np.array((0.5,))).rotations[0, HIP], found[0]) == 0.0
