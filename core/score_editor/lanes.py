"""Rows of segments on lanes: the main row, and below it the lanes of blocks, sorted by their parts of the body."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..pha.document import Document
from ..pha.segments import Segments
from ..pha.sequence import Block, Sequence
from .boxes import Boxes, boxes_of, numbered


@dataclass(frozen=True, eq=False)
class Seams:
    """T seams, each between a segment and the next.

    row, segment: (T,) its row in the layout, and the segment before it; tick: (T,) its time; lane: (T,).
    begin, end: (T,) the transition's window in ticks, equal if there is none or it is unknown.
    is_automatic: (T,) whether no element gives its length.
    """

    row: IntArray
    segment: IntArray
    tick: FloatArray
    lane: IntArray
    begin: FloatArray
    end: FloatArray
    is_automatic: BoolArray

    @classmethod
    def joined(cls, parts: list[Seams]) -> Seams:
        """Return several sets of seams as one."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts])
                     for name in ("row", "segment", "tick", "lane", "begin", "end", "is_automatic")))

    @classmethod
    def none(cls) -> Seams:
        """Return no seams."""
        times, numbers = np.zeros(0), np.zeros(0, np.int64)
        return cls(numbers, numbers, times, numbers, times, times, np.zeros(0, np.bool_))


class Voice(NamedTuple):
    """The motion of one lane of a block.

    box: of the block; lane, depth: of its own boxes. begin, length: ticks. document, element: of the lane.
    weight, weight_end: at both ends. ease_in, ease_out: ticks, NaN: automatic. body, mode: as in the score.
    """

    box: int
    lane: int
    depth: int
    begin: float
    length: float
    document: int
    element: int
    weight: float
    weight_end: float
    ease_in: float
    ease_out: float
    body: str
    mode: str


class _Row(NamedTuple):
    """A row to be laid out. rows, number: those that it was expanded with, and its number among them.

    box: the block that contains it, or −1.
    """

    rows: SequenceOf[Sequence]
    number: int
    begin: float
    lane: int
    box: int
    depth: int


@dataclass(frozen=True, eq=False)
class RowsOfLevels(SequenceOf[Sequence]):
    """The rows of a layout: the main row, then those of lanes. levels: the rows of each depth."""

    levels: tuple[SequenceOf[Sequence], ...]

    def __len__(self) -> int:
        return sum(map(len, self.levels))

    def __getitem__(self, index: int) -> Sequence:  # type: ignore[override]  # no slices
        at = range(len(self))[index]
        for level in self.levels:
            if at < len(level):
                return level[at]
            at -= len(level)
        raise IndexError(index)


