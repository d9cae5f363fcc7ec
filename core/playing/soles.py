"""Points of the soles: of the skin, where it is known, or as far as a skeleton tells where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..retargeting.skin_points import SkinPoints
from ..skeletons.hierarchy import with_descendants
from ..skeletons.skeleton import Skeleton
from .legs import Leg

_BALL: Final = 0.6
"""Where the ball of a foot is between below the ankle and the tip of the toes."""
_LEAST_LEGS: Final = 0.25
"""How far it is at least from below the ankle to the tip of the toes, in leg lengths."""
_HEEL: Final = 0.25
"""And how far to the heel, on the other side, against that."""
_HIGH_LEGS: Final = 0.08
"""How high the ankle is, where there is no ball."""
_SOLE_LEGS: Final = 0.05
"""Skin of a foot that is at most so much higher than its lowest belongs to the sole."""
_OF_FOOT: Final = ((1.0, 0.0), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
_OF_ANKLE: Final = ((-1.0, 0.0), (-1.0, 1.0), (-1.0, -1.0))
"""Where points of a sole of skin are, ahead and aside: of those that move with the joint held, and with the ankle."""


@dataclass(frozen=True)
class Soles:
    """N points of each of L soles, as (x, y, z, 1) in the axes of the joints that they move with.

    numbers: all of them. shape: (N, L, 4). of_foot: the first so many move with the joint that is held, the others with
    the ankle.
    """

    numbers: tuple[float, ...]
    shape: tuple[int, int, int]
    of_foot: int

    @classmethod
    def of(cls, skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray, skin: SkinPoints | None = None) -> Soles:
        """Choose them: the rim of the skin's soles, also where toes begin.

        Of feet without skin the ball, the tip of the toes and the heel are guessed, all as high at rest as the ball.
        up: unit vector (3,) of model space. skin: of the skeleton.
        """
        guessed = [_guessed(skeleton, legs, leg, up) for leg in legs]
        found = [None if skin is None else _of_skin(skin, skeleton, leg, up, tip - heel)
                 for leg, (_, tip, heel) in zip(legs, guessed, strict=True)]
        known = [points for points in found if points is not None]
        positions, of_foot = (known, len(_OF_FOOT)) if len(known) == len(legs) else (guessed, 2)
        local = np.array([[_local(skeleton, leg.foot if i < of_foot else leg.ankle, points[i])
                           for leg, points in zip(legs, positions, strict=True)]
                          for i in range(len(positions[0]) if legs else 0)])
        return cls(tuple(local.ravel().tolist()), (len(local), len(legs), 4), of_foot)

    @cached_property
    def points(self) -> FloatArray:
        """All of them, (N, L, 4)."""
        return np.array(self.numbers).reshape(self.shape)

    def heights(self, ankles: FloatArray, feet: FloatArray) -> FloatArray:
        """Return how high they are, (N, L, F), by matrices (L, F, 4, 4) in ground coordinates."""
        points, of_ankle, of_foot = self.points[..., None], ankles[..., 2, :], feet[..., 2, :]
        return np.concatenate((of_foot @ points[:self.of_foot], of_ankle @ points[self.of_foot:]))[..., 0]


def _guessed(skeleton: Skeleton, legs: Sequence[Leg], leg: Leg, up: FloatArray) -> FloatArray:
    """Return where the ball of a foot, the tip of its toes and its heel are at rest, (3, 3)."""
    position = skeleton.rest_world[..., 3]
    length, ankle = leg.length(skeleton), position[leg.ankle]
    ball = position[leg.foot] if leg.foot != leg.ankle else ankle - _HIGH_LEGS * length * up
    below = ankle + ((ball - ankle) @ up) * up
    far = float(np.linalg.norm(ball - below))
    ahead = (ball - below) / far if far > 0.0 else _forward(skeleton, legs, up)
    tip = max(far / _BALL, _LEAST_LEGS * length) * ahead
    return np.stack((ball, below + tip, below - _HEEL * tip))


def _of_skin(skin: SkinPoints, skeleton: Skeleton, leg: Leg, up: FloatArray, ahead: FloatArray) -> FloatArray | None:
    """Return points of the rim of a sole's skin at rest, (8, 3); None where no skin moves with the foot.

    ahead: (3,) from heel to toes. What does not move with the joint that is held moves with the ankle.
    """
    parents, owner = skeleton.parents, skin.joints[:, 0]
    of_ankle, of_foot = (with_descendants(parents, np.array((joint,)))[owner] for joint in (leg.ankle, leg.foot))
    if leg.foot != leg.ankle:
        of_ankle &= ~of_foot
    high = skin.positions @ up
    if not of_foot.any() or not of_ankle.any():
        return None
    directions = np.stack((ahead, rot.cross(up, ahead))) / max(float(np.linalg.norm(ahead)), 1e-30)
    found = []
    for is_own, ways in ((of_foot, _OF_FOOT), (of_ankle, _OF_ANKLE)):
        sole = skin.positions[is_own & (high <= high[is_own].min() + _SOLE_LEGS * leg.length(skeleton))]
        found.append(sole[(sole @ (np.array(ways) @ directions).T).argmax(axis=0)])
    return np.concatenate(found)


def _local(skeleton: Skeleton, joint: int, position: FloatArray) -> FloatArray:
    """Return a position (3,) as (x, y, z, 1) in the axes of a joint at rest."""
    rest = skeleton.rest_world[joint]
    return np.append(np.linalg.solve(rest[:, :3], position - rest[:, 3]), 1.0)


def _forward(skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray) -> FloatArray:
    """Return where a body looks at rest, of unit length; nowhere where it has one leg alone."""
    hips = {leg.side: skeleton.rest_world[leg.hip, :, 3] for leg in legs}
    ahead = rot.cross(hips.get("l", np.zeros(3)) - hips.get("r", np.zeros(3)), up) if len(hips) > 1 else np.zeros(3)
    return np.asarray(ahead / max(float(np.linalg.norm(ahead)), 1e-30))
