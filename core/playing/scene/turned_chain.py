"""A turn in the model shared out among the joints of a chain, such as a spine."""

from __future__ import annotations

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...skeletons.skeleton import Pose, Skeleton


def turn_chain(skeleton: Skeleton, pose: Pose, world: FloatArray, chain: IntArray, shares: FloatArray,
               turns: FloatArray) -> None:
    """Turn the last joint of a chain, with all below it, by rotation vectors (F, 3) of the model, in place.

    pose: (F, J, …). world: (F, J, 3, 4) of it. chain: (N,) joints, each an ancestor of the next. shares: (N,) of the
    turn, with sum 1. All turns are about one axis, so they add up. With W the transform of a joint's parent in the
    model and R its rest, its own rotation q becomes (W·R)⁻¹·exp(share·turn)·(W·R)·q.
    """
    parents = skeleton.parents[chain]
    for joint, parent, share in zip(chain.tolist(), parents.tolist(), shares.tolist(), strict=True):
        rest = skeleton.rest_rotations[joint]
        frame = rest if parent < 0 else rot.multiply(turns_of(world[:, parent]), rest)
        turn = rot.multiply(rot.multiply(rot.conjugate(frame), rot.exp(share * turns)), frame)
        pose.rotations[:, joint] = rot.multiply(turn, pose.rotations[:, joint])


def turns_of(world: FloatArray) -> FloatArray:
    """Return the quaternions (F, 4) of matrices (F, 3, 4), without their scales."""
    linear = world[..., :3]
    return rot.from_exact_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True))
