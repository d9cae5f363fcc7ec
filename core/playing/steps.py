"""From the contacts of clips to the footholds of a row: what a foot does where one clip becomes the next.

It is planted on both sides, and the positions agree: it stays. It is planted on both sides elsewhere: it makes a step.
It is planted on one side, or there is time for the clips' own swing between the two: it leaves or arrives as in the
clips, and clears the ground on its way. Where they leave it so little time that this would be a jerk over such a
distance, it makes a step, too. A step begins before the seam or ends after it such that the other foot bears the body
meanwhile, if it can. A foot that has no time for a step, or none while the other foot bears the body, stands in one
place on both sides: where it stands longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .footholds import CLEAR, CLEAR_LEGS, NEVER_S, PEAK, STEP_WAIT, Footholds, Loose

SAME_LEGS: Final = 0.04
"""Footholds so near to each other, in leg lengths, are one."""
_SLIDE_LEGS: Final = 0.15
"""And so near where one clip goes on as the other ended: the foot is where it was, though it slides in the clips."""
SWING_S: Final = 0.25
"""Where the clips leave so much time between two footholds, their own swing leads from one to the other."""
_SWING: Final = 0.7
"""At most as fast, on average, against how fast the foot goes in the clips: what is farther needs a step."""
BRIEF_S: Final = 0.1
"""A foot that leaves one foothold for so short a time stays there, where the next is the same."""
OPEN_S: Final = 0.02
"""A foot that is planted so short a time from a clip's end is planted at the end."""
LONGEST_EASE_S: Final = 0.5
SHORTEST_STEP_S: Final = 0.4
LONGEST_STEP_S: Final = 1.0
_HURRIED: Final = 0.9
"""Of its time: a step is so much quicker at most to stay within its transition."""
_LEAST_ROOM: Final = 0.6
"""Of its time: what has less, since the other foot steps on the other side of the seam, is no step but a jerk."""
_MOST_LATER_S: Final = 0.5
"""Steps of both feet are made so much later or sooner than at the seam at most, so that both have time."""
TOUCH_S: Final = 0.12
"""A clip that begins or ends so soon before or after a foot only touches the ground: no step leads there."""
LEAST_HELD_S: Final = 0.05
"""What is left of a foothold at least where a step begins or ends."""
LIFT_LEGS: Final = 0.07
_WIDE_LIFT: Final = 0.2
"""Of its distance: a longer step is higher."""
SLOWEST_LEGS_PER_S: Final = 0.6
"""So fast a foot may always be moved, also where the clips do not move it."""
_LIFT_PEAK: Final = 3.43
"""The highest speed of a lift against height ÷ time."""
_SOON_S: Final = 1e-6


@dataclass(slots=True)
class Hold:
    """One foothold while they are put together.

    start_s, stop_s: when; over: where over the ground; number: which of a foot's it is; fast: how fast the foot may be
    moved; lift: of the step that follows; clear: how high the foot is at least on its own way that follows.
    ease_in_s, ease_out_s: how long it takes at most to lead it there and to let it go. Numbers of Python's own: they
    are looked at one by one.
    """

    start_s: float
    stop_s: float
    over: complex
    number: int
    fast: float
    lift: float = 0.0
    clear: float = 0.0
    ease_in_s: float = LONGEST_EASE_S
    ease_out_s: float = LONGEST_EASE_S


@dataclass(frozen=True, eq=False)
class Planted:
    """Where one foot is planted in clips that follow one another, H times, in ground coordinates (see footholds.py).

    spans_s: (H, 2) when; at: (H, 3) where; loose: (H, 2) the foot as it is then if nothing holds it, NaN where that is
    not known; fast: (H,) how fast it may be moved. first: (S + 1,) the first one of each of S segments, and H.
    """

    spans_s: FloatArray
    at: FloatArray
    loose: Loose
    fast: FloatArray
    first: IntArray

    def holds(self) -> list[list[Hold]]:
        """Return them by segment."""
        over = self.at @ np.array((1.0, 1j, 0.0))
        found = list(map(Hold, *self.spans_s.T.tolist(), over.tolist(), range(len(over)), self.fast.tolist()))
        first = self.first.tolist()
        return [found[begin:end] for begin, end in pairwise(first)]


@dataclass(frozen=True, eq=False)
class Seams:
    """When S segments begin and end, (S,), and when the transitions play that lead to them, (S,).

    A transition is without length where it is not needed. is_cut: (S,) there is none, and feet are not where the clip
    before left them: nothing goes over this seam.
    """

    begin_s: FloatArray
    end_s: FloatArray
    window_begin_s: FloatArray
    window_end_s: FloatArray
    is_cut: BoolArray


