"""How far feet rise that a clip has in the ground: seen over the whole clip, so that they do so before they are there.

A sole that comes down fast would be stopped as if it had hit something if it were lifted only while it is too deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...maths.arrays import FloatArray, IntArray

KNOT_S: Final = 0.05
"""So far apart are the knots of how far a foot rises: it begins to four of them before it would be in the ground."""
_ROUNDING: Final = 1e-9
_FOUR: Final = np.arange(4)
_CUBIC: Final = np.array(((1.0, 4.0, 1.0, 0.0), (-3.0, 0.0, 3.0, 0.0), (3.0, -6.0, 3.0, 0.0),
                          (-1.0, 3.0, -3.0, 1.0))) / 6.0
"""How much each of four knots counts between the middle ones, (4, 4), by powers of the share of the way: the uniform
cubic B-spline (de Boor 1978)."""


def knots_of(deep: FloatArray, times_s: FloatArray) -> FloatArray:
    """Return how far a foot rises at knots of a cubic B-spline that is nowhere less than how deep the foot is, (K,).

    deep: (F,) that at times (F,) from 0 on; less than 0 counts as 0. The knots lie KNOT_S apart, from −KNOT_S on. Each
    is the most that the foot is deep within two knots of it: so far it counts, and all that count sum to 1.

    >>> knots_of(np.array((-1.0, 0.0, 0.0, 0.0, 0.2)), np.linspace(0.0, 0.2, 5)).tolist()
    [0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 0.2]
    """
    at = KNOT_S * np.arange(-1, max(int(np.ceil(times_s[-1] / KNOT_S - _ROUNDING)), 1) + 2)
    starts, stops = (np.searchsorted(times_s, at + beside) for beside in (-2.0 * KNOT_S - _ROUNDING,
                                                                          2.0 * KNOT_S + _ROUNDING))
    most = np.maximum.reduceat(np.append(deep, 0.0), np.stack((starts, stops), axis=1).ravel())[::2]
    return np.where(starts < stops, np.maximum(most, 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class Rises:
    """How far L feet rise in clips that are numbered.

    knots: (K, L) of all clips, one after another, see knots_of. first: (C,) the first of each; spans: (C,) how many
    spans between knots each has.
    """

    knots: FloatArray
    first: IntArray
    spans: IntArray

    @classmethod
    def of(cls, knots: Sequence[FloatArray]) -> Rises:
        """Put together knots (K, L) of clips."""
        counts = np.array([len(each) for each in knots])
        return cls(np.concatenate(knots), np.cumsum(counts) - counts, counts - 3)

    def at(self, clip: IntArray, times_s: FloatArray) -> FloatArray:
        """Return how far feet rise at times (...,) of clips (...,), (..., L); before and after a clip as at its ends.

        >>> knots = knots_of(np.array((0.0, 0.0, 0.1, 0.0, 0.0)), np.linspace(0.0, 1.0, 5))
        >>> rises = Rises.of([knots[:, None]])
        >>> rises.at(np.zeros(4, dtype=int), np.array((-1.0, 0.3, 0.4, 0.5)))[:, 0].round(3).tolist()
        [0.0, 0.0, 0.083, 0.1]
        """
        x = np.maximum(times_s / KNOT_S, 0.0)
        span = np.minimum(x.astype(np.int64), self.spans.take(clip) - 1)
        share = np.minimum(x - span, 1.0)[..., None]
        counts = ((share * _CUBIC[3] + _CUBIC[2]) * share + _CUBIC[1]) * share + _CUBIC[0]
        around = self.knots.take((self.first.take(clip) + span)[..., None] + _FOUR, axis=0)
        return np.asarray((counts[..., None, :] @ around)[..., 0, :])