@dataclass(eq=False)
class Lanes:
    """Puts rows on lanes: the first lane of a block stays in the block's lane, each other one gets a lane of its own.

    Lanes of the same part of the body share one lane, unless they play at the same time.
    """

    documents: tuple[Document, ...]
    tick_s: float
    names: list[str]
    levels: list[SequenceOf[Sequence]] = field(default_factory=list)
    voices: list[Voice] = field(default_factory=list)
    _boxes: list[Boxes] = field(default_factory=list)
    _seams: list[Seams] = field(default_factory=list)
    _busy_until: list[float] = field(default_factory=lambda: [np.inf])
    _total: int = 0
    _rows: int = 0

    def add(self, sequence: Sequence, windows_s: tuple[FloatArray, FloatArray] | None) -> None:
        """Add a score to the main lane, with all lanes of its blocks; windows_s: of its own transitions."""
        level = [_Row((sequence,), 0, 0.0, 0, -1, 0)]
        while level:
            rows = _rows_of(level)
            played = Segments.of(rows)
            is_open = len(self.levels) > 0 or not sequence.is_loop
            self._seams.append(self._seams_of(level, played, windows_s, is_open))
            self.levels.append(rows)
            self._rows += len(rows)
            level, windows_s = self._put(level, played, sequence), None

    def boxes(self) -> Boxes:
        """Return the boxes of all rows."""
        return numbered(Boxes.joined(self._boxes), self.documents) if self._boxes else Boxes.none()

    def seams(self) -> Seams:
        """Return the seams of all rows."""
        return Seams.joined(self._seams) if self._seams else Seams.none()

    def _put(self, level: list[_Row], played: Segments, whole: Sequence) -> list[_Row]:
        """Add the boxes of rows, one after the other; return the rows of the blocks within them."""
        boxes, counts, box_of_segment = boxes_of(played, self.tick_s)
        begin, lane, box, depth = (np.repeat(values, counts) for values in zip(
            *((row.begin, row.lane, row.box, row.depth) for row in level), strict=True))
        boxes = replace(boxes, begin=boxes.begin + begin, lane=lane, depth=boxes.depth + depth,
                        parent=np.where(boxes.parent < 0, box, boxes.parent + self._total))
        inner, at = list[_Row](), np.flatnonzero(played.clip >= len(whole.clips))
        number = np.searchsorted(played.edges, at, side="right") - 1
        for block, box, own, start_s in zip(*(each.tolist() for each in (
                played.clip[at] - len(whole.clips), box_of_segment[at], number, played.start_s[at])), strict=True):
            row = level[own]
            inner += self._put_block(whole.blocks[block], boxes, box, row.lane, row.begin + start_s / self.tick_s)
        self._boxes.append(boxes)
        self._total += len(boxes)
        return inner

    def _put_block(self, block: Block, boxes: Boxes, box: int, lane_of_row: int, begin: float) -> list[_Row]:
        """Add the lanes of a block, which is one of the boxes; return the rows that play in them."""
        inner: list[_Row] = []
        document, together = int(boxes.document[box]), int(boxes.element[box])
        depth_of_box, ticks = int(boxes.depth[box]), (float(boxes.begin[box]), float(boxes.length[box]))
        elements = self.documents[document].text.children(together)
        for number, lane in enumerate(block.lanes):
            at, depth = lane_of_row, depth_of_box + 1
            if number:
                at, depth = self._free_lane(lane.body, begin, begin + ticks[1]), 0
            self.voices.append(Voice(
                self._total + box, at, depth, *ticks, document, elements[number], lane.weight, lane.weight_end,
                lane.ease_in_s / self.tick_s, lane.ease_out_s / self.tick_s, lane.body, lane.mode))
            if lane.rows is not None:
                inner.append(_Row(lane.rows, lane.row, begin, at, self._total + box, depth))
        return inner

    def _free_lane(self, name: str, begin: float, end: float) -> int:
        """Return the first lane of this name that is free from a tick on, or a new one."""
        slack = (end - begin) * 1e-6
        for number, (known, busy_until) in enumerate(zip(self.names, self._busy_until, strict=True)):
            if known == name and busy_until <= begin + slack:
                self._busy_until[number] = end
                return number
        self.names.append(name)
        self._busy_until.append(end)
        return len(self.names) - 1

    def _seams_of(self, level: list[_Row], played: Segments, windows_s: tuple[FloatArray, FloatArray] | None,
                  is_open: bool) -> Seams:
        """Return the seams of rows, one after the other.

        windows_s: for a single row, if they are known. is_open: whether nothing follows the last segment of a row.
        """
        sizes, tick_s = np.diff(played.edges), self.tick_s
        counts, given, edges = sizes - is_open, played.transition_s / tick_s, played.end_s / tick_s
        number = np.arange(len(played)) - np.repeat(played.edges[:-1], sizes)
        is_seam, is_automatic = number < np.repeat(counts, sizes), np.isnan(given)
        if windows_s is None:
            half = np.where(is_automatic, 0.0, given / 2.0)
            begin, end = edges - half, edges + half
        else:
            begin, end = (times[:len(edges)] / tick_s for times in windows_s)
        later, lane = (np.repeat(values, counts) for values in zip(*((row.begin, row.lane) for row in level),
                                                                   strict=True))
        return Seams(np.repeat(self._rows + np.arange(len(level)), counts), number[is_seam],
                     later + edges[is_seam], lane, later + begin[is_seam], later + end[is_seam], is_automatic[is_seam])


def _rows_of(level: list[_Row]) -> SequenceOf[Sequence]:
    """Return the rows of a level: most were expanded together, and are together still."""
    rows = level[0].rows
    if len(level) == len(rows) and all(row.rows is rows and row.number == i for i, row in enumerate(level)):
        return rows
    made = {(id(row.rows), row.number): row for row in level}
    sequences = {key: row.rows[row.number] for key, row in made.items()}
    return tuple([sequences[id(row.rows), row.number] for row in level])