@dataclass(frozen=True)
class _Pending:
    """A step that a foot has to make from its last foothold to the first one of the next segment.

    own_s: when these end and begin in their clips.
    """

    leg: int
    last: Hold
    first: Hold
    own_s: tuple[float, float]
    distance: float
    lift: float
    time_s: float

    @property
    def soonest_s(self) -> float:
        """When it may begin, and the foot has stood in the clip before."""
        return self.last.start_s + LEAST_HELD_S

    @property
    def latest_s(self) -> float:
        """When it may end, and the foot still stands in the next clip."""
        return self.first.stop_s - LEAST_HELD_S


def _between(one: _Pending, other: _Pending) -> tuple[float, float]:
    """Return when the first of two steps ends, and the second one begins: not before that.

    At the seam, or so much later or sooner that both have time, and that the other foot bears the body during each.
    """
    ends_s, begins_s = one.first.start_s, other.last.stop_s
    if ends_s > begins_s:
        ends_s = begins_s = (ends_s + begins_s) / 2.0
    soonest_s = max(one.soonest_s, other.last.start_s) + one.time_s
    latest_s = min(other.latest_s, one.first.stop_s) - other.time_s
    if soonest_s > latest_s:  # time goes first
        soonest_s, latest_s = one.soonest_s + one.time_s, other.latest_s - other.time_s
    if soonest_s > latest_s:
        soonest_s = latest_s = (soonest_s + latest_s) / 2.0
    if ends_s < soonest_s:
        ends_s = min(soonest_s, ends_s + _MOST_LATER_S)
        begins_s = max(begins_s, ends_s)
    if begins_s > latest_s:
        begins_s = max(latest_s, begins_s - _MOST_LATER_S)
        ends_s = min(ends_s, begins_s)
    return ends_s, begins_s


def _room(one: _Pending, other: _Pending) -> tuple[float, int]:
    """Return how much of its time the step has that has less, at most all of it, and whether it is the second."""
    ends_s, begins_s = _between(one, other)
    before, after = (ends_s - one.soonest_s) / one.time_s, (other.latest_s - begins_s) / other.time_s
    return min((min(before, 1.0), 0), (min(after, 1.0), 1))


def _in_order(pending: list[_Pending]) -> list[_Pending]:
    """Return steps of both feet in an order in which both have time; where either has, the longer one first."""
    longest_first = sorted(pending, key=lambda step: -step.distance)
    if len(longest_first) < 2:
        return longest_first
    return max(longest_first, longest_first[::-1], key=lambda steps: _room(*steps)[0])


def footholds(feet: Sequence[Planted], seams: Seams, leg_lengths: Sequence[float]) -> Footholds:
    """Return the footholds of L feet over all segments."""
    walker, segments = _Walker(leg_lengths), zip(*(foot.holds() for foot in feet), strict=True)
    edges = (seams.begin_s, seams.end_s, seams.window_begin_s, seams.window_end_s, seams.is_cut)
    for segment, begin, end, *window, is_cut in zip(segments, *(edge.tolist() for edge in edges), strict=True):
        walker.go_on(segment, begin, end, None if is_cut else window)
    return walker.footholds(feet)


