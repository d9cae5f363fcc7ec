"""The matrices of some joints are those that the whole skeleton has."""

import numpy as np
import pytest

from takt.core.maths import rotations as rot
from takt.core.playing.joints import Joints
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton

EXACT = 1e-12


def shaken(seed: int, largest: float) -> tuple[Skeleton, Pose]:
    """Return the sample's hierarchy with a random rest pose, and random poses; scales from 1 ÷ largest to largest."""
    random, like = np.random.default_rng(seed), build_skeleton()
    joints = len(like)
    sizes = [np.exp(random.uniform(-1.0, 1.0, shape) * np.log(largest)) for shape in ((joints, 3), (5, joints, 3))]
    skeleton = Skeleton(like.names, like.parents, rot.normalized(random.normal(size=(joints, 4))),
                        random.normal(size=(joints, 3)), sizes[0])
    turns = rot.normalized(random.normal(size=(5, joints, 4)))
    return skeleton, Pose(turns, random.normal(size=(5, joints, 3)), sizes[1])


@pytest.mark.parametrize("largest", [1.0, 1.3])
@pytest.mark.parametrize("seed", range(5))
def test_matrices_are_those_of_the_whole_skeleton(seed: int, largest: float) -> None:
    skeleton, pose = shaken(seed, largest)
    chosen = np.random.default_rng(seed).choice(len(skeleton), 6).tolist()
    joints = Joints.of(skeleton, chosen)
    wanted = world_from_pose(skeleton, pose)[:, chosen].swapaxes(0, 1)
    found = joints.matrices(pose)
    np.testing.assert_allclose(found[..., :3, :], wanted, atol=EXACT * np.abs(wanted).max())
    np.testing.assert_allclose(found[..., 3, :], np.tile((0.0, 0.0, 0.0, 1.0), (6, 5, 1)), atol=EXACT)
    np.testing.assert_array_equal(joints.positions(pose), found[..., :3, 3].swapaxes(0, 1))
    assert joints.posed(pose)[1] == (largest > 1.0)
    assert len(joints.keep) < len(skeleton)


def test_one_may_be_named_twice_and_roots_have_no_parents() -> None:
    skeleton, pose = shaken(1, 1.0)
    found = Joints.of(skeleton, [0, 3, 0]).matrices(pose)
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[0, :, :3], world_from_pose(skeleton, pose)[:, 0], atol=EXACT)


@pytest.mark.parametrize("largest", [1.0, 1.3])
def test_in_other_axes_they_are_the_same_turned(largest: float) -> None:
    skeleton, pose = shaken(2, largest)
    joints, axes = Joints.of(skeleton, [0, 5, 9]), rot.to_matrix(rot.from_axis_angle(np.array((1.0, 2.0, 3.0)), 0.7))
    own, found = joints.matrices(pose)[..., :3, :], joints.turned(axes).matrices(pose)[..., :3, :]
    np.testing.assert_allclose(found, axes @ own, atol=EXACT * np.abs(own).max())
