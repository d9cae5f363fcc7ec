"""From contacts of clips to footholds of a row: what a foot does where one clip becomes the next.

If both clips have a contact at about the same position, the foot stays. If their positions differ, it makes a step. If
only one clip has a contact, or there is time for the clips' own swing, the foot leaves or arrives as in the clips, and
clears the ground on its way. If that would be a jerk in the time given, it makes a step too. A step begins before the
seam or ends after it, so that the other foot carries the body meanwhile, if possible. A foot without time for a step,
or without another foot to carry the body, stands in one place on both sides: the one with the longer contact. Steps
that would be faster than the clips' own feet are shortened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Final

import numpy as np

from ...clips.thresholds import BRIEF_S, HELD_S, SLOW_LEGS_PER_S, STEP_LEGS
from ...maths.arrays import ROUNDING, BoolArray, FloatArray
from .due_steps import DueStep, Hold, between, in_order, lift_over, room, since, until
from .footholds import CLEAR_LEGS, CLEAR_SHARE, NEVER_S, PEAK, SWING_S, Footholds
from .planted import Planted, gaps_between
from .shorter_steps import BESIDE_LEGS, Rounds, shortened

SAME_LEGS: Final = 0.04
"""Footholds nearer than this, in leg lengths, are one."""
_SWING: Final = 1.0 / PEAK
"""Greatest mean speed of a clip's own swing to the next foothold, as a share of the foot's speed in the clips.

Farther footholds need a step, and so do those that leave less time than SWING_S.
"""
OPEN_S: Final = 0.02
"""A contact that ends within this time of a clip's end lasts until the end."""
_LEAST_ROOM: Final = 0.6
"""Least share of its duration that a step needs; with less, since the other foot steps beyond the seam, it is a jerk.
"""
_HURRIED: Final = 0.9
"""Least share of its duration to which a step is hurried to stay within its transition."""
_MOST_AIRBORNE: Final = 0.5
"""A foot stays if no other foot carries the body for more than this share of its step."""
_STAYS_LEGS: Final = 0.3
"""That is, if it is this near to the next clip's position: the leg reaches so far."""


@dataclass(frozen=True, eq=False)
class Seams:
    """When S segments begin and end, (S,), and when the transitions that lead to them play, (S,).

    A transition has no length where it is not needed. is_cut: (S,) there is none, and feet are not where the clip
    before left them: no contact spans this seam.
    """

    begin_s: FloatArray
    end_s: FloatArray
    window_begin_s: FloatArray
    window_end_s: FloatArray
    is_cut: BoolArray


def footholds(feet: Sequence[Planted], seams: Seams, leg_lengths: Sequence[float]) -> Footholds:
    """Return the footholds of L feet over all segments."""
    walker, segments = _Walker(leg_lengths), zip(*(foot.holds() for foot in feet), strict=True)
    above = zip(*(foot.above() for foot in feet), strict=True)
    edges = (np.maximum.reduce([foot.fast for foot in feet]), seams.begin_s, seams.end_s, seams.window_begin_s,
             seams.window_end_s, seams.is_cut)
    for segment, high, fast, begin, end, *window, is_cut in zip(segments, above, *(edge.tolist() for edge in edges),
                                                                strict=True):
        walker.go_on(segment, high, fast, begin, end, None if is_cut else window)
    return walker.footholds(feet)


