"""Moments of the score: a block, named by the calls that lead to it, and a share of its length.

A block is what one segment plays. Its name is a chain of calls, each given by its element. The name survives edits of
the score, since `core/pha/lineage.py` tells which element became which. So keys at a moment move with their block.
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
    """The times at which the S blocks of a motion play, in seconds.

    edges_s: (S + 1,) when each block begins in even time, and when the last one ends. Inserted transitions belong to
    the block before them. clock: turns even times into times of the motion if the tempo changes, else None.
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
        """Return the blocks (F,) that play at times (F,), and the shares (F,) of their lengths that have passed.

        Times before the first block and after the last one have shares below 0 and above 1.
        """
        even = np.asarray(times_s if self.clock is None else self.clock.even(times_s), dtype=np.float64)
        block = np.clip(np.searchsorted(self.edges_s, even, side="right") - 1, 0, len(self) - 1)
        begin_s = self.edges_s[block]
        length_s = self.edges_s[block + 1] - begin_s
        return block, np.divide(even - begin_s, length_s, out=np.zeros(len(even)), where=length_s > 0.0)

    def times(self, blocks: IntArray, shares: FloatArray) -> FloatArray:
        """Return the times (F,) at which shares (F,) of blocks (F,) are reached; the inverse of `moments`."""
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
        """Cache of the blocks' names, since the placing of keys needs each of them several times."""
        return {}

    def _named(self, segment: int) -> Block:
        found: list[Step] = []
        rounds: Rounds = ()
        for row, repetition in self.sequence.origins.chain_of_segment(segment):
            step = self.calls.step(row, repetition)
            rounds = (*rounds, *step.rounds)
            if self.calls.is_loop(row):  # the calls inside it name its rounds
                rounds = (*rounds, (step.element, repetition))
            else:
                found.append(step._replace(rounds=rounds) if rounds != step.rounds else step)
                rounds = ()
        return tuple(found)

    def find(self, blocks: Iterable[Block], lineage: Lineage = UNCHANGED) -> list[int | None]:
        """Return the segments that play blocks, or None for blocks that were removed.

        lineage: the number of each element in the score in which the blocks were named. A block is found where the same
        calls lead to it, as far as they still exist. If it, or a call that leads to it, was moved into another
        procedure, it is found where that procedure plays it. If that happens more than once, the segment reached by
        most of the same calls is taken. If two blocks would get the same segment, the first of them gets it.
        """
        return Search(self, lineage).find(list(blocks))

    def find_moments(self, blocks: SequenceOf[Block], block: IntArray, shares: FloatArray,
                     lineage: Lineage = UNCHANGED, splits: Splits = UNSPLIT,
                     any_call: AnyCall | None = None) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return where N moments of earlier blocks are now. A moment moves with the part of its block in which it lies.

        block: (N,) index into blocks. shares: (N,) of the block. lineage: see find. splits: which calls of each file
        were split or joined. any_call: a procedure of the earlier score. If one of its calls was removed, the moments
        in that call move to the procedure's first call that still exists.

        Returns the segments (N,), −1 for removed blocks; the shares of the segments (N,); and the factor (N,) by which
        shares have grown, such as 2 if a block was split into halves.
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
        """Return all segments whose chains of calls end with each given chain."""
        search = Search(self, lineage)
        return [search.ending_with(block) for block in blocks]

    def find_calls(self, calls: Iterable[Block], over: Over, lineage: Lineage = UNCHANGED) -> list[Block | None]:
        """Return the present chain of each earlier call of a procedure, or None for removed calls.

        over: the procedure in the earlier texts.
        """
        return Search(self, lineage).calls(list(calls), over)

    @cached_property
    def calls(self) -> Calls:
        """The calls of the sequence as steps."""
        return Calls(self.sequence)


def own_time_s(motion: Motion) -> FloatArray:
    """Return the seconds by which inserted transitions delay each segment, (S,)."""
    layout, sequence = motion.row.layout, motion.sequence
    is_longer = layout.duration_s > sequence.duration_s * (1.0 + _LONGER)
    return layout.begin_s - sequence.start_s if is_longer else np.zeros(len(sequence))
