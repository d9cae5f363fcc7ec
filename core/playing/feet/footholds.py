"""When and where feet are held on the ground, in the time of a row: contacts of clips, placed by root motion.

All positions are in ground coordinates: two along the ground, the third up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ...maths.formulas import (
    Number,
    chosen,
    greatest,
    holds_anywhere,
    holds_everywhere,
    least,
    of_both,
    within,
)

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
CLEAR: Final = 0.2
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
_PER_EDGE: Final = 14
"""So many numbers say how a foot is let go, or led on."""
_UP: Final = 2
_SHIFT_UP: Final = 6
"""Which of these is the shift in height."""
_STRETCH: Final = 2 * _PER_EDGE + 5
"""And after those of both edges, how far legs are stretched there."""
_DOWN: Final = _STRETCH + 2
"""And then by how much the body is down: 1 where that is planned, at both edges, and as the foothold began."""
_AT: Final = -3
"""Last where the foot was held before."""
_BENT: Final = 0.95
"""Legs that are led to a foothold or away may always be stretched to this share of their length."""
_ANY_STRETCH: Final = 1e9
"""More than there is."""


class Loose(NamedTuple):
    """Feet that nothing holds, as they are let go or held again: where they are, at which speed and acceleration.

    All are (..., 3); time counts away from where they are held, so before that backwards.
    """

    positions: FloatArray
    speeds: FloatArray
    changes: FloatArray

    @classmethod
    def of(cls, points: FloatArray, step_s: FloatArray | float) -> Loose:
        """Take positions (..., 3, 3) at an instant, a step (...,) later, and two; without a step at rest."""
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
    its step over the gap; 0 where there is none. clear: (G,) how high it is at least in the middle of its own way over
    the gap. most_s: (2, G) how long it takes at most to let the foot go and to
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
    clear: FloatArray
    most_s: FloatArray
    fast: FloatArray
    eases_s: FloatArray
    leg: float

    @classmethod
    def of(cls, leg: float, first: IntArray, edges_s: FloatArray, at: FloatArray, loose: FloatArray,
           speed: FloatArray, change: FloatArray, lift: FloatArray, clear: FloatArray, most_s: FloatArray,
           fast: FloatArray) -> Footholds:
        """Take footholds of which it is not known yet how long feet are led to them."""
        loose = np.where(lift > 0.0, at, loose)  # a step leads from foothold to foothold, wherever the foot would be
        found = cls(first, edges_s, at, loose, speed, change, lift, clear, most_s, fast, most_s.copy(), leg)
        found._ease(*np.nonzero(~np.isnan(loose[0])))
        return found

    def spans_s(self, foot: int) -> FloatArray:
        """Return when one of the feet is held, (K, 2)."""
        begin, end = self.first[foot], self.first[foot + 1]
        return np.stack((self.edges_s[1, begin:end - 1], self.edges_s[0, begin + 1:end]), axis=1)

    def gaps_at(self, times_s: FloatArray) -> IntArray:
        """Return for each foot the gap that follows the last foothold that has begun at times (F,), (L, F)."""
        instants, gaps = self._ends
        return gaps.take(instants.searchsorted(times_s, side="right"), axis=1)

    @cached_property
    def _ends(self) -> tuple[FloatArray, IntArray]:
        """When gaps of any foot end, (U,), and for each foot the gap before the first of these and from each on."""
        instants = np.unique(self.edges_s[1])
        feet = [begin + np.searchsorted(self.edges_s[1, begin:end], np.append(-np.inf, instants), side="right")
                for begin, end in zip(self.first, self.first[1:], strict=False)]
        return instants, np.array(feet, dtype=np.int64).reshape(len(feet), len(instants) + 1)

    def know(self, gaps: IntArray, feet: Callable[[FloatArray], FloatArray]) -> None:
        """Find where feet would be as they are let go and held again, over gaps of any shape, where it is not known.

        feet: where they are at times (F,) if nothing holds them, (F, L, 3).
        """
        if not np.count_nonzero(self._is_unknown.take(gaps)):
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
             lacks: Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]) -> None:
        """Find by how much the body is down as feet are let go and held again over gaps, where it is not known.

        And how much higher than their footholds feet are then, turned as they are, to have their soles on the ground:
        from there they are let go, and there they are led. And how far their legs are stretched.
        upright: how near transitions are at times (F,), 0…1: far from them the body stays as it is. lacks: by how much
        it is down for each foot held, how much higher that is, and how far from its hip, (L, F) each.
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
        self._ways[some[near.any(axis=0)], _DOWN] = 1.0
        edge, at = np.nonzero(is_edge & near.any(axis=0))
        if len(at):
            foot = np.searchsorted(self.first, some[at], side="right") - 1
            down, higher, stretch = (each[foot, np.arange(len(at))] for each in lacks(edges_s[edge, at]))
            self._ways[some[at], _DOWN + 1 + edge] = down
            came = edge.astype(np.bool_) & (some[at] + 1 < len(self._ways))
            self._ways[some[at][came] + 1, _DOWN + 3] = down[came]
            self._ways[some[at], _PER_EDGE * edge + _SHIFT_UP] += higher
            self._ways[some[at], _STRETCH + edge] = np.clip(stretch, _BENT, 1.0)

    @cached_property
    def _is_unplanned(self) -> BoolArray:
        """Over which gaps that is not known yet, (G,)."""
        return np.ones(self.edges_s.shape[1], dtype=np.bool_)

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
        clear = np.minimum(CLEAR * (away + fast * self.eases_s[edge, gap]), CLEAR_LEGS * self.leg)
        clear = np.where(self.lift[gap] > 0.0, 0.0, clear)
        columns = _PER_EDGE * edge[:, None] + np.arange(_PER_EDGE)
        self._ways[gap[:, None], columns] = np.concatenate((self._fades_at(edge, gap), clear[None])).T

    def ways(self, gaps: IntArray) -> FloatArray:
        """Return how feet are led in gaps (L, F), as `led`, `stretch` and `down` want it, (L, F, 46)."""
        return self._ways.take(gaps, axis=0)

    @cached_property
    def _ways(self) -> FloatArray:
        """For each gap how the foot is let go and how it is led on: see _fades_at, and last how high it is lifted then.

        And when the gap begins, how much of it a second takes, the lift of the step, 1 if there is one, how high the
        foot is at least on its own way, how far the leg is stretched as the gap begins and ends. How far the body is
        down, see _DOWN; when the gap ends, and when the foothold before it began; how much a second takes of the time
        in which the body goes down, in the gap and in that foothold. And where the foot was held before.
        (G, 2 · 14 + 18), side by side for one gap, as they are looked up.
        """
        begin, end = self.edges_s
        came = end[np.maximum(np.arange(len(end)) - 1, 0)]
        per_s = (1.0 / np.minimum(DOWN_S, np.maximum(takes_s, 1e-9)) for takes_s in (end - begin, begin - came))
        fades = self._fades_at(*np.indices(self.edges_s.shape)).swapaxes(0, 1)
        return np.concatenate((*(row for edge in fades for row in (edge, np.zeros((1, len(begin))))),
                               (begin, 1.0 / np.maximum(end - begin, 1e-9), self.lift, self.lift > 0.0, self.clear),
                               np.full((2, len(begin)), _ANY_STRETCH), np.zeros((4, len(begin))),
                               (end, came, *per_s), self.at[:, 0])).T.copy()

    def _fades_at(self, edge: IntArray, gap: IntArray) -> FloatArray:
        """Return for edges of gaps (...,) what fades there and when, (13, ...).

        When it begins over the ground, and how much of it a second takes, which is less than 0 where time counts
        backwards; the same in height. The shift (3) from the foot to the foothold; and what goes on there (3 and 3), of
        which x·(1 − x)³ times the former, and x times the latter, is left after the share x. On a step the foothold
        itself, as the shift begins wherever the foot is.
        """
        is_step, eases = self.lift[gap] > 0.0, self.eases_s[edge, gap]
        wait, forwards = np.where(is_step, STEP_WAIT, 0.0), np.where(edge == 0, 1.0, -1.0)
        both = eases, np.where(is_step, eases, np.minimum(eases, SOON_S))
        when = [each for ease in both for each in (self.edges_s[edge, gap] + forwards * wait * ease,
                                                   forwards / (ease * (1.0 - 2.0 * wait)))]
        at, loose, speed, change = (each[:, edge, gap] for each in (self.at, self.loose, self.speed, self.change))
        ease = np.stack((both[0], *both))
        speed, change = (np.where(is_step, 0.0, each) for each in (speed * ease, change * ease * ease / 2.0))
        return np.concatenate((when, np.where(is_step, at, at - loose), speed, 3.0 * speed + change))


