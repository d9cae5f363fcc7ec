"""Names of blocks: the chain of calls that leads to each, by element. A block that moves keeps its name.

`core/pha/lineage.py` tells how an edit renumbers elements, and `core/pha/split_calls.py` how it splits calls.
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
"""The loops around a call in its procedure, outer ones first: the element of each, and its round, from 0."""
Lineage = Mapping[str, SequenceOf[int]]
"""The former number of each element, by the file's name in a Step. Elements of files that are missing here keep
theirs."""
UNCHANGED: Final[Lineage] = {}


class Split(NamedTuple):
    """The calls of a file that were split or joined since the blocks were named.

    A playing is one repetition of a call. parts: for each current playing, the former one of which it is a part, by
    former numbers. joined: for each former playing, the current one of which it is a part, by current numbers. origin:
    the former number of each current element.
    """

    parts: Parts
    joined: Parts
    origin: SequenceOf[int]


Splits = Mapping[str, Split]
"""The splits of each file in which any call was split or joined, by its name in a Step."""
UNSPLIT: Final[Splits] = {}


class Step(NamedTuple):
    """A call on the way to a block.

    document: the path of its file, or "" for the score itself. element: the number of the call's element in that file.
    home: the number of the procedure that contains the call. rounds: the loops around it. repetition: which of the
    call's own repetitions, from 0.
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
    """Any call of a procedure.

    barred: segments that must not be chosen. alone: former calls, as chains, whose keys must not move to another call.
    """

    over: Over
    barred: Collection[int] = ()
    alone: Collection[Block] = ()


Block = tuple[Step, ...]
"""The calls that lead to one segment, from a call in the started procedure down to the call of the clip."""


class Calls:
    """The calls of a sequence as steps. names: the names of its files, as in Steps."""

    def __init__(self, sequence: Sequence) -> None:
        """Take a sequence."""
        self._places = sequence.origins.places
        documents = self._places.documents
        self._number = {id(document): number for number, document in enumerate(documents)}
        self._tops = [list(document.text.children(0)) for document in documents]
        self.names = [_name(document, documents[0]) for document in documents]
        self._known: dict[tuple[int, int], Step] = {}

    def is_loop(self, row: int) -> bool:
        """Return whether a row of the calls is a loop whose rounds are all equal."""
        return getattr(self._places.calls[row], "tag", "") == "loop"

    def step(self, row: int, repetition: int) -> Step:
        """Return a row of the calls as a step."""
        if (row, repetition) not in self._known:
            document, call = self._places.find(row)
            number = self._number[id(document)]
            rounds = tuple((node.element, at) for node, at in self._places.within[row]) if self._places.within else ()
            tops = self._tops[number]
            home = tops[max(bisect_right(tops, call.element) - 1, 0)]
            self._known[row, repetition] = Step(self.names[number], call.element, home, rounds, repetition)
        return self._known[row, repetition]


def _name(document: Document, main: Document) -> str:
    """Return the name of a file in a Step: its path relative to the score's folder, or "" for the score itself."""
    if document is main or document.path is None:
        return ""
    try:
        return Path(os.path.relpath(document.path, main.path.parent if main.path else ".")).as_posix()
    except ValueError:  # on another drive
        return document.path.as_posix()


def before(block: Block, lineage: Lineage) -> Block:
    """Return a chain of calls with the former numbers of its elements."""
    return tuple(step._replace(
        element=number_before(step.document, step.element, lineage),
        home=number_before(step.document, step.home, lineage),
        rounds=tuple((number_before(step.document, element, lineage), at) for element, at in step.rounds))
        for step in block)


def number_before(document: str, element: int, lineage: Lineage) -> int:
    """Return the former number of an element of a file, or NEW if it did not exist."""
    origin = lineage.get(document)
    return element if origin is None else origin[element] if element < len(origin) else NEW


def inside(block: Block, over: Over) -> Block:
    """Return the part of a chain from the first call that a procedure contains, or () if there is none."""
    at = next((at for at, step in enumerate(block) if (step.document, step.home) == over), len(block))
    return block[at:]


def plain(block: Block) -> tuple[object, ...]:
    """Return a chain of calls without the procedures that contain the calls; equal blocks have equal results."""
    return tuple([(step.document, step.element, step.repetition, step.rounds and _later_rounds(step.rounds))
                  for step in block])


def _later_rounds(rounds: Rounds) -> Rounds:
    """Return the rounds without first ones: calls that were wrapped into a new loop play in its first round."""
    return tuple([each for each in rounds if each[1] > 0])
