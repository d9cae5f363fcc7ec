"""Tempo: convert times at an even tempo to times of the clock, and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..pha.document import Tempo
from ..skeletons.skeleton import Pose
from .stage import FIRST_ROUND, Instants, Over
from .transitions.methods import Layout


@dataclass(frozen=True, eq=False)
class Clock:
    """A change of tempo over time, as N spans; the last span is endless.

    Even time is the time of a score whose tempo never changes. begin_s: (N,) begin of each span in even time.
    begin_clock_s: (N,) the same on the clock. pace: (N,) seconds of the clock per second of even time at the span's
    begin. gain: (N,) change of pace per second of even time.

    After x seconds of even time in a span, the clock shows c + p·x + g·x²/2. After d seconds of the clock, the even
    time is x = 2d ÷ (p + √(p² + 2·g·d)).
    """

    begin_s: FloatArray
    begin_clock_s: FloatArray
    pace: FloatArray
    gain: FloatArray

    @classmethod
    def of(cls, tempo: Iterable[Tempo], tick_s: float) -> Clock:
        """Return the clock for changes of tempo, in order of ticks. tick_s: seconds of a tick in even time.

        >>> clock = Clock.of([Tempo(4.0, 0.5, 2.0, 0)], 1.0)
        >>> clock.shown(np.array((0.0, 4.0, 6.0, 8.0))).tolist()
        [0.0, 4.0, 5.5, 6.5]
        """
        rows = [(0.0, 0.0, 1.0, 0.0)]

        def begin(at_s: float, pace: float | None, gain: float) -> None:
            start, clock, before, growth = rows[-1]
            x = at_s - start
            reached = before + growth * x
            rows.append((at_s, clock + before * x + growth * x * x / 2.0, reached if pace is None else pace, gain))

        changes = list(tempo)
        for change, following in zip(changes, [*changes[1:], None], strict=True):
            at_s, over_s, pace = change.tick * tick_s, change.over * tick_s, change.tick_s / tick_s
            if over_s > 0.0:
                begin(at_s, None, 0.0)
                start, clock, reached, _ = rows.pop()
                rows.append((start, clock, reached, (pace - reached) / over_s))
            if following is None or following.tick * tick_s >= at_s + over_s:
                begin(at_s + over_s, pace, 0.0)
        return cls(*np.array(rows).T)

    def shown(self, times_s: FloatArray) -> FloatArray:
        """Return the clock times of even times (F,)."""
        at = np.maximum(np.searchsorted(self.begin_s, times_s, side="right") - 1, 0)
        x = times_s - self.begin_s[at]
        return np.asarray(self.begin_clock_s[at] + x * (self.pace[at] + x * self.gain[at] / 2.0))

    def even(self, clock_s: FloatArray) -> FloatArray:
        """Return the even times of clock times (F,)."""
        at = np.maximum(np.searchsorted(self.begin_clock_s, clock_s, side="right") - 1, 0)
        gone, pace = clock_s - self.begin_clock_s[at], self.pace[at]
        root = np.sqrt(np.maximum(pace * pace + 2.0 * self.gain[at] * gone, 0.0))
        return np.asarray(self.begin_s[at] + 2.0 * gone / (pace + root))

    def bent(self, layout: Layout, duration_s: float) -> Layout:
        """Return a layout in clock time. duration_s: of a loop, whose last window may reach into the next round."""
        def by_clock(times_s: FloatArray) -> FloatArray:
            rounds = np.floor(times_s / duration_s) if duration_s > 0.0 else np.zeros(len(times_s))
            rounds = np.where(times_s <= duration_s, 0.0, rounds)
            return np.asarray(self.shown(times_s - rounds * duration_s) + rounds * end)

        end = float(self.shown(np.array((duration_s,)))[0])
        return Layout(by_clock(layout.begin_s), by_clock(layout.end_s), by_clock(layout.window_begin_s),
                      by_clock(layout.window_end_s), end)


@dataclass(frozen=True, eq=False)
class Timed(Over):
    """The stage that applies the tempo to the stage below. It is the last one, so that everything follows the tempo."""

    clock: Clock

    @property
    def duration_s(self) -> float:
        """Duration by the clock."""
        return float(self.clock.shown(np.array((self.below.duration_s,)))[0])

    @property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        return self.below.moved

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses at times (F,) of the clock; see Stage."""
        return self.below.sample(np.clip(self.clock.even(times_s), 0.0, self.below.duration_s), rounds)

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the instants of events by the clock; see Stage."""
        found = self.below.instants(per_s, densest)
        return Instants(*(self.clock.shown(times / per_s) * per_s for times in (found.edges, found.jumps, found.keys)))
