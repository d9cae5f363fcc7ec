"""Beats as a score states them: the length of a tick, the time of tick 0 in the music, and changes of tempo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import TaktError
from ..maths.arrays import FloatArray

_FARTHEST_S = 0.035
"""Beats of an even tempo lie at most so far off."""
_MOST_CHANGES = 24
_SHORTEST, _TRIED = 8, 48
"""Beats that a part of one tempo has at least; and at how many beats a change is tried."""


class TempoChange(NamedTuple):
    """A change of tempo at a tick: over `over` ticks, the length of a tick changes evenly to `tick_length_s`."""

    tick: float
    tick_length_s: float
    over: float


@dataclass(frozen=True)
class Grid:
    """The times of ticks in a piece of music.

    offset_s: the time of tick 0; tick_length_s: the length of a tick there; changes: in order of tick.
    """

    tick_length_s: float
    offset_s: float
    changes: tuple[TempoChange, ...] = ()

    def seconds(self, ticks: FloatArray) -> FloatArray:
        """Return the times of ticks in the music, in seconds, with the same shape.

        >>> Grid(0.5, 1.0, (TempoChange(4.0, 1.0, 0.0),)).seconds(np.array((0.0, 4.0, 6.0))).tolist()
        [1.0, 3.0, 5.0]
        """
        return np.asarray(self.offset_s + _area(ticks, *_knots(self)))


def fit_grid(beats_s: FloatArray, tick_length_s: float) -> Grid:
    """Fit ticks to beats (B,): tick 0 is on the first beat, and each beat has a whole number of ticks.

    The length of a tick stays as close to tick_length_s as whole numbers allow. The tempo is constant unless beats
    would then be more than 35 ms off; in that case it changes at as few beats as possible.
    Raises TaktError for fewer than two beats.
    """
    if len(beats_s) < 2:
        raise TaktError("There are no beats to go by. Set the tempo by hand.")
    beat_s = float(np.median(np.diff(beats_s)))
    ticks_a_beat = max(1, round(beat_s / tick_length_s))
    # A beat that was missed leaves a gap of two.
    steps = np.maximum(np.round(np.diff(beats_s) / _local(np.diff(beats_s))), 1.0)
    numbers = np.concatenate(((0.0,), np.cumsum(steps)))
    knots, offset, lengths = _fitted(numbers, beats_s)
    at, lengths = knots * ticks_a_beat, lengths / ticks_a_beat
    if len(knots) == 2 and lengths[0] == lengths[1]:
        return Grid(float(lengths[0]), offset)
    return Grid(float(lengths[0]), offset, tuple(
        TempoChange(float(tick), float(length), float(over))
        for tick, length, over in zip(at[:-1], lengths[1:], np.diff(at), strict=True)))


def _fitted(numbers: FloatArray, beats_s: FloatArray) -> tuple[FloatArray, float, FloatArray]:
    """Return knots, the time of beat 0, and the lengths of a beat at the knots: as few knots as will do."""
    length, offset = np.polyfit(numbers, beats_s, 1)
    if _is_near(offset + length * numbers - beats_s):
        return numbers[[0, -1]], float(offset), np.array((length, length))
    knots = numbers[[0, -1]]
    while True:
        start, lengths, off = _spline(numbers, beats_s, knots)
        further = None if _is_near(off) or len(knots) > _MOST_CHANGES else _split(numbers, beats_s, knots, np.abs(off))
        if further is None:
            return knots, start, lengths
        knots = further


def _is_near(off_s: FloatArray) -> bool:
    """Tell whether beats lie near enough; one of twenty may be a stumble of its own."""
    return float(np.quantile(np.abs(off_s), 0.95)) <= _FARTHEST_S


def _knots(grid: Grid) -> tuple[FloatArray, FloatArray]:
    """Return ticks and the lengths that a tick has there; twice the same tick where it changes at once."""
    at, lengths = [0.0], [grid.tick_length_s]
    for change in grid.changes:
        at += [change.tick, change.tick + change.over]
        lengths += [lengths[-1], change.tick_length_s]
    return np.array(at), np.array(lengths)


def _local(lengths_s: FloatArray) -> FloatArray:
    """Return how long beats are around each, (B − 1,): the median of nine."""
    padded = np.pad(lengths_s, 4, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, 9), axis=1))


def _spline(numbers: FloatArray, beats_s: FloatArray, knots: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Fit the time of beat 0, the lengths of a beat at knots, and return how far beats lie off.

    Between knots the length changes evenly, so that a beat's time is the sum of the area below it.
    """
    columns = [np.ones(len(numbers))]
    for index in range(len(knots)):
        hat = np.zeros(len(knots))
        hat[index] = 1.0
        columns.append(_area(numbers, knots, hat))
    table = np.column_stack(columns)
    solved = np.linalg.lstsq(table, beats_s, rcond=None)[0]
    return float(solved[0]), np.asarray(solved[1:], dtype=np.float64), np.asarray(table @ solved - beats_s)


def _area(numbers: FloatArray, knots: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the area, of the numbers' shape, below lengths from the first knot up to each number.

    knots, lengths: (K,) the lengths change evenly from knot to knot, at once where two knots are the same number, and
    stay after the last one.
    """
    whole = np.concatenate(((0.0,), np.cumsum(np.diff(knots) * (lengths[1:] + lengths[:-1]) / 2.0)))
    index = np.clip(np.searchsorted(knots, numbers, side="right") - 1, 0, len(knots) - 1)
    after = np.minimum(index + 1, len(knots) - 1)
    span = np.where(knots[after] > knots[index], knots[after] - knots[index], 1.0)
    slope = (lengths[after] - lengths[index]) / span
    past = numbers - knots[index]
    return np.asarray(whole[index] + past * (lengths[index] + slope * past / 2.0))


def _split(numbers: FloatArray, beats_s: FloatArray, knots: FloatArray, off: FloatArray) -> FloatArray | None:
    """Return knots with one or two more in the part where beats lie off the most, put where they help the most.

    Two beside each other are a tempo that changes at once.
    """
    part = np.clip(np.searchsorted(knots, numbers, side="right") - 1, 0, len(knots) - 2)
    mean = np.bincount(part, off**2, len(knots) - 1)
    worst = int(mean.argmax())
    inside = numbers[(numbers >= knots[worst] + _SHORTEST / 2) & (numbers <= knots[worst + 1] - _SHORTEST / 2)]
    inside = inside[::max(1, len(inside) // _TRIED)]
    tried = [*(np.array((at,)) for at in inside), *(np.array((at, at + 1.0)) for at in inside)]
    if not tried:
        return None
    left = [float(np.sum(_spline(numbers, beats_s, np.insert(knots, worst + 1, more))[2] ** 2)) for more in tried]
    return np.insert(knots, worst + 1, tried[int(np.argmin(left))])
