"""When and where feet are held on the ground, in the time of a row: contacts of clips, placed by root motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..maths.rotations import ComplexArray
from .transitions.curves import CURVES

REACH: Final = 0.9995
"""Legs are never straightened beyond this share of their length, where the knee would snap."""
STEP_WAIT: Final = 0.1
"""Of a step's time: at its beginning and its end the foot is only lifted and set down."""
EASE_S: Final = 0.25
PEAK: Final = 1.875
"""The highest speed of the smoothest way (Flash and Hogan 1985) against its mean."""
NEVER_S: Final = 1e30
"""Before a foot's first foothold and after its last one."""
_TRIES: Final = 30
_AFTER_AND_BEFORE: Final = np.array((1.0, -1.0))[:, None, None]
_smoother: Final = CURVES["SMOOTHER"].rise


@dataclass(frozen=True, eq=False)
class Footholds:
    """When and where L feet are held, told by what lies between: G gaps from one foothold of a foot to its next.

    A foot's first gap has no beginning and its last one no end: they lie at −NEVER_S and NEVER_S. All of one foot come
    before those of the next. In arrays (2, …) the beginning of a gap comes first, then its end.

    first: (L + 1,) the first gap of each foot, and G. edges_s: (2, G) when the foot is let go, and held again.
    at: (3, 2, G) where; anything where there is none. lift: (G,) how high the foot is lifted on its
    step over the gap; 0 where there is none.
    eases_s: (2, G) how long it takes to let the foot go and to lead it on, more than 0; NaN: not known yet, see
    `know_eases`. most_s: (2, G) how long at most; fast: (2, G) how fast the foot may be led.
    """

    first: IntArray
    edges_s: FloatArray
    at: FloatArray
    lift: FloatArray
    eases_s: FloatArray
    most_s: FloatArray
    fast: FloatArray

    def spans_s(self, foot: int) -> FloatArray:
        """Return when one of the feet is held, (K, 2)."""
        begin, end = self.first[foot], self.first[foot + 1]
        return np.stack((self.edges_s[1, begin:end - 1], self.edges_s[0, begin + 1:end]), axis=1)

    def gaps_at(self, times_s: FloatArray) -> IntArray:
        """Return for each foot the gap that follows the last foothold that has begun at times (F,), (L, F)."""
        wanted = np.empty((len(self.first) - 1, len(times_s)), dtype=np.complex128)
        wanted.real, wanted.imag = self._feet, times_s
        return np.searchsorted(self._ends, wanted, side="right")

    @cached_property
    def _feet(self) -> IntArray:
        return np.arange(len(self.first) - 1)[:, None]

    @cached_property
    def _ends(self) -> ComplexArray:
        """When gaps end, foot after foot, (G,): foot + i·time, since complex numbers sort by their real part first."""
        return np.asarray(np.repeat(self._feet[:, 0], np.diff(self.first)) + 1j * self.edges_s[1])

    def know_eases(self, gaps: IntArray, up: FloatArray, feet: Callable[[FloatArray], FloatArray]) -> None:
        """Find how long it takes to let feet go and to lead them on, over gaps of any shape, where it is not known.

        feet: where they are at times (F,) if nothing holds them, (F, L, 3). None is led faster than it may be.
        """
        if not np.isnan(self.eases_s[:, gaps]).any():
            return
        some = np.unique(gaps)
        edge, at = np.nonzero(np.isnan(self.eases_s[:, some]))
        gap = some[at]
        foot = np.searchsorted(self.first, gap, side="right") - 1
        ahead = self.at[:, edge, gap].T - feet(self.edges_s[edge, gap])[np.arange(len(gap)), foot]
        away = np.linalg.norm(ahead - (ahead @ up)[:, None] * up, axis=1)
        self.eases_s[edge, gap] = np.minimum(np.maximum(PEAK * away / self.fast[edge, gap], EASE_S),
                                             self.most_s[edge, gap])

    def shift(self, positions: FloatArray, gaps: IntArray, times_s: FloatArray, up: FloatArray,
              upright: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far feet at positions (3, L, F) must be moved at times (F,), in gaps (L, F), and how firmly.

        The way (3, L, F): wholly over the ground while a foot is held, before and after for a share that eases in and
        out; on a step from one foothold to the next. Firmly (L, F): 1 while it is held, soon 0 as it leaves.
        upright: (F,) how much of the way, 0…1, is also in height.
        """
        edges, lift = self.edges_s[:, gaps], self.lift[gaps]
        share = _AFTER_AND_BEFORE * (times_s - edges) / self.eases_s[:, gaps]
        is_stepping = bool(lift.any())
        if is_stepping:
            wait = np.where(lift > 0.0, STEP_WAIT, 0.0)
            share = (share - wait) / (1.0 - 2.0 * wait)
        share = 1.0 - _smoother(np.minimum(np.maximum(share, 0.0), 1.0))
        ahead = self.at[..., gaps] - positions[:, None]
        shift: FloatArray = (share * ahead).sum(axis=1)
        whole = share.sum(axis=0)  # a foot that is let go is soon free to rise
        shift += up[:, None, None] * ((upright * whole - 1.0) * np.tensordot(up, shift, 1))
        if is_stepping:
            begin_s, end_s = edges
            x = np.minimum(np.maximum((times_s - begin_s) * (lift > 0.0) / np.maximum(end_s - begin_s, 1e-9), 0.0), 1.0)
            shift += up[:, None, None] * (lift * 16.0 * (x * (1.0 - x))**2)
        return shift, whole * whole


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
