"""Footholds: when and where feet are held on the ground, in the time of a row; contacts of clips placed by root motion.

All positions are in ground coordinates: two along the ground, the third up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...clips.keyed import FINE_S
from ...clips.thresholds import BRIEF_S
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ...maths.formulas import minimum_jerk, worked_out
from ...retargeting.two_bone_ik import REACH
from .leading import ANY_STRETCH, CLEAR, CLOCKS, FADES, IS_FREE, NUMBERS, STRETCH, moment_of

STEP_WAIT: Final = 0.13
"""Share of a step's duration at its beginning and end in which the foot only moves vertically."""
SWING_S: Final = 0.25
"""Least time in which a free foot comes to its foothold, or leaves it: the time of a short swing."""
JERK_LEGS: Final = 150.0
"""Jerk limit for leading feet to footholds and away, in leg lengths per s³: 4 % of the leg in SWING_S."""
SOON_S: Final = 0.2
"""Duration of vertical moves, unless that exceeds the jerk limit: a foot is lifted to clear the ground."""
CLEAR_LEGS: Final = 0.05
CLEAR_SHARE: Final = 0.2
"""Lift as a share of the distance that feet are led over the ground, and its maximum."""
BESIDE_S: Final = FINE_S
"""Time step of measured speeds: longer than one key of usual clips, shorter than a stride."""
PEAK: Final = 1.875
"""Ratio of highest to mean speed of a minimum-jerk movement (Flash and Hogan 1985)."""
NEVER_S: Final = 1e30
"""Before a foot's first foothold and after its last one."""
_TRIES: Final = 30
_UP: Final = 2
_COLUMNS: Final = np.add.outer((0, CLOCKS, FADES, FADES + 6, FADES + 12), np.arange(3))
"""Positions of Footholds._fades_at of the first edge among a gap's numbers; those of the second are three later."""
_BENT: Final = 0.95
"""Share of their length to which legs that are led to a foothold or away may always be stretched."""


class Loose(NamedTuple):
    """Position, velocity and acceleration of free feet when a contact ends or begins.

    All are (..., 3). Time counts away from the contact: backwards before it.
    """

    positions: FloatArray
    speeds: FloatArray
    changes: FloatArray

    @classmethod
    def of(cls, points: FloatArray, step_s: FloatArray | float) -> Loose:
        """Take positions (..., 3, 3) at an instant, one step (...,) and two steps later; a step of 0: at rest."""
        first, second, third = np.moveaxis(points, -2, 0)
        step = np.asarray(step_s)[..., None]
        return cls(first.copy(), quotient(4.0 * second - 3.0 * first - third, 2.0 * step),
                   quotient(first - 2.0 * second + third, step**2))


