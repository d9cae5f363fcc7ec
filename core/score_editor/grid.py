"""Bars, beats and seconds: which lines are drawn, and to which of them edges snap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from .view import View

_LINE_PX, _LABEL_PX, _SECONDS_PX = 7.0, 36.0, 60.0
"""Least distances of lines and labels, at an interface scale of 1."""
_FINEST, _MOST_LINES = 1.0 / 16.0, 4_000
_SECONDS = np.array((0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 36000))


@dataclass(frozen=True)
class Meter:
    """Ticks in a bar; a tick is a beat."""

    ticks_per_bar: int = 4

    def bar(self, tick: float) -> str:
        """Return bar and beat of a tick as text, both from 1.

        >>> Meter(4).bar(0.0), Meter(3).bar(4.5)
        ('1.1', '2.2')
        """
        bar, beat = divmod(tick, self.ticks_per_bar)
        return f"{int(bar) + 1}.{int(beat) + 1}"


def step(view: View, meter: Meter, apart_px: float = _LINE_PX) -> float:
    """Return the ticks between the finest lines that have room: parts of beats, beats, bars, groups of bars.

    >>> step(View(800, 300, px_per_tick=40.0), Meter()), step(View(800, 300, px_per_tick=4.0), Meter())
    (0.25, 4.0)
    """
    least = apart_px * view.scale / view.px_per_tick
    if least <= 1.0:
        return float(max(2.0 ** np.ceil(np.log2(least)), _FINEST))
    bars = least / meter.ticks_per_bar
    return float(meter.ticks_per_bar * 2.0 ** max(np.ceil(np.log2(bars)), 0.0))


def snapped(tick: float, view: View, meter: Meter) -> float:
    """Return the nearest line, or the nearest beat if lines are farther apart."""
    wide = min(step(view, meter, 2.0 * _LINE_PX), 1.0)
    return round(tick / wide) * wide


def beat_near(tick: float, within: float) -> float:
    """Return the nearest beat, half, quarter, eighth or sixteenth of one, the first within so many ticks, or the tick.

    >>> beat_near(2.98, 0.03), beat_near(1.4166, 0.03), beat_near(1.4166, 0.01)
    (3.0, 1.4375, 1.4166)
    """
    nearest = (round(tick / wide) * wide for wide in (1.0, 0.5, 0.25, 0.125, _FINEST))
    return next((found for found in nearest if abs(found - tick) <= within), tick)


def lines(view: View, meter: Meter, apart_px: float = _LINE_PX) -> tuple[FloatArray, IntArray]:
    """Return the ticks of the lines in view (N,), and for each 2 (bar), 1 (beat) or 0 (part of a beat)."""
    wide = step(view, meter, apart_px)
    ticks = _multiples(max(view.first_tick, 0.0), view.last_tick, wide)
    is_bar, is_beat = (np.abs(ticks / unit - np.round(ticks / unit)) < 1e-6 for unit in (meter.ticks_per_bar, 1.0))
    return ticks, np.where(is_bar, 2, np.where(is_beat, 1, 0))


def bar_labels(view: View, meter: Meter) -> tuple[FloatArray, list[str]]:
    """Return the ticks of bars to label in view (N,), and their labels; beats too if there is room: 3.2 in bar 3."""
    wide = max(step(view, meter, _LABEL_PX), 1.0)
    wide = wide if wide == 1.0 else max(wide, float(meter.ticks_per_bar))
    ticks = _multiples(max(view.first_tick - wide, 0.0), view.last_tick, wide)
    return ticks, [meter.bar(tick).removesuffix(".1") for tick in ticks.round().tolist()]


def second_labels(view: View, begin_s: float, end_s: float) -> tuple[FloatArray, list[str]]:
    """Return the times to label within a span in view (N,), and their labels."""
    begin_s = max(begin_s, 0.0)
    room = max(view.width - view.left, 1.0) / (_SECONDS_PX * view.scale)
    wide = (end_s - begin_s) / max(room, 1.0)
    chosen = _SECONDS[min(int(np.searchsorted(_SECONDS, wide)), len(_SECONDS) - 1)]
    times = _multiples(begin_s, end_s, max(float(chosen), wide if wide > _SECONDS[-1] else 0.0))
    return times, [_clock(time) for time in times.tolist()]


def _multiples(begin: float, end: float, wide: float) -> FloatArray:
    first, last = np.ceil(begin / wide), np.floor(end / wide)
    number = int(np.clip(last - first + 1.0, 0.0, _MOST_LINES))
    return np.asarray((first + np.arange(number)) * wide)


def _clock(time_s: float) -> str:
    if time_s < 60.0:
        return f"{time_s:.3g} s"
    minutes, seconds = divmod(round(time_s), 60)
    return f"{minutes}:{seconds:02}"
