"""Joints that take over from their parents less than all: keys of these mean something else than a Pose has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from .hierarchy import with_ancestors
from .skeleton import Pose, Skeleton


@dataclass(frozen=True, eq=False)
class Inheritance:
    """Which joints (J,) turn by themselves and scale by themselves, whatever their ancestors do.

    They stay at the place that their parents give them. In a Pose, joints take over all.
    """

    turns_alone: BoolArray
    scales_alone: BoolArray

    def as_keyed(self, skeleton: Skeleton, pose: Pose) -> Pose:
        """Return what is to be keyed, (F, J, …), for these joints to look as in a pose (F, J, …).

        Exact where ancestors scale evenly; of uneven scale the mean counts.

        >>> arm = Skeleton.from_arrays(("arm", "hand"), (-1, 0), rot.identities(2), np.zeros((2, 3)))
        >>> pose = Pose.rest(arm, 1)
        >>> pose.rotations[0, 0] = (0.6, 0.8, 0.0, 0.0)
        >>> Inheritance(np.array((False, True)), np.zeros(2, dtype=bool)).as_keyed(arm, pose).rotations[0, 1].tolist()
        [0.6, 0.8, 0.0, 0.0]
        """
        rotations, scales = pose.rotations, pose.scales
        turning = self.turns_alone & (skeleton.parents >= 0)
        if turning.any():
            world = _turned(skeleton, rotations, turning)
            rest = rot.conjugate(skeleton.rest_world_rotations[turning])
            rotations = rotations.copy()
            rotations[:, turning] = rot.multiply(rest, world[:, turning])
        if self.scales_alone.any() and (scales != 1.0).any():
            scales = scales * np.where(self.scales_alone[:, None], _scale_above(skeleton, scales)[..., None], 1.0)
        return Pose(rotations, pose.translations, scales)


def _turned(skeleton: Skeleton, rotations: FloatArray, wanted: BoolArray) -> FloatArray:
    """Return rotations in model space (F, J, 4), right for the wanted joints (J,) and their ancestors."""
    is_above = np.zeros(len(skeleton), dtype=np.bool_)
    is_above[with_ancestors(skeleton.parents, np.flatnonzero(wanted))] = True
    world = rot.multiply(skeleton.rest_rotations, rotations)
    for level in skeleton.levels[1:]:
        joints = level[is_above[level]]
        world[:, joints] = rot.multiply(world[:, skeleton.parents[joints]], world[:, joints])
    return world


def _scale_above(skeleton: Skeleton, scales: FloatArray) -> FloatArray:
    """Return by how much all ancestors of joints scale together, (F, J), for scales (F, J, 3)."""
    each = np.cbrt(np.abs(scales.prod(axis=-1)))
    above: FloatArray = np.ones_like(each)
    for level in skeleton.levels[1:]:
        parents = skeleton.parents[level]
        above[:, level] = above[:, parents] * each[:, parents]
    return above
