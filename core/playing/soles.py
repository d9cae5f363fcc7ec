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
from .footholds import ground_axes
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
_SUNK_LEGS: Final = 0.1
"""So deep in the ground a clip may have feet that are to stand on it: half a step of usual stairs."""
_OF_GUESSED: Final = np.array((1.0, 0.0, 1.0, 0.0))
"""How much the joint that is held carries ball, ankle, tip of the toes and heel, where the last two are guessed."""
_SURE: Final = 2
_OF_FOOT: Final = ((1.0, 0.0), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
_OF_ANKLE: Final = ((-1.0, 0.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (1.0, -1.0))
"""Where points of a sole of skin are, ahead and aside: of those that mostly move with the joint held, or the ankle."""
_TIPS_OF_FOOT: Final = ((1.0, -1.0), (1.0, -0.2))
_TIPS_OF_ANKLE: Final = ((-1.0, -1.0),)
"""And where points are of all of its skin, ahead and up: feet swing with toes down, whose tips are not of the sole."""


@dataclass(frozen=True)
class Soles:
    """N points of each of L soles, each carried by the ankle and by the joint that is held.

    numbers: all of them, as (x, y, z, 1) in the ankle's axes, and in those of the other joint, each times how much that
    joint carries the point. shape: (N, L, 8). sure: the first so many are the body's own, the others are guessed.
    """

    numbers: tuple[float, ...]
    shape: tuple[int, int, int]
    sure: int

    @classmethod
    def of(cls, skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray, skin: SkinPoints | None = None) -> Soles:
        """Choose them: the rim of the skin's soles, also where toes begin.

        Of feet without skin: ball and ankle, and the tip of the toes and the heel, guessed as high at rest as the ball.
        up: unit vector (3,) of model space. skin: of the skeleton.
        """
        guessed = [_guessed(skeleton, legs, leg, up) for leg in legs]
        found = [None if skin is None else _of_skin(skin, skeleton, leg, up, tip - heel)
                 for leg, (*_, tip, heel) in zip(legs, guessed, strict=True)]
        known = [each for each in found if each is not None]
        is_known = len(known) == len(legs)
        chosen = known if is_known else [(positions, _OF_GUESSED) for positions in guessed]
        local = [np.concatenate([share[:, None] * _local(skeleton, joint, positions) for joint, share in
                                 ((leg.ankle, 1.0 - of_foot), (leg.foot, of_foot))], axis=1)
                 for leg, (positions, of_foot) in zip(legs, chosen, strict=True)]
        points = np.stack(local, axis=1) if legs else np.zeros((0, 0, 8))
        return cls(tuple(points.ravel().tolist()), points.shape, len(points) if is_known else _SURE)

    @cached_property
    def points(self) -> FloatArray:
        """All of them, (N, L, 8)."""
        return np.array(self.numbers).reshape(self.shape)

    def rest_heights(self, skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray) -> FloatArray:
        """Return how high they are at rest, (N, L), along up (3,)."""
        rest = ground_axes(up) @ skeleton.rest_world
        ankles, feet = (rest[[getattr(leg, part) for leg in legs], None] for part in ("ankle", "foot"))
        return self.heights(ankles, feet)[..., 0]

    def heights(self, ankles: FloatArray, feet: FloatArray) -> FloatArray:
        """Return how high they are, (N, L, F), by matrices (L, F, 4, 4) in ground coordinates."""
        rows = np.concatenate((ankles[..., 2, :], feet[..., 2, :]), axis=-1)
        return np.asarray((rows @ self.points[..., None])[..., 0])


def on_ground(lowest: FloatArray, at_rest: FloatArray, leg: float) -> FloatArray:
    """Return how low points of soles may be, (...,), that a clip has so low: at most as they are at rest.

    That is where the ground is, unless the clip has them far below it: there it means another ground, and as much as
    lies between comes little by little. leg: a length, as lowest and at_rest (...,) are.

    >>> on_ground(np.array((0.3, -0.05, -0.15, -0.3)), np.zeros(4), 1.0).round(2).tolist()
    [0.3, 0.0, -0.1, -0.3]
    """
    below = at_rest - lowest
    return np.asarray(lowest + np.maximum(np.minimum(below, 2.0 * _SUNK_LEGS * leg - below), 0.0))


def _guessed(skeleton: Skeleton, legs: Sequence[Leg], leg: Leg, up: FloatArray) -> FloatArray:
    """Return where the ball of a foot, its ankle, the tip of its toes and its heel are at rest, (4, 3)."""
    position = skeleton.rest_world[..., 3]
    length, ankle = leg.length(skeleton), position[leg.ankle]
    ball = position[leg.foot] if leg.foot != leg.ankle else ankle - _HIGH_LEGS * length * up
    below = ankle + ((ball - ankle) @ up) * up
    far = float(np.linalg.norm(ball - below))
    ahead = (ball - below) / far if far > 0.0 else _forward(skeleton, legs, up)
    tip = max(far / _BALL, _LEAST_LEGS * length) * ahead
    return np.stack((ball, ankle, below + tip, below - _HEEL * tip))


def _of_skin(skin: SkinPoints, skeleton: Skeleton, leg: Leg, up: FloatArray,
             ahead: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return points of the rim of a sole's skin at rest, (N, 3), and how much the held joint carries each, (N,).

    None where no skin moves with the foot. ahead: (3,) from heel to toes. The ankle carries what that joint does not.
    """
    parents, owner = skeleton.parents, skin.joints[:, 0]
    of_ankle, of_foot = (with_descendants(parents, np.array((joint,))) for joint in (leg.ankle, leg.foot))
    share = np.where(of_foot[skin.joints], skin.weights, 0.0).sum(axis=1)
    if leg.foot != leg.ankle:
        of_ankle &= ~of_foot
    high = skin.positions @ up
    if not of_foot[owner].any() or not of_ankle[owner].any():
        return None
    directions = np.stack((ahead, rot.cross(up, ahead))) / max(float(np.linalg.norm(ahead)), 1e-30)
    found: list[int] = []
    for is_own, ways, tips in ((of_foot[owner], _OF_FOOT, _TIPS_OF_FOOT), (of_ankle[owner], _OF_ANKLE, _TIPS_OF_ANKLE)):
        sole = np.flatnonzero(is_own & (high <= high[is_own].min() + _SOLE_LEGS * leg.length(skeleton)))
        found += sole[(skin.positions[sole] @ (np.array(ways) @ directions).T).argmax(axis=0)].tolist()
        whole = np.flatnonzero(is_own)
        found += whole[(skin.positions[whole] @ (np.array(tips) @ (directions[0], up)).T).argmax(axis=0)].tolist()
    return skin.positions[found], share[found]


def _local(skeleton: Skeleton, joint: int, positions: FloatArray) -> FloatArray:
    """Return positions (N, 3) as (x, y, z, 1) in the axes of a joint at rest, (N, 4)."""
    rest = skeleton.rest_world[joint]
    return np.append(np.linalg.solve(rest[:, :3], (positions - rest[:, 3]).T).T, np.ones((len(positions), 1)), axis=1)


def _forward(skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray) -> FloatArray:
    """Return where a body looks at rest, of unit length; nowhere where it has one leg alone."""
    hips = {leg.side: skeleton.rest_world[leg.hip, :, 3] for leg in legs}
    ahead = rot.cross(hips.get("l", np.zeros(3)) - hips.get("r", np.zeros(3)), up) if len(hips) > 1 else np.zeros(3)
    return np.asarray(ahead / max(float(np.linalg.norm(ahead)), 1e-30))
