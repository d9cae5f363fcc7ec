"""Find blocks of an earlier version of a score in the sequence of its current version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..pha.lineage import NEW
from ..pha.split_calls import Part, Playing
from .block_names import UNSPLIT, AnyCall, Block, Lineage, Over, Splits, Step, inside, number_before, plain

if TYPE_CHECKING:
    from .moments import Timeline


class Search:
    """Finds blocks of an earlier version of a score in the sequence of its current version."""

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
        """Return for each of B blocks the one that contains it since calls were joined; itself if none does.

        Also returns where each block begins, as a share of the containing block (B,), and the ratio of the containing
        block's length to its own (B,).
        """
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
        """Return the segments of all parts into which a segment's block was split, in order; [] if it was not split."""
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
        wanted: tuple[object, ...] = ()
        for segment in self._of_leaf.get((block[-1].document, block[-1].element), ()):
            if self._chain(segment) == block:
                return segment
            wanted = wanted or plain(block)
            if self._plain(segment) == wanted:
                return segment
        return None

    def _elsewhere(self, block: Block, taken: set[int]) -> int | None:
        """Return the segment of a block that was moved into another procedure, or None.

        Either the block itself or a call that leads to it was moved.
        """
        best, most = None, -1
        for segment in self._of_leaf.get((block[-1].document, block[-1].element), ()):
            agreement = _agreement(block, self._chain(segment))
            if segment not in taken and agreement > most:
                best, most = segment, agreement
        return best

    def _chain(self, segment: int) -> Block:
        """Return the calls that lead to a segment, by their former numbers."""
        if segment not in self._chains:
            block = self._timeline.block(segment)
            is_same = not self._lineage and not self._splits
            self._chains[segment] = block if is_same else tuple(map(self._translated, block))
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
        return number_before(document, element, self._lineage)


def _agreement(block: Block, chain: Block) -> int:
    """Return how many calls a block and a chain of calls share, or −1 if they are different blocks.

    From the innermost call outwards, calls must be equal up to the first one that was moved into another procedure.
    Calls outside of it may differ. Chains of different lengths are equal if all calls of the shorter one are: the
    score then starts another procedure.
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
