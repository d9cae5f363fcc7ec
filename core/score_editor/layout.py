"""A score laid out as boxes on a time axis, in ticks: what plays when, within what, and which element says so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..pha.document import Document
from ..pha.sequence import Sequence
from ..playing.clock import Clock
from ..playing.motion import Motion
from .boxes import Boxes, Kind, boxes_of

__all__ = ["BoxId", "Kind", "Layout", "Seams", "empty", "lay_out", "windows_of"]

_LONGER = 1e-9


class BoxId(NamedTuple):
    """A box, also after the score was laid out anew: its element, and which of the boxes of this element it is.

    document: the number of its file, 0 for the one that is edited; element: its number there; place: from 0, in order
    of time.
    """

    document: int
    element: int
    place: int = 0


@dataclass(frozen=True, eq=False)
class Seams:
    """Where one segment follows another, T times.

    segment: (T,) the one before it, in `sequence`; tick: (T,) where it lies; lane: (T,).
    begin, end: (T,) the transition's window in ticks, equal where there is none or where it is not known.
    is_automatic: (T,) whether no element says how long it is.
    """

    segment: IntArray
    tick: FloatArray
    lane: IntArray
    begin: FloatArray
    end: FloatArray
    is_automatic: BoolArray


@dataclass(frozen=True, eq=False)
class Layout:
    """What a score plays, laid out; made by lay_out(), or by empty() where it does not play anything yet.

    boxes: every call that plays something, once for each place where it does, outer ones first; seams between them.
    lanes: what each lane is called: 0 is the main one, the others are parts of the body.
    ticks: how long all of it is; tick_s: how long a tick is where no tempo says otherwise; clock: if one does.
    documents: the files of the score, the edited one first.
    """

    sequence: Sequence | None
    boxes: Boxes
    seams: Seams
    lanes: tuple[str, ...]
    ticks: float
    tick_s: float
    documents: tuple[Document, ...]
    procedure: str
    clock: Clock | None = None

    def __len__(self) -> int:
        return len(self.boxes)

    # Time

    def seconds(self, ticks: FloatArray) -> FloatArray:
        """Return when ticks (F,) are reached, on the clock."""
        even = np.asarray(ticks, dtype=np.float64) * self.tick_s
        return even if self.clock is None else self.clock.shown(even)

    def ticks_at(self, times_s: FloatArray) -> FloatArray:
        """Return at which ticks the clock shows times (F,)."""
        times_s = np.asarray(times_s, dtype=np.float64)
        return np.asarray((times_s if self.clock is None else self.clock.even(times_s)) / self.tick_s)

    # Boxes and their elements

    def id_of(self, box: int) -> BoxId:
        """Return what a box is called by."""
        boxes = self.boxes
        return BoxId(int(boxes.document[box]), int(boxes.element[box]), int(boxes.place[box]))

    def find(self, box: BoxId) -> int | None:
        """Return the number of a box, None where it is no longer there."""
        return self._numbers.get(box)

    def found(self, ids: frozenset[BoxId]) -> IntArray:
        """Return the numbers of those boxes that are there, ascending."""
        return np.array(sorted(number for box in ids if (number := self._numbers.get(box)) is not None), dtype=np.int64)

    def places_of(self, box: int) -> IntArray:
        """Return the numbers of all boxes of the same element as this one, itself among them."""
        boxes = self.boxes
        return np.flatnonzero((boxes.element == boxes.element[box]) & (boxes.document == boxes.document[box]))

    @cached_property
    def _numbers(self) -> dict[BoxId, int]:
        boxes = self.boxes
        rows = zip(boxes.document.tolist(), boxes.element.tolist(), boxes.place.tolist(), strict=True)
        return {BoxId(*row): number for number, row in enumerate(rows)}

    def owner_of_transition(self, seam: int) -> int | None:
        """Return the box whose call says how long the transition at a seam is.

        Where it is automatic, that of the outermost call that ends there, which can say so without a word to others;
        None between two repetitions of a clip's call, where no call can.
        """
        if self.sequence is None:
            return None
        calls = self.sequence.origins.ending_with(int(self.seams.segment[seam]))
        owner = next((step for step in calls if step.call.transition is not None), calls[0] if calls else None)
        if owner is None:
            return None
        boxes = self.boxes
        number = next(i for i, document in enumerate(self.documents) if document is owner.document)
        same = np.flatnonzero((boxes.document == number) & (boxes.element == owner.call.element))
        return int(same[np.argmin(np.abs(boxes.end[same] - self.seams.tick[seam]))]) if len(same) else None


def lay_out(sequence: Sequence, *, windows_s: tuple[FloatArray, FloatArray] | None = None,
            clock: Clock | None = None) -> Layout:
    """Lay out what `expand` unfolded.

    windows_s: when the transition after each segment begins and ends, (S,) each, in the even time of the sequence, as
    windows_of(motion) tells; without them those that the score gives lie across their seams, the others have none.
    clock: where the tempo changes.
    """
    documents = sequence.origins.places.documents
    tick_s = documents[0].tick_s
    boxes = boxes_of(sequence, tick_s)
    return Layout(sequence, boxes, _seams(sequence, tick_s, windows_s), ("main",), sequence.duration_s / tick_s, tick_s,
                  documents, sequence.paths[0][0], clock)


def empty(document: Document, procedure: str = "main") -> Layout:
    """Return the layout of a score whose procedure is still empty."""
    nothing = np.zeros(0), np.zeros(0, np.int64)
    times, numbers = nothing
    boxes = Boxes(*(times,) * 3, *(numbers,) * 9, ())
    seams = Seams(numbers, times, numbers, times, times, np.zeros(0, np.bool_))
    return Layout(None, boxes, seams, ("main",), 0.0, document.tick_s, (document,), procedure)


def windows_of(motion: Motion) -> tuple[FloatArray, FloatArray]:
    """Return when the transition after each segment of a motion begins and ends, as lay_out() takes them.

    Where transitions have time of their own, which the score knows nothing of, each lies behind its seam.
    """
    layout, sequence = motion.row.layout, motion.sequence
    later_s = layout.begin_s - sequence.start_s if layout.duration_s > sequence.duration_s * (1.0 + _LONGER) else 0.0
    return layout.window_begin_s - later_s, layout.window_end_s - later_s


def _seams(sequence: Sequence, tick_s: float, windows_s: tuple[FloatArray, FloatArray] | None) -> Seams:
    number = len(sequence) - (not sequence.is_loop)
    segment = np.arange(number)
    edges = np.append(sequence.start_s[1:], sequence.duration_s)[:number] / tick_s
    given = sequence.transition_s[:number] / tick_s
    is_automatic = np.isnan(given)
    if windows_s is None:
        half = np.where(is_automatic, 0.0, given / 2.0)
        begin, end = edges - half, edges + half
    else:
        begin, end = (times[:number] / tick_s for times in windows_s)
    return Seams(segment, edges, np.zeros(number, np.int64), begin, end, is_automatic)
