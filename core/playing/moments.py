"""Moments of the music: a block of the score, named by the calls that lead to it, and a share of it.

A block is what one segment plays. Its name, a chain of calls by their elements, is the same after the score was edited:
`core/pha/lineage.py` tells which element became which. So what is tied to a moment goes where its block goes.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..pha.document import Document
from ..pha.lineage import NEW
from ..pha.sequence import Sequence
from ..pha.split_calls import Part, Parts, Playing
from .clock import Clock
from .motion import Motion

Rounds = tuple[tuple[int, int], ...]
"""Elements around a call in its procedure, outer ones first, and which round of theirs it is in, from 0."""
Lineage = Mapping[str, SequenceOf[int]]
"""For each file of a score, by its name in a Step, which number each element had before; none: as they are."""
UNCHANGED: Final[Lineage] = {}
_LONGER: Final = 1e-9


class Split(NamedTuple):
    """What was split in a file, and what was joined, since blocks were named.

    parts: of what, by the numbers of then, each playing of now is a part. joined: of what of now, by the numbers of
    now, each playing of then is a part. origin: which element each of now was then.
    """

    parts: Parts
    joined: Parts
    origin: SequenceOf[int]


Splits = Mapping[str, Split]
"""For each file of a score in which anything was split or joined, by its name in a Step."""
UNSPLIT: Final[Splits] = {}


class Step(NamedTuple):
    """A call on the way to a block.

    document: the path of its file, "" for the score itself. element: its number there; home: that of its procedure.
    rounds: what is around it; repetition: which of its own repetitions, from 0.
    """

    document: str
    element: int
    home: int
    rounds: Rounds = ()
    repetition: int = 0


class Over(NamedTuple):
    """A procedure: the path of its file as in a Step, and its element there."""

    document: str
    element: int


class AnyCall(NamedTuple):
    """Any call of a procedure. barred: segments that are excepted.

    alone: the former calls whose own keys go to no other, by the chains that lead to them, as the blocks are named.
    """

    over: Over
    barred: Collection[int] = ()
    alone: Collection[Block] = ()


Block = tuple[Step, ...]
"""The calls that lead to what one segment plays, from the started procedure's own down to that of the clip."""


