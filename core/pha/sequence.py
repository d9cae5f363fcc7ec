"""Calls unfolded into a flat sequence of segments. Gustaitis et al. 2007, §3.2 and §5.4."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace

import numpy as np

from ..errors import Problem, ScoreError, quoted
from ..maths.arrays import FloatArray, Int32Array, IntArray
from .document import MAX_SEGMENTS
from .origins import Origins, Runs
from .programme import CallTable, Programme

MAX_DEPTH = 1_000
"""Procedures within procedures."""
MAX_PROCEDURE_CALLS = 2_000_000
"""More procedures than this are not run through, however few segments they make."""


@dataclass(frozen=True, eq=False)
class Paths(SequenceOf[tuple[str, ...]]):
    """Ways from the started procedure down to others, as tuples of names, made when asked for.

    parents: (P,) the way that each continues, −1 for the first; procedures: (P,) its last step; names: what
    the procedures are called.
    """

    parents: IntArray
    procedures: IntArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.parents)

    def __getitem__(self, index: int) -> tuple[str, ...]:  # type: ignore[override]  # no slices
        steps: list[str] = []
        at = range(len(self))[index]
        while at >= 0:
            steps.append(self.names[self.procedures[at]])
            at = int(self.parents[at])
        return tuple(reversed(steps))


@dataclass(frozen=True, eq=False)
class Marks:
    """Where procedures start, (M,) in order of time: the segment each begins with, its path, its run in the origins."""

    segment: IntArray
    path: IntArray
    run: IntArray


@dataclass(frozen=True, eq=False)
class Sequence:
    """S segments one after another.

    clips: full names of the clips; clip: (S,) which of them each segment plays.
    start_s, length_s: (S,) seconds; transition_s: (S,) what the score wishes after each segment, NaN: automatic.
    path: (S,) index into paths: the procedures that led to the segment.
    origins: the calls that led to each segment and each mark.
    is_loop: after the last segment the first one follows.
    """

    clips: tuple[str, ...]
    clip: IntArray
    start_s: FloatArray
    length_s: FloatArray
    transition_s: FloatArray
    path: IntArray
    paths: Paths
    marks: Marks
    origins: Origins
    is_loop: bool = False

    def __len__(self) -> int:
        return len(self.clip)

    @property
    def duration_s(self) -> float:
        """The lengths of all segments together."""
        return float(self.length_s.sum())

    def used_clips(self) -> tuple[IntArray, IntArray]:
        """Return which clips the segments play, ascending, and for each segment (S,) which of these."""
        used, clip = np.unique(self.clip, return_inverse=True)
        return used, clip

    def with_clips(self, clips: tuple[str, ...], clip: IntArray) -> Sequence:
        """Return the same segments with other numbers for their clips."""
        return replace(self, clips=clips, clip=clip)

    def without_transitions(self) -> Sequence:
        """Return the same segments with one cutting straight to the next."""
        return replace(self, transition_s=np.zeros(len(self)))


def expand(programme: Programme, procedure: str = "main", loop: bool = False) -> Sequence:
    """Unfold a procedure of the programme's own file.

    Works level by level over whole arrays: all calls that procedures of one depth make are scaled and placed
    at once. Raises ScoreError where the file has no such procedure, and, before anything is built, where it
    would make more than MAX_SEGMENTS segments or nest deeper than MAX_DEPTH.
    """
    start = programme.own_procedure(procedure)
    sizes = _checked_sizes(programme, start)
    table = programme.calls
    total = sizes[start]
    clip, path = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
    length, transition = np.zeros(total), np.full(total, np.nan)
    parents, ways = [np.array((-1,))], [np.array((start,))]
    marked, marked_path = [np.zeros(1, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    made, runs = Runs.empty(total), [Runs.started()]
    level = _Level.first(start, programme)
    known, outer = 1, 0
    while len(level.procedure):
        calls = _unfold(level, table, sizes)
        leaf = calls.target < 0
        at = calls.offset[leaf]
        clip[at], length[at], transition[at] = ~calls.target[leaf], calls.length[leaf], calls.transition[leaf]
        path[at] = calls.path[leaf]
        made.within[at], made.call[at] = calls.caller[leaf] + outer, calls.call[leaf]
        made.repetition[at] = calls.repetition[leaf]
        inner = ~leaf
        code, index = np.unique(calls.path[inner] * len(sizes) + calls.target[inner], return_inverse=True)
        parents.append(code // len(sizes))
        ways.append(code % len(sizes))
        runs.append(Runs.of(calls.caller[inner] + outer, calls.call[inner], calls.repetition[inner]))
        outer += len(level.procedure)
        level = _Level(calls.target[inner], calls.offset[inner], calls.length[inner], calls.transition[inner],
                       known + index)
        known += len(code)
        marked.append(level.offset)
        marked_path.append(level.path)
    _check_finite(programme, start, length)
    if not loop:
        transition[-1] = 0.0
    names = tuple(p.name for p in programme.procedures)
    paths = Paths(np.concatenate(parents), np.concatenate(ways), names)
    starts = np.concatenate(((0.0,), np.cumsum(length)[:-1]))
    return Sequence(programme.clip_names, clip, starts, length, transition, path, paths, _marks(marked, marked_path),
                    Origins(programme.places, made, Runs.joined(runs)), loop)


@dataclass(frozen=True, eq=False)
class _Level:
    """Procedures of one depth, N of them.

    procedure: (N,); offset: (N,) index of its first segment; length: (N,) seconds; transition: (N,) seconds,
    the one that its caller wishes after its last segment, NaN: none; path: (N,).
    """

    procedure: IntArray
    offset: IntArray
    length: FloatArray
    transition: FloatArray
    path: IntArray

    @classmethod
    def first(cls, start: int, programme: Programme) -> _Level:
        own = programme.procedures[start]
        zero = np.zeros(1, dtype=np.int64)
        return cls(zero + start, zero, np.array((own.ticks * own.tick_s,)), np.array((np.nan,)), zero)


@dataclass(frozen=True, eq=False)
class _Calls:
    """Calls that the procedures of a level make, N of them.

    target: (N,) as in CallTable; offset, length, transition, path: (N,) as in _Level; caller: (N,) index in the level;
    call: (N,) row in the table; repetition: (N,) from 0.
    """

    target: IntArray
    offset: IntArray
    length: FloatArray
    transition: FloatArray
    path: IntArray
    caller: IntArray
    call: IntArray
    repetition: Int32Array


def _unfold(level: _Level, table: CallTable, sizes: IntArray) -> _Calls:
    """Return all calls that the procedures of a level make, repeats one by one, in order."""
    number = table.first[level.procedure + 1] - table.first[level.procedure]
    caller = np.repeat(np.arange(len(number)), number)
    call = np.arange(len(caller)) - np.repeat(np.cumsum(number) - number, number) + table.first[
        level.procedure][caller]
    repeat = table.repeat[call]
    cycle_ends = np.cumsum(repeat) - 1
    is_last = np.zeros(int(repeat.sum()), dtype=np.bool_)
    is_last[cycle_ends] = True
    repetition = np.arange(len(is_last), dtype=np.int32)
    repetition -= np.repeat((cycle_ends + 1 - repeat).astype(np.int32), repeat)
    caller, call = np.repeat(caller, repeat), np.repeat(call, repeat)
    length = table.duration_share[call] * level.length[caller]
    transition = np.where(is_last, table.transition_share[call] * level.length[caller], np.nan)
    ends = np.flatnonzero(np.diff(caller, append=-1))
    outer = level.transition[caller[ends]]
    transition[ends] = np.where(np.isnan(outer), transition[ends], outer)
    target = table.target[call]
    size = np.where(target < 0, 1, sizes[np.maximum(target, 0)])
    before = np.cumsum(size) - size
    begins = np.concatenate(((0,), ends[:-1] + 1))
    offset = before - before[begins][caller] + level.offset[caller]
    return _Calls(target, offset, length, transition, level.path[caller], caller, call, repetition)


def _checked_sizes(programme: Programme, start: int) -> IntArray:
    """Return how many segments each procedure makes, (P,), found from the innermost outwards."""
    sizes = [0] * len(programme.procedures)
    runs, depth = [0] * len(sizes), [0] * len(sizes)
    table = programme.calls
    first, targets, repeats = table.first.tolist(), table.target.tolist(), table.repeat.tolist()
    cap = 10**15
    for p in programme.innermost_first:
        size = run = deep = 0
        for c in range(first[p], first[p + 1]):
            target = targets[c]
            size += repeats[c] * (1 if target < 0 else sizes[target])
            if target >= 0:
                run += repeats[c] * runs[target]
                deep = max(deep, depth[target])
        sizes[p], runs[p], depth[p] = min(size, cap), min(run + 1, cap), deep + 1
    own = programme.procedures[start]
    for found, most, what in ((sizes[start], MAX_SEGMENTS, "segments"), (runs[start], MAX_PROCEDURE_CALLS, "calls of "
                              "procedures"), (depth[start], MAX_DEPTH, "procedures within procedures")):
        if found > most:
            count = f"{found}" if found < cap else f"more than {cap}"
            raise ScoreError(Problem(f"<procedure> {quoted(own.name)}: found {count} {what} when unfolded, expected at "
                                     f"most {most}", own.place))
    return np.array(sizes, dtype=np.int64)


def _check_finite(programme: Programme, start: int, length_s: FloatArray) -> None:
    if not np.isfinite(length_s.sum()):
        own = programme.procedures[start]
        raise ScoreError(Problem(f"<procedure> {quoted(own.name)}: found a length of more seconds than a number can "
                                 "hold, expected durations whose sum is finite", own.place))


def _marks(segments: list[IntArray], paths: list[IntArray]) -> Marks:
    """Sort by time, an outer procedure before the inner ones that start with it."""
    segment, path = np.concatenate(segments), np.concatenate(paths)
    order = np.argsort(segment, kind="stable")
    return Marks(segment[order], path[order], order)
