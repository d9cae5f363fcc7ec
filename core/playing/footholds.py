"""When and where feet are held on the ground, in the time of a row: contacts of clips, placed by root motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .transitions.curves import CURVES

REACH: Final = 0.9995
"""Legs are never straightened beyond this share of their length, where the knee would snap."""
STEP_WAIT: Final = 0.1
"""Of a step's time: at its beginning and its end the foot is only lifted and set down."""
_TRIES: Final = 30
_smoother: Final = CURVES["SMOOTHER"].rise


@dataclass(frozen=True, eq=False)
class Footholds:
    """When and where one foot is held: K times, one after another, from start_s to stop_s (K,), at (K, 3).

    ease_in_s, ease_out_s: (K,) how long before and after it the foot is led there and let go; more than 0.
    lift: (K,) how high the foot is lifted on its step to the next one; 0 where there is no step.
    """

    start_s: FloatArray
    stop_s: FloatArray
    at: FloatArray
    ease_in_s: FloatArray
    ease_out_s: FloatArray
    lift: FloatArray

    def shift(self, positions: FloatArray, times_s: FloatArray, up: FloatArray, upright: FloatArray) -> FloatArray:
        """Return how far a foot at positions (F, 3) must be moved at times (F,), (F, 3).

        All the way over the ground while it is held, before and after for a share that eases in and out; on a step from
        one foothold to the next. upright: (F,) how much of that, 0…1, also in height.
        """
        shift = np.zeros(positions.shape)
        if not len(self.at):
            return shift
        begun = np.searchsorted(self.start_s, times_s, side="right")
        last, following = np.maximum(begun - 1, 0), np.minimum(begun, len(self.at) - 1)
        wait = np.where((begun > 0) & (begun < len(self.at)) & (self.lift[last] > 0.0), STEP_WAIT, 0.0)
        after, before = times_s - self.stop_s[last], self.start_s[following] - times_s
        for hold, away, ease_s, counts in ((last, after, self.ease_out_s[last], begun > 0),
                                           (following, before, self.ease_in_s[following], begun < len(self.at))):
            share = 1.0 - _smoother(np.clip((away / ease_s - wait) / (1.0 - 2.0 * wait), 0.0, 1.0))
            ahead = self.at[hold] - positions
            ahead -= ((1.0 - upright) * (ahead @ up))[:, None] * up
            shift += np.where(counts, share, 0.0)[:, None] * ahead
        gap = np.maximum(after + before, 1e-9)
        x = np.clip(np.where(wait > 0.0, after, 0.0) / gap, 0.0, 1.0)
        return np.asarray(shift + (self.lift[last] * 16.0 * (x * (1.0 - x))**2)[:, None] * up)


def reaches(hips: FloatArray, ankles: FloatArray, leg_length: FloatArray | float) -> FloatArray:
    """Return how far legs reach, (...,): as far as they already do (..., 3), and almost as far as they are long."""
    return np.asarray(np.maximum(leg_length * REACH, np.linalg.norm(hips - ankles, axis=-1)))


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
