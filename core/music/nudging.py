"""Move one beat in the music, and keep all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import TaktError
from .grid import Grid, TempoChange

_LEAST = 0.1
"""Least distance of a beat from its neighbours, as a share of the time between them."""
_SAME_S = 1e-9


def shifted(grid: Grid, tick: float, time_s: float) -> Grid:
    """Return the grid moved as a whole, so that a tick is at a time of the music."""
    now_s, = grid.seconds(np.array((tick,))).tolist()
    return replace(grid, offset_s=grid.offset_s + time_s - now_s)


def nudged(grid: Grid, tick: int, time_s: float) -> Grid:
    """Return a grid with one tick moved to a time of the music, in seconds; all other whole ticks keep their times.

    tick: from 0. The tempo is constant between the tick and each neighbour; a tempo change in progress there continues
    after them. Raises TaktError if the time is not between these neighbours, or if changes of tempo overlap.

    >>> moved = nudged(Grid(0.5, 1.0), 2, 2.1)
    >>> moved.seconds(np.arange(5.0)).round(6).tolist()
    [1.0, 1.5, 2.1, 2.5, 3.0]
    """
    if any(other.tick < one.tick + one.over for one, other in zip(grid.changes, grid.changes[1:], strict=False)):
        raise TaktError("changes of tempo overlap; set the beats in the text")
    first, last = tick - 1, tick + 1
    early_s, late_s = grid.seconds(np.array((float(max(first, 0)), float(last)))).tolist()
    if tick == 0:
        early_s = min(time_s, early_s) - (late_s - early_s)
    if not early_s + _LEAST * (late_s - early_s) <= time_s <= late_s - _LEAST * (late_s - early_s):
        raise TaktError("a beat stays between its neighbours; pull these first, or all with Ctrl")
    before = [change if change.tick + change.over <= first else
              TempoChange(change.tick, _length(grid, first), first - change.tick)
              for change in grid.changes if change.tick < first]
    length_s, behind = _behind(grid, last, late_s - time_s)
    if tick == 0:
        return _tidy(Grid(length_s, time_s, tuple(behind)))
    changes = (*before, TempoChange(float(first), time_s - early_s, 0.0), TempoChange(float(tick), length_s, 0.0),
               *behind)
    return _tidy(replace(grid, changes=changes))


def _behind(grid: Grid, last: int, duration_s: float) -> tuple[float, list[TempoChange]]:
    """Return the length at the tick before `last`, from which on a tick takes the duration, and the changes then.

    Where a gradual change goes on at `last`, the length is brought half a tick earlier to where that goes on from.
    """
    after = [change for change in grid.changes if change.tick >= last]
    through = next((c for c in grid.changes if c.tick < last < c.tick + c.over), None)
    if through is not None:
        after.insert(0, TempoChange(float(last), through.tick_length_s, through.tick + through.over - last))
    if not after or after[0].tick > last:
        return duration_s, [TempoChange(float(last), _length(grid, last), 0.0), *after]
    if after[0].over == 0.0:
        return duration_s, after
    length_s = _length(grid, last)
    return (duration_s - length_s / 4.0) / 0.75, [TempoChange(last - 0.5, length_s, 0.5), *after]


def _length(grid: Grid, tick: float) -> float:
    """Return how long a tick is directly before one."""
    length_s = grid.tick_length_s
    for change in grid.changes:
        if change.tick >= tick:
            break
        if tick < change.tick + change.over:
            return length_s + (change.tick_length_s - length_s) * (tick - change.tick) / change.over
        length_s = change.tick_length_s
    return length_s


def _tidy(grid: Grid) -> Grid:
    """Leave out changes that change nothing."""
    length_s, kept = grid.tick_length_s, list[TempoChange]()
    for change in grid.changes:
        if abs(change.tick_length_s - length_s) > _SAME_S:
            kept.append(change)
        length_s = change.tick_length_s
    return replace(grid, changes=tuple(kept))