class _Walker:
    """Joins the footholds of all legs, segment by segment."""

    def __init__(self, leg_lengths: Sequence[float]) -> None:
        self._lengths = tuple(leg_lengths)
        self._holds: list[list[Hold]] = [[] for _ in leg_lengths]
        self._begin_s = -NEVER_S
        self._end_s: float | None = None
        self._fast = 0.0
        self._clips_fast = 0.0

    def go_on(self, segment: Sequence[list[Hold]], above: Sequence[Sequence[float]], fast: float, begin_s: float,
              end_s: float, window_s: Sequence[float] | None) -> None:
        """Append the footholds of a segment, in order, for each leg.

        above: see Planted.above. fast: speed of feet in it. begin_s, end_s: of its clip. window_s: when the transition
        that leads here plays, None for a cut.
        """
        due: list[DueStep] = []
        self._clips_fast, self._fast = max(self._fast, fast), fast
        for leg, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if self._end_s is None:
                continue
            if window_s is None:
                for hold in known[-1:]:
                    hold.ease_out_s = min(hold.ease_out_s, max(self._end_s - hold.stop_s, ROUNDING))
                for hold in more[:1]:
                    hold.ease_in_s = min(hold.ease_in_s, max(hold.start_s - begin_s, ROUNDING))
            elif known and more:
                step = self._join(leg, known, more, above[leg], (self._end_s, begin_s), window_s)
                due += [] if step is None else [step]
        if window_s is not None:
            steps = self._with_room(due, segment, window_s)
            edges_s = between(*steps) if len(steps) > 1 else (None,) * len(steps)
            for order, (step, edge_s) in enumerate(zip(steps, edges_s, strict=True)):
                self._step(step, order, edge_s, segment, window_s)
        for known, more in zip(self._holds, segment, strict=True):
            known += more
        self._begin_s, self._end_s = begin_s, end_s

    def _join(self, leg: int, known: list[Hold], more: list[Hold], above: Sequence[float],
              seam_s: tuple[float, float], window_s: Sequence[float]) -> DueStep | None:
        """Let a foot stay if both positions agree; return the step that it has to make, or None.

        seam_s: when the clip before ends and this one begins.
        """
        last, first, length = known[-1], more[0], self._lengths[leg]
        is_open = last.stop_s >= seam_s[0] - OPEN_S, first.start_s <= seam_s[1] + OPEN_S
        touches = [each and hold.stop_s - hold.start_s < BRIEF_S
                   for each, hold in zip(is_open, (last, first), strict=True)]
        own_s = last.stop_s, first.start_s
        if all(is_open):
            middle_s = max((window_s[0] + window_s[1]) / 2.0, min(last.start_s + HELD_S, last.stop_s))
            last.stop_s = first.start_s = min(middle_s, max(first.stop_s - HELD_S, first.start_s))
        else:
            _stay_low(last, first, above, seam_s, window_s, length)
        same = SAME_LEGS if window_s[1] > window_s[0] else BESIDE_LEGS
        gap_s = first.start_s - last.stop_s
        if abs(first.over - last.over) <= same * length:
            if gap_s <= BRIEF_S:
                last.stop_s, last.ease_out_s, last.fast = first.stop_s, first.ease_out_s, first.fast
                del more[0]
            return None
        if gap_s >= SWING_S:
            known[len(known) - touches[0]:], more[:touches[1]] = [], []
            return self._due(leg, known, more, own_s)
        step = None if any(touches) else self._due(leg, known, more, own_s)
        return step or self._stand_once(leg, known, more, own_s)

    def _step_between(self, leg: int, last: Hold, first: Hold, own_s: tuple[float, float] = (0.0, 0.0),
                      goes_on: bool = False) -> DueStep:
        return DueStep(leg, last, first, own_s, self._lengths[leg], self._clips_fast, goes_on)

    def _due(self, leg: int, known: list[Hold], more: list[Hold], own_s: tuple[float, float]) -> DueStep | None:
        """Return the step that a foot has to make, if it has time for one; else let its own swing clear the ground.

        A clip without contacts of a foot leads it freely. own_s: see DueStep.
        """
        if not known or not more:
            return None
        last, first = known[-1], more[0]
        step = self._step_between(leg, last, first, own_s, len(more) > 1)
        gap_s = first.start_s - last.stop_s
        has_swing, least_s = gap_s >= SWING_S, _HURRIED * step.time_s
        is_own = has_swing and (gap_s >= least_s or step.distance <= _SWING * step.fast(SLOW_LEGS_PER_S[0]) * gap_s)
        if is_own or last.stop_s <= self._begin_s + ROUNDING or step.latest_s - step.soonest_s < least_s:
            if has_swing:
                last.clear = min(CLEAR_SHARE * step.distance, CLEAR_LEGS * step.leg_length)
            return None
        return step

    def _with_room(self, due: list[DueStep], segment: Sequence[list[Hold]], window_s: Sequence[float]) -> list[DueStep]:
        """Return steps in their order, only those with time while the other foot carries the body.

        A foot without time stands in one place.
        """
        steps = in_order(due)
        if not steps:
            return steps
        least, order = room(*steps) if len(steps) > 1 else (1.0, 0)
        if least >= _LEAST_ROOM and not (len(steps) == 1 and self._is_borne_by_none(steps[0], segment, window_s)):
            return steps
        step = steps.pop(order)
        next_step = self._stand_once(step.leg, self._holds[step.leg], segment[step.leg], step.own_s)
        return steps if next_step is None else self._with_room([*steps, next_step], segment, window_s)

    def _stand_once(self, leg: int, known: list[Hold], more: list[Hold],
                    own_s: tuple[float, float]) -> DueStep | None:
        """Merge two footholds without time for a step between them, at the one with the longer contact.

        Its contact lasts from the first one's beginning to the second one's end, unless the way from the foothold
        before, or to the next, needs some of that time. Return that way if it has to be a step. own_s: when the first
        ends in its clip, and the second begins.
        """
        last, first, length = known[-1], more[0], self._lengths[leg]
        last.stop_s, first.start_s = own_s
        if first.stop_s - first.start_s < last.stop_s - last.start_s:
            del more[0]
            latest_s = more[0].start_s - self._step_between(leg, last, more[0], own_s).time_s if more else first.stop_s
            last.stop_s = max(last.stop_s, min(first.stop_s, latest_s))
        else:
            del known[-1]
            earliest_s = (known[-1].stop_s + self._step_between(leg, known[-1], first, own_s).time_s if known
                          else last.start_s)
            first.start_s = min(first.start_s, max(last.start_s, earliest_s))
        if not known or not more or abs(more[0].over - known[-1].over) <= SAME_LEGS * length:
            return None
        return self._due(leg, known, more, (known[-1].stop_s, more[0].start_s))

    def _step(self, step: DueStep, order: int, edge_s: float | None, segment: Sequence[Sequence[Hold]],
              window_s: Sequence[float]) -> None:
        """Lift a foot from its last foothold and put it down on the next one.

        edge_s: when the first of both feet (order 0) has stepped, and from which on the second one (1) steps; None if
        the other makes no step.
        """
        last, first = step.last, step.first
        if edge_s is None:
            start, time_s = self._when(step, segment, window_s)
        else:
            time_s = _time_s(step, (window_s[1] - window_s[0]) / 2.0)
            start = edge_s - (0.0 if order else time_s)
        stop = min(start + time_s, max(first.stop_s - HELD_S, first.start_s))
        start = max(start, min(last.start_s + HELD_S, max(last.stop_s, start)))
        sooner = 0.5 if edge_s is None else 1.0 - order
        last.stop_s, first.start_s = self._calmer(step, (start, stop), sooner, segment)
        last.lift, last.farthest = step.lift, step.farthest(first.start_s - last.stop_s)
        if edge_s is None:
            self._bear(step, segment)

    def _when(self, step: DueStep, segment: Sequence[Sequence[Hold]],
              window_s: Sequence[float]) -> tuple[float, float]:
        """Return when a step begins, and its duration, during a contact of the other foot if possible."""
        last, first = step.last, step.first
        time_s = _time_s(step, window_s[1] - window_s[0])
        latest = min(last.stop_s, step.latest_s - time_s)
        earliest = max(first.start_s - time_s, min(step.soonest_s, latest))
        starts = ((latest + earliest) / 2.0, max(earliest, min(window_s[0], latest)),
                  min(latest, max(window_s[1] - time_s, earliest)), earliest, latest)
        return min(starts, key=lambda begin: self._airborne_s(step.leg, begin, begin + time_s, segment)), time_s

    def _calmer(self, step: DueStep, when_s: tuple[float, float], sooner: float,
                segment: Sequence[Sequence[Hold]]) -> tuple[float, float]:
        """Return beginning and end of a step that takes more time, while the other feet carry the body.

        when_s: its shortest span. sooner: share of the extra time before it, 0…1; 0 or 1 if the other foot steps before
        or after it.
        """
        start_s, stop_s = when_s
        borne_from_s, borne_until_s = -NEVER_S, NEVER_S
        for leg, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if leg != step.leg:
                holds = (*known[-2:], *more[:2])
                borne_from_s, borne_until_s = max(borne_from_s, since(holds, start_s)), min(borne_until_s,
                                                                                            until(holds, stop_s))
        for time_s, from_s, until_s in ((step.time_s, step.soonest_s, step.latest_s),
                                        (step.calm_s, step.calm_from_s, step.calm_until_s)):
            more_s = max(time_s - (stop_s - start_s), 0.0)
            before = max(start_s - max(from_s, borne_from_s), 0.0) if sooner > 0.0 else 0.0
            after = max(min(until_s, borne_until_s) - stop_s, 0.0) if sooner < 1.0 else 0.0
            before = min(before, max(more_s * sooner, more_s - after))
            start_s, stop_s = start_s - before, stop_s + min(after, more_s - before)
        return start_s, stop_s

    def _bear(self, step: DueStep, segment: Sequence[Sequence[Hold]]) -> None:
        """Extend contacts of the other feet over a step, if that leaves them time for their own way.

        Each to at most twice its duration: a foot that touches the ground in running cannot stand there.
        """
        for leg, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if leg == step.leg or not known or not more:
                continue
            last, first = known[-1], more[0]
            way = self._step_between(leg, last, first)
            way_s = max(SWING_S, way.distance / (_SWING * way.fast()))
            if step.last.stop_s <= last.stop_s < step.first.start_s:
                latest_s = min(step.first.start_s, first.start_s - way_s, 2.0 * last.stop_s - last.start_s)
                last.stop_s = max(last.stop_s, latest_s)
            if step.last.stop_s < first.start_s <= step.first.start_s:
                soonest_s = max(step.last.stop_s, last.stop_s + way_s, 2.0 * first.start_s - first.stop_s)
                first.start_s = min(first.start_s, soonest_s)

    def _is_borne_by_none(self, step: DueStep, segment: Sequence[Sequence[Hold]], window_s: Sequence[float]) -> bool:
        """Return whether no other foot carries the body during a short step, although it has contact on both sides."""
        begin_s, time_s = self._when(step, segment, window_s)
        others = [known and more for leg, (known, more) in enumerate(zip(self._holds, segment, strict=True))
                  if leg != step.leg]
        return (any(others) and step.distance <= _STAYS_LEGS * step.leg_length
                and self._airborne_s(step.leg, begin_s, begin_s + time_s, segment) > _MOST_AIRBORNE * time_s)

    def _airborne_s(self, leg: int, begin_s: float, end_s: float, segment: Sequence[Sequence[Hold]]) -> float:
        """Return for how long no other foot has contact between two instants."""
        held = 0.0
        for other, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if other != leg:
                held += sum(max(min(hold.stop_s, end_s) - max(hold.start_s, begin_s), 0.0)
                            for hold in (*known[-2:], *more[:2]))
        return round(end_s - begin_s - held, 6)

    def footholds(self, feet: Sequence[Planted]) -> Footholds:
        """Return the joined footholds of all feet."""
        for each_foot in zip(self._holds, feet, self._lengths, strict=True):
            _shorten(*each_foot)
        each = [gaps_between(*foot) for foot in zip(self._holds, feet, self._lengths, strict=True)]
        first = np.cumsum([0, *(len(holds) + 1 for holds in self._holds)])
        together = (np.concatenate(arrays, axis=-1) for arrays in zip(*each, strict=True))
        return Footholds.of(max(self._lengths), first, *together)


