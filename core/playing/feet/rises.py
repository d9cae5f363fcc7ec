"""Raises feet that a clip has below the ground: planned over the whole clip, so that the rise is smooth.

A sole that comes down fast would stop abruptly if it were raised only while it is too deep, so the rise begins earlier.
A sole in contact that sinks further stays in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.contacts import STEP_S
from ...maths.arrays import ROUNDING, FloatArray, IntArray
from ...maths.envelopes import bowl_above

KNOT_S: Final = STEP_S
"""Spacing of the knots of the rise."""
LANDS_LEGS_PER_S2: Final = 40.0
"""Greatest deceleration of a landing foot, in leg lengths per s²: about three times its weight."""
_CUBIC: Final = np.array(((1.0, 4.0, 1.0, 0.0), (-3.0, 0.0, 3.0, 0.0), (3.0, -6.0, 3.0, 0.0),
                          (-1.0, 3.0, -3.0, 1.0))) / 6.0
"""Weights of four knots between the middle ones, (4, 4), by powers of the share of the way: the uniform cubic B-spline
(de Boor 1978).
"""


def knots_of(high: FloatArray, times_s: FloatArray, leg: float) -> FloatArray:
    """Return how far a foot is raised at knots of a cubic B-spline, (K,), so that path plus rise land gently.

    high: (F,) heights of its sole above the ground at times (F,) from 0 on, negative in it. leg: its length, positive,
    in the same unit. Knots are KNOT_S apart, from −KNOT_S on. Sharp turns of its own path above the ground stay.

    >>> knots_of(np.array((0.0, 0.0, -0.1)), KNOT_S * np.arange(3), 1.0).round(3).tolist()
    [0.0, 0.0, 0.0, 0.1, 0.2]
    >>> knots_of(np.array((0.02, 0.01, 0.0, -0.01, -0.02, -0.02)), KNOT_S * np.arange(6), 1.0).round(3).tolist()
    [0.0, 0.0, 0.0, 0.004, 0.01, 0.02, 0.02, 0.02]
    """
    on, own = (bowl_above(times_s, path, LANDS_LEGS_PER_S2 * leg) for path in (np.maximum(high, 0.0), high))
    rise = np.maximum(on - own, np.maximum(-high, 0.0))
    at = KNOT_S * np.arange(max(int(np.ceil(times_s[-1] / KNOT_S - ROUNDING)), 1) + 1)
    knots = np.interp(at, times_s, rise)
    return np.concatenate((2.0 * knots[:1] - knots[1:2], knots, 2.0 * knots[-1:] - knots[-2:-1]))


@dataclass(frozen=True, eq=False)
class Rises:
    """How far L feet are raised in numbered clips.

    knots: (K, L) of all clips, one after another, see knots_of. first: (C,) the first knot of each. spans: (C,) number
    of spans between its knots.
    """

    knots: FloatArray
    first: IntArray
    spans: IntArray

    @classmethod
    def of(cls, knots: Sequence[FloatArray]) -> Rises:
        """Combine knots (K, L) of clips."""
        counts = np.array([len(each) for each in knots])
        return cls(np.concatenate(knots), np.cumsum(counts) - counts, counts - 3)

    def at(self, clip: IntArray, times_s: FloatArray) -> FloatArray:
        """Return how far feet are raised at times (...,) of clips (...,), (..., L); held constant outside a clip.

        >>> rises = Rises.of([knots_of(np.array((0.0, 0.0, -0.1, -0.1, -0.1)), np.linspace(0.0, 1.0, 5), 1.0)[:, None]])
        >>> rises.at(np.zeros(4, dtype=int), np.array((-1.0, 0.2, 0.4, 2.0)))[:, 0].round(3).tolist()
        [0.0, 0.0, 0.06, 0.1]
        """
        x = np.maximum(times_s / KNOT_S, 0.0)
        span = np.minimum(x.astype(np.int64), self.spans.take(clip) - 1)
        counts = spline_counts(np.minimum(x - span, 1.0))
        around = self.knots.take((self.first.take(clip) + span)[..., None] + np.arange(4), axis=0)
        return np.asarray((counts[..., None, :] @ around)[..., 0, :])


def spline_counts(share: FloatArray) -> FloatArray:
    """Return the weights of four knots of a cubic B-spline, (..., 4), at shares (...,) between the middle two.

    >>> (6.0 * spline_counts(np.array((0.0, 1.0)))).round(9).tolist()
    [[1.0, 4.0, 1.0, 0.0], [0.0, 1.0, 4.0, 1.0]]
    """
    share = share[..., None]
    return np.asarray(((share * _CUBIC[3] + _CUBIC[2]) * share + _CUBIC[1]) * share + _CUBIC[0])