class _Walker:
    """Puts the footholds of all legs together, segment by segment."""

    def __init__(self, leg_lengths: Sequence[float]) -> None:
        self._lengths = tuple(leg_lengths)
        self._holds: list[list[Hold]] = [[] for _ in leg_lengths]
        self._end_s: float | None = None

    def go_on(self, segment: Sequence[list[Hold]], begin_s: float, end_s: float,
              window_s: Sequence[float] | None) -> None:
        """Append the footholds of a segment, in order, for each leg.

        begin_s, end_s: of its clip. window_s: when the transition plays that leads here; None: the one before is cut.
        """
        pending = []
        for leg, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if self._end_s is None:
                continue
            if window_s is None:
                for hold in known[-1:]:
                    hold.ease_out_s = min(hold.ease_out_s, max(self._end_s - hold.stop_s, _SOON_S))
                for hold in more[:1]:
                    hold.ease_in_s = min(hold.ease_in_s, max(hold.start_s - begin_s, _SOON_S))
            elif known and more:
                step = self._join(leg, known, more, (self._end_s, begin_s), window_s[1] - window_s[0],
                                  (window_s[0] + window_s[1]) / 2.0)
                pending += [] if step is None else [step]
        steps = self._with_room(_in_order(pending), segment)
        edges_s = _between(*steps) if len(steps) > 1 else (None,) * len(steps)
        for order, (step, edge_s) in enumerate(zip(steps, edges_s, strict=True)):
            assert window_s is not None
            self._step(step, order, edge_s, segment, window_s)
        for known, more in zip(self._holds, segment, strict=True):
            known += more
        self._end_s = end_s

    def _join(self, leg: int, known: list[Hold], more: list[Hold], seam_s: tuple[float, float],
              window_s: float, middle_s: float) -> _Pending | None:
        """Let a foot stay where both positions agree; return the step that it has to make.

        seam_s: when the clip before ends and this one begins. middle_s: of the transition, which lasts window_s.
        """
        last, first, length = known[-1], more[0], self._lengths[leg]
        distance = abs(first.over - last.over)
        is_open = last.stop_s >= seam_s[0] - OPEN_S, first.start_s <= seam_s[1] + OPEN_S
        touches = [each and hold.stop_s - hold.start_s < TOUCH_S
                   for each, hold in zip(is_open, (last, first), strict=True)]
        own_s = last.stop_s, first.start_s
        if all(is_open):
            last.stop_s = first.start_s = middle_s
        gap_s = first.start_s - last.stop_s
        if distance <= (SAME_LEGS if window_s > 0.0 else _SLIDE_LEGS) * length:
            if gap_s <= BRIEF_S:
                last.stop_s, last.ease_out_s, last.fast = first.stop_s, first.ease_out_s, first.fast
                del more[0]
            return None
        time_s, has_swing = self._step_s(leg, last, first), gap_s >= SWING_S
        is_calm = has_swing and distance <= _SWING * self._fast(leg, last, first) * gap_s
        least_s, room_s = _HURRIED * time_s, first.stop_s - last.start_s - 2.0 * LEAST_HELD_S
        if not is_calm and (gap_s < least_s or not has_swing) and not any(touches) and room_s >= least_s:
            return _Pending(leg, last, first, own_s, distance, _lift(distance, length), time_s)
        if not has_swing:
            self._stand_once(leg, known, more, own_s)
            return None
        if touches[0]:
            del known[-1]
        if touches[1]:
            del more[0]
        if known and not any(touches):
            last.clear = min(CLEAR * distance, CLEAR_LEGS * length)
        return None

    def _with_room(self, steps: list[_Pending], segment: Sequence[list[Hold]]) -> list[_Pending]:
        """Return steps in their order, of both feet those alone that have time; the foot that has none stands once."""
        room, order = _room(*steps) if len(steps) > 1 else (1.0, 0)
        if room >= _LEAST_ROOM:
            return steps
        step = steps.pop(order)
        self._stand_once(step.leg, self._holds[step.leg], segment[step.leg], step.own_s)
        return steps

    def _stand_once(self, leg: int, known: list[Hold], more: list[Hold], own_s: tuple[float, float]) -> None:
        """Make one foothold of two between which there is no time for a step: there where the foot stands longer.

        It stands as long as on both sides together, unless its way from the foothold before, or to the next, needs some
        of that time. own_s: when the first ends in its clip, and the second begins.
        """
        last, first = known[-1], more[0]
        last.stop_s, first.start_s = own_s
        if first.stop_s - first.start_s < last.stop_s - last.start_s:
            del more[0]
            latest_s = more[0].start_s - self._step_s(leg, last, more[0]) if more else first.stop_s
            last.stop_s = max(last.stop_s, min(first.stop_s, latest_s))
        else:
            del known[-1]
            earliest_s = known[-1].stop_s + self._step_s(leg, known[-1], first) if known else last.start_s
            first.start_s = min(first.start_s, max(last.start_s, earliest_s))

    def _fast(self, leg: int, last: Hold, first: Hold) -> float:
        """Return how fast a foot may be moved from one foothold to another."""
        return max(last.fast, first.fast, SLOWEST_LEGS_PER_S * self._lengths[leg])

    def _step_s(self, leg: int, last: Hold, first: Hold) -> float:
        """Return how long a step from one foothold to another takes."""
        length, distance = self._lengths[leg], abs(first.over - last.over)
        fast, lift = self._fast(leg, last, first), _lift(distance, length)
        return min(max(max(PEAK * distance / (1.0 - 2.0 * STEP_WAIT), _LIFT_PEAK * lift) / fast, SHORTEST_STEP_S),
                   LONGEST_STEP_S)

    def _step(self, step: _Pending, order: int, edge_s: float | None, segment: Sequence[Sequence[Hold]],
              window_s: Sequence[float]) -> None:
        """Lift a foot from its last foothold and set it down on the next one.

        edge_s: of both feet the first one (order 0) has stepped by then, the second one (1) steps from then on; None:
        the other need not step.
        """
        last, first = step.last, step.first
        room_s = (window_s[1] - window_s[0]) / (1.0 if edge_s is None else 2.0)
        time_s = max(min(step.time_s, room_s), _HURRIED * step.time_s, first.start_s - last.stop_s)
        latest, earliest = last.stop_s, first.start_s - time_s
        if edge_s is None:
            latest = min(latest, first.stop_s - LEAST_HELD_S - time_s)
            earliest = max(earliest, min(last.start_s + LEAST_HELD_S, latest))
            starts = ((latest + earliest) / 2.0, max(earliest, min(window_s[0], latest)),
                      min(latest, max(window_s[1] - time_s, earliest)), earliest, latest)
            start = min(starts, key=lambda begin: self._airborne_s(step.leg, begin, begin + time_s, segment))
        else:
            start = edge_s - (0.0 if order else time_s)
        stop = min(start + time_s, max(first.stop_s - LEAST_HELD_S, first.start_s))
        start = max(start, min(last.start_s + LEAST_HELD_S, max(last.stop_s, start)))
        last.stop_s, first.start_s, last.lift = start, stop, step.lift
        if edge_s is None:
            self._bear(step, segment)

    def _bear(self, step: _Pending, segment: Sequence[Sequence[Hold]]) -> None:
        """Let the other feet stand during a step, as long as that leaves them time for their own way."""
        for leg, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if leg == step.leg or not known or not more:
                continue
            last, first = known[-1], more[0]
            way_s = max(SWING_S, abs(first.over - last.over) / (_SWING * self._fast(leg, last, first)))
            if step.last.stop_s <= last.stop_s < step.first.start_s:
                last.stop_s = max(last.stop_s, min(step.first.start_s, first.start_s - way_s))
            if step.last.stop_s < first.start_s <= step.first.start_s:
                first.start_s = min(first.start_s, max(step.last.stop_s, last.stop_s + way_s))

    def _airborne_s(self, leg: int, begin_s: float, end_s: float, segment: Sequence[Sequence[Hold]]) -> float:
        """Return for how long no other foot is held between two instants."""
        held = 0.0
        for other, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if other != leg:
                held += sum(max(min(hold.stop_s, end_s) - max(hold.start_s, begin_s), 0.0)
                            for hold in (*known[-2:], *more[:2]))
        return round(end_s - begin_s - held, 6)

    def footholds(self, feet: Sequence[Planted]) -> Footholds:
        """Return what came together of where feet are planted."""
        each = [_gaps(*foot) for foot in zip(self._holds, feet, self._lengths, strict=True)]
        first = np.cumsum([0, *(len(holds) + 1 for holds in self._holds)])
        together = (np.concatenate(arrays, axis=-1) for arrays in zip(*each, strict=True))
        return Footholds.of(max(self._lengths), first, *together)


