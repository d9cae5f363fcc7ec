"""When and where feet are held on the ground, in the time of a row: contacts of clips, placed by root motion.

All positions are in ground coordinates: two along the ground, the third up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ..maths.rotations import ComplexArray

REACH: Final = 0.9995
"""Legs are never straightened beyond this share of their length, where the knee would snap."""
STEP_WAIT: Final = 0.13
"""Of a step's time: at its beginning and its end the foot is only lifted and set down."""
EASE_S: Final = 0.25
JERK_LEGS: Final = 150.0
"""How jerkily feet are led to footholds and away, in leg lengths per s³: as by 4 % of the leg in EASE_S."""
SOON_S: Final = 0.2
"""How long it takes at most in height: who lifts a foot means to clear the ground."""
DOWN_S: Final = 0.25
"""So long the body takes to go down for a foot that comes, and to come up after one that has left."""
CLEAR_LEGS: Final = 0.05
_CLEAR: Final = 0.2
"""Feet that are led over the ground are lifted by so much of their distance, and at most so high."""
_AT_ONCE_S: Final = 0.1
"""No foot comes to its highest speed sooner than this, but where a clip jumps."""
BESIDE_S: Final = 1.0 / 60.0
"""Over such steps speeds are taken: neither within one key of usual clips, nor over a stride."""
PEAK: Final = 1.875
"""The highest speed of the smoothest movement (Flash and Hogan 1985) against its mean."""
NEVER_S: Final = 1e30
"""Before a foot's first foothold and after its last one."""
_TRIES: Final = 30
_AFTER_AND_BEFORE: Final = np.array((1.0, -1.0))[:, None]
_UP: Final = 2


