"""Arms raise hands and elbows that would go into the ground, as legs raise swinging feet.

A body with long arms, or short legs, reaches deeper than the clip's. How far an arm is raised is a smooth displacement
curve (maths/displacement.py). It keeps the arm out of the ground, and is near 0 otherwise. If skin around an
elbow is still in the ground, as with folded arms, the elbow swings aside (raised_elbows.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import FINE_S, SAMPLE_S, beside, divided, key_times, thinned
from ...clips.posed import PosedJoints
from ...clips.thresholds import EASE_S, NEAR_LEGS, NEARLY_LEGS, SOFT_LEGS, STILL_LEGS
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, merged
from ...skeletons.hierarchy import with_ancestors, with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..limbs import Limb
from ..skin_points import SkinPoints
from .bearing_trunk import along
from .fitted_curves import smoothed
from .grounding import Ground, with_feet_drawn_up
from .raised_elbows import with_elbow_raised

_TIMES_DRAWN: Final = 3
"""Number of corrections: arms turn as they are drawn up, so that other skin becomes the lowest."""
_AROUND_S: Final = 0.7
"""Time before and after an arm is in the ground over which it may be raised."""
_SHOULDER: Final = 0.2
"""Share of the upper arm from the shoulder: skin there hardly rises with the elbow, and does not count."""
_ACROSS: Final = ("r_shoulder", "l_shoulder")
"""Elbows of straight arms bend the other way than knees."""
_MOST: Final = 0.8
"""Share of the height from wrist or elbow up to the shoulder: arms raise neither by more."""


@dataclass(frozen=True, eq=False)
class ArmSkin:
    """The skin of an arm below its shoulder.

    side: 0 for the left arm, 1 for the right one. parts: (2, P) the points of the body's skin around its elbow, and
    those of its end: nearer to the wrist, or of the hand. points: of both, on a skeleton of joints (K,) alone. far:
    greatest distance of a point below the lowest of shoulder, elbow and wrist.
    """

    side: int
    arm: Limb
    parts: BoolArray
    joints: IntArray
    points: SkinPoints
    far: float

    @classmethod
    def of(cls, found: SkeletonMap, own: Skeleton, skin: SkinPoints, side: int) -> ArmSkin | None:
        """Return the left arm, 0, or the right one, 1, or None if it is unknown or has no skin.

        found: the map of the standing skeleton; own: the skeleton in the skin's rest pose.
        """
        arm = Limb.of(found, "lr"[side], ("shoulder", "elbow", "wrist"))
        if arm is None:
            return None
        at, main = own.rest_world[..., 3], skin.joints[:, 0]
        of_arm, below, is_hand = (with_descendants(own.parents, np.array([joint]))[main] for joint in arm)
        middle, last = (np.linalg.norm(skin.positions - at[joint], axis=1) for joint in (arm.middle, arm.last))
        is_end = is_hand | (below & (last < middle))
        is_elbow = of_arm & ~is_end & (below | (along(skin.positions, at[arm.first], at[arm.middle]) > _SHOULDER))
        parts = np.stack((is_elbow, is_end))
        is_own = np.logical_or.reduce(parts)
        if not is_own.any():
            return None
        points, below, is_hand = skin.part(is_own), below[is_own], is_hand[is_own]
        kept = with_ancestors(own.parents, np.unique(points.joints[points.weights > 0.0]))
        row = np.zeros(len(own), dtype=np.int64)
        row[kept] = np.arange(len(kept))
        bones = np.linalg.norm(np.where(own.parents[:, None] >= 0, at - at[own.parents], 0.0), axis=1)
        away = np.zeros(len(own))
        for joint in np.flatnonzero(with_descendants(own.parents, np.array([arm.last]))).tolist():
            away[joint] = away[own.parents[joint]] + bones[joint] if joint != arm.last else 0.0
        main = points.joints[:, 0]
        from_joint = np.linalg.norm(points.positions - at[main], axis=1)
        from_upper, from_lower = (from_line(points.positions, at[a], at[b]) for a, b in pairwise(arm))
        far = np.where(is_hand, away[main] + from_joint, np.where(below, from_lower, from_upper))
        return cls(side, arm, parts, kept, points.renumbered(row), float(far.max()))

    def low(self, clip: Clip, times: FloatArray, up: FloatArray) -> FloatArray:
        """Return the heights of the lowest skin of both parts along up (3,) at times (F,) of a clip, (F, 2)."""
        if not len(times):
            return np.zeros((0, 2))
        heights, parts = self.points.heights(clip.part(self.joints), times, up), self.parts[:, self.parts.any(axis=0)]
        return np.stack([heights[:, part].min(axis=1, initial=np.inf) for part in parts], axis=1)


@dataclass(frozen=True, eq=False)
class ArmsOnGround:
    """The heights of the lowest skin of A arms above the ground, and how their depth lifts the body, (F, 2 A) each.

    For each arm there is a value around its elbow and one at its end. bears: the share of the depth that lifts the
    body. most: the greatest depth that the arm takes up itself; the rest lifts the body.
    """

    low: FloatArray
    bears: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, arms: Sequence[ArmSkin], low: FloatArray, high: FloatArray, bears: FloatArray) -> ArmsOnGround:
        """Return these values for arms. high: (F, A, 3) heights of their joints. bears: (F, 2) support by the hands."""
        sides = [arm.side for arm in arms for _ in arm.parts]
        return cls(low, bears[:, sides], _most(high).reshape(low.shape))

    def lowest(self, others: FloatArray) -> FloatArray:
        """Return the height of the lowest skin that supports the body, (F,). others: (F,) that of all but the arms."""
        return np.asarray(others - self._borne(others[:, None] - self.low))

    def lifted(self, lift: FloatArray) -> FloatArray:
        """Return lifts (F,), greater where supporting arms would still be in the ground."""
        return np.asarray(lift + self._borne(-self.low - lift[:, None]))

    def _borne(self, depth: FloatArray) -> FloatArray:
        """Return how far depths (F, A) of the arms lift the body, (F,)."""
        depth = np.maximum(depth, 0.0)
        return np.asarray(np.maximum(self.bears * depth, depth - self.most).max(axis=1, initial=0.0))


def with_arms_drawn_up(clip: Clip, found: SkeletonMap, arms: tuple[ArmSkin, ...], ground: float, leg: float,
                       up: FloatArray) -> Clip:
    """Return a clip whose hands and elbows are not in the ground; hands keep their rotation.

    found: the map of its skeleton. ground: its height along up (3,), a unit vector. leg: the length of the legs.
    """
    if not arms:
        return clip
    coarse = divided(_keys(clip, np.unique(np.concatenate([arm.joints for arm in arms])), SAMPLE_S), SAMPLE_S)
    at = PosedJoints.of(clip, np.array([joint for arm in arms for joint in arm.arm])).heights(coarse, up) - ground
    for arm, high in zip(arms, at.reshape(len(coarse), -1, 3).min(axis=2).T, strict=True):
        near = coarse[high < arm.far + NEAR_LEGS[0] * leg] if not len(clip.scales) else coarse
        if not len(near):
            continue
        times = _times(clip, arm, near)
        for number in range(_TIMES_DRAWN + 1):
            of_elbow, of_end = _drawn(clip, arm, times, ground, leg, up).T
            if not of_elbow.any() and not of_end.any():
                break
            if number == 1 and of_elbow.any():
                clip = with_elbow_raised(clip, arm.arm, times, of_elbow, up)
                continue
            drawn = np.maximum(of_elbow, of_end) if number else of_end
            ground_of = Ground(times, np.zeros(len(times)), (arm.arm,), drawn[:, None])
            clip = with_feet_drawn_up(clip, found, ground_of, up, _ACROSS)
            times = _with_between(clip, arm, times[drawn > 0.0], times, leg)
    return clip


def _keys(clip: Clip, joints: IntArray, step_s: float) -> FloatArray:
    """Return the key times of some joints (F,), at most one in each step, and the clip's ends."""
    keys = key_times(clip.rotations, clip.translations, joints=joints).clip(0.0, clip.duration_s)
    return thinned(merged(keys, np.array((0.0, clip.duration_s))), step_s)


