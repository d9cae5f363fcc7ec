"""Points of the soles: from the skin if it is known, else from the skeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from ...clips.thresholds import NEAR_LEGS, STEP_LEGS
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...retargeting.skin_points import SkinPoints, in_axes
from ...skeletons.hierarchy import with_descendants
from ...skeletons.skeleton import Skeleton
from .footholds import ground_axes
from .legs import Leg

_BALL: Final = 0.6
"""Position of the ball between below the ankle and the tip of the toes."""
_LEAST_LEGS: Final = 0.25
"""Least distance from below the ankle to the tip of the toes, in leg lengths."""
_HEEL: Final = 0.25
"""Distance to the heel, on the other side, as a share of that."""
_HIGH_LEGS: Final = 0.08
"""Height of the ankle if there is no ball."""
_OF_GUESSED: Final = np.array((1.0, 0.0, 1.0, 0.0))
"""Weights of the held joint for ball, ankle, tip of the toes and heel, if the last two are guessed."""
_SURE: Final = 2
_OF_FOOT: Final = ((1.0, 0.0), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
_OF_ANKLE: Final = ((-1.0, 0.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, 1.0), (1.0, -1.0))
"""Points of a skin sole, ahead and aside: of skin that mostly follows the held joint, or the ankle."""
_TIPS_OF_FOOT: Final = ((1.0, -1.0), (1.0, -0.2))
_TIPS_OF_ANKLE: Final = ((-1.0, -1.0),)
"""Points of all of the foot's skin, ahead and up: swinging toes point down, and their tips are not in the sole."""
_OF_SHIN: Final = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
"""Points of a sole that mostly follows the shin, such as boots whose heels are bound to it."""
_MOVED_BY_SHIN: Final = 0.2
"""If a shin's weight is at most this for all points of the soles, the ankle replaces it."""


