"""A score laid out as boxes on a time axis in ticks: what plays when, in which procedure, by which element."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..pha.document import Document, Music
from ..pha.garbage import without_search_for_cycles
from ..pha.sequence import Sequence
from ..playing.clock import Clock
from ..playing.moments import own_time_s
from ..playing.motion import Motion
from .boxes import Boxes, Kind
from .contacts import Contacts
from .lanes import Lanes, RowsOfLevels, Seams, Voice
from .untaken import Untaken, untaken

__all__ = ["BoxId", "Kind", "Layout", "Seams", "Untaken", "Voice", "empty", "lay_out", "windows_of"]

_SAME_TICK = 1e-6


class BoxId(NamedTuple):
    """The identity of a box, which stays when the score is laid out anew.

    document: the number of its file, 0 for the edited one; element: its number in that file; occurrence: its number
    among the boxes of this element, from 0, in order of time.
    """

    document: int
    element: int
    occurrence: int = 0


@dataclass(frozen=True, eq=False)
class Layout:
    """The layout of a played score; made by lay_out(), or by empty() if it plays nothing yet.

    boxes: each call that plays something, once for each time; seams between segments. rows: the segments,
    those of the main row first, then those of lanes. lanes: their names: 0 is the main one, named by its procedure, the
    others by parts of the body. voices: the motion of each lane of a block; untaken: elements that do not play this
    time. ticks: total length; tick_s: seconds of a tick without changes of tempo; clock: if the tempo changes.
    documents: the files of the score, the edited one first. music: its own or inherited.
    contacts: of the feet, None if feet are not locked. tweaks: (K,) ticks of the keys of tweaks, or None without a
    layer of tweaks. silent: (K,) which of these keys are in silent layers only; chosen: (K,) which are selected; None:
    none of them.
    """

    rows: SequenceOf[Sequence]
    boxes: Boxes
    seams: Seams
    lanes: tuple[str, ...]
    voices: tuple[Voice, ...]
    untaken: tuple[Untaken, ...]
    ticks: float
    tick_s: float
    documents: tuple[Document, ...]
    procedure: str
    clock: Clock | None = None
    music: Music | None = None
    contacts: Contacts | None = None
    tweaks: FloatArray | None = None
    silent: BoolArray | None = None
    chosen: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.boxes)

    # Time

    def seconds(self, ticks: FloatArray) -> FloatArray:
        """Return the clock times, in seconds, of ticks (F,)."""
        even = np.asarray(ticks, dtype=np.float64) * self.tick_s
        return even if self.clock is None else self.clock.shown(even)

    def ticks_at(self, times_s: FloatArray) -> FloatArray:
        """Return the ticks at clock times (F,), in seconds."""
        times_s = np.asarray(times_s, dtype=np.float64)
        return np.asarray((times_s if self.clock is None else self.clock.even(times_s)) / self.tick_s)

    # Boxes and their elements

    def id_of(self, box: int) -> BoxId:
        """Return the identity of a box."""
        boxes = self.boxes
        return BoxId(int(boxes.document[box]), int(boxes.element[box]), int(boxes.occurrence[box]))

    def find(self, box: BoxId) -> int | None:
        """Return the number of a box, or None if it no longer exists."""
        return self._numbers.get(box)

    def found(self, ids: frozenset[BoxId]) -> IntArray:
        """Return the numbers of those boxes that still exist, ascending."""
        return np.array(sorted(number for box in ids if (number := self._numbers.get(box)) is not None), dtype=np.int64)

    def occurrences_of(self, box: int) -> IntArray:
        """Return the numbers of all boxes of the same element as this one, including this one."""
        boxes = self.boxes
        return np.flatnonzero((boxes.element == boxes.element[box]) & (boxes.document == boxes.document[box]))

    @cached_property
    def texts(self) -> str:
        """A digest of its texts: ids of boxes are valid in all layouts with the same digest."""
        digest = blake2b(digest_size=8)
        for document in self.documents:
            digest.update(b"%d " % len(document.text.data) + document.text.data)
        return digest.hexdigest()

    @cached_property
    def _numbers(self) -> dict[BoxId, int]:
        boxes = self.boxes
        rows = zip(boxes.document.tolist(), boxes.element.tolist(), boxes.occurrence.tolist(), strict=True)
        return {BoxId(*row): number for number, row in enumerate(rows)}

    def untaken_between(self, begin: float, end: float) -> IntArray:
        """Return the numbers of untaken elements (see Untaken) between two ticks."""
        return np.flatnonzero((self._untaken_ticks >= begin) & (self._untaken_ticks <= end))

    def voices_between(self, begin: float, end: float) -> IntArray:
        """Return the numbers of the lanes of blocks that play between two ticks."""
        return np.flatnonzero((self._voice_ticks[:, 0] < end) & (self._voice_ticks[:, 1] > begin))

    @cached_property
    def _untaken_ticks(self) -> FloatArray:
        return np.array([each.tick for each in self.untaken], dtype=np.float64)

    @cached_property
    def _voice_ticks(self) -> FloatArray:
        spans = [(voice.begin, voice.begin + voice.length) for voice in self.voices]
        return np.array(spans, dtype=np.float64).reshape(-1, 2)

    def segment_until(self, tick: float) -> int | None:
        """Return the segment of the main row that ends at a tick, or None if none does or nothing follows it."""
        own = self.seams.row == 0
        near = np.flatnonzero(own & (np.abs(self.seams.tick - tick) < _SAME_TICK))
        return int(self.seams.segment[near[0]]) if len(near) else None

    def owner_of_transition(self, seam: int) -> int | None:
        """Return the box whose call gives the length of the transition at a seam.

        If it is automatic, the box of the outermost call that ends there: there a length affects no other transition.
        None between two repetitions of a clip's call, where no call can give it.
        """
        calls = self.rows[self.seams.row[seam]].origins.ending_with(int(self.seams.segment[seam]))
        owner = next((step for step in calls if step.call.transition is not None), calls[0] if calls else None)
        if owner is None:
            return None
        boxes = self.boxes
        number = next(i for i, document in enumerate(self.documents) if document is owner.document)
        same = np.flatnonzero((boxes.document == number) & (boxes.element == owner.call.element))
        return int(same[np.argmin(np.abs(boxes.end[same] - self.seams.tick[seam]))]) if len(same) else None


@without_search_for_cycles
def lay_out(sequence: Sequence, *, windows_s: tuple[FloatArray, FloatArray] | None = None,
            clock: Clock | None = None, music: Music | None = None, contacts: Contacts | None = None,
            tweaks: FloatArray | None = None, silent: BoolArray | None = None,
            chosen: BoolArray | None = None) -> Layout:
    """Lay out an expanded score.

    windows_s: begin and end of the transition after each segment, (S,) each, in the even time of the sequence, see
    windows_of(). Without them, transitions with a given length lie centred on their seams, the others have none.
    clock: for changes of tempo. music: the score's, if it is inherited. contacts: see contacts_of.
    tweaks, silent, chosen: see Layout.
    """
    documents = sequence.origins.places.documents
    tick_s, procedure = documents[0].tick_s, sequence.paths[0][0]
    lanes = Lanes(documents, tick_s, [procedure])
    lanes.add(sequence, windows_s)
    boxes = lanes.boxes()
    return Layout(RowsOfLevels(tuple(lanes.levels)), boxes, lanes.seams(), tuple(lanes.names), tuple(lanes.voices),
                  untaken(boxes, documents), sequence.duration_s / tick_s, tick_s, documents, procedure, clock,
                  documents[0].music or music, contacts, tweaks, silent, chosen)


def empty(document: Document, procedure: str = "main") -> Layout:
    """Return the layout of a score whose procedure is still empty."""
    return Layout((), Boxes.none(), Seams.none(), (procedure,), (), (), 0.0, document.tick_s, (document,), procedure,
                  music=document.music)


def windows_of(motion: Motion) -> tuple[FloatArray, FloatArray]:
    """Return begin and end of the transition after each segment of a motion, as lay_out() takes them.

    A call whose rounds the scene counts has one round in a layout: its transition is that after its last round.
    Transitions that take time of their own lie behind their seams, since a score has no time for them.
    """
    layout, later_s = motion.row.layout, own_time_s(motion)
    begin_s, end_s = layout.window_begin_s - later_s, layout.window_end_s - later_s
    one, number = motion.sequence.in_one_round()
    if len(one) == len(number):
        return begin_s, end_s
    last = np.zeros(len(one), dtype=np.int64)
    last[number] = np.arange(len(number))
    is_within, edges = np.zeros(len(one), np.bool_), one.start_s + one.length_s
    for way, fitted in zip(one.ways, motion.sequence.ways, strict=True):
        is_within[way.first:way.after - 1] |= fitted.rounds > 1
    return np.where(is_within, edges, begin_s[last]), np.where(is_within, edges, end_s[last])
