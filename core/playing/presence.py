"""Weight of a lane at each instant of a block, with its fades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .transitions.curves import CURVES, Weight

_EASE: Final = CURVES["SMOOTHER"].rise
"""x³ (10 − 15x + 6x²): lanes always fade smoothly, whatever curve the transitions have."""
EASE_SLOPE: Final = 15.0 / 8.0
EASE_CURVATURE: Final = 10.0 / 3.0 ** 0.5
"""Greatest second derivative of this curve. EASE_SLOPE is its greatest first derivative."""


@dataclass(frozen=True, eq=False)
class Presence:
    """The weight of a lane over duration_s.

    weight, weight_end: at the block's begin and end; between them the weight follows the curve. begin_s, end_s: (N,)
    the spans in which the lane plays, in order; between them it is silent. ease_in_s, ease_out_s: (N,) durations of
    each span's fades.
    """

    curve: Weight
    duration_s: float
    weight: float
    weight_end: float
    begin_s: FloatArray
    end_s: FloatArray
    ease_in_s: FloatArray
    ease_out_s: FloatArray

    @property
    def is_whole(self) -> bool:
        """Whether the lane plays all the time without fades."""
        return (len(self.begin_s) == 1 and self.begin_s[0] <= 0.0 and self.end_s[0] >= self.duration_s
                and not self.ease_in_s[0] and not self.ease_out_s[0])

    @property
    def edges_s(self) -> FloatArray:
        """The times at which fades begin and end."""
        return np.concatenate((self.begin_s, self.begin_s + self.ease_in_s, self.end_s - self.ease_out_s, self.end_s))

    def weights(self, times_s: FloatArray) -> FloatArray:
        """Return the weights at times (F,), without silence and fades."""
        share = self.curve(np.clip(times_s / self.duration_s, 0.0, 1.0)) if self.duration_s > 0.0 else np.zeros(1)
        return np.asarray(self.weight + (self.weight_end - self.weight) * share)

    def at(self, times_s: FloatArray) -> FloatArray:
        """Return the weights at times (F,), with silence and fades."""
        weights = self.weights(times_s)
        if self.is_whole:
            return weights
        run = np.maximum(np.searchsorted(self.begin_s, times_s, side="right") - 1, 0)
        since, left = times_s - self.begin_s[run], self.end_s[run] - times_s
        inside = (since >= 0.0) & (left >= 0.0)
        comes, goes = (_EASE(np.divide(np.clip(time, 0.0, ease), ease, out=np.ones(len(run)), where=ease > 0.0))
                       for time, ease in ((since, self.ease_in_s[run]), (left, self.ease_out_s[run])))
        return np.asarray(weights * np.where(inside, comes * goes, 0.0))


ALWAYS: Final = Presence(lambda x: x, 1.0, 1.0, 1.0, np.array((-np.inf,)), np.array((np.inf,)), np.zeros(1),
                         np.zeros(1))
"""Weight 1 at all times."""
