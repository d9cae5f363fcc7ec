"""Calls expanded into a sequence of segments. Gustaitis et al. 2007, §3.2 and §5.4."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..errors import Problem, ScoreError, quoted
from ..maths.arrays import BoolArray, FloatArray, Int32Array, IntArray
from . import evaluation
from .definitions import Definitions
from .document import MAX_SEGMENTS
from .evaluation import BlockCall, Evaluated, LaneCall, Values, evaluate, unknown_value
from .origins import Origins, Places, Runs
from .programme import CallTable, Programme
from .sequence import WAIT, Block, Lane, Marks, Paths, Sequence

MAX_DEPTH = 1_000
"""Procedures within procedures; no more are followed."""
MAX_PROCEDURE_CALLS = 2_000_000
"""More calls of procedures than this are not followed, however few segments they make."""
_MOST = 10**15
"""Counts are not followed beyond this."""


def expand(programme: Programme, procedure: str = "main", loop: bool = False, *, values: Values | None = None,
           seed: int = 0) -> Sequence:
    """Expand a procedure that the programme can start.

    values: of its parameters; seed: decides what picks pick.
    Works level by level over whole arrays: all calls that procedures of one depth make are scaled and put in order
    at once. Raises ScoreError where the file has no such procedure, where an expression has no value, and, before
    anything is built, where it would make more than MAX_SEGMENTS segments or nest deeper than MAX_DEPTH.
    """
    own = programme.own_procedure(procedure)
    plan = _Plan.of(programme, own, values, seed)
    sizes = _checked_sizes(programme, plan, own)
    routine = programme.procedures[own]
    if not sizes[plan.start]:
        raise ScoreError(Problem(f"<procedure> {quoted(routine.name)} plays nothing this time, expected something to "
                                 "play", routine.place))
    blocks = _Blocks(plan, sizes)
    row = _expanded(plan, sizes, plan.start, plan.length_s)
    if not np.isfinite(row.length_s.sum()):
        raise ScoreError(Problem(f"<procedure> {quoted(routine.name)}: found a length of more seconds than a number "
                                 "can hold, expected durations whose sum is finite", routine.place))
    return replace(blocks.sequence(row, loop), blocks=blocks.all())


def length_s(programme: Programme, procedure: str) -> float:
    """Return how long a procedure lasts that the programme can start, its parameters at their defaults.

    Raises ScoreError where the file has no such procedure, or it cannot be evaluated.
    """
    return _Plan.of(programme, programme.own_procedure(procedure), None, 0).length_s


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is expanded: calls of P procedures, or of P instances of them.

    procedure: (P,) index into names, −1 for a part of the one that it is in. ticks: (P,) what the calls of each add
    up to. start: the one that is played; length_s: how long it lasts. mirror, reverse, part: (N,), (N,), (N, 2) for
    each call.
    """

    table: CallTable
    procedure: IntArray
    names: tuple[str, ...]
    clip_names: tuple[str, ...]
    places: Places
    ticks: FloatArray
    start: int
    length_s: float
    mirror: BoolArray | None = None
    reverse: BoolArray | None = None
    part: FloatArray | None = None
    evaluated: Evaluated | None = None
    definitions: Definitions | None = None

    @classmethod
    def of(cls, programme: Programme, start: int, values: Values | None, seed: int) -> _Plan:
        """Take a programme of version 1 as it is, evaluate one that uses version 2."""
        own, names = programme.procedures[start], tuple(p.name for p in programme.procedures)
        if not isinstance(programme.calls, Definitions):
            for name in values or {}:
                raise ScoreError(unknown_value(name, own.name, [], own.place))
            return cls(programme.calls, np.arange(len(names)), names, programme.clip_names,
                       Places.of(programme.documents), np.array([p.ticks for p in programme.procedures]), start,
                       own.ticks * own.tick_s)
        done = evaluate(programme.calls, start, tuple(clip.duration_s for clip in programme.clips), values=values,
                        seed=seed)
        whole = np.repeat(done.ticks, np.diff(done.first))
        table = CallTable(done.first, done.target, done.repeat, done.duration / whole, done.transition / whole,
                          range(len(done.ticks)))
        tick_s = programme.document.tick_s  # also for what is inherited
        places = Places(programme.documents, done.nodes, done.module_of, done.within)
        return cls(table, done.procedure, names, programme.clip_names, places, done.ticks, done.start,
                   float(done.ticks[done.start]) * tick_s, done.mirror, done.reverse, done.part, done, programme.calls)