def _lift(distance: float, leg_length: float) -> float:
    """Return how high a foot is lifted on a step."""
    return max(LIFT_LEGS * leg_length, _WIDE_LIFT * distance)


def _gaps(holds: Sequence[Hold], foot: Planted, length: float) -> tuple[FloatArray, ...]:
    """Return what lies between the footholds of one foot, as Footholds has it."""
    start, stop, lift, clear, fast, *most = np.array([(
        hold.start_s, hold.stop_s, hold.lift, hold.clear, hold.fast, hold.ease_in_s, hold.ease_out_s) for hold in holds]
    ).reshape(-1, 7).T
    number = [hold.number for hold in holds]

    def edges(before: FloatArray, after: FloatArray, none: float) -> FloatArray:
        """Return what holds before and after each gap, (..., 2, G)."""
        beside = np.full((*before.shape[:-1], 1), none)
        return np.stack((np.concatenate((beside, before), axis=-1), np.concatenate((after, beside), axis=-1)), axis=-2)

    edges_s = edges(stop, start, NEVER_S)
    edges_s[0, 0] = -NEVER_S
    lift, clear = np.append(0.0, lift), np.append(0.0, clear)
    gap_s = np.maximum(edges_s[1] - edges_s[0], _SOON_S)
    most_s = np.where(lift > 0.0, gap_s, np.minimum(edges(most[1], most[0], 1.0), gap_s))
    fastest = np.maximum(edges(fast, fast, 1.0), SLOWEST_LEGS_PER_S * length)
    at = foot.at[number].T
    loose, *rates = (each[number].transpose(2, 1, 0) for each in foot.loose)
    loose = np.where(np.stack((start, stop)) == foot.spans_s[number].T, loose, np.nan)
    found = (edges(each[:, 1], each[:, 0], 0.0) for each in (loose, *rates))
    return edges_s, edges(at, at, 0.0), *found, lift, clear, most_s, fastest