def led(foot: Sequence[Number], ways: Sequence[Number], time_s: Number, upright: Number, higher: Number,
        rise: Number) -> tuple[Number, Number, Number, Number, Number]:
    """Return how far a foot must be moved (x, y, z) at a time, how firmly, and how high it is lifted over the ground.

    foot: where it is. ways: see Footholds.ways. upright: 0…1 how much of the shift is also in height. higher: how much
    higher than its foothold it is while it is held, since its sole would be in the ground. rise: how much higher it is
    where nothing else says how high.
    The shift is whole over the ground while a foot is held. After and before, what parts the foothold from where the
    foot would be as it is let go fades, and its speed there, which a held foot has not (inertialization: Bollo 2018).
    On a step it goes from one foothold to the next. Firmly: 1 while it is held, soon 0 as it leaves.
    """
    foot_x, foot_y, foot_z = foot
    (let_go_s, gap_per_s, lift, is_step, over_clear), (at_x, at_y, at_z) = ways[2 * _PER_EDGE:_STRETCH], ways[_AT:]
    is_held = time_s <= let_go_s
    if holds_everywhere(is_held):
        still = 0.0 * foot_z
        return (at_x - foot_x, at_y - foot_y, (at_z + higher - foot_z) * upright + (1.0 - upright) * rise, still + 1.0,
                still)
    (x, y, z, firmly, firmly_up, clear), (x2, y2, z2, firmly2, firmly_up2, clear2) = of_both(
        _faded, ways[:_PER_EDGE], ways[_PER_EDGE:2 * _PER_EDGE], time_s)
    x, y, z, firmly, firmly_up = x + x2, y + y2, z + z2, firmly + firmly2, firmly_up + firmly_up2
    off, off_up = is_step * firmly, is_step * firmly_up
    over = within((time_s - let_go_s) * gap_per_s, 0.0, 1.0)
    bump = over * (1.0 - over)
    x = chosen(is_held, at_x - foot_x, x - off * foot_x)
    y = chosen(is_held, at_y - foot_y, y - off * foot_y)
    z = chosen(is_held, at_z + higher - foot_z, z - off_up * foot_z) * upright + 64.0 * lift * bump * bump * bump
    z = z + (1.0 - firmly_up * upright) * rise
    return x, y, z, firmly * firmly, greatest(greatest(clear, clear2), 16.0 * over_clear * bump * bump)


