"""Keep elbows from bending backwards in transitions.

A transition continues the rotation of each joint, so an elbow that is being stretched could bend backwards. It is kept
straight instead, unless one of the clips itself bends it backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..maths.formulas import softly
from ..retargeting.limbs import Limb
from ..skeletons.skeleton import Pose, Skeleton

_STRAIGHT_RAD: Final = 0.1
"""Mean bend below which an elbow's direction of bending is unknown."""
_PAST_RAD: Final = 0.1
"""Backward bend up to which an elbow is left alone."""
_SOFT_RAD: Final = 0.5
"""Width of the range around the least bend in which the limit sets in smoothly."""


@dataclass(frozen=True, eq=False)
class Elbows:
    """The elbows of A arms.

    joints: (A,) their indices. upper, fore: (A, 3) unit vectors along the bones of the arm, in the elbow's rest
    axes. hinges: (A, 3) bend axes in the same axes; zero if unknown.
    """

    joints: list[int]
    upper: FloatArray
    fore: FloatArray
    hinges: FloatArray

    @classmethod
    def of(cls, skeleton: Skeleton, arms: Sequence[Limb], poses: Sequence[Pose]) -> Elbows:
        """Return the elbows of arms; poses (…, J, …) of clips show the direction in which they bend."""
        joints, at = [arm.middle for arm in arms], skeleton.rest_world[..., 3]
        back = rot.conjugate(skeleton.rest_world_rotations[joints])
        upper, fore = (rot.rotate(back, np.stack([at[getattr(arm, end)] - at[getattr(arm, start)] for arm in arms]))
                       for start, end in (("first", "middle"), ("middle", "last")))
        upper, fore = (each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-30) for each in (upper, fore))
        unknown = cls(joints, upper, fore, np.zeros_like(upper))
        bends = np.concatenate([unknown._bends(pose.rotations[:, joints]) for pose in poses])
        total = bends.sum(axis=0)
        size = np.linalg.norm(total, axis=1, keepdims=True)
        known = size > _STRAIGHT_RAD * len(bends)
        return cls(joints, upper, fore, np.where(known, total / np.maximum(size, 1e-30), 0.0))

    def forwards(self, pose: Pose) -> FloatArray:
        """Return the bend of elbows in their usual direction in poses (F, J, …), (F, A) in radians."""
        return np.asarray((self._bends(pose.rotations[:, self.joints]) * self.hinges).sum(axis=-1))

    def kept(self, pose: Pose, least: FloatArray, share: FloatArray) -> FloatArray:
        """Return rotations (F, A, 4) of elbows, corrected so that they bend at least by `least` (F, A), in radians.

        share: (F,) weight of the correction.
        """
        over = np.minimum(self.forwards(pose) - least, _SOFT_RAD)
        more = share[:, None] * (softly(over + _SOFT_RAD / 2.0, _SOFT_RAD) - over)
        return rot.multiply(rot.from_axis_angle(self.hinges, more), pose.rotations[:, self.joints])

    def _bends(self, rotations: FloatArray) -> FloatArray:
        """Return the rotation vectors (F, A, 3) of the lower bones relative to the upper ones."""
        fore = rot.rotate(rotations, self.fore)
        axis = rot.cross(self.upper, fore)
        sine = np.linalg.norm(axis, axis=-1)
        angle = np.arctan2(sine, (self.upper * fore).sum(axis=-1))
        return np.asarray(axis * (angle / np.maximum(sine, 1e-30))[..., None])


def least_bends(bends: FloatArray) -> FloatArray:
    """Return the least allowed bend of elbows at S seams, (S, A) in radians; −inf where no correction is needed.

    bends: (S, N, A) bends at N instants of each transition, from begin to end.
    """
    least = np.minimum(np.minimum(bends[:, 0], bends[:, -1]), 0.0)
    return np.asarray(np.where(bends.min(axis=1) < least - _PAST_RAD, least, -np.inf))