def _stay_low(last: Hold, first: Hold, above: Sequence[float], seam_s: tuple[float, float],
              window_s: Sequence[float], leg_length: float) -> None:
    """Let a foot leave sooner, or land later, while the clip on the other side of the seam has it in the air.

    There the transition has lifted the body or the foot. It comes down as the transition's offset fades, which goes
    about as u²·(2 − u) does, see blending.Inertialization.
    """
    whole_s, sides_s = max(window_s[1] - window_s[0], ROUNDING), (seam_s[0] - window_s[0], window_s[1] - seam_s[1])
    for hold, high, side_s in zip((last, first), above, sides_s, strict=True):
        most = high * side_s / whole_s
        if most <= STEP_LEGS[0] * leg_length:
            continue
        share = STEP_LEGS[0] * leg_length / most
        away_s = side_s * (1.0 - sqrt(share / (2.0 - sqrt(share))))
        if hold is last:
            hold.stop_s = max(min(hold.stop_s, seam_s[0] - away_s), min(hold.start_s + HELD_S, hold.stop_s))
        else:
            hold.start_s = min(max(hold.start_s, seam_s[1] + away_s), max(hold.stop_s - HELD_S, hold.start_s))


def _shorten(holds: Sequence[Hold], foot: Planted, leg_length: float) -> None:
    """Shorten steps of one foot that are too fast for the clips; see shorter_steps.py."""
    if not any(hold.lift > 0.0 for hold in holds):
        return
    names = "over", "start_s", "stop_s", "fast", "lift", "farthest", "number"
    over, start_s, stop_s, fast, lift, farthest, number = (
        np.array([getattr(hold, name) for hold in holds]) for name in names)
    swing = np.maximum(fast[:-1], fast[1:]) * _SWING * (start_s[1:] - stop_s[:-1])
    most = np.where(lift[:-1] > 0.0, farthest[:-1], np.maximum(swing, np.abs(np.diff(over))))
    at = shortened(over, stop_s - start_s, most, leg_length, Rounds.of(number, foot.turned, foot.rounds),
                   None if foot.astray is None else foot.astray[number])
    for hold, where in zip(holds, at.tolist(), strict=True):
        hold.over = where
    for hold, after in pairwise(holds):
        if hold.lift > 0.0:
            hold.lift = lift_over(abs(after.over - hold.over), leg_length)


def _time_s(step: DueStep, room_s: float) -> float:
    """Return the shortest duration of a step with so much room in its transition."""
    return max(min(step.time_s, room_s), _HURRIED * step.time_s, step.first.start_s - step.last.stop_s)