@dataclass(frozen=True, eq=False)
class Footholds:
    """When and where L feet are held, stored as the G gaps between footholds of a foot.

    A foot's first gap has no beginning and its last one no end: they lie at −NEVER_S and NEVER_S. All gaps of one foot
    precede those of the next. In arrays (2, …) the beginning of a gap comes first, then its end.

    first: (L + 1,) the first gap of each foot, and G. edges_s: (2, G) when the foot is released, and held again. at:
    (3, 2, G) its footholds then. loose, speed, change: (3, 2, G) the free foot, see Loose; NaN until `know` computes
    them, arbitrary without foothold. lift: (G,) lift of the step over the gap, 0 for none. clear: (G,) least height in
    the middle of the foot's own path over the gap. most_s: (2, G) greatest durations for releasing the foot and for
    leading it on. eases_s: (2, G) actual durations, positive. fast: (G,) speed limit. into: (G,) the segment into which
    the gap leads. leg: its length. steps_s: (2, G) time steps of speeds, see `know`.
    """

    first: IntArray
    edges_s: FloatArray
    at: FloatArray
    loose: FloatArray
    speed: FloatArray
    change: FloatArray
    lift: FloatArray
    clear: FloatArray
    most_s: FloatArray
    fast: FloatArray
    into: IntArray
    eases_s: FloatArray
    leg: float
    steps_s: FloatArray

    @classmethod
    def of(cls, leg: float, first: IntArray, edges_s: FloatArray, at: FloatArray, loose: FloatArray,
           speed: FloatArray, change: FloatArray, lift: FloatArray, clear: FloatArray, most_s: FloatArray,
           fast: FloatArray, into: IntArray, steps_s: FloatArray | None = None) -> Footholds:
        """Build footholds whose durations of leading feet are not known yet."""
        loose = np.where(lift > 0.0, at, loose)  # a step leads from foothold to foothold
        steps_s = np.full(edges_s.shape, BESIDE_S) if steps_s is None else steps_s
        found = cls(first, edges_s, at, loose, speed.copy(), change.copy(), lift, clear, most_s, fast, into,
                    most_s.copy(), leg, steps_s)
        found._ease(*np.nonzero(~np.isnan(loose[0])))
        return found

    def anew(self, steps_s: FloatArray | None = None) -> Footholds:
        """Return the same footholds without anything computed from poses.

        steps_s: (2, G) then the time steps for free feet known from clips; None if they are known already.
        """
        loose = self.loose
        if steps_s is not None:
            is_told = ~np.isnan(loose[0])
            loose = np.where((self.lift > 0.0) | (np.abs(self.edges_s) >= NEVER_S), loose, np.nan)
            steps_s = np.where(is_told, steps_s, self.steps_s)
        return Footholds.of(self.leg, self.first, self.edges_s, self.at, loose, self.speed, self.change, self.lift,
                            self.clear, self.most_s, self.fast, self.into, steps_s)

    def take(self, gaps: IntArray, others: Footholds) -> None:
        """Copy what equal footholds of other poses have computed for gaps (N,)."""
        self._ways[gaps] = others._ways[gaps]
        self._is_unknown[gaps] = self._is_unplanned[gaps] = False

    def near_edges_s(self) -> FloatArray:
        """Return the instants at which poses are needed for each gap, (G, 6); about ±NEVER_S where it has no edge."""
        away_s = self.steps_s[..., None] * np.arange(3)
        return np.concatenate((self.edges_s[0, :, None] + away_s[0], self.edges_s[1, :, None] - away_s[1]), axis=1)

    def spans_s(self, foot: int) -> FloatArray:
        """Return the contacts of one foot, (K, 2)."""
        begin, end = self.first[foot], self.first[foot + 1]
        return np.stack((self.edges_s[1, begin:end - 1], self.edges_s[0, begin + 1:end]), axis=1)

    def gaps_at(self, times_s: FloatArray) -> IntArray:
        """Return for each foot the gap after the last foothold that has begun at times (F,), (L, F)."""
        instants, gaps = self._ends
        return gaps.take(instants.searchsorted(times_s, side="right"), axis=1)

    def near(self, gaps: IntArray, times_s: FloatArray) -> FloatArray:
        """Return closeness to contacts at times (F,) in gaps (L, F): 1 during contacts.

        It is 0 from SWING_S on before and after them, and in the middle of shorter gaps.
        """
        begin_s, end_s = self.edges_s.take(gaps, axis=1)
        ease_s = np.maximum(np.minimum(SWING_S, (end_s - begin_s) / 2.0), 1e-9)
        return np.asarray(minimum_jerk(1.0 - np.stack((times_s - begin_s, end_s - times_s)) / ease_s).sum(axis=0))

    @cached_property
    def _ends(self) -> tuple[FloatArray, IntArray]:
        """When gaps of any foot end, (U,), and for each foot the gap before the first of these and from each on."""
        instants = np.unique(self.edges_s[1])
        feet = [begin + np.searchsorted(self.edges_s[1, begin:end], np.append(-np.inf, instants), side="right")
                for begin, end in zip(self.first, self.first[1:], strict=False)]
        return instants, np.array(feet, dtype=np.int64).reshape(len(feet), len(instants) + 1)

    def know(self, gaps: IntArray, feet: Callable[[FloatArray], FloatArray]) -> None:
        """Compute the free foot at release and at contact, over gaps of any shape, if it is unknown.

        feet: positions of free feet at times (F,), (F, L, 3).
        """
        if not np.count_nonzero(self._is_unknown.take(gaps)):
            return
        some = np.unique(gaps)
        edge, at = np.nonzero(np.isnan(self.loose[0][:, some]))
        gap = some[at]
        foot = np.searchsorted(self.first, gap, side="right") - 1
        step_s = self.steps_s[edge, gap]
        away_s = np.where(edge == 0, step_s, -step_s) * np.arange(3)[:, None]
        found = feet((self.edges_s[edge, gap] + away_s).ravel())[np.arange(3 * len(gap)), np.tile(foot, 3)]
        loose = Loose.of(found.reshape(3, -1, 3).swapaxes(0, 1), step_s)
        for known, each in zip((self.loose, self.speed, self.change), loose, strict=True):
            known[:, edge, gap] = each.T
        self._is_unknown[gap] = False
        self._ease(edge, gap)

    @cached_property
    def _is_unknown(self) -> BoolArray:
        """Over which gaps free feet are unknown, (G,)."""
        return np.asarray(np.isnan(self.loose[0]).any(axis=0))

    def plan(self, gaps: IntArray, upright: Callable[[FloatArray], FloatArray],
             lacks: Callable[[FloatArray], tuple[FloatArray, FloatArray]]) -> None:
        """Compute the height of feet above their footholds at release and at contact, over gaps, if it is unknown.

        That height puts their soles on the ground, with the feet's rotation. Feet are released from there, and led
        there. Also computes how far legs are stretched then. Near transitions the body is lowered by a curve instead,
        see lowering.py. upright: closeness to transitions at times (F,), 0…1; far from them nothing changes. lacks:
        height of each held foot and its distance from the hip, (L, F) each.
        """
        is_new = self._is_unplanned.take(gaps)
        if not np.count_nonzero(is_new):
            return
        some = np.unique(gaps[is_new])
        self._is_unplanned[some] = False
        edges_s = self.edges_s[:, some]
        is_edge = np.abs(edges_s) < NEVER_S
        near = np.zeros(edges_s.shape)
        near[is_edge] = upright(edges_s[is_edge])
        edge, at = np.nonzero(near)
        self._ways[some[at], IS_FREE + edge] = 0.0
        edge, at = np.nonzero(is_edge & near.any(axis=0))
        if len(at):
            foot = np.searchsorted(self.first, some[at], side="right") - 1
            higher, stretch = (each[foot, np.arange(len(at))] for each in lacks(edges_s[edge, at]))
            self._ways[some[at], FADES + 3 * edge + _UP] += higher
            self._ways[some[at], STRETCH + edge] = np.clip(stretch, _BENT, 1.0)

    @cached_property
    def _is_unplanned(self) -> BoolArray:
        """Over which gaps these heights are unknown, (G,)."""
        return np.ones(self.edges_s.shape[1], dtype=np.bool_)

    def _ease(self, edge: IntArray, gap: IntArray) -> None:
        """Set durations at edges (N,) of gaps (N,) that respect limits of speed and jerk.

        A minimum-jerk movement over a distance d in the time T has the jerk 60·d/T³ at most; taking up a speed v in the
        time T has 36·v/T².
        """
        most = self.fast[gap]  # a clip may jump there
        for rate, limit in ((self.speed, most), (self.change, most / BRIEF_S)):
            size = np.linalg.norm(rate[:, edge, gap], axis=0)
            rate[:, edge, gap] *= np.minimum(limit / np.maximum(size, 1e-30), 1.0)
        away, fast = (np.linalg.norm(each[:_UP, edge, gap], axis=0) for each in (self.at - self.loose, self.speed))
        jerk = self._jerk(gap)
        wanted = np.max((PEAK * away / most, np.cbrt(60.0 * away / jerk), np.sqrt(36.0 * fast / jerk),
                         self._up_s(edge, gap), np.full(len(gap), SWING_S)), axis=0)
        wanted = np.where(self.lift[gap] > 0.0, np.inf, wanted)
        self.eases_s[edge, gap] = np.minimum(wanted, self.most_s[edge, gap])
        clear = np.minimum(CLEAR_SHARE * (away + fast * self.eases_s[edge, gap]), CLEAR_LEGS * self.leg)
        clear = np.where(self.lift[gap] > 0.0, 0.0, clear)
        self._ways[gap, 3 * edge + _COLUMNS[..., None]] = self._fades_at(edge, gap)
        self._ways[gap, CLEAR + edge] = clear

    def _up_s(self, edge: IntArray, gap: IntArray) -> FloatArray:
        """Return durations at edges of gaps (...,) for leading feet up or down, if there is time."""
        high = np.abs(self.at[_UP, edge, gap] - self.loose[_UP, edge, gap])
        return np.asarray(np.maximum(np.cbrt(60.0 * high / self._jerk(gap)), SOON_S))

    def _jerk(self, gap: IntArray) -> FloatArray:
        """Return jerk limits over gaps (...,)."""
        return np.asarray(np.maximum(JERK_LEGS * self.leg, self.fast[gap] / BRIEF_S**2))

    def led(self, gaps: IntArray, times_s: FloatArray) -> FloatArray:
        """Return the values of Moment at times (F,) in gaps (L, F), (L, F, 13), before poses are known."""
        return worked_out(moment_of, self._ways.take(gaps, axis=0), times_s[None])

    @cached_property
    def _ways(self) -> FloatArray:
        """The inputs of leading.moment_of for each gap, (G, NUMBERS); one row a gap, so that a lookup reads one row."""
        (begin, end), count = self.edges_s, self.edges_s.shape[1]
        begin_s, fades_per_s, *fades = self._fades_at(*np.indices(self.edges_s.shape)).swapaxes(1, 2)
        found = np.concatenate((
            begin_s.reshape(6, count), begin[None], fades_per_s.reshape(6, count),
            1.0 / np.maximum(end - begin, 1e-9)[None], np.concatenate(fades).reshape(18, count), np.zeros((2, count)),
            (self.clear, self.lift), np.full((2, count), ANY_STRETCH), (self.lift > 0.0,), np.ones((2, count)),
            self.at[:, 0]))
        assert len(found) == NUMBERS
        return found.T.copy()

    def _fades_at(self, edge: IntArray, gap: IntArray) -> FloatArray:
        """Return the fades at edges of gaps (...,), along each axis: (5, 3, ...).

        The five values are the beginning of the fade, 1 ÷ its duration, and the three values of leading.FADES. The
        duration is negative where the fade runs backwards in time. The vertical fade has its own beginning and
        duration. In a step, the offset begins at the foot's position.
        """
        is_step, eases = self.lift[gap] > 0.0, self.eases_s[edge, gap]
        wait, forwards = np.where(is_step, STEP_WAIT, 0.0), np.where(edge == 0, 1.0, -1.0)
        ease = np.stack((eases, eases, np.where(is_step, eases, np.minimum(eases, self._up_s(edge, gap)))))
        at, loose, speed, change = (each[:, edge, gap] for each in (self.at, self.loose, self.speed, self.change))
        speed, change = (np.where(is_step, 0.0, each) for each in (speed * ease, change * ease * ease / 2.0))
        return np.stack((self.edges_s[edge, gap] + forwards * wait * ease, forwards / (ease * (1.0 - 2.0 * wait)),
                         np.where(is_step, at, at - loose), speed, 3.0 * speed + change))


def ground_axes(up: FloatArray) -> FloatArray:
    """Return the rotation from model space to ground coordinates, (3, 3). up: unit vector (3,).

    >>> (ground_axes(np.array((0.0, 1.0, 0.0))) @ (0.0, 5.0, 0.0)).tolist()
    [0.0, 0.0, 5.0]
    """
    east = rot.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    east /= np.linalg.norm(east)
    return np.stack((east, rot.cross(up, east), up))


def reaches(hips: FloatArray, ankles: FloatArray, leg_length: FloatArray | float) -> FloatArray:
    """Return the reach of legs, (...,): their current stretch (..., 3), at least almost their full length."""
    return np.asarray(np.maximum(leg_length * REACH, np.linalg.norm(hips - ankles, axis=-1)))


def within_reach(position: FloatArray, centres: FloatArray, up: FloatArray, radii: FloatArray) -> FloatArray:
    """Move a position (3,) over the ground into all balls about centres (F, 3) with radii (F,), as far as possible.

    In each round into the ball that it is farthest out of (projection onto convex sets).
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
