"""Rows of segments that are expanded together, one after another in the same arrays."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .origins import Origins, Runs
from .sequence import Marks, Paths, Sequence
from .ways import AimedAt, Way

_NO_MARKS: Final = Marks(*(np.zeros(0, np.int64) for _ in range(3)))


@dataclass(frozen=True, eq=False)
class Rows(SequenceOf[Sequence]):
    """N rows of one score, with S segments in all; the Sequence of a row is made when it is needed.

    edges: (N + 1,) the first segment of each row, then S. clip, length_s, transition_s, path, is_mirrored, is_reversed,
    part: of all S segments, see Sequence. marks, ways, aims: by the number of their segment among all S. origins: of
    all segments; runs are ordered by depth.
    """

    clips: tuple[str, ...]
    edges: IntArray
    clip: IntArray
    length_s: FloatArray
    transition_s: FloatArray
    path: IntArray
    paths: Paths
    marks: Marks
    origins: Origins
    is_loop: bool
    is_mirrored: BoolArray | None
    is_reversed: BoolArray | None
    part: FloatArray | None
    ways: tuple[Way, ...]
    aims: tuple[AimedAt, ...]
    clip_s: Mapping[str, float]

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __getitem__(self, index: int) -> Sequence:  # type: ignore[override]  # no slices
        row, by_row = range(len(self))[index], self._by_row
        own, runs, marked = self.span(row), slice(*by_row.first[row:row + 2]), slice(*self._first_mark[row:row + 2])
        first, marks = own.start, _NO_MARKS
        if marked.start < marked.stop:
            marks = Marks(self.marks.segment[marked] - first, self.marks.path[marked], by_row.of_mark[marked])
        origins = Origins(self.origins.places, by_row.segments.at(own), by_row.procedures.at(runs),
                          by_row.tick_s[runs])
        ways, aims = self.goals[row]
        return Sequence(
            self.clips, self.clip[own], self.start_s[own], self.length_s[own], self.transition_s[own], self.path[own],
            self.paths, marks, origins, self.is_loop, None if self.is_mirrored is None else self.is_mirrored[own],
            None if self.is_reversed is None else self.is_reversed[own], None if self.part is None else self.part[own],
            (), tuple([way.from_segment(first) for way in ways]), tuple([aim.from_segment(first) for aim in aims]),
            self.clip_s)

    def span(self, row: int) -> slice:
        """Return which of all segments are those of a row."""
        return slice(*self._edges[row:row + 2])

    @cached_property
    def have_blocks(self) -> bool:
        """Whether any row has a block."""
        return bool((self.clip >= len(self.clips)).any())

    @cached_property
    def start_s(self) -> FloatArray:
        """The begin of each segment, from that of its row on, (S,)."""
        starts = np.zeros(len(self.length_s))
        for first, after in self._spans_of_many:
            np.add.accumulate(self.length_s[first:after - 1], out=starts[first + 1:after])  # half of cumsum()'s time
        return starts

    @cached_property
    def end_s(self) -> FloatArray:
        """The end of each segment, from the begin of its row on, (S,)."""
        ends = np.append(self.start_s[1:], 0.0)
        last = self.edges[1:][np.diff(self.edges) > 0] - 1
        ends[last] = self.length_s[last]
        for first, after in self._spans_of_many:
            ends[after - 1] = np.add.reduce(self.length_s[first:after])  # see Sequence.duration_s
        return ends

    @cached_property
    def goals(self) -> list[tuple[tuple[Way, ...], tuple[AimedAt, ...]]]:
        """The ways and the aims of each row."""
        ways, aims = (np.searchsorted(np.array([each.first for each in goals], np.int64), self.edges).tolist()
                      for goals in (self.ways, self.aims))
        return [(self.ways[slice(*own)], self.aims[slice(*others)])
                for own, others in zip(pairwise(ways), pairwise(aims), strict=True)]

    @cached_property
    def _edges(self) -> list[int]:
        found: list[int] = self.edges.tolist()
        return found

    @cached_property
    def _spans_of_many(self) -> list[list[int]]:
        """First and after-last segment of each row with more than one."""
        spans: list[list[int]] = np.stack((self.edges[:-1], self.edges[1:]), axis=1)[np.diff(self.edges) > 1].tolist()
        return spans

    @cached_property
    def _first_mark(self) -> list[int]:
        found: list[int] = np.searchsorted(self.marks.segment, self.edges).tolist()
        return found

    @cached_property
    def _by_row(self) -> _ByRow:
        return _ByRow.of(self)


class _ByRow(NamedTuple):
    """Origins of rows with the runs row by row, numbered in each row from 0.

    segments: (S,); procedures: (R,); tick_s: (R,), see Origins. of_mark: (M,) the run of each mark. first: the first
    run of each row, then R.
    """

    segments: Runs
    procedures: Runs
    tick_s: FloatArray
    of_mark: IntArray
    first: list[int]

    @classmethod
    def of(cls, rows: Rows) -> _ByRow:
        """Sort the runs of rows."""
        origins, marks = rows.origins, rows.marks
        runs, made = origins.procedures, origins.segments
        within, number = runs.within, len(runs.within)
        if len(rows) == 1:
            return cls(made, runs, origins.tick_s, marks.run, [0, number])
        root = np.where(within < 0, np.arange(number), within)
        while not np.array_equal(outer := root[root], root):
            root = outer
        order = np.argsort(root, kind="stable")  # outer runs stay before inner ones
        first = np.searchsorted(root[order], np.arange(len(rows) + 1))
        own = np.empty(number, dtype=np.int64)
        own[order] = np.arange(number)
        own -= first[root]
        sorted_runs = runs.at(order)
        return cls(Runs.of(own[made.within], made.call, made.repetition),
                   Runs.of(np.where(sorted_runs.within < 0, -1, own[sorted_runs.within]), sorted_runs.call,
                           sorted_runs.repetition), origins.tick_s[order], own[marks.run], first.tolist())