@dataclass(frozen=True)
class Soles:
    """N points of each of L soles, each carried by the ankle, by the held joint and, if needed, by the knee.

    numbers: all points, as (x, y, z, 1) in the axes of each of these joints, times the joint's weight. shape: (N, L, 8
    or 12). sure: number of points of the body itself; the others are guessed. at_rest: heights in the rest pose, leg by
    leg.
    """

    numbers: tuple[float, ...]
    shape: tuple[int, int, int]
    sure: int
    at_rest: tuple[float, ...] = ()

    @classmethod
    def of(cls, skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray, skin: SkinPoints | None = None) -> Soles:
        """Choose the points: the rim of the skin's soles, also where toes begin.

        Without skin: ball, ankle, tip of the toes and heel; the last two are guessed at the ball's rest height.
        skeleton: in an upright rest pose. up: unit vector (3,) of model space. skin: of the skeleton.
        """
        guessed = [_guessed(skeleton, legs, leg, up) for leg in legs]
        found = [None if skin is None else _of_skin(skin, skeleton, leg, up, tip - heel)
                 for leg, (*_, tip, heel) in zip(legs, guessed, strict=True)]
        known = [each for each in found if each is not None]
        is_known = len(known) == len(legs)
        of_guessed = np.stack((1.0 - _OF_GUESSED, _OF_GUESSED, np.zeros(len(_OF_GUESSED))), axis=1)
        chosen = known if is_known else [(positions, of_guessed) for positions in guessed]
        most = max((len(positions) for positions, _ in chosen), default=0)
        joints = 3 if any(shares[:, 2].max() > _MOVED_BY_SHIN for _, shares in chosen) else 2
        local = []
        for leg, (positions, shares) in zip(legs, chosen, strict=True):
            if joints == 2:
                shares = np.stack((1.0 - shares[:, 1], shares[:, 1]), axis=1)
            own = np.concatenate([share[:, None] * in_axes(skeleton.rest_world[joint], positions) for joint, share in
                                  zip((leg.ankle, leg.foot, leg.knee), shares.T, strict=False)], axis=1)
            local.append(np.concatenate((own, np.repeat(own[:1], most - len(own), axis=0))))
        points = np.stack(local, axis=1) if legs else np.zeros((0, 0, 8))
        made = cls(tuple(points.ravel().tolist()), points.shape, len(points) if is_known else _SURE)
        rest = ground_axes(up) @ skeleton.rest_world
        knees, ankles, feet = (rest[[getattr(leg, part) for leg in legs], None] for part in ("knee", "ankle", "foot"))
        return replace(made, at_rest=tuple(made.heights(knees, ankles, feet).ravel().tolist()))

    @property
    def are_skin(self) -> bool:
        """Whether they are of the body's skin: then the lowest one is on the ground at rest."""
        return self.sure == self.shape[0]

    @property
    def level(self) -> float:
        """The height of flat ground: that of the soles at rest, or 0 if only joints are known."""
        return float(self.ground.min()) if self.are_skin and self.ground.size else 0.0

    @property
    def have_shins(self) -> bool:
        """Whether shins carry some of them."""
        return self.shape[2] > 8

    @cached_property
    def points(self) -> FloatArray:
        """All points, (N, L, 8)."""
        return np.array(self.numbers).reshape(self.shape)

    @cached_property
    def rest_heights(self) -> FloatArray:
        """Heights at rest, (N, L)."""
        return np.array(self.at_rest).reshape(self.shape[1], self.shape[0]).T

    @cached_property
    def ground(self) -> FloatArray:
        """Ground heights below each of the sure points, (L, N), as the body's rest pose shows them.

        For skin, that of the lowest point that feet carry: a heel's rim that is higher at rest may come down to it.
        Points that shins carry, such as a hem's, may be lower. Ball and ankle are as high above it as at rest.
        """
        rest = self.rest_heights.T[:, :self.sure]
        if not self.are_skin:
            return rest
        of_shin = self.points[..., -1].T > 0.5 if self.have_shins else np.zeros(rest.shape, dtype=np.bool_)
        lowest = rest.min(initial=np.inf, where=~of_shin)
        return np.asarray(np.where(of_shin, np.minimum(rest, lowest), lowest))

    def heights(self, knees: FloatArray, ankles: FloatArray, feet: FloatArray) -> FloatArray:
        """Return their heights, (L, F, N), by matrices (L, F, 4, 4) in ground coordinates."""
        joints = (ankles, feet, knees)[:self.shape[2] // 4]
        return np.concatenate([matrices[..., 2, :] for matrices in joints], axis=-1) @ self._by_foot

    def positions(self, knees: FloatArray, ankles: FloatArray, feet: FloatArray) -> FloatArray:
        """Return their positions, (L, F, N, 3), by the same matrices as heights."""
        joints = (ankles, feet, knees)[:self.shape[2] // 4]
        rows = np.concatenate([matrices[..., :3, :] for matrices in joints], axis=-1)
        return np.asarray((rows @ self._by_foot[:, None]).swapaxes(-1, -2))

    @cached_property
    def _by_foot(self) -> FloatArray:
        return self.points.transpose(1, 2, 0).copy()


def on_ground(lowest: FloatArray, at_rest: FloatArray, leg: float) -> FloatArray:
    """Return least heights of soles' points, (...,), from those of a clip: at most those at rest.

    At rest they show the ground. If the clip has them far below it, it means another ground; the difference is then
    allowed gradually. leg: a length, in the unit of lowest and at_rest (...,).

    >>> on_ground(np.array((0.3, -0.05, -0.15, -0.3)), np.zeros(4), 1.0).round(2).tolist()
    [0.3, 0.0, -0.1, -0.3]
    """
    below = at_rest - lowest
    return np.asarray(lowest + np.maximum(np.minimum(below, 2.0 * STEP_LEGS[0] * leg - below), 0.0))


def _guessed(skeleton: Skeleton, legs: Sequence[Leg], leg: Leg, up: FloatArray) -> FloatArray:
    """Return the ball of a foot, its ankle, the tip of its toes and its heel at rest, (4, 3)."""
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
    """Return points of the rim of a sole's skin at rest, (N, 3), and weights of ankle, foot and knee, (N, 3).

    None if no skin moves with the foot, nor with the ankle ahead of it, as in shoes whose toes do not bend. ahead: (3,)
    from heel to toes. Skin that moves with the shin belongs to the sole if it is as low. The ankle carries what the
    other two do not.
    """
    of_ankle, of_foot, of_shin = (with_descendants(skeleton.parents, np.array((joint,)))
                                  for joint in (leg.ankle, leg.foot, leg.knee))
    of_shin &= ~of_ankle
    foot, shin = (np.where(own[skin.joints], skin.weights, 0.0).sum(axis=1) for own in (of_foot, of_shin))
    if leg.foot != leg.ankle:
        of_ankle &= ~of_foot
    high, owner = skin.positions @ up, skin.joints[:, 0]
    is_of_foot, is_of_ankle = of_foot[owner], of_ankle[owner]
    if not is_of_foot.any():
        is_of_foot, is_of_ankle = is_of_ankle, is_of_foot
        if not (skin.positions[is_of_foot] @ ahead > skeleton.rest_world[leg.foot, :, 3] @ ahead).any():
            return None
    reach = NEAR_LEGS[0] * leg.length(skeleton)
    low_shin = of_shin[owner] & (high <= high[is_of_foot | is_of_ankle].min() + reach)
    if not (of_ankle[owner] | low_shin).any():
        return None
    directions = np.stack((ahead, rot.cross(up, ahead))) / max(float(np.linalg.norm(ahead)), 1e-30)
    found: list[int] = []
    for is_own, ways, tips in ((is_of_foot, _OF_FOOT, _TIPS_OF_FOOT), (is_of_ankle, _OF_ANKLE, _TIPS_OF_ANKLE),
                               (low_shin, _OF_SHIN, _TIPS_OF_ANKLE)):
        if not is_own.any():
            continue
        sole = np.flatnonzero(is_own & (high <= high[is_own].min() + reach))
        found += sole[(skin.positions[sole] @ (np.array(ways) @ directions).T).argmax(axis=0)].tolist()
        part = np.flatnonzero(is_own)
        found += part[(skin.positions[part] @ (np.array(tips) @ (directions[0], up)).T).argmax(axis=0)].tolist()
    return skin.positions[found], np.stack((1.0 - foot[found] - shin[found], foot[found], shin[found]), axis=1)


def _forward(skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray) -> FloatArray:
    """Return the facing direction of a body at rest, of unit length; zero for a body with one leg."""
    hips = {leg.side: skeleton.rest_world[leg.hip, :, 3] for leg in legs}
    ahead = rot.cross(hips.get("l", np.zeros(3)) - hips.get("r", np.zeros(3)), up) if len(hips) > 1 else np.zeros(3)
    return np.asarray(ahead / max(float(np.linalg.norm(ahead)), 1e-30))
