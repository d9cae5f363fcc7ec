"""Segments that correspond in the calls of a procedure, since a tweak of a procedure acts in each of its calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths.arrays import IntArray
from ..pha.document import Document
from .block_names import UNCHANGED, Block, Lineage, Over, inside, plain
from .moments import Timeline


@dataclass(frozen=True, eq=False)
class Repeats:
    """Which segments of a timeline play the same content in other calls of a procedure.

    over: the procedure. alone: calls with tweaks of their own, which do not share those of the other calls; each is a
    chain that ends with the call of the procedure.
    """

    timeline: Timeline
    over: Over
    alone: Collection[Block] = ()

    def call_of(self, segment: int) -> Block:
        """Return the chain that ends with the call of the procedure that plays a segment; () if none does."""
        return self._chains[segment][0] if segment in self._chains else ()

    def segments_of(self, call: Block) -> IntArray:
        """Return the segments that one call of the procedure plays."""
        return np.array([segment for segment, head in self._heads.items() if head == plain(call)], dtype=np.int64)

    def is_alone(self, segment: int) -> bool:
        """Return whether tweaks in a segment act only in its own call."""
        return segment not in self._of_segment

    def others(self, segment: int) -> tuple[int, ...]:
        """Return the segments that play the same content in other calls of the procedure."""
        same = self._same.get(self._of_segment.get(segment, ()), ())
        return tuple(other for other in same if other != segment)

    def first(self, segment: int) -> int:
        """Return the first segment, in any call, with the same content; the segment itself if its call shares none."""
        return self._same[self._of_segment[segment]][0] if segment in self._of_segment else segment

    @cached_property
    def _chains(self) -> dict[int, tuple[Block, Block]]:
        """For each segment within the procedure, the calls that lead to it and those inside it."""
        found = {}
        for segment in range(len(self.timeline)):
            chain = self.timeline.block(segment)
            own = inside(chain, self.over)
            if own:
                found[segment] = chain[:len(chain) - len(own)], own
        return found

    @cached_property
    def _heads(self) -> dict[int, tuple[object, ...]]:
        return {segment: plain(head) for segment, (head, _) in self._chains.items()}

    @cached_property
    def _of_segment(self) -> dict[int, tuple[object, ...]]:
        barred = {plain(call) for call in self.alone}
        return {segment: plain(own) for segment, (_, own) in self._chains.items() if self._heads[segment] not in barred}

    @cached_property
    def _same(self) -> dict[tuple[object, ...], list[int]]:
        found = defaultdict[tuple[object, ...], list[int]](list)
        for segment, own in self._of_segment.items():
            found[own].append(segment)
        return dict(found)


def over_named(document: Document, name: str) -> Over | None:
    """Return a procedure of a score's own file by its name, None if there is none."""
    return next((Over("", each.element) for each in document.procedures if each.name == name), None)


def over_now(over: Over, document: Document, lineage: Lineage) -> tuple[str, Over] | None:
    """Return the present name and element of a procedure of the earlier text; None if it is gone.

    document: the score's own file. lineage: the earlier numbers of its elements, see Timeline.find.
    """
    return next(((each.name, Over("", each.element)) for each in document.procedures
                 if over_before(Over("", each.element), lineage) == over), None)


def over_before(over: Over, lineage: Lineage = UNCHANGED) -> Over:
    """Return the procedure of the earlier texts that became this one; see Timeline.find."""
    origin = lineage.get(over.document)
    return over if origin is None or over.element >= len(origin) else Over(over.document, origin[over.element])