@dataclass(frozen=True, eq=False)
class _Level:
    """N procedures of one depth, or calls that they make.

    target: (N,) the procedure, of calls also ~ a leaf; offset: (N,) index of its first segment; length: (N,) seconds;
    transition: (N,) seconds, the one that its caller gives after its last segment, NaN: none; path: (N,).
    call: (N,) the call that made each; caller: (N,) the number of the one around it in its level; repetition: (N,)
    which of its repetitions, from 0. is_mirrored, is_reversed: (N,) by all calls that lead to it.
    """

    target: IntArray
    offset: IntArray
    length: FloatArray
    transition: FloatArray
    path: IntArray
    call: IntArray
    caller: IntArray
    repetition: Int32Array
    is_mirrored: BoolArray
    is_reversed: BoolArray

    @classmethod
    def first(cls, start: int, length_s: float) -> _Level:
        zero = np.zeros(1, dtype=np.int64)
        no = np.zeros(1, dtype=np.bool_)
        return cls(zero + start, zero, np.array((length_s,)), np.array((np.nan,)), zero, zero, zero,
                   zero.astype(np.int32), no, no)

    def at(self, chosen: BoolArray | IntArray, path: IntArray) -> _Level:
        """Return some of them, with paths of their own."""
        return _Level(self.target[chosen], self.offset[chosen], self.length[chosen], self.transition[chosen], path,
                      self.call[chosen], self.caller[chosen], self.repetition[chosen], self.is_mirrored[chosen],
                      self.is_reversed[chosen])


@dataclass(frozen=True, eq=False)
class _Row:
    """S segments before their leaves are told apart: clips, blocks and waits; see Sequence."""

    leaf: IntArray
    length_s: FloatArray
    transition_s: FloatArray
    path: IntArray
    paths: Paths
    marks: Marks
    made: Runs
    runs: Runs
    tick_s: FloatArray
    is_mirrored: BoolArray
    is_reversed: BoolArray
    part: FloatArray | None


