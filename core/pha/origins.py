"""The calls that led to each part of a sequence, so that a person can find the line of what is played."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..errors import Place
from ..maths.arrays import FloatArray, Int32Array, IntArray
from .document import Call, Document
from .nodes import Node

Within = tuple[tuple[Node, int], ...]
"""The elements around something, outer ones first, each with the number of its round, from 0."""


class Step(NamedTuple):
    """A call on the way to a segment: its file, and the number of its repetition, from 0."""

    document: Document
    call: Call | Node
    repetition: int

    @property
    def place(self) -> Place:
        """The call's line and column."""
        return self.document.place(self.call)


@dataclass(frozen=True, eq=False)
class Places:
    """The places of a programme's rows: of calls, in version 2 also of loops, waits and blocks.

    calls: N; module_of: (N,) the document of each. within: (N,) the conditions, choices and loops around each in its
    procedure, up to the nearest call of a loop, see Evaluated; () in version 1.
    """

    documents: tuple[Document, ...]
    calls: tuple[Call | Node, ...]
    module_of: IntArray
    within: tuple[Within, ...] = ()

    @classmethod
    def of(cls, documents: tuple[Document, ...]) -> Places:
        """Return the places of documents of version 1, in the order of their procedures in the table."""
        rows = [[call for procedure in document.procedures for call in procedure.calls] for document in documents]
        module_of = np.repeat(np.arange(len(rows)), [len(calls) for calls in rows])
        return cls(documents, tuple(call for calls in rows for call in calls), module_of)

    @cached_property
    def elements(self) -> IntArray:
        """The number of each in its text, (N,)."""
        return np.array([call.element for call in self.calls], dtype=np.int64)

    def find(self, row: int) -> tuple[Document, Call | Node]:
        """Return the file and the element of a row."""
        return self.documents[int(self.module_of[row])], self.calls[row]


@dataclass(frozen=True, eq=False)
class Runs:
    """N executions of calls.

    within: (N,) the run of the procedure that contains the call, or −1 if the procedure was started; call: (N,) the
    call's row; repetition: (N,) its number, from 0.
    """

    within: Int32Array
    call: Int32Array
    repetition: Int32Array

    @classmethod
    def of(cls, *parts: IntArray | Int32Array) -> Runs:
        """Return runs from within, call and repetition, stored as int32."""
        return cls(*(part.astype(np.int32) for part in parts))

    @classmethod
    def started(cls, number: int) -> Runs:
        """Return runs without callers."""
        return cls.of(np.full(number, -1), np.full(number, -1), np.zeros(number, np.int64))

    def at(self, order: IntArray | slice) -> Runs:
        """Return the runs with these numbers, in this order."""
        return Runs(self.within[order], self.call[order], self.repetition[order])

    @classmethod
    def empty(cls, number: int) -> Runs:
        """Return this number of runs, to be filled."""
        return cls(*(np.empty(number, dtype=np.int32) for _ in range(3)))

    @classmethod
    def joined(cls, runs: list[Runs]) -> Runs:
        """Return several sets of runs as one."""
        return cls(*(np.concatenate([getattr(one, name) for one in runs]) for name in ("within", "call", "repetition")))


@dataclass(frozen=True, eq=False)
class Origins:
    """The chain of calls behind each of S segments, and behind each run of a procedure.

    segments: (S,); procedures: (R,), outer ones before inner ones, the started one first; tick_s: (R,) seconds of a
    tick of each run.
    """

    places: Places
    segments: Runs
    procedures: Runs
    tick_s: FloatArray

    @classmethod
    def joined(cls, parts: list[Origins]) -> Origins:
        """Return the origins of several sequences with the same places as one; runs are ordered by depth."""
        if len(parts) == 1:
            return parts[0]
        numbers = np.cumsum([0, *(len(part.procedures.within) for part in parts[:-1])])
        segments, runs = (_joined([getattr(part, name) for part in parts], numbers)
                          for name in ("segments", "procedures"))
        depth, outer = np.zeros(len(runs.within), np.int64), runs.within
        while (inside := outer >= 0).any():
            depth += inside
            outer = np.where(inside, runs.within[outer], -1)
        order = np.argsort(depth, kind="stable")
        position = np.empty(len(order), np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        runs = runs.at(order)
        return cls(parts[0].places, replace(segments, within=position[segments.within]),
                   replace(runs, within=np.where(runs.within < 0, np.int32(-1), position[runs.within])),
                   np.concatenate([part.tick_s for part in parts])[order])

    def of_segment(self, segment: int) -> tuple[Step, ...]:
        """Return the calls that led to a segment, from the started procedure's own down to that of the clip."""
        return self._steps(self._chain(self.segments, segment))

    def chain_of_segment(self, segment: int) -> list[tuple[int, int]]:
        """Return the same as rows of the places, each with the number of its repetition."""
        return self._chain(self.segments, segment)

    def of_procedure(self, run: int) -> tuple[Step, ...]:
        """Return the calls that led to a run of a procedure, none for the started one; for a mark, take its run."""
        return self._steps(self._chain(self.procedures, run))

    def ending_with(self, segment: int) -> tuple[Step, ...]:
        """Return the calls that end with a segment, outermost first; each of them can give the next transition.

        The result is empty between two repetitions of one clip's call.
        """
        chain = self._chain(self.segments, segment)
        is_last = segment + 1 == len(self.segments.call)
        following = [] if is_last else self._chain(self.segments, segment + 1)
        same = next((i for i, (own, other) in enumerate(zip(chain, following, strict=False)) if own != other), 0)
        return self._steps(chain[same + 1 if following and chain[same][0] == following[same][0] else same:])

    def _chain(self, runs: Runs, at: int) -> list[tuple[int, int]]:
        """Return rows and repetitions, outermost first."""
        chain = []
        while runs.call[at] >= 0:
            chain.append((int(runs.call[at]), int(runs.repetition[at])))
            runs, at = self.procedures, int(runs.within[at])
        return chain[::-1]

    def _steps(self, chain: list[tuple[int, int]]) -> tuple[Step, ...]:
        return tuple(Step(*self.places.find(row), repetition) for row, repetition in chain)


def _joined(parts: list[Runs], numbers: IntArray) -> Runs:
    """Return several sets of runs as one, with the numbers of their outer runs increased by the set's number (N,)."""
    runs = Runs.joined(parts)
    by = np.repeat(numbers, [len(part.within) for part in parts]).astype(np.int32)
    return replace(runs, within=np.where(runs.within < 0, np.int32(-1), runs.within + by))
