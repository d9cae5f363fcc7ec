"""Joints that do not inherit rotation or scale from their parents, so that their keys differ from a Pose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from .hierarchy import with_ancestors
from .skeleton import Pose, Skeleton


@dataclass(frozen=True, eq=False)
class Inheritance:
    """Masks (J,) of the joints that do not inherit rotation, and of those that do not inherit scale.

    Such joints still inherit their position. In a Pose, joints inherit everything.
    """

    turns_alone: BoolArray
    scales_alone: BoolArray

    def as_keyed(self, skeleton: Skeleton, pose: Pose) -> Pose:
        """Return the pose (F, J, …) to key so that these joints look as in a pose (F, J, …).

        It is exact if ancestors scale uniformly. For a non-uniform scale, the mean of its axes is used.

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
    """Return the product of all ancestors' scales, (F, J), for scales (F, J, 3)."""
    each = np.cbrt(np.abs(scales.prod(axis=-1)))
    above: FloatArray = np.ones_like(each)
    for level in skeleton.levels[1:]:
        parents = skeleton.parents[level]
        above[:, level] = above[:, parents] * each[:, parents]
    return above
