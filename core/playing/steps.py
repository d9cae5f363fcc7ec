"""From the contacts of clips to the footholds of a row: what a foot does where one clip becomes the next.

It is planted on both sides, and the positions agree: it stays. It is planted on both sides elsewhere: it makes a step.
It is planted on one side, or there is time for the clips' own swing between the two: it leaves or arrives as in the
clips. A step begins before the seam or ends after it such that the other foot bears the body meanwhile, if it can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .clip_feet import ClipFoot
from .footholds import STEP_WAIT, Footholds

SAME_LEGS: Final = 0.04
"""Footholds so near to each other, in leg lengths, are one."""
_SLIDE_LEGS: Final = 0.15
"""And so near where one clip goes on as the other ended: the foot is where it was, though it slides in the clips."""
SWING_S: Final = 0.25
"""Where the clips leave so much time between two footholds, their own swing leads from one to the other."""
BRIEF_S: Final = 0.1
"""A foot that leaves one foothold for so short a time stays there, where the next is the same."""
OPEN_S: Final = 0.02
"""A foot that is planted so short a time from a clip's end is planted at the end."""
EASE_S: Final = 0.25
LONGEST_EASE_S: Final = 0.5
SHORTEST_STEP_S: Final = 0.4
LONGEST_STEP_S: Final = 0.9
_HURRIED: Final = 0.75
"""Of its time: a step is so much quicker at most to stay within its transition."""
TOUCH_S: Final = 0.12
"""A clip that begins or ends so soon after or before a foot touches the ground: no step leads there."""
LEAST_HELD_S: Final = 0.05
"""What is left of a foothold at least where a step begins or ends."""
LIFT_LEGS: Final = 0.07
_WIDE_LIFT: Final = 0.2
"""Of its way: a longer step is higher."""
SLOWEST_LEGS_PER_S: Final = 0.6
"""So fast a foot may always be moved, also where the clips do not move it."""
_PEAK: Final = 1.875
"""The highest speed of the smoothest way (Flash and Hogan 1985) against its mean."""
_LIFT_PEAK: Final = 3.08
"""The highest speed of a lift against height ÷ time."""
_SOON_S: Final = 1e-6


@dataclass(slots=True)
class Hold:
    """One foothold while they are put together.

    fast: how fast the foot may be moved; lift: of the step that follows. ease_in_s, ease_out_s: how long it takes at
    most to lead it there and to let it go.
    """

    start_s: float
    stop_s: float
    at: FloatArray
    fast: float
    lift: float = 0.0
    ease_in_s: float = LONGEST_EASE_S
    ease_out_s: float = LONGEST_EASE_S

    @classmethod
    def of_clip(cls, foot: ClipFoot, at: FloatArray, begin_s: float, stretch: float) -> list[Hold]:
        """Return those of a foot in a clip that begins at begin_s and lasts `stretch` times as long; at: (K, 3)."""
        fast = foot.fast / stretch if stretch > 0.0 else 0.0
        spans = begin_s + foot.spans_s * stretch
        return [cls(start, stop, position, fast) for (start, stop), position in zip(spans.tolist(), at, strict=True)]


@dataclass(frozen=True)
class _Pending:
    """A step that a foot has to make from its last foothold to the first one of the next segment."""

    leg: int
    last: Hold
    first: Hold
    way: float
    lift: float
    time_s: float