def _times(clip: Clip, arm: ArmSkin, near: FloatArray) -> FloatArray:
    """Return the times to examine, (F,): the keys of joints that move an arm, and steps near instants (N,)."""
    times = beside(_keys(clip, arm.joints, FINE_S), np.arange(0.0, clip.duration_s, FINE_S))
    place = np.searchsorted(near, times)
    before, after = near[np.maximum(place - 1, 0)], near[np.minimum(place, len(near) - 1)]
    return times[np.minimum(np.abs(times - before), np.abs(after - times)) < _AROUND_S]


def _with_between(clip: Clip, arm: ArmSkin, drawn: FloatArray, times: FloatArray, leg: float) -> FloatArray:
    """Return times (F,) and the middles of gaps between instants (N,) in which the arm's skin may leave the ground.

    If a bone of length l turns by an angle a in a gap, its end is as far as l a² / 8 from a straight path. An elbow
    that swings round to its other side turns far at once.
    """
    turns, at = PosedJoints.of(clip, np.array(arm.arm)).placed(drawn)
    long = np.array((*np.linalg.norm(np.diff(at, axis=1), axis=-1).max(axis=0, initial=0.0), arm.far))
    away = (rot.angle_between(turns[1:], turns[:-1]) ** 2 @ long) / 8.0
    gaps = np.flatnonzero((away > SOFT_LEGS * leg) & (np.diff(drawn) < 2.0 * FINE_S))
    return merged(times, (drawn[gaps] + drawn[gaps + 1]) / 2.0)


def _drawn(clip: Clip, arm: ArmSkin, times: FloatArray, ground: float, leg: float, up: FloatArray) -> FloatArray:
    """Return how far to raise an arm's elbow and its end at times (F,), (F, 2).

    No arm above the ground is raised farther than _MOST. Otherwise an arm at the height of its shoulder that lifts the
    body would leave it in the air.
    """
    at = PosedJoints.of(clip, np.array(arm.arm)).heights(times, up) - ground
    high = at.min(axis=1)
    low = np.full((len(times), 2), np.inf)
    is_near = np.ones(len(times), np.bool_) if len(clip.scales) else high < arm.far
    low[is_near] = arm.low(clip, times[is_near], up) - ground
    depth = np.maximum(-low, 0.0)
    if depth.max(initial=0.0) <= NEARLY_LEGS * leg:
        return np.zeros((len(times), 2))
    drawn = smoothed(times, np.zeros(depth.T.shape), EASE_S, lo=depth.T, hi=np.maximum(_most(at), depth).T,
                     holds_between=True).T
    return np.where(drawn > STILL_LEGS * leg, drawn, 0.0)


def _most(high: FloatArray) -> FloatArray:
    """Return how far elbows and wrists can be raised, (..., 2).

    high: (..., 3) the heights of shoulders, elbows and wrists.
    """
    return _MOST * np.maximum(high[..., :1] - high[..., 1:], 0.0)


def from_line(points: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the distances (P,) of points (P, 3) from the line between a and b, (3,) each."""
    share = np.clip(along(points, a, b), 0.0, 1.0)
    return np.asarray(np.linalg.norm(points - a - share[:, None] * (b - a), axis=1))
