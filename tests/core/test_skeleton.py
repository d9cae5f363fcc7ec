"""core/skeletons/skeleton.py: what a skeleton accepts, and forward kinematics against a plain walk up the parents."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import Pose, Skeleton, height_rows, world_from_pose
from takt.tests.core.strategies import quaternions, skeletons, vectors

EXACT = 1e-12
ROUNDING = 1e-9
"""For products of a few matrices with entries up to some tens."""

QUARTER_ABOUT_Z = rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2.0)


def arm() -> Skeleton:
    """Upper arm along x, lower arm one further along, and a root of its own."""
    return Skeleton.from_arrays(["upper", "lower", "prop"], [-1, 0, -1], rot.identities(3),
                                np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (5.0, 0.0, 0.0))), name="arm")


def homogeneous(linear: FloatArray, position: FloatArray) -> FloatArray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, position
    return matrix


def walked(skeleton: Skeleton, pose: Pose, joint: int) -> FloatArray:
    """The definition, one joint at a time: local matrices multiplied from the root down."""
    linear = rot.to_matrix(rot.multiply(skeleton.rest_rotations[joint], pose.rotations[joint]))
    local = homogeneous(linear @ np.diag(skeleton.rest_scales[joint] * pose.scales[joint]),
                        skeleton.rest_translations[joint] + pose.translations[joint])
    parent = int(skeleton.parents[joint])
    return local if parent < 0 else np.asarray(walked(skeleton, pose, parent) @ local)


@st.composite
def posed(draw: st.DrawFn) -> tuple[Skeleton, Pose]:
    skeleton = draw(skeletons())
    joints = range(len(skeleton))
    return skeleton, Pose(np.array([draw(quaternions()) for _ in joints]), np.array([draw(vectors()) for _ in joints]),
                          np.array([[draw(st.floats(0.5, 2.0)) for _ in range(3)] for _ in joints]))


@pytest.mark.parametrize(("change", "says"), [
    ({"parents": np.array((-1, 0))}, r"parents has shape \(2,\), expected \(3,\)"),
    ({"rest_rotations": np.zeros((3, 3))}, r"rest_rotations has shape \(3, 3\), expected \(3, 4\)"),
    ({"rest_translations": np.zeros((2, 3))}, r"rest_translations has shape \(2, 3\), expected \(3, 3\)"),
    ({"rest_scales": np.ones(3)}, r"rest_scales has shape \(3,\), expected \(3, 3\)"),
    ({"names": ("upper", "lower", "upper")}, "skeleton 'arm' has two joints named 'upper'; joint names must differ"),
    ({"parents": np.array((1, -1, -1))}, "joint 'upper' does not come after its parent"),
    ({"parents": np.array((-1, 1, -1))}, "joint 'lower' does not come after its parent"),
    ({"parents": np.array((-1, 0, -2))}, "joint 'prop' does not come after its parent"),
    ({"rest_translations": np.array(((0.0,) * 3, (0.0, np.nan, 0.0), (0.0,) * 3))},
     "the rest pose of joint 'lower' is not finite"),
    ({"rest_scales": np.array(((1.0,) * 3, (1.0,) * 3, (np.inf,) * 3))}, "the rest pose of joint 'prop' is not finite"),
])
def test_refuses_what_is_no_skeleton(change: dict[str, Any], says: str) -> None:
    with pytest.raises(TaktError, match=says):
        replace(arm(), **change)


def test_may_be_empty() -> None:
    nothing = Skeleton.from_arrays([], [], np.zeros((0, 4)), np.zeros((0, 3)))
    assert (len(nothing), nothing.levels, nothing.rest_world.shape) == (0, (), (0, 3, 4))


def test_levels_are_by_depth() -> None:
    assert [level.tolist() for level in arm().levels] == [[0, 2], [1]]


@given(skeletons())
def test_levels_hold_every_joint_once_below_its_parent(skeleton: Skeleton) -> None:
    assert sorted(np.concatenate(skeleton.levels).tolist()) == list(range(len(skeleton)))
    depth = {int(joint): i for i, level in enumerate(skeleton.levels) for joint in level}
    assert all(depth[j] == (0 if p < 0 else depth[int(p)] + 1) for j, p in enumerate(skeleton.parents))


def test_a_bent_shoulder_takes_the_lower_arm_along() -> None:
    pose = Pose.rest(arm())
    pose.rotations[0] = QUARTER_ABOUT_Z
    world = world_from_pose(arm(), pose)
    assert world[:, :, 3] == pytest.approx(np.array(((0.0, 0.0, 1.0), (0.0, 1.0, 1.0), (5.0, 0.0, 0.0))), abs=EXACT)
    assert world[1, :, :3] == pytest.approx(rot.to_matrix(QUARTER_ABOUT_Z), abs=EXACT)


def test_scale_is_inherited() -> None:
    pose = Pose.rest(arm())
    pose.scales[0] = (2.0, 1.0, 1.0)
    assert world_from_pose(arm(), pose)[1, :, 3].tolist() == [2.0, 0.0, 1.0]


@pytest.mark.slow
@given(posed())
def test_world_is_the_walk_up_the_parents(given_pose: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = given_pose
    world = world_from_pose(skeleton, pose)
    for joint in range(len(skeleton)):
        expected = walked(skeleton, pose, joint)[:3]
        assert world[joint] == pytest.approx(expected, abs=ROUNDING * max(1.0, float(np.abs(expected).max())))


@pytest.mark.slow
@given(posed(), vectors())
def test_heights_are_those_of_the_world(given_pose: tuple[Skeleton, Pose], up: FloatArray) -> None:
    skeleton, pose = given_pose
    wanted = up @ world_from_pose(skeleton, pose)
    assert height_rows(skeleton, pose, up) == pytest.approx(wanted, abs=ROUNDING * max(1.0, np.abs(wanted).max()))


def test_world_of_a_batch_is_that_of_each() -> None:
    pose = Pose.rest(arm(), 2, 3)
    pose.rotations[1, 2, 0] = QUARTER_ABOUT_Z
    world = world_from_pose(arm(), pose)
    assert world.shape == (2, 3, 3, 3, 4)
    assert world[1, 2].tolist() == world_from_pose(arm(), pose.at(1).at(2)).tolist()
    assert world[0, 0].tolist() == arm().rest_world.tolist()


@pytest.mark.slow
@given(skeletons(), quaternions())
def test_turned_turns_the_whole_rest_pose(skeleton: Skeleton, turn: FloatArray) -> None:
    expected = rot.to_matrix(turn) @ skeleton.rest_world
    assert skeleton.turned(turn).rest_world == pytest.approx(expected, abs=ROUNDING * max(1.0, np.abs(expected).max()))


@pytest.mark.slow
@given(skeletons(), quaternions())
def test_rest_world_rotations_turn_along(skeleton: Skeleton, turn: FloatArray) -> None:
    turned = skeleton.turned(turn).rest_world_rotations
    assert turned == pytest.approx(rot.multiply(turn, skeleton.rest_world_rotations), abs=EXACT)


def test_rest_world_rotations_are_those_of_the_matrices() -> None:
    bent = replace(arm(), rest_rotations=np.stack((QUARTER_ABOUT_Z, QUARTER_ABOUT_Z, rot.IDENTITY)))
    matrices = rot.to_matrix(bent.rest_world_rotations)
    assert matrices == pytest.approx(bent.rest_world[:, :, :3], abs=EXACT)
