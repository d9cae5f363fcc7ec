"""Where a foot is held on floors, and how it goes from one footprint to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray


class Prints(NamedTuple):
    """Where one foot is held on the floor, K times.

    spans_s: (K, 2) when; rise: (K,) how much higher than on flat ground; moved: (K, 2) how far over the ground;
    slopes: (K, 2) of the floor.
    """

    spans_s: FloatArray
    rise: FloatArray
    moved: FloatArray
    slopes: FloatArray

    def between(self, values: FloatArray, times_s: FloatArray) -> FloatArray:
        """Return what goes from one of the values (K, C) to the next while the foot is not held, (F, C)."""
        last, after, x = self._swings(times_s)
        x = x[:, None]
        return np.asarray(values[last] + x**3 * (10.0 + x * (6.0 * x - 15.0)) * (values[after] - values[last]))

    def _swings(self, times_s: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return between which prints the foot is at times (F,), and which share of the way in time has gone."""
        begin_s, end_s = self.spans_s.T
        last = np.maximum(begin_s.searchsorted(times_s, side="right") - 1, 0)
        after = np.minimum(last + 1, len(begin_s) - 1)
        return last, after, np.clip((times_s - end_s[last]) / np.maximum(begin_s[after] - end_s[last], 1e-9), 0.0, 1.0)

    def going_round(self, times_s: FloatArray, excess: FloatArray) -> FloatArray:
        """Return when feet on flat ground are where these are at times (F,): they rise first, and come down last.

        excess: (F,) from 0 to 1 how much there is to go over beside what is on the straight way. With x the share of a
        swing that has gone, and a, b the most of its first and its second half, that of the way is
        x − a·x·(1 − x)² + b·x²·(1 − x), which never goes back.
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
        """Tell at which times (F,) it is held."""
        last = self.spans_s[:, 0].searchsorted(times_s, side="right") - 1
        return np.asarray((last >= 0) & (times_s <= self.spans_s[np.maximum(last, 0), 1]))
