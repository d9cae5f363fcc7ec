"""The ways and aims of lanes, by the segment of the outermost row during which they play."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..maths.arrays import IntArray
from .rows import Rows
from .sequence import Sequence
from .ways import AimedAt, Way


def with_goals_of_lanes(sequence: Sequence) -> Sequence:
    """Return an expanded sequence with the ways and aims of all its lanes, including nested ones, added to its own."""
    found = list(_of_lanes(sequence, sequence.clip, 0))
    ways = [*sequence.ways, *(each for each in found if isinstance(each, Way))]
    aims = [*sequence.aims, *(each for each in found if isinstance(each, AimedAt))]
    return replace(sequence, ways=tuple(sorted(ways, key=_when)), aims=tuple(sorted(aims, key=_when)))


def _of_lanes(whole: Sequence, clip: IntArray, first: int) -> Iterator[Way | AimedAt]:
    """Yield the ways and aims in the lanes of the blocks among segments.

    whole: has the blocks; clip: (N,) of the segments; first: the number of the first one.
    """
    for at in np.flatnonzero(clip >= len(whole.clips)).tolist():
        block = whole.blocks[int(clip[at]) - len(whole.clips)]
        for lane, rows in ((lane, lane.rows) for lane in block.lanes if lane.rows is not None):
            assert isinstance(rows, Rows)  # as expanded
            own = rows.span(lane.row)
            inner = _of_lanes(whole, rows.clip[own], own.start) if rows.have_blocks else ()
            for each in (*(each for goals in rows.goals[lane.row] for each in goals), *inner):
                inside = _shares(rows, each, block.length_s)
                yield (Way(first + at, first + at + 1, each.going, each.place, inside) if isinstance(each, Way)
                       else AimedAt(first + at, each.aim, each.place, inside,
                                    each.weight * lane.weight_at(sum(inside) / 2.0)))


def _shares(rows: Rows, goal: Way | AimedAt, whole_s: float) -> tuple[float, float]:
    """Return the shares of a length of time between which a way or an aim of rows plays."""
    begin_s, last = float(rows.start_s[goal.first]), goal.after - 1
    end_s = float(rows.start_s[last] + rows.length_s[last])
    if goal.inside is not None:
        begin_s, end_s = (begin_s + share * (end_s - begin_s) for share in goal.inside)
    return begin_s / whole_s, end_s / whole_s


def _when(each: Way | AimedAt) -> tuple[int, tuple[float, float]]:
    """Return the key that sorts ways and aims by time."""
    return each.first, each.inside or (0.0, 1.0)
