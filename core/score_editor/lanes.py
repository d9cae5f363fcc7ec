"""Rows of segments on lanes: the main row, and the lanes of all blocks below each other by their parts of the body."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..pha.document import Document
from ..pha.sequence import Lane, Sequence
from .boxes import Boxes, boxes_of, numbered


@dataclass(frozen=True, eq=False)
class Seams:
    """Where one segment follows another, T times.

    row, segment: (T,) which of the layout's rows, and the segment before it; tick: (T,) where it lies; lane: (T,).
    begin, end: (T,) the transition's window in ticks, equal where there is none or where it is not known.
    is_automatic: (T,) whether no element says how long it is.
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
        """Return one after another."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts])
                     for name in ("row", "segment", "tick", "lane", "begin", "end", "is_automatic")))

    @classmethod
    def none(cls) -> Seams:
        """Return no seams."""
        times, numbers = np.zeros(0), np.zeros(0, np.int64)
        return cls(numbers, numbers, times, numbers, times, times, np.zeros(0, np.bool_))


class Voice(NamedTuple):
    """What one lane of a block plays.

    box: that of the block; lane, depth: where its own boxes lie. begin, length: ticks. document, element: of the lane.
    weight, weight_end: at both ends. ease_in, ease_out: ticks, NaN: automatic. body, mode: as the score says.
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
    """A row that is to be laid out. box: the block that it belongs to, −1: none."""

    sequence: Sequence
    begin: float
    lane: int
    box: int
    depth: int


@dataclass(eq=False)
class Lanes:
    """Puts rows on lanes, the first lane of a block where the block itself is, each other one on a lane of its own.

    Lanes of the same part of the body share one, unless they play at the same time.
    """

    documents: tuple[Document, ...]
    tick_s: float
    names: list[str]
    rows: list[Sequence] = field(default_factory=list)
    voices: list[Voice] = field(default_factory=list)
    _boxes: list[Boxes] = field(default_factory=list)
    _seams: list[Seams] = field(default_factory=list)
    _busy_until: list[float] = field(default_factory=lambda: [np.inf])
    _known: dict[int, tuple[Boxes, IntArray]] = field(default_factory=dict)
    _total: int = 0

    def add(self, sequence: Sequence, windows_s: tuple[FloatArray, FloatArray] | None) -> None:
        """Put a score on the main lane, and all lanes of its blocks; windows_s: of its own transitions."""
        waiting = deque((_Row(sequence, 0.0, 0, -1, 0),))
        while waiting:
            row = waiting.popleft()
            self._seams.append(self._seams_of(row, windows_s if row.box < 0 else None))
            self.rows.append(row.sequence)
            waiting += self._put(row, sequence)

    def boxes(self) -> Boxes:
        """Return the boxes of all rows."""
        return numbered(Boxes.joined(self._boxes), self.documents) if self._boxes else Boxes.none()

    def seams(self) -> Seams:
        """Return the seams of all rows."""
        return Seams.joined(self._seams) if self._seams else Seams.none()

    def _put(self, row: _Row, whole: Sequence) -> list[_Row]:
        """Put the boxes of a row in their place; return the rows of the blocks that play in it."""
        sequence, first = row.sequence, self._total
        if id(sequence) not in self._known:
            self._known[id(sequence)] = boxes_of(sequence, self.tick_s)
        boxes, of_segment = self._known[id(sequence)]
        parent = np.where(boxes.parent < 0, row.box, boxes.parent + first)
        placed = replace(boxes, begin=boxes.begin + row.begin, lane=np.full(len(boxes), row.lane),
                         depth=boxes.depth + row.depth, parent=parent)
        self._boxes.append(placed)
        self._total += len(boxes)
        inner: list[_Row] = []
        for segment in np.flatnonzero(sequence.clip >= len(sequence.clips)).tolist():
            block, box = whole.blocks[int(sequence.clip[segment]) - len(sequence.clips)], int(of_segment[segment])
            begin = row.begin + float(sequence.start_s[segment]) / self.tick_s
            for number, lane in enumerate(block.lanes):
                at, depth = row.lane, int(placed.depth[box]) + 1
                if number:
                    at, depth = self._free_lane(lane.body, begin, begin + float(placed.length[box])), 0
                self.voices.append(self._voice(lane, number, first + box, placed, box, at, depth))
                if lane.sequence is not None:
                    inner.append(_Row(lane.sequence, begin, at, first + box, depth))
        return inner

    def _voice(self, lane: Lane, number: int, box: int, boxes: Boxes, at: int, on: int, depth: int) -> Voice:
        document, together = int(boxes.document[at]), int(boxes.element[at])
        element = list(self.documents[document].text.children(together))[number]
        return Voice(box, on, depth, float(boxes.begin[at]), float(boxes.length[at]), document, element, lane.weight,
                     lane.weight_end, lane.ease_in_s / self.tick_s, lane.ease_out_s / self.tick_s, lane.body, lane.mode)

    def _free_lane(self, name: str, begin: float, end: float) -> int:
        """Return the first lane of a name on which nothing plays from a tick on, a new one where there is none."""
        slack = (end - begin) * 1e-6
        for number, (known, busy_until) in enumerate(zip(self.names, self._busy_until, strict=True)):
            if known == name and busy_until <= begin + slack:
                self._busy_until[number] = end
                return number
        self.names.append(name)
        self._busy_until.append(end)
        return len(self.names) - 1

    def _seams_of(self, row: _Row, windows_s: tuple[FloatArray, FloatArray] | None) -> Seams:
        sequence, tick_s = row.sequence, self.tick_s
        number = len(sequence) - (not sequence.is_loop or row.box >= 0)
        edges = np.append(sequence.start_s[1:], sequence.duration_s)[:number] / tick_s
        given = sequence.transition_s[:number] / tick_s
        is_automatic = np.isnan(given)
        if windows_s is None:
            half = np.where(is_automatic, 0.0, given / 2.0)
            begin, end = edges - half, edges + half
        else:
            begin, end = (times[:number] / tick_s for times in windows_s)
        return Seams(np.full(number, len(self.rows)), np.arange(number), row.begin + edges,
                     np.full(number, row.lane), row.begin + begin, row.begin + end, is_automatic)
