"""The calls that led to what a sequence plays, so that what is seen or clicked leads back to its line."""

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
"""Elements around something, outer ones first, and which round of theirs it is in, from 0."""


class Step(NamedTuple):
    """A call on the way to what is played: in which file, and which of its repetitions, counted from 0."""

    document: Document
    call: Call | Node
    repetition: int

    @property
    def place(self) -> Place:
        """The call's line and column."""
        return self.document.place(self.call)


@dataclass(frozen=True, eq=False)
class Places:
    """The places of what a programme plays, by its rows: of calls, in version 2 also of loops, waits and blocks.

    calls: N; module_of: (N,) the document of each. within: (N,) the conditions, choices and loops around each in its
    procedure, as far as no loop's call is, see Evaluated; () in version 1.
    """

    documents: tuple[Document, ...]
    calls: tuple[Call | Node, ...]
    module_of: IntArray
    within: tuple[Within, ...] = ()

    @classmethod
    def of(cls, documents: tuple[Document, ...]) -> Places:
        """Take the documents, of version 1, in the order of their procedures in the table."""
        rows = [[call for procedure in document.procedures for call in procedure.calls] for document in documents]
        module_of = np.repeat(np.arange(len(rows)), [len(calls) for calls in rows])
        return cls(documents, tuple(call for calls in rows for call in calls), module_of)

    @cached_property
    def elements(self) -> IntArray:
        """The number of each in its text, (N,)."""
        return np.array([call.element for call in self.calls], dtype=np.int64)

    def find(self, row: int) -> tuple[Document, Call | Node]:
        """Return the element of a row, and its file."""
        return self.documents[int(self.module_of[row])], self.calls[row]


@dataclass(frozen=True, eq=False)
class Runs:
    """Executions of calls, N of them: each time that one plays.

    within: (N,) the run of the procedure that holds the call, −1: none, the procedure was started; call: (N,) the
    call's row; repetition: (N,) which of its repetitions, from 0.
    """

    within: Int32Array
    call: Int32Array
    repetition: Int32Array

    @classmethod
    def of(cls, *parts: IntArray | Int32Array) -> Runs:
        """Take within, call and repetition, and keep them in half the room."""
        return cls(*(part.astype(np.int32) for part in parts))

    @classmethod
    def started(cls, number: int) -> Runs:
        """Return runs that nothing called."""
        return cls.of(np.full(number, -1), np.full(number, -1), np.zeros(number, np.int64))

    def at(self, order: IntArray | slice) -> Runs:
        """Return some of them, or all in another order."""
        return Runs(self.within[order], self.call[order], self.repetition[order])

    @classmethod
    def empty(cls, number: int) -> Runs:
        """Return as many runs, to be filled."""
        return cls(*(np.empty(number, dtype=np.int32) for _ in range(3)))

    @classmethod
    def joined(cls, runs: list[Runs]) -> Runs:
        """Return one after another."""
        return cls(*(np.concatenate([getattr(one, name) for one in runs]) for name in ("within", "call", "repetition")))


@dataclass(frozen=True, eq=False)
class Origins:
    """The chain of calls behind each of S segments, and behind each run of a procedure.

    segments: (S,); procedures: (R,), outer ones before those within them, the started one first; tick_s: (R,) how long
    a tick of each run lasts.
    """

    places: Places
    segments: Runs
    procedures: Runs
    tick_s: FloatArray

    @classmethod
    def joined(cls, parts: list[Origins]) -> Origins:
        """Return those of one sequence after those of another of the same places, with runs ordered by their depth."""
        if len(parts) == 1:
            return parts[0]
        numbers = np.cumsum([0, *(len(part.procedures.within) for part in parts)])
        segments, runs = (Runs.joined([_later(getattr(part, name), number) for part, number in zip(
            parts, numbers.tolist(), strict=False)]) for name in ("segments", "procedures"))
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
        """Return the same as rows of the places, and which repetition of each."""
        return self._chain(self.segments, segment)

    def of_procedure(self, run: int) -> tuple[Step, ...]:
        """Return the calls that led to a run of a procedure, none for the started one; for a mark, take its run."""
        return self._steps(self._chain(self.procedures, run))

    def ending_with(self, segment: int) -> tuple[Step, ...]:
        """Return the calls that end with a segment, the outermost first, each of which can say what transition follows.

        There are none between two repetitions of one clip's call.
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


def _later(runs: Runs, number: int) -> Runs:
    """Return runs within others that are numbered from another number on."""
    return replace(runs, within=np.where(runs.within < 0, np.int32(-1), runs.within + np.int32(number)))
