"""The ways and aims of lanes, by the segment of the outermost row during which they play."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    at = np.flatnonzero(clip >= len(whole.clips))
    for number, block in zip((at + first).tolist(), (clip[at] - len(whole.clips)).tolist(), strict=True):
        played = whole.blocks[block]
        for lane in played.lanes:
            rows = lane.rows
            if rows is None:
                continue
            assert isinstance(rows, Rows)  # as expanded
            ways, aims = rows.goals[lane.row]
            inner: Iterable[Way | AimedAt] = ()
            if rows.have_blocks:
                own = rows.span(lane.row)
                inner = _of_lanes(whole, rows.clip[own], own.start)
            for each in (*ways, *aims, *inner):
                inside = _shares(rows, each, played.length_s)
                yield (Way(number, number + 1, each.going, each.place, inside) if isinstance(each, Way)
                       else AimedAt(number, each.aim, each.place, inside,
                                    each.weight * lane.weight_at(sum(inside) / 2.0)))


def _shares(rows: Rows, goal: Way | AimedAt, whole_s: float) -> tuple[float, float]:
    """Return the shares of a length of time between which a way or an aim of rows plays."""
    begin_s, last = rows.start_s.item(goal.first), goal.after - 1
    end_s = rows.start_s.item(last) + rows.length_s.item(last)
    if goal.inside is not None:
        begin_s, end_s = (begin_s + share * (end_s - begin_s) for share in goal.inside)
    return begin_s / whole_s, end_s / whole_s


def _when(each: Way | AimedAt) -> tuple[int, tuple[float, float]]:
    """Return the key that sorts ways and aims by time."""
    return each.first, each.inside or (0.0, 1.0)
