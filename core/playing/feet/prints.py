"""Footprints of a foot on floors, and its path from one to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...clips.keyed import FINE_S
from ...clips.thresholds import EASE_S
from ...maths.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ...maths.formulas import minimum_jerk
from .footholds import SWING_S


class Prints(NamedTuple):
    """K footprints of one foot on the floor, and places that it passes in the air, see passes.

    spans_s: (K, 2) when; of no length where it passes. rise: (K,) height above flat ground. moved: (K, 2) horizontal
    shift. slopes: (K, 2) of the floor. balls: (K, 2) where the ball of the foot is over the ground.
    """

    spans_s: FloatArray
    rise: FloatArray
    moved: FloatArray
    slopes: FloatArray
    balls: FloatArray

    def between(self, values: FloatArray, times_s: FloatArray) -> FloatArray:
        """Return values that change from one of (K, C) to the next between contacts, (F, C)."""
        last, after, x = self._swings(times_s)
        return np.asarray(values[last] + minimum_jerk(x)[:, None] * (values[after] - values[last]))

    def _swings(self, times_s: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the footprints around times (F,), and the elapsed share of the time between them."""
        begin_s, end_s = self.spans_s.T
        last = np.maximum(begin_s.searchsorted(times_s, side="right") - 1, 0)
        after = np.minimum(last + 1, len(begin_s) - 1)
        return last, after, np.clip((times_s - end_s[last]) / np.maximum(begin_s[after] - end_s[last], 1e-9), 0.0, 1.0)

    def going_round(self, times_s: FloatArray, excess: FloatArray) -> FloatArray:
        """Return when feet on flat ground are where these are at times (F,): feet rise first, and land last.

        excess: (F,) from 0 to 1, height of obstacles above the straight line. With x the elapsed share of a swing, and
        a, b the greatest excess of its first and second half, the share of the path is x − a·x·(1 − x)² + b·x²·(1 − x),
        which never goes back.
        """
        last, after, x = self._swings(times_s)
        most = np.zeros((2, len(self.spans_s)))
        for half, own in zip(most, (x < 0.5, x >= 0.5), strict=True):
            own = own & (x > 0.0) & (x < 1.0)
            np.maximum.at(half, last[own], excess[own])
        first, second = most[:, last]
        later = second * x * x * (1.0 - x) - first * x * (1.0 - x) ** 2
        return np.asarray(times_s + later * (self.spans_s[after, 0] - self.spans_s[last, 1]))

    def holds(self, times_s: FloatArray) -> BoolArray:
        """Return at which times (F,) it has contact."""
        return within(self.spans_s[self.spans_s[:, 0] < self.spans_s[:, 1]], times_s)


def within(spans_s: FloatArray, times_s: FloatArray) -> BoolArray:
    """Return which times (F,) are in spans (K, 2), in which both beginnings and ends increase; these edges are too."""
    if not len(spans_s):
        return np.zeros(len(times_s), dtype=np.bool_)
    last = spans_s[:, 0].searchsorted(times_s, side="right") - 1
    return np.asarray((last >= 0) & (times_s <= spans_s[np.maximum(last, 0), 1]))


def passes(high: FloatArray, spans_s: FloatArray, others: BoolArray, leg: float) -> FloatArray:
    """Return when a foot that nothing holds follows the floor below it, (P,): where it is lowest for EASE_S either way.

    So do runs whose contacts are not known, and bodies in flight, also at the beginning and end. high: (F,) heights of
    the sole, FINE_S apart. spans_s: (K, 2) contacts of the foot. others: (F,) when other feet have contact: then it
    passes nothing between two contacts of its own. leg: its length.

    >>> high = np.abs(np.cos(FINE_S * np.pi * np.arange(round(2.0 / FINE_S) + 1)))
    >>> passes(high, np.zeros((0, 2)), high > -1.0, 1.0).round(2).tolist()
    [0.0, 0.5, 1.5, 2.0]
    >>> passes(high, np.array(((0.0, 0.1), (1.9, 2.0))), high > -1.0, 1.0).tolist()
    []
    """
    times_s = np.asarray(FINE_S * np.arange(len(high)), dtype=np.float64)
    reach = round(EASE_S / FINE_S)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(high, reach, constant_values=np.inf), 2 * reach + 1)
    is_low = high <= around.min(axis=1) + ROUNDING * leg
    is_low[[0, -1]] = True
    if len(spans_s):
        around_s = spans_s + SWING_S * np.array((-1.0, 1.0))
        inside_s = np.asarray(np.nextafter(around_s, np.array((np.inf, -np.inf))), dtype=np.float64)
        is_low &= ~within(inside_s, times_s)
        is_low &= ~others | (times_s < spans_s[0, 0]) | (times_s > spans_s[-1, 1])
    found = list[float]()
    for time_s in times_s[is_low].tolist():
        if not found or time_s >= found[-1] + SWING_S or time_s == times_s[-1]:
            found.append(time_s)
    return np.array(found)