def stretch(ways: Sequence[Number], time_s: Number) -> Number:
    """Return to which share of their length legs are stretched at most at a time, unless clips do so: see legs.py.

    While a foot is held, as far as they are; between, from what it is as the foot is let go to what it is then.
    """
    let_go_s, gap_per_s, _, _, _, begin, end = ways[2 * _PER_EDGE:_DOWN]
    is_held = time_s <= let_go_s
    if holds_everywhere(is_held):
        return begin + _ANY_STRETCH
    over = within((time_s - let_go_s) * gap_per_s, 0.0, 1.0)
    return chosen(is_held, begin + _ANY_STRETCH, begin + (end - begin) * over * over * (3.0 - 2.0 * over))


def down(ways: Sequence[Number], time_s: Number, held: Number) -> Number:
    """Return by how much the body is down at a time for a foot.

    ways: see Footholds.ways. held: for a foot that is held, and where nothing is planned. Else it is down before the
    foot is held, and up again after it; and calmly so where it needs that for less than a moment.
    """
    is_planned, begin, end, came, end_s, came_s, per_s, held_per_s = ways[_DOWN:_AT]
    let_go_s = ways[2 * _PER_EDGE]
    is_held = time_s <= let_go_s
    per_s, other = chosen(is_held, held_per_s, per_s), chosen(is_held, came, end)
    other_s = chosen(is_held, came_s, end_s)
    begin = begin * _eased(1.0 - least(abs(time_s - let_go_s) * per_s, 1.0))
    other = other * _eased(1.0 - least(abs(time_s - other_s) * per_s, 1.0))
    return chosen(is_held, greatest(held, greatest(begin, other)), chosen(is_planned > 0.0, begin + other, held))


def _eased(left: Number) -> Number:
    """Return how much is left of the smoothest movement when so much of its time is left."""
    share = 1.0 - left
    return left * left * left * (1.0 + share * (3.0 + 6.0 * share))


def _faded(way: Sequence[Number], time_s: Number) -> tuple[Number, Number, Number, Number, Number, Number]:
    """Return what is left of one side's shift (x, y, z), how much that is over the ground and in height, and the lift.

    What goes from 1 to 0 is the smoothest movement: Flash and Hogan 1985.
    """
    begin_s, per_s, up_begin_s, up_per_s, x, y, z, speed_x, speed_y, speed_z, change_x, change_y, change_z, clear = way
    share = within((time_s - begin_s) * per_s, 0.0, 1.0)
    up_share = within((time_s - up_begin_s) * up_per_s, 0.0, 1.0)
    left, up_left = 1.0 - share, 1.0 - up_share
    if not holds_anywhere((left > 0.0) | (up_left > 0.0)):
        return left, left, left, left, left, left  # nothing
    cube, up_cube = left * left * left, up_left * up_left * up_left
    rest, up_rest = cube * (1.0 + share * (3.0 + 6.0 * share)), up_cube * (1.0 + up_share * (3.0 + 6.0 * up_share))
    on, up_on, parted = cube * share, up_cube * up_share, share * left
    return (rest * x - on * (speed_x + share * change_x), rest * y - on * (speed_y + share * change_y),
            up_rest * z - up_on * (speed_z + up_share * change_z), rest, up_rest, 16.0 * clear * parted * parted)


def softly(x: Number, softness: Number) -> Number:
    """Return 0 below 0, and x − softness/2 from `softness` > 0 on, without a bend between.

    >>> [softly(x, 2.0) for x in (-1.0, 0.0, 1.0, 2.0, 3.0)]
    [0.0, 0.0, 0.25, 1.0, 2.0]
    """
    beyond = greatest(x, 0.0)
    inside = least(beyond, softness)
    return inside * (beyond - inside / 2.0) / softness


def ground_axes(up: FloatArray) -> FloatArray:
    """Return what turns positions of model space into ground coordinates, (3, 3); up: unit vector (3,).

    >>> (ground_axes(np.array((0.0, 1.0, 0.0))) @ (0.0, 5.0, 0.0)).tolist()
    [0.0, 0.0, 5.0]
    """
    east = rot.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    east /= np.linalg.norm(east)
    return np.stack((east, rot.cross(up, east), up))


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
