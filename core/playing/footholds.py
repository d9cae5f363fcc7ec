"""When and where feet are held on the ground, in the time of a row: contacts of clips, placed by root motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..maths.rotations import ComplexArray
from .transitions.curves import CURVES

REACH: Final = 0.9995
"""Legs are never straightened beyond this share of their length, where the knee would snap."""
STEP_WAIT: Final = 0.1
"""Of a step's time: at its beginning and its end the foot is only lifted and set down."""
EASE_S: Final = 0.25
JERK_LEGS: Final = 150.0
"""How jerkily feet are led to footholds and away, in leg lengths per s³: as by 4 % of the leg in EASE_S."""
SOON_S: Final = 0.2
"""How long it takes at most in height: who lifts a foot means to clear the ground."""
_AT_ONCE_S: Final = 0.1
"""No foot comes to its highest speed sooner than this, but where a clip jumps."""
BESIDE_S: Final = 1.0 / 60.0
"""Over such steps speeds are taken: neither within one key of usual clips, nor over a stride."""
PEAK: Final = 1.875
"""The highest speed of the smoothest way (Flash and Hogan 1985) against its mean."""
NEVER_S: Final = 1e30
"""Before a foot's first foothold and after its last one."""
_TRIES: Final = 30
_AFTER_AND_BEFORE: Final = np.array((1.0, -1.0))[:, None]
_smoother: Final = CURVES["SMOOTHER"].rise


class Loose(NamedTuple):
    """Feet that nothing holds, as they are let go or held again: where they are, at which speed and acceleration.

    All are (..., 3); time counts away from where they are held, so before that backwards.
    """

    positions: FloatArray
    speeds: FloatArray
    changes: FloatArray

    @classmethod
    def of(cls, points: FloatArray, step_s: FloatArray | float) -> Loose:
        """Take them from positions (..., 3, 3) at an instant, a step (...,) later, and two."""
        first, second, third = np.moveaxis(points, -2, 0)
        step = np.asarray(step_s)[..., None]
        return cls(first.copy(), (4.0 * second - 3.0 * first - third) / (2.0 * step),
                   (first - 2.0 * second + third) / step**2)