def _expanded(plan: _Plan, sizes: IntArray, start: int, length_s: float) -> _Row:
    """Expand one procedure or instance, all of its levels."""
    total, names = int(sizes[start]), len(plan.names)
    row = _Row(np.zeros(total, np.int64), np.zeros(total), np.full(total, np.nan), np.zeros(total, np.int64),
               Paths(np.zeros(0, np.int64), np.zeros(0, np.int64), plan.names),
               Marks(*(np.zeros(0, np.int64) for _ in range(3))), Runs.empty(total), Runs.started(),
               np.zeros(0), np.zeros(total, np.bool_), np.zeros(total, np.bool_),
               None if plan.part is None else np.zeros((total, 2)))
    parents, last = [np.array((-1,))], [plan.procedure[start:start + 1]]
    level, levels, runs, known, outer = _Level.first(start, length_s), [], [Runs.started()], 1, 0
    while len(level.target):
        levels.append(level)
        calls = _calls_of(plan, level, sizes)
        leaf = calls.target < 0
        at = calls.offset[leaf]
        row.leaf[at], row.length_s[at], row.transition_s[at] = (
            ~calls.target[leaf], calls.length[leaf], calls.transition[leaf])
        row.path[at], row.is_mirrored[at], row.is_reversed[at] = (
            calls.path[leaf], calls.is_mirrored[leaf], calls.is_reversed[leaf])
        if row.part is not None and plan.part is not None:
            row.part[at] = plan.part[calls.call[leaf]]
        row.made.within[at], row.made.call[at] = calls.caller[leaf] + outer, calls.call[leaf]
        row.made.repetition[at] = calls.repetition[leaf]
        inner = np.flatnonzero(~leaf)
        runs.append(Runs.of(calls.caller[inner] + outer, calls.call[inner], calls.repetition[inner]))
        outer += len(level.target)
        which, path = plan.procedure[calls.target[inner]], calls.path[inner]
        named = which >= 0
        code, index = np.unique(path[named] * names + which[named], return_inverse=True)
        parents.append(code // names)
        last.append(code % names)
        path[named] = known + index
        level = calls.at(inner, path)
        known += len(code)
    paths = Paths(np.concatenate(parents), np.concatenate(last), plan.names)
    tick_s = np.concatenate([level.length / plan.ticks[level.target] for level in levels])
    return _in_played_order(plan, sizes, replace(row, paths=paths, runs=Runs.joined(runs), tick_s=tick_s), levels)


def _calls_of(plan: _Plan, level: _Level, sizes: IntArray) -> _Level:
    """Return all calls that the procedures of a level make, repeats one by one, in order."""
    table = plan.table
    number = table.first[level.target + 1] - table.first[level.target]
    caller = np.repeat(np.arange(len(number)), number)
    call = np.arange(len(caller)) - np.repeat(np.cumsum(number) - number, number) + table.first[
        level.target][caller]
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
    offset = before - np.repeat(before[begins], np.diff(begins, append=len(caller))) + level.offset[caller]
    is_mirrored, is_reversed = level.is_mirrored[caller], level.is_reversed[caller]
    if plan.mirror is not None and plan.reverse is not None:
        is_mirrored, is_reversed = is_mirrored ^ plan.mirror[call], is_reversed ^ plan.reverse[call]
    return _Level(target, offset, length, transition, level.path[caller], call, caller, repetition, is_mirrored,
                  is_reversed)


def _in_played_order(plan: _Plan, sizes: IntArray, row: _Row, levels: list[_Level]) -> _Row:
    """Put what is reversed in its order, and mark where procedures begin.

    Of a reversed stretch of segments a…b − 1 the last comes first, and each transition stays between the same two;
    the one after the whole stays there. What is reversed within what is reversed comes first: innermost levels, of
    which no two stretches overlap.
    """
    total = len(row.leaf)
    order, seams = np.arange(total), np.arange(total)
    if plan.reverse is not None and plan.reverse.any():
        for level in reversed(levels[1:]):
            is_reversed = plan.reverse[level.call]
            begin, size = level.offset[is_reversed], sizes[level.target[is_reversed]]
            order, seams = order[_with_reversed(total, begin, size)], seams[_with_reversed(total, begin, size - 1)]
        row = replace(row, leaf=row.leaf[order], length_s=row.length_s[order], transition_s=row.transition_s[seams],
                      path=row.path[order], made=row.made.at(order), is_mirrored=row.is_mirrored[order],
                      is_reversed=row.is_reversed[order], part=None if row.part is None else row.part[order])
    position = np.empty(total, dtype=np.int64)
    position[order] = np.arange(total)
    segments, paths, runs, outer = [], [], [], 0
    for level in levels:
        named = np.flatnonzero(plan.procedure[level.target] >= 0)
        begin, size = level.offset[named], sizes[level.target[named]]
        segments.append(np.minimum(position[begin], position[begin + size - 1]))
        paths.append(level.path[named])
        runs.append(named + outer)
        outer += len(level.target)
    segment, path, run = np.concatenate(segments), np.concatenate(paths), np.concatenate(runs)
    by_time = np.argsort(segment, kind="stable")  # an outer procedure before the inner ones that start with it
    return replace(row, marks=Marks(segment[by_time], path[by_time], run[by_time]))


def _with_reversed(total: int, begin: IntArray, size: IntArray) -> IntArray:
    """Return the numbers 0…total − 1 with some stretches reversed."""
    order = np.arange(total)
    at = np.repeat(begin, size) + np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    order[at] = np.repeat(2 * begin + size - 1, size) - at
    return order


class _Occurrence(NamedTuple):
    """A block as it is played somewhere."""

    block: int
    length_s: float
    is_mirrored: bool
    is_reversed: bool


@dataclass(eq=False)
class _Blocks:
    """Numbers the blocks that play, each with its length and direction once, and expands their lanes."""

    plan: _Plan
    sizes: IntArray
    _numbers: dict[_Occurrence, int] = field(default_factory=dict)

    def sequence(self, row: _Row, loop: bool = False) -> Sequence:
        """Turn a row into a sequence, whose blocks are numbered from the number of clips on."""
        clips = len(self.plan.clip_names)
        clip = np.where(row.leaf == evaluation.WAIT, WAIT, row.leaf)
        for at in np.flatnonzero(clip >= clips).tolist():
            met = _Occurrence(int(clip[at]) - clips, float(row.length_s[at]), bool(row.is_mirrored[at]),
                              bool(row.is_reversed[at]))
            clip[at] = clips + self._numbers.setdefault(met, len(self._numbers))
        if not loop and len(clip):
            row.transition_s[-1] = 0.0
        starts = np.concatenate(((0.0,), np.cumsum(row.length_s)[:-1]))
        flags = (row.is_mirrored, row.is_reversed, row.part) if row.part is not None else (None, None, None)
        return Sequence(self.plan.clip_names, clip, starts, row.length_s, row.transition_s, row.path, row.paths,
                        row.marks, Origins(self.plan.places, row.made, row.runs, row.tick_s), loop, *flags)

    def all(self) -> tuple[Block, ...]:
        """Expand the lanes of all blocks that play, also of those within lanes."""
        found: list[Block] = []
        while len(found) < len(self._numbers):
            met = list(self._numbers)[len(found):]
            found += [self._block(each) for each in met]
        return tuple(found)

    def _block(self, met: _Occurrence) -> Block:
        assert self.plan.evaluated is not None
        call = self.plan.evaluated.blocks[met.block]
        return Block(tuple(self._lane(lane, call, met) for lane in call.lanes), met.length_s)

    def _lane(self, lane: LaneCall, call: BlockCall, met: _Occurrence) -> Lane:
        definitions = self.plan.definitions
        assert definitions is not None
        scale, texts = met.length_s / call.ticks, lane.node.texts
        weights, eases = (lane.weight, lane.weight_end), (lane.ease_in * scale, lane.ease_out * scale)
        if met.is_reversed:
            weights, eases = weights[::-1], eases[::-1]
        sequence = None
        if lane.instance >= 0:
            row = _expanded(self.plan, self.sizes, lane.instance, met.length_s)
            if met.is_reversed:
                back = np.arange(len(row.leaf))[::-1]
                seams = np.append(back[1:], back[0])
                row = replace(row, leaf=row.leaf[back], length_s=row.length_s[back],
                              transition_s=row.transition_s[seams], path=row.path[back], made=row.made.at(back),
                              part=None if row.part is None else row.part[back],
                              is_mirrored=row.is_mirrored[back], is_reversed=~row.is_reversed[back])
            sequence = self.sequence(replace(row, is_mirrored=row.is_mirrored ^ met.is_mirrored))
        return Lane(texts.get("body", "whole"), texts.get("mode", "replace"), float(texts.get("fade", "0")),
                    definitions.views[call.view].masks, *weights, *eases, sequence)


def _checked_sizes(programme: Programme, plan: _Plan, own: int) -> IntArray:
    """Return how many segments each procedure makes, (P,), found from the innermost outwards.

    Segments inside of blocks count for the limit, but have no place among the segments around the block.
    """
    number = len(plan.table.first) - 1
    sizes, wholes, runs, depth = [0] * number, [0] * number, [0] * number, [0] * number
    table = plan.table
    first, targets, repeats = table.first.tolist(), table.target.tolist(), table.repeat.tolist()
    for p in table.innermost_first:
        size = whole = run = deep = 0
        for c in range(first[p], first[p + 1]):
            target, repeat = targets[c], repeats[c]
            size += repeat * (1 if target < 0 else sizes[target])
            whole += repeat * (target < 0)
            for inner in _lanes_of(plan, ~target) if target < 0 else (target,):
                whole += repeat * wholes[inner]
                run += repeat * runs[inner]
                deep = max(deep, depth[inner])
        sizes[p], wholes[p] = min(size, _MOST), min(whole, _MOST)
        runs[p], depth[p] = min(run + 1, _MOST), deep + 1
    routine = programme.procedures[own]
    for found, most, what in ((wholes[plan.start], MAX_SEGMENTS, "segments"),
                              (runs[plan.start], MAX_PROCEDURE_CALLS, "calls of procedures"),
                              (depth[plan.start], MAX_DEPTH, "procedures within procedures")):
        if found > most:
            count = f"{found}" if found < _MOST else f"more than {_MOST}"
            raise ScoreError(Problem(f"<procedure> {quoted(routine.name)}: found {count} {what} when expanded, "
                                     f"expected at most {most}", routine.place))
    return np.array(sizes, dtype=np.int64)


def _lanes_of(plan: _Plan, leaf: int) -> tuple[int, ...]:
    """Return the instances that play at once where a leaf is a block."""
    if plan.evaluated is None or leaf == evaluation.WAIT or leaf < len(plan.clip_names):
        return ()
    lanes = plan.evaluated.blocks[leaf - len(plan.clip_names)].lanes
    return tuple(lane.instance for lane in lanes if lane.instance >= 0)