class Loose(NamedTuple):
    """Feet that nothing holds, as they are let go or held again: where they are, at which speed and acceleration.

    All are (..., 3); time counts away from where they are held, so before that backwards.
    """

    positions: FloatArray
    speeds: FloatArray
    changes: FloatArray

    @classmethod
    def of(cls, points: FloatArray, step_s: FloatArray | float) -> Loose:
        """Take them from positions (..., 3, 3) at an instant, a step (...,) later, and two; without a step, at rest."""
        first, second, third = np.moveaxis(points, -2, 0)
        step = np.asarray(step_s)[..., None]
        return cls(first.copy(), quotient(4.0 * second - 3.0 * first - third, 2.0 * step),
                   quotient(first - 2.0 * second + third, step**2))


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
    def of(cls, leg: float, first: IntArray, edges_s: FloatArray, at: FloatArray, loose: FloatArray,
           speed: FloatArray, change: FloatArray, lift: FloatArray, most_s: FloatArray, fast: FloatArray) -> Footholds:
        """Take footholds of which it is not known yet how long feet are led to them."""
        loose = np.where(lift > 0.0, at, loose)  # a step leads from foothold to foothold, wherever the foot would be
        found = cls(first, edges_s, at, loose, speed, change, lift, most_s, fast, most_s.copy(), leg)
        found._ease(*np.nonzero(~np.isnan(loose[0])))
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

    def know(self, gaps: IntArray, feet: Callable[[FloatArray], FloatArray]) -> None:
        """Find where feet would be as they are let go and held again, over gaps of any shape, where it is not known.

        feet: where they are at times (F,) if nothing holds them, (F, L, 3).
        """
        if not self._is_unknown[gaps].any():
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
        self._is_unknown[gap] = False
        self._ease(edge, gap)

    @cached_property
    def _is_unknown(self) -> BoolArray:
        """Over which gaps it is not known where feet would be, (G,)."""
        return np.asarray(np.isnan(self.loose[0]).any(axis=0))

    def plan(self, gaps: IntArray, upright: Callable[[FloatArray], FloatArray],
             downs: Callable[[FloatArray], FloatArray]) -> None:
        """Find by how much the body is down as feet are let go and held again over gaps, where it is not known.

        upright: how near transitions are at times (F,), 0…1: far from them the body stays as it is. downs: by how much
        it is down for each foot held, (L, F).
        """
        is_new = self._is_unplanned[gaps]
        if not is_new.any():
            return
        some = np.unique(gaps[is_new])
        self._is_unplanned[some] = False
        edges_s = self.edges_s[:, some]
        is_edge = np.abs(edges_s) < NEVER_S
        near = np.zeros(edges_s.shape)
        near[is_edge] = upright(edges_s[is_edge])
        self._downs[:, some[near.any(axis=0)]] = 0.0
        edge, at = np.nonzero(is_edge & near.any(axis=0))
        if len(at):
            foot = np.searchsorted(self.first, some[at], side="right") - 1
            self._downs[edge, some[at]] = downs(edges_s[edge, at])[foot, np.arange(len(at))]

    @cached_property
    def _downs(self) -> FloatArray:
        """By how much the body is down as feet are let go and held again, (2, G); NaN where that is not planned."""
        return np.full(self.edges_s.shape, np.nan)

    @cached_property
    def _is_unplanned(self) -> BoolArray:
        """Over which gaps that is not known yet, (G,)."""
        return np.ones(self.edges_s.shape[1], dtype=np.bool_)

    def is_body_down(self, gaps: IntArray) -> bool:
        """Whether the body is down for any foot as it is let go or held again over gaps of any shape."""
        return bool((self._downs[:, gaps] > 0.0).any())

    def planned_down(self, gaps: IntArray, times_s: FloatArray, held: FloatArray) -> FloatArray:
        """Return by how much the body is down at times (F,) for feet in gaps (L, F), (L, F).

        For feet that are held, and where that is not planned, what `held` (L, F) says. Else it is down before they are
        held, and up again after it.
        """
        downs, edges_s = self._downs[:, gaps], self.edges_s[:, gaps]
        takes_s = np.minimum(DOWN_S, np.maximum(edges_s[1] - edges_s[0], 1e-9))
        share = np.minimum(np.maximum(np.stack((times_s - edges_s[0], edges_s[1] - times_s)) / takes_s, 0.0), 1.0)
        left = 1.0 - share
        rest = left * left * left * (1.0 + share * (3.0 + 6.0 * share))
        return np.where(np.isnan(downs[0]) | (times_s <= edges_s[0]), held, (downs * rest).sum(axis=0))

    def _ease(self, edge: IntArray, gap: IntArray) -> None:
        """Take so much time at some edges (N,) of gaps (N,) that feet are led neither too fast nor too jerkily.

        The smoothest movement over a distance d in the time T has the jerk 60·d/T³ at most, and what takes up a speed v
        in the time T has 36·v/T².
        """
        most = self.fast[edge, gap]  # a clip may jump there
        for rate, limit in ((self.speed, most), (self.change, most / _AT_ONCE_S)):
            size = np.linalg.norm(rate[:, edge, gap], axis=0)
            rate[:, edge, gap] *= np.minimum(limit / np.maximum(size, 1e-30), 1.0)
        away, fast = (np.linalg.norm(each[:_UP, edge, gap], axis=0) for each in (self.at - self.loose, self.speed))
        jerk = np.maximum(JERK_LEGS * self.leg, most / _AT_ONCE_S**2)
        wanted = np.max((PEAK * away / most, np.cbrt(60.0 * away / jerk), np.sqrt(36.0 * fast / jerk),
                         np.full(len(gap), EASE_S)), axis=0)
        wanted = np.where(self.lift[gap] > 0.0, np.inf, wanted)
        self.eases_s[edge, gap] = np.minimum(wanted, self.most_s[edge, gap])
        self._fades[..., edge, gap] = self._fades_at(edge, gap)
        clear = np.minimum(_CLEAR * (away + fast * self.eases_s[edge, gap]), CLEAR_LEGS * self.leg)
        self._clear[edge, gap] = np.where(self.lift[gap] > 0.0, 0.0, clear)

    @cached_property
    def _fades(self) -> FloatArray:
        """How feet are let go and led on, in one array since it is looked up at once: see _fades_at, (5, 3, 2, G)."""
        return self._fades_at(*np.indices(self.edges_s.shape))

    def _fades_at(self, edge: IntArray, gap: IntArray) -> FloatArray:
        """Return for edges of gaps (...,) what fades there and when, (5, 3, ...).

        When it begins, and how much of it a second takes, which is less than 0 where time counts backwards. The shift
        from the foot to the foothold; and what goes on there, of which x·(1 − x)³ times the former, and x times the
        latter, is left after the share x. On a step the foothold itself, as the shift begins wherever the foot is.
        """
        is_step, eases = self.lift[gap] > 0.0, np.stack((self.eases_s[edge, gap],) * 3)
        eases[_UP] = np.where(is_step, eases[_UP], np.minimum(eases[_UP], SOON_S))
        wait, forwards = np.where(is_step, STEP_WAIT, 0.0), np.where(edge == 0, 1.0, -1.0)
        at, loose, speed, change = (each[:, edge, gap] for each in (self.at, self.loose, self.speed, self.change))
        speed, change = (np.where(is_step, 0.0, each) for each in (speed * eases, change * eases * eases / 2.0))
        return np.stack((self.edges_s[edge, gap] + forwards * wait * eases, forwards / (eases * (1.0 - 2.0 * wait)),
                         np.where(is_step, at, at - loose), speed, 3.0 * speed + change))

    @cached_property
    def _clear(self) -> FloatArray:
        """How high feet are lifted as they leave footholds and come to them, (2, G)."""
        return np.zeros_like(self.eases_s)

    def shift(self, positions: FloatArray, gaps: IntArray, times_s: FloatArray,
              upright: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return how far feet at positions (3, L, F) must be moved at times (F,), in gaps (L, F), how firmly, how high.

        The shift (3, L, F): wholly over the ground while a foot is held. After and before, what parts the foothold from
        where the foot would be as it is let go fades, and its speed there, which a held foot has not (inertialization:
        Bollo 2018). On a step it goes from one foothold to the next. Firmly (L, F): 1 while it is held, soon 0 as it
        leaves. How high (L, F) above the ground feet are at least, which are led over it. upright: (F,) how much of the
        shift, 0…1, is also in height.
        """
        begin, per_s, apart, speed, change = self._fades.take(gaps, axis=-1)
        steps = self._steps.take(gaps, axis=-1)
        let_go_s, gap_per_s, lift = steps[:3]
        are_steps = bool(lift.any())
        share = np.minimum(np.maximum((times_s - begin) * per_s, 0.0), 1.0)
        left = 1.0 - share
        cube = left * left * left
        rest = cube * (1.0 + share * (3.0 + 6.0 * share))  # the smoothest movement: Flash and Hogan 1985
        shifts = rest * apart - cube * share * (speed + share * change)
        shift, firmly = shifts[:, 0] + shifts[:, 1], rest[:, 0] + rest[:, 1]
        if are_steps:
            shift -= np.where(lift > 0.0, firmly * positions, 0.0)
        shift = np.where(times_s <= let_go_s, steps[3:] - positions, shift)
        shift[_UP] *= upright
        if are_steps:
            over = np.minimum(np.maximum((times_s - let_go_s) * gap_per_s, 0.0), 1.0)
            bump = over * (1.0 - over)
            shift[_UP] += 64.0 * lift * bump * bump * bump
        parted = share[0] * left[0]
        return shift, firmly[0] * firmly[0], (16.0 * self._clear.take(gaps, axis=-1) * parted * parted).max(axis=0)

    @cached_property
    def _steps(self) -> FloatArray:
        """When gaps begin, how much of them a second takes, steps' lifts, and where feet were held before, (6, G)."""
        begin, end = self.edges_s
        return np.stack((begin, 1.0 / np.maximum(end - begin, 1e-9), self.lift, *self.at[:, 0]))


def ground_axes(up: FloatArray) -> FloatArray:
    """Return what turns positions of model space into ground coordinates, (3, 3); up: unit vector (3,).

    >>> (ground_axes(np.array((0.0, 1.0, 0.0))) @ (0.0, 5.0, 0.0)).tolist()
    [0.0, 0.0, 5.0]
    """
    east = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    east /= np.linalg.norm(east)
    return np.stack((east, np.cross(up, east), up))


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
