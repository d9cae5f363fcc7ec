"""Names of blocks: the calls that lead to each, by their elements, which stay the same wherever a block is moved.

What becomes of the numbers of elements in an edit is told by `core/pha/lineage.py`, and of calls that are split by
`core/pha/split_calls.py`.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Collection, Mapping
from collections.abc import Sequence as SequenceOf
from pathlib import Path
from typing import Final, NamedTuple

from ..pha.document import Document
from ..pha.lineage import NEW
from ..pha.sequence import Sequence
from ..pha.split_calls import Parts

Rounds = tuple[tuple[int, int], ...]
"""Elements around a call in its procedure, outer ones first, and which round of theirs it is in, from 0."""
Lineage = Mapping[str, SequenceOf[int]]
"""For each file of a score, by its name in a Step, which number each element had before; none: as they are."""
UNCHANGED: Final[Lineage] = {}


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


def before(block: Block, lineage: Lineage) -> Block:
    """Return a chain of calls by the numbers that their elements had before."""
    return tuple(step._replace(
        element=number_before(step.document, step.element, lineage),
        home=number_before(step.document, step.home, lineage),
        rounds=tuple((number_before(step.document, element, lineage), at) for element, at in step.rounds))
        for step in block)


def number_before(document: str, element: int, lineage: Lineage) -> int:
    """Return which number an element of a file had before, NEW if it was not there."""
    origin = lineage.get(document)
    return element if origin is None else origin[element] if element < len(origin) else NEW


def inside(block: Block, over: Over) -> Block:
    """Return the calls of a chain from those of a procedure on, () where it leads through none of them."""
    at = next((at for at, step in enumerate(block) if (step.document, step.home) == over), len(block))
    return block[at:]


def plain(block: Block) -> tuple[object, ...]:
    """Return what has to be the same where a block is the same: all but the procedures that hold the calls."""
    return tuple([(step.document, step.element, step.repetition, step.rounds and _later_rounds(step.rounds))
                  for step in block])


def _later_rounds(rounds: Rounds) -> Rounds:
    """Return rounds but for first ones: a loop that is put around calls plays those that were there first."""
    return tuple([each for each in rounds if each[1] > 0])