@dataclass(frozen=True, eq=False)
class Footholds:
    """When and where L feet are held, told by what lies between: G gaps from one foothold of a foot to its next.

    A foot's first gap has no beginning and its last one no end: they lie at −NEVER_S and NEVER_S. All of one foot come
    before those of the next. In arrays (2, …) the beginning of a gap comes first, then its end.

    first: (L + 1,) the first gap of each foot, and G. edges_s: (2, G) when the foot is let go, and held again.
    at: (3, 2, G) where it is held then; loose, speed, change: (3, 2, G) the foot if nothing holds it, see Loose; NaN:
    that is not known yet, see `know`. Any numbers where there is no foothold. lift: (G,) how high the foot is lifted on
    its step over the gap; 0 where there is none. most_s: (2, G) how long it takes at most to let the foot go and to
    lead it on; fast: (2, G) how fast it may be led; eases_s: (2, G) how long it does take, more than 0. leg: its
    length.
    """

    first: IntArray
    edges_s: FloatArray
    at: FloatArray
    loose: FloatArray
    speed: FloatArray
    change: FloatArray
    lift: FloatArray
    most_s: FloatArray
    fast: FloatArray
    eases_s: FloatArray
    leg: float

    @classmethod
    def of(cls, up: FloatArray, leg: float, first: IntArray, edges_s: FloatArray, at: FloatArray, loose: FloatArray,
           speed: FloatArray, change: FloatArray, lift: FloatArray, most_s: FloatArray, fast: FloatArray) -> Footholds:
        """Take footholds of which it is not known yet how long feet are led to them; up: unit vector (3,)."""
        loose = np.where(lift > 0.0, at, loose)  # a step leads from foothold to foothold, wherever the foot would be
        found = cls(first, edges_s, at, loose, speed, change, lift, most_s, fast, most_s.copy(), leg)
        found._ease(up, *np.nonzero(~np.isnan(loose[0])))
        return found

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

    def know(self, gaps: IntArray, up: FloatArray, feet: Callable[[FloatArray], FloatArray]) -> None:
        """Find where feet would be as they are let go and held again, over gaps of any shape, where it is not known.

        feet: where they are at times (F,) if nothing holds them, (F, L, 3).
        """
        if not np.isnan(self.loose[0][:, gaps]).any():
            return
        some = np.unique(gaps)
        edge, at = np.nonzero(np.isnan(self.loose[0][:, some]))
        gap = some[at]
        foot = np.searchsorted(self.first, gap, side="right") - 1
        away_s = np.where(edge == 0, BESIDE_S, -BESIDE_S) * np.arange(3)[:, None]
        found = feet((self.edges_s[edge, gap] + away_s).ravel())[np.arange(3 * len(gap)), np.tile(foot, 3)]
        loose = Loose.of(found.reshape(3, -1, 3).swapaxes(0, 1), BESIDE_S)
        for known, each in zip((self.loose, self.speed, self.change), loose, strict=True):
            known[:, edge, gap] = each.T
        self._ease(up, edge, gap)

    def _ease(self, up: FloatArray, edge: IntArray, gap: IntArray) -> None:
        """Take so much time at some edges (N,) of gaps (N,) that feet are led neither too fast nor too jerkily.

        The smoothest way over a distance d in the time T has the jerk 60·d/T³ at most, and what takes up a speed v in
        the time T has 36·v/T².
        """
        most = self.fast[edge, gap]  # a clip may jump there
        for rate, limit in ((self.speed, most), (self.change, most / _AT_ONCE_S)):
            size = np.linalg.norm(rate[:, edge, gap], axis=0)
            rate[:, edge, gap] *= np.minimum(limit / np.maximum(size, 1e-30), 1.0)
        ahead, speed = ((each - up[:, None] * (up @ each)) for each in (
            (self.at - self.loose)[:, edge, gap], self.speed[:, edge, gap]))
        away, fast = np.linalg.norm(ahead, axis=0), np.linalg.norm(speed, axis=0)
        jerk = np.maximum(JERK_LEGS * self.leg, most / _AT_ONCE_S**2)
        wanted = np.max((PEAK * away / most, np.cbrt(60.0 * away / jerk), np.sqrt(36.0 * fast / jerk),
                         np.full(len(gap), EASE_S)), axis=0)
        wanted = np.where(self.lift[gap] > 0.0, np.inf, wanted)
        self.eases_s[edge, gap] = np.minimum(wanted, self.most_s[edge, gap])
        self._apart[..., edge, gap] = self._apart_at(edge, gap)

    @cached_property
    def _apart(self) -> FloatArray:
        """What fades in gaps, in one array since it is looked up at once: see _apart_at, (3, 3, 2, G)."""
        return self._apart_at(*np.indices(self.edges_s.shape))

    def _apart_at(self, edge: IntArray, gap: IntArray) -> FloatArray:
        """Return for edges of gaps (...,) the way from the foot to the foothold, its speed and its change, (3, 3, ...).

        On a step the foothold itself: the way is from wherever the foot is.
        """
        at, *rest = (each[:, edge, gap] for each in (self.at, self.loose, self.speed, self.change))
        is_step = self.lift[gap] > 0.0
        return np.stack((np.where(is_step, at, at - rest[0]), *(np.where(is_step, 0.0, rate) for rate in rest[1:])))

    def shift(self, positions: FloatArray, gaps: IntArray, times_s: FloatArray, up: FloatArray,
              upright: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far feet at positions (3, L, F) must be moved at times (F,), in gaps (L, F), and how firmly.

        The way (3, L, F): wholly over the ground while a foot is held. After and before, what parts the foothold from
        where the foot would be as it is let go fades, and its speed there, which a held foot has not (inertialization:
        Bollo 2018). On a step it goes from one foothold to the next. Firmly (L, F): 1 while it is held, soon 0 as it
        leaves. upright: (F,) how much of the way, 0…1, is also in height.
        """
        held = times_s <= self._let_go_s[gaps]
        shift, firmly = self._held_at[:, gaps] - positions, held.astype(np.float64)
        high, lifted = np.tensordot(up, shift, 1), np.zeros(gaps.shape)
        legs, frames = np.nonzero(~held)
        if len(legs):
            led, which = gaps[legs, frames], (legs, frames)
            shift[:, legs, frames], high[which], lifted[which], firmly[which] = self._led(
                positions[:, legs, frames], led, times_s[frames], up)
        shift += up[:, None, None] * (upright * high + lifted - np.tensordot(up, shift, 1))
        return shift, firmly

    def _led(self, positions: FloatArray, gaps: IntArray, times_s: FloatArray,
             up: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the same of N feet at positions (3, N) that are in gaps (N,) at times (N,).

        The way over the ground (3, N), and in height (N,); how high they are lifted besides, and how firmly they are
        held, (N,).
        """
        edges, lift, eases = self.edges_s[:, gaps], self.lift[gaps], self.eases_s[:, gaps]
        since, is_step = _AFTER_AND_BEFORE * (times_s - edges), lift > 0.0
        wait = np.where(is_step, STEP_WAIT, 0.0)
        apart = self._apart[..., gaps]
        steps = np.flatnonzero(is_step)
        apart[0][..., steps] -= positions[:, None, steps]

        def faded(apart: FloatArray, eases: FloatArray) -> tuple[FloatArray, FloatArray]:
            x = np.minimum(np.maximum((since / eases - wait) / (1.0 - 2.0 * wait), 0.0), 1.0)
            share, late = 1.0 - _smoother(x), eases * x * (1.0 - x)**3
            moving = (1.0 + 3.0 * x) * apart[1] + eases * x * 0.5 * apart[2]
            return (share * apart[0] - late * moving).sum(axis=-2), share

        shift, share = faded(apart, eases)
        high, _ = faded(np.einsum("k,nkeg->neg", up, apart), np.where(is_step, eases, np.minimum(eases, SOON_S)))
        x = np.minimum(np.maximum((times_s - edges[0]) / np.maximum(edges[1] - edges[0], 1e-9), 0.0), 1.0)
        return shift, high, lift * 64.0 * (x * (1.0 - x))**3, share.sum(axis=0)**2

    @cached_property
    def _let_go_s(self) -> FloatArray:
        """When a gap begins, (G,)."""
        return np.ascontiguousarray(self.edges_s[0])

    @cached_property
    def _held_at(self) -> FloatArray:
        """Where feet are held before a gap, (3, G)."""
        return np.ascontiguousarray(self.at[:, 0])


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
