"""When and where feet stand on the ground.

A foot is planted while the joint that carries it is low and slow. While it is, that joint is held where it is on
average, or as near to there as the leg reaches all the while.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray

LOW_LEGS: Final = 0.06
"""A planted foot is at most this much higher than the lowest position it ever has, in leg lengths."""
SLOW_LEGS_PER_S: Final = 0.35
SHORTEST_S: Final = 0.1
BRIEF_S: Final = 0.05
EASE_S: Final = 0.15
REACH: Final = 0.9995
"""Legs are never straightened beyond this share of their length, where the knee would snap."""
_TRIES: Final = 30


@dataclass(frozen=True, eq=False)
class Contacts:
    """When and where a foot stands: K times, one after another, from start_s to stop_s (K,), at (K, 3)."""

    start_s: FloatArray
    stop_s: FloatArray
    at: FloatArray

    @classmethod
    def of(cls, positions: FloatArray, times_s: FloatArray, up: FloatArray, leg_length: float,
           hips: FloatArray | None = None, ankles: FloatArray | None = None) -> Contacts:
        """Find them: a joint's positions (F, 3) in model space at times (F,), ascending; up: unit vector (3,).

        hips, ankles: (F, 3) likewise; a foot is then planted where the leg reaches throughout, if it can.
        """
        found = runs(planted(positions, times_s, up, leg_length))
        first, last = np.array(found, dtype=np.int64).reshape(-1, 2).T
        at = [positions[start:stop].mean(axis=0) for start, stop in found]
        if hips is not None and ankles is not None:
            far = reaches(hips, ankles, leg_length)
            at = [within_reach(position, hips[start:stop] + positions[start:stop] - ankles[start:stop], up,
                                far[start:stop]) for position, (start, stop) in zip(at, found, strict=True)]
        return cls(times_s[first], times_s[last - 1], np.array(at).reshape(-1, 3))

    def shift(self, positions: FloatArray, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return how far a foot at positions (F, 3) must be moved over the ground at times (F,), (F, 3).

        All the way while it stands; before and after that for a share that eases in and out within EASE_S, or within
        the time that there is between two contacts.
        """
        if not len(self.at):
            return np.zeros(positions.shape)
        gap = np.minimum(np.concatenate(((np.inf,), self.start_s[1:] - self.stop_s[:-1], (np.inf,))), EASE_S)
        begun = np.searchsorted(self.start_s, times_s, side="right")
        last, following = np.maximum(begun - 1, 0), np.minimum(begun, len(self.at) - 1)
        shift = np.zeros(positions.shape)
        for contact, away_s, ease_s, counts in (
                (last, times_s - self.stop_s[last], gap[last + 1], begun > 0),
                (following, self.start_s[following] - times_s, gap[following], begun < len(self.at))):
            away = np.clip(away_s / np.maximum(ease_s, 1e-9), 0.0, 1.0)
            share = np.where(counts, 0.5 + 0.5 * np.cos(np.pi * away), 0.0)
            ahead = self.at[contact] - positions
            shift += share[:, None] * (ahead - (ahead @ up)[:, None] * up)
        return shift


def reaches(hips: FloatArray, ankles: FloatArray, leg_length: FloatArray | float) -> FloatArray:
    """Return how far legs reach, (F,): as far as they already do (F, 3), and almost as far as they are long."""
    return np.asarray(np.maximum(leg_length * REACH, np.linalg.norm(hips - ankles, axis=1)))


def within_reach(position: FloatArray, centres: FloatArray, up: FloatArray, radii: FloatArray) -> FloatArray:
    """Move a position (3,) over the ground into all balls about centres (F, 3) with radii (F,), as far as that goes.

    Each time into the one that it is farthest out of (projection onto convex sets).
    """
    for _ in range(_TRIES):
        away = position - centres
        height = away @ up
        away -= height[:, None] * up
        far = np.linalg.norm(away, axis=1)
        beyond = far - np.sqrt(np.maximum(radii**2 - height**2, 0.0))
        worst = int(np.argmax(beyond))
        if beyond[worst] <= 0.0:
            break
        position = position - away[worst] * (beyond[worst] / far[worst])
    return position


def planted(positions: FloatArray, times_s: FloatArray, up: FloatArray, leg_length: float) -> BoolArray:
    """Tell when a joint stands on the ground, (F,).

    positions: (F, 3) in model space at times (F,), ascending; up: unit vector (3,). Contacts shorter than SHORTEST_S do
    not count, nor do gaps that are shorter than BRIEF_S.
    """
    if len(positions) < 2 or leg_length <= 0.0:
        return np.zeros(len(positions), dtype=np.bool_)
    height = positions @ up
    speed = np.linalg.norm(np.gradient(positions, times_s, axis=0), axis=1)
    stands: BoolArray = (height <= height.min() + LOW_LEGS * leg_length) & (speed <= SLOW_LEGS_PER_S * leg_length)
    for start, stop in runs(~stands):
        if 0 < start and stop < len(stands) and times_s[stop] - times_s[start - 1] < BRIEF_S:
            stands[start:stop] = True
    for start, stop in runs(stands):
        if times_s[stop - 1] - times_s[start] < SHORTEST_S:
            stands[start:stop] = False
    return stands


def runs(planted: BoolArray) -> list[tuple[int, int]]:
    """Return where each run of True begins and ends (the end is not in it).

    >>> runs(np.array((False, True, True, False, True)))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), planted, (False,))).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