@dataclass(frozen=True, eq=False)
class Timeline:
    """When the S blocks of a motion play, by the time of the motion.

    edges_s: (S + 1,) where each begins in even time, and where the last one ends; transitions that have time of their
    own belong to the block before them. clock: where the tempo changes, by which times are shown.
    """

    sequence: Sequence
    edges_s: FloatArray
    clock: Clock | None = None

    @classmethod
    def of(cls, motion: Motion) -> Timeline:
        """Take the blocks of a motion."""
        begin_s = motion.sequence.start_s + own_time_s(motion)
        return cls(motion.sequence, np.append(begin_s, motion.row.layout.duration_s), motion.clock)

    def __len__(self) -> int:
        return len(self.sequence)

    def moments(self, times_s: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return for times (F,) which block plays, (F,), and at which share of it each is, (F,).

        Times before the first block and after the last one have shares below 0 and above 1.
        """
        even = np.asarray(times_s if self.clock is None else self.clock.even(times_s), dtype=np.float64)
        block = np.clip(np.searchsorted(self.edges_s, even, side="right") - 1, 0, len(self) - 1)
        begin_s = self.edges_s[block]
        length_s = self.edges_s[block + 1] - begin_s
        return block, np.divide(even - begin_s, length_s, out=np.zeros(len(even)), where=length_s > 0.0)

    def times(self, blocks: IntArray, shares: FloatArray) -> FloatArray:
        """Return when shares (F,) of blocks (F,) are reached; the way back from `moments`."""
        begin_s = self.edges_s[blocks]
        even = np.asarray(begin_s + shares * (self.edges_s[blocks + 1] - begin_s))
        return even if self.clock is None else self.clock.shown(even)

    def block(self, segment: int) -> Block:
        """Return the name of what a segment plays."""
        if segment not in self._blocks:
            self._blocks[segment] = self._named(segment)
        return self._blocks[segment]

    @cached_property
    def _blocks(self) -> dict[int, Block]:
        """Names that were asked for: each is asked for several times wherever keys are placed."""
        return {}

    def _named(self, segment: int) -> Block:
        found: list[Step] = []
        rounds: Rounds = ()
        for row, repetition in self.sequence.origins.chain_of_segment(segment):
            step = self.calls.step(row, repetition)
            rounds = (*rounds, *step.rounds)
            if self.calls.is_loop(row):  # its rounds are those of what it holds
                rounds = (*rounds, (step.element, repetition))
            else:
                found.append(step._replace(rounds=rounds))
                rounds = ()
        return tuple(found)

    def find(self, blocks: Iterable[Block], lineage: Lineage = UNCHANGED) -> list[int | None]:
        """Return the segments that play blocks, None for those that have gone.

        lineage: which element each was in the score in which the blocks were named. A block is found where the same
        calls lead to it, as far as they are still there; or, where it or a call that leads to it was put into another
        procedure, where that plays it, of several times the one to which most of the same calls lead. Of two blocks
        that would be the same segment the earlier one in the row has it.
        """
        return _Search(self, lineage).find(list(blocks))

    def find_moments(self, blocks: SequenceOf[Block], block: IntArray, shares: FloatArray,
                     lineage: Lineage = UNCHANGED, splits: Splits = UNSPLIT,
                     any_call: AnyCall | None = None) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return for shares (N,) of blocks (N,) which segments play them now, at which shares, and how much is there.

        Returns segments (N,), −1: gone; shares (N,); and by how much shares have grown, (N,): 2 where a block was split
        into halves. splits: of what each file's calls are parts, and of which of them the earlier ones were, see
        Split. A moment goes with the part of its block in which it lies. any_call: of a procedure, as it was then:
        where a call of it has gone, what lies in it goes to the first one that is still there.
        """
        search = _Search(self, lineage, splits)
        blocks, begin, grown = search.joined(blocks)
        shares, growth = begin[block] + shares / grown[block], 1.0 / grown[block]
        places = search.find(blocks) if any_call is None else search.in_any_call(blocks, any_call)
        segments = np.array([-1 if found is None else found for found in places], dtype=np.int64)[block]
        for segment in np.unique(segments[segments >= 0]).tolist() if splits else ():
            runs = search.parts_of(segment)
            ends = np.array([part.end for _, part in runs])
            for row in np.flatnonzero(segments == segment).tolist() if runs else ():
                now, part = runs[min(int(np.searchsorted(ends, shares[row], side="right")), len(runs) - 1)]
                length = part.end - part.begin
                segments[row], shares[row], growth[row] = now, (shares[row] - part.begin) / length, growth[row] / length
        return segments, shares, growth

    def find_everywhere(self, blocks: Iterable[Block], lineage: Lineage = UNCHANGED) -> list[IntArray]:
        """Return all segments to which each chain of calls leads at last, whatever leads to the first of them."""
        search = _Search(self, lineage)
        return [search.ending_with(block) for block in blocks]

    def find_calls(self, calls: Iterable[Block], over: Over, lineage: Lineage = UNCHANGED) -> list[Block | None]:
        """Return what each earlier call of a procedure has become; None for calls that are gone.

        over: the procedure in the earlier texts.
        """
        return _Search(self, lineage).calls(list(calls), over)

    @cached_property
    def calls(self) -> Calls:
        """The calls of the sequence as steps."""
        return Calls(self.sequence)


class Calls:
    """The calls of a sequence as steps; names: of its files, as Steps have them."""

    def __init__(self, sequence: Sequence) -> None:
        """Take a sequence."""
        self._places = sequence.origins.places
        documents = self._places.documents
        self._number = {id(document): number for number, document in enumerate(documents)}
        self._tops = [list(document.text.children(0)) for document in documents]
        self.names = [_name(document, documents[0]) for document in documents]
        self._known: dict[tuple[int, int], Step] = {}

    def is_loop(self, row: int) -> bool:
        """Return whether a row of the calls is a loop whose rounds are all the same."""
        return getattr(self._places.calls[row], "tag", "") == "loop"

    def step(self, row: int, repetition: int) -> Step:
        """Return the step that a row of the calls is."""
        if (row, repetition) not in self._known:
            document, call = self._places.find(row)
            number = self._number[id(document)]
            rounds = tuple((node.element, at) for node, at in self._places.within[row]) if self._places.within else ()
            tops = self._tops[number]
            home = tops[max(bisect_right(tops, call.element) - 1, 0)]
            self._known[row, repetition] = Step(self.names[number], call.element, home, rounds, repetition)
        return self._known[row, repetition]


def _name(document: Document, main: Document) -> str:
    """Return what a file is called in a Step: its path from the folder of the score on, "" for the score itself."""
    if document is main or document.path is None:
        return ""
    try:
        return Path(os.path.relpath(document.path, main.path.parent if main.path else ".")).as_posix()
    except ValueError:  # on another drive
        return document.path.as_posix()


def own_time_s(motion: Motion) -> FloatArray:
    """Return how much later each segment (S,) plays than the score has it, since transitions have time of their own."""
    layout, sequence = motion.row.layout, motion.sequence
    is_longer = layout.duration_s > sequence.duration_s * (1.0 + _LONGER)
    return layout.begin_s - sequence.start_s if is_longer else np.zeros(len(sequence))


class _Search:
    """Looks for blocks of a score as it was in the sequence of a score as it is."""

    def __init__(self, timeline: Timeline, lineage: Lineage, splits: Splits = UNSPLIT) -> None:
        self._timeline, self._lineage, self._splits = timeline, lineage, splits
        self._of_leaf = defaultdict[tuple[str, int], list[int]](list)
        leaf: dict[int, tuple[str, int]] = {}
        for segment, row in enumerate(timeline.sequence.origins.segments.call.tolist()):
            if row not in leaf:
                step = self._translated(timeline.calls.step(row, 0))
                leaf[row] = step.document, step.element
            self._of_leaf[leaf[row]].append(segment)
        self._chains: dict[int, Block] = {}
        self._plains: dict[int, tuple[object, ...]] = {}

    def find(self, blocks: list[Block]) -> list[int | None]:
        """See Timeline.find."""
        found = [self._exact(block) for block in blocks]
        taken = {segment for segment in found if segment is not None}
        for at, block in enumerate(blocks):
            if found[at] is None and block:
                found[at] = self._elsewhere(block, taken)
                if found[at] is not None:
                    taken.add(found[at] or 0)
        return found

    def in_any_call(self, blocks: list[Block], any_call: AnyCall) -> list[int | None]:
        """See Timeline.find_moments."""
        found, alone = self.find(blocks), {plain(call) for call in any_call.alone}
        for at, block in enumerate(blocks):
            own = inside(block, any_call.over)
            if found[at] is None and own and plain(block[:len(block) - len(own)]) not in alone:
                there = self.ending_with(own).tolist()
                found[at] = next((segment for segment in there if segment not in any_call.barred), None)
        return found

    def calls(self, calls: list[Block], over: Over) -> list[Block | None]:
        """See Timeline.find_calls."""
        heads = dict[Block, Block]()
        for segment in range(len(self._timeline)):
            chain = self._chain(segment)
            own = inside(chain, over)
            if 0 < len(own) < len(chain):
                heads.setdefault(chain[:len(chain) - len(own)], self._timeline.block(segment)[:len(chain) - len(own)])
        found = list[Block | None]()
        for call in calls:
            best = max(heads, key=lambda head: _agreement(call, head), default=None)
            found.append(None if best is None or _agreement(call, best) < 0 else heads[best])
        return found

    def joined(self, blocks: Iterable[Block]) -> tuple[list[Block], FloatArray, FloatArray]:
        """Return what blocks are parts of now, B, where each of them begins in it, (B,), and how much larger it is."""
        found, begin, grown = list[Block](), list[float](), list[float]()
        for block in blocks:
            split = self._splits.get(block[-1].document) if block else None
            part = None if split is None else split.joined.get(Playing(block[-1].element, block[-1].repetition))
            if split is not None and part is not None:
                step = block[-1]._replace(element=split.origin[part.whole.element], repetition=part.whole.repetition)
                block = (*block[:-1], step)
            found.append(block)
            begin.append(0.0 if part is None else part.begin)
            grown.append(1.0 if part is None else 1.0 / (part.end - part.begin))
        return found, np.array(begin), np.array(grown)

    def parts_of(self, segment: int) -> list[tuple[int, Part]]:
        """Return the segments that play the parts of what a segment is a part of, in order; none where it is whole."""
        if not self._splits or self._part(segment) is None:
            return []
        last, wanted = self._chain(segment)[-1], plain(self._chain(segment))
        found = [(other, part) for other in self._of_leaf.get((last.document, last.element), ())
                 if plain(self._chain(other)) == wanted and (part := self._part(other)) is not None]
        return sorted(found, key=lambda each: each[1].begin)

    def _part(self, segment: int) -> Part | None:
        step = self._timeline.block(segment)[-1]
        split = self._splits.get(step.document)
        return None if split is None else split.parts.get(Playing(step.element, step.repetition))

    def ending_with(self, block: Block) -> IntArray:
        """See Timeline.find_everywhere."""
        wanted, leaf = plain(block), (block[-1].document, block[-1].element) if block else ("", NEW)
        found = [segment for segment in self._of_leaf.get(leaf, ())
                 if block and plain(self._chain(segment))[-len(wanted):] == wanted]
        return np.array(found, dtype=np.int64)

    def _exact(self, block: Block) -> int | None:
        if not block:
            return None
        wanted = plain(block)
        return next((segment for segment in self._of_leaf.get((block[-1].document, block[-1].element), ())
                     if self._plain(segment) == wanted), None)

    def _elsewhere(self, block: Block, taken: set[int]) -> int | None:
        """Return where a block is that was put into another procedure, or a call that leads to it."""
        best, most = None, -1
        for segment in self._of_leaf.get((block[-1].document, block[-1].element), ()):
            agreement = _agreement(block, self._chain(segment))
            if segment not in taken and agreement > most:
                best, most = segment, agreement
        return best

    def _chain(self, segment: int) -> Block:
        """Return the calls that lead to a segment, by the numbers that they had before."""
        if segment not in self._chains:
            self._chains[segment] = tuple(map(self._translated, self._timeline.block(segment)))
        return self._chains[segment]

    def _plain(self, segment: int) -> tuple[object, ...]:
        if segment not in self._plains:
            self._plains[segment] = plain(self._chain(segment))
        return self._plains[segment]

    def _translated(self, step: Step) -> Step:
        if not self._lineage and not self._splits:
            return step
        rounds = tuple((self._before(step.document, element), at) for element, at in step.rounds)
        split = self._splits.get(step.document)
        part = None if split is None else split.parts.get(Playing(step.element, step.repetition))
        element, repetition = ((self._before(step.document, step.element), step.repetition) if part is None
                               else part.whole)
        return step._replace(element=element, repetition=repetition,
                             home=self._before(step.document, step.home), rounds=rounds)

    def _before(self, document: str, element: int) -> int:
        return _number_before(document, element, self._lineage)


def before(block: Block, lineage: Lineage) -> Block:
    """Return a chain of calls by the numbers that their elements had before."""
    return tuple(step._replace(
        element=_number_before(step.document, step.element, lineage),
        home=_number_before(step.document, step.home, lineage),
        rounds=tuple((_number_before(step.document, element, lineage), at) for element, at in step.rounds))
        for step in block)


def _number_before(document: str, element: int, lineage: Lineage) -> int:
    origin = lineage.get(document)
    return element if origin is None else origin[element] if element < len(origin) else NEW


def inside(block: Block, over: Over) -> Block:
    """Return the calls of a chain from those of a procedure on, () where it leads through none of them."""
    at = next((at for at, step in enumerate(block) if (step.document, step.home) == over), len(block))
    return block[at:]


def plain(block: Block) -> tuple[object, ...]:
    """Return what has to be the same where a block is the same: all but the procedures that hold the calls."""
    return tuple((step.document, step.element, step.repetition, _later_rounds(step.rounds)) for step in block)


def _later_rounds(rounds: Rounds) -> Rounds:
    """Return rounds but for first ones: a loop that is put around calls plays those that were there first."""
    return tuple(each for each in rounds if each[1] > 0)


def _agreement(block: Block, chain: Block) -> int:
    """Return how many calls lead to both a block and what a chain of calls leads to, −1 if it is another block.

    From the inmost outwards the calls have to be the same, up to one that is in another procedure than it was: by which
    calls that procedure is played is no matter then. Where either has no more calls, another procedure was started.
    """
    same = 0
    for own, other in zip(reversed(block), reversed(chain), strict=False):
        if plain((own,)) != plain((other,)):
            return -1
        same += 1
        if own.home != other.home:
            break
    outer = set(plain(block[:len(block) - same]))
    return same + sum(step in outer for step in plain(chain[:len(chain) - same]))