class Walker:
    """Puts the footholds of all legs together, segment by segment. up: unit vector (3,); leg_lengths: (L,)."""

    def __init__(self, up: FloatArray, leg_lengths: Sequence[float]) -> None:
        self._up, self._lengths = up, tuple(leg_lengths)
        self._holds: list[list[Hold]] = [[] for _ in leg_lengths]
        self._end_s: float | None = None

    def go_on(self, segment: Sequence[list[Hold]], begin_s: float, end_s: float,
              window_s: tuple[float, float] | None = None) -> None:
        """Append the footholds of a segment, in order, for each leg.

        begin_s, end_s: of its clip. window_s: when the transition plays that leads here, without length where it is not
        needed; None: the one before is cut, so that nothing goes over the seam.
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
        for order, step in enumerate(sorted(pending, key=lambda step: -step.way)):
            assert window_s is not None
            self._step(step, order if len(pending) > 1 else None, segment, window_s)
        for known, more in zip(self._holds, segment, strict=True):
            known += more
        self._end_s = end_s

    def _join(self, leg: int, known: list[Hold], more: list[Hold], seam_s: tuple[float, float],
              window_s: float, middle_s: float) -> _Pending | None:
        """Let a foot stay where both positions agree; return the step that it has to make.

        seam_s: when the clip before ends and this one begins. middle_s: of the transition, which lasts window_s.
        """
        last, first, length = known[-1], more[0], self._lengths[leg]
        ahead = first.at - last.at
        way = float(np.linalg.norm(ahead - (ahead @ self._up) * self._up))
        is_open = last.stop_s >= seam_s[0] - OPEN_S, first.start_s <= seam_s[1] + OPEN_S
        if way > SAME_LEGS * length and is_open[1] and first.stop_s - first.start_s < TOUCH_S:
            del more[0]
            return None
        if way > SAME_LEGS * length and is_open[0] and last.stop_s - last.start_s < TOUCH_S:
            del known[-1]
            return None
        if all(is_open):
            last.stop_s = first.start_s = middle_s
        gap_s = first.start_s - last.stop_s
        if way <= (SAME_LEGS if window_s > 0.0 else _SLIDE_LEGS) * length:
            if gap_s <= BRIEF_S:
                last.stop_s, last.ease_out_s, last.fast = first.stop_s, first.ease_out_s, first.fast
                del more[0]
            return None
        lift = max(LIFT_LEGS * length, _WIDE_LIFT * way)
        fast = max(last.fast, first.fast, SLOWEST_LEGS_PER_S * length)
        time_s = float(np.clip(max(_PEAK * way / (1.0 - 2.0 * STEP_WAIT), _LIFT_PEAK * lift) / fast, SHORTEST_STEP_S,
                               LONGEST_STEP_S))
        if gap_s < SWING_S:
            return _Pending(leg, last, first, way, lift, time_s)
        return None

    def _step(self, step: _Pending, order: int | None, segment: Sequence[Sequence[Hold]],
              window_s: tuple[float, float]) -> None:
        """Lift a foot from its last foothold and set it down on the next one.

        order: of both feet the first one steps before the seam, the second after it; None: the other need not step.
        """
        last, first = step.last, step.first
        room_s = (window_s[1] - window_s[0]) / (1.0 if order is None else 2.0)
        time_s = max(min(step.time_s, room_s), _HURRIED * step.time_s, first.start_s - last.stop_s)
        latest, earliest = last.stop_s, first.start_s - time_s
        starts = ((latest + earliest) / 2.0, max(earliest, min(window_s[0], latest)),
                  min(latest, max(window_s[1] - time_s, earliest)))
        if order is not None:
            start = (earliest, latest)[order]
        else:
            start = min(starts, key=lambda begin: self._airborne_s(step.leg, begin, begin + time_s, segment))
        stop = min(start + time_s, max(first.stop_s - LEAST_HELD_S, first.start_s))
        start = max(start, min(last.start_s + LEAST_HELD_S, last.stop_s))
        last.stop_s, first.start_s, last.lift = start, stop, step.lift

    def _airborne_s(self, leg: int, begin_s: float, end_s: float, segment: Sequence[Sequence[Hold]]) -> float:
        """Return for how long no other foot is held between two instants."""
        held = 0.0
        for other, (known, more) in enumerate(zip(self._holds, segment, strict=True)):
            if other != leg:
                held += sum(max(min(hold.stop_s, end_s) - max(hold.start_s, begin_s), 0.0)
                            for hold in (*known[-2:], *more[:2]))
        return round(end_s - begin_s - held, 6)

    def footholds(self, feet: Callable[[FloatArray], FloatArray]) -> tuple[Footholds, ...]:
        """Return what came together, for each leg; feet: where they are at times (F,) if nothing holds them, (F, L, 3).

        A foot is led to its footholds, and let go, no faster than it may be moved.
        """
        found = []
        for leg, (holds, length) in enumerate(zip(self._holds, self._lengths, strict=True)):
            start, stop, lift, fast, *most = (np.array([getattr(hold, name) for hold in holds]) for name in (
                "start_s", "stop_s", "lift", "fast", "ease_in_s", "ease_out_s"))
            at = np.array([hold.at for hold in holds]).reshape(-1, 3)
            gap, is_step = np.maximum(start[1:] - stop[:-1], _SOON_S), lift[:-1] > 0.0
            ahead = at - feet(np.concatenate((start, stop)))[:, leg].reshape(2, -1, 3)
            away = np.linalg.norm(ahead - (ahead @ self._up)[..., None] * self._up, axis=-1)
            eases = np.clip(_PEAK * away / np.maximum(fast, SLOWEST_LEGS_PER_S * length), EASE_S, most)
            ease_in, ease_out = np.minimum(eases, most)
            ease_in[1:] = np.where(is_step, gap, np.minimum(ease_in[1:], gap))
            ease_out[:-1] = np.where(is_step, gap, np.minimum(ease_out[:-1], gap))
            found.append(Footholds(start, stop, at, ease_in, ease_out, lift))
        return tuple(found)
