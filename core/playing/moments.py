"""Moments of the music: a block of the score, named by the calls that lead to it, and a share of it.

A block is what one segment plays. Its name, a chain of calls by their elements, is the same after the score was edited:
`core/pha/lineage.py` tells which element became which. So what is tied to a moment goes where its block goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..pha.sequence import Sequence
from .block_names import UNCHANGED, UNSPLIT, AnyCall, Block, Calls, Lineage, Over, Rounds, Splits, Step
from .block_search import Search
from .clock import Clock
from .motion import Motion

_LONGER: Final = 1e-9


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
                found.append(step._replace(rounds=rounds) if rounds != step.rounds else step)
                rounds = ()
        return tuple(found)

    def find(self, blocks: Iterable[Block], lineage: Lineage = UNCHANGED) -> list[int | None]:
        """Return the segments that play blocks, None for those that have gone.

        lineage: which element each was in the score in which the blocks were named. A block is found where the same
        calls lead to it, as far as they are still there; or, where it or a call that leads to it was put into another
        procedure, where that plays it, of several times the one to which most of the same calls lead. Of two blocks
        that would be the same segment the earlier one in the row has it.
        """
        return Search(self, lineage).find(list(blocks))

    def find_moments(self, blocks: SequenceOf[Block], block: IntArray, shares: FloatArray,
                     lineage: Lineage = UNCHANGED, splits: Splits = UNSPLIT,
                     any_call: AnyCall | None = None) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return for shares (N,) of blocks (N,) which segments play them now, at which shares, and how much is there.

        Returns segments (N,), −1: gone; shares (N,); and by how much shares have grown, (N,): 2 where a block was split
        into halves. splits: of what each file's calls are parts, and of which of them the earlier ones were, see
        Split. A moment goes with the part of its block in which it lies. any_call: of a procedure, as it was then:
        where a call of it has gone, what lies in it goes to the first one that is still there.
        """
        search = Search(self, lineage, splits)
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
        search = Search(self, lineage)
        return [search.ending_with(block) for block in blocks]

    def find_calls(self, calls: Iterable[Block], over: Over, lineage: Lineage = UNCHANGED) -> list[Block | None]:
        """Return what each earlier call of a procedure has become; None for calls that are gone.

        over: the procedure in the earlier texts.
        """
        return Search(self, lineage).calls(list(calls), over)

    @cached_property
    def calls(self) -> Calls:
        """The calls of the sequence as steps."""
        return Calls(self.sequence)


def own_time_s(motion: Motion) -> FloatArray:
    """Return how much later each segment (S,) plays than the score has it, since transitions have time of their own."""
    layout, sequence = motion.row.layout, motion.sequence
    is_longer = layout.duration_s > sequence.duration_s * (1.0 + _LONGER)
    return layout.begin_s - sequence.start_s if is_longer else np.zeros(len(sequence))
