"""Calls expanded into a sequence of segments. Gustaitis et al. 2007, §3.2 and §5.4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from ..errors import Problem, ScoreError, quoted
from ..maths.arrays import BoolArray, FloatArray, Int32Array, IntArray
from . import evaluation
from .definitions import Definitions
from .document import MAX_SEGMENTS
from .evaluation import WHOLE_CLIP, BlockCall, Evaluated, LaneCall, Values, defaults, evaluate, unknown_value
from .expressions import Role
from .garbage import without_search_for_cycles
from .lane_goals import with_goals_of_lanes
from .origins import Origins, Places, Runs
from .programme import GAP, CallTable, Programme
from .rows import Rows
from .sequence import WAIT, Block, Lane, Marks, Paths, Sequence
from .ways import Aim, AimedAt, Going, Way, goes_somewhere, ways_of

MAX_DEPTH = 1_000
"""Greatest depth of procedures within procedures."""
MAX_LANES = 200
"""Greatest number of lanes that play at once, including lanes within lanes: each pose is computed from all of them."""
MAX_TURNED = 10_000_000
"""Greatest number of segments in reversed order, each counted each time it is reversed."""
MAX_PROCEDURE_CALLS = 2_000_000
"""Greatest number of calls of procedures that are followed, however few segments they make."""
_MOST = 10**15
"""Counts are not followed beyond this."""


@without_search_for_cycles
def expand(programme: Programme, procedure: str = "main", loop: bool = False, *, values: Values | None = None,
           seed: int = 0) -> Sequence:
    """Expand a procedure that the programme can start.

    values: of its parameters; seed: for picks.
    Works level by level over whole arrays: all calls of procedures of one depth are scaled and ordered at once. Raises
    ScoreError if the file has no such procedure, if an expression has no value, and, before anything is built, if the
    result would have more than MAX_SEGMENTS segments, more than MAX_DEPTH levels, or more than MAX_LANES lanes at once.
    """
    own = programme.own_procedure(procedure)
    clip_s = {name: clip.duration_s for name, clip in zip(programme.clip_names, programme.clips, strict=True)
              if name != GAP}
    plan = replace(_Plan.of(programme, own, values, seed), clip_s=clip_s)
    sizes = _checked_sizes(programme, plan, own)
    routine = programme.procedures[own]
    if not sizes[plan.start]:
        raise ScoreError(Problem(f"<procedure> {quoted(routine.name)} plays nothing this time, expected something to "
                                 "play", routine.place))
    blocks = _Blocks(plan, sizes)
    sequence = blocks.rows(_Level.of_roots(sizes, [plan.start], [plan.length_s]), loop)[0]
    if not np.isfinite(sequence.length_s.sum()):
        raise ScoreError(Problem(f"<procedure> {quoted(routine.name)}: found a length of more seconds than a number "
                                 "can hold, expected durations whose sum is finite", routine.place))
    sequence = replace(sequence, blocks=blocks.all())
    return with_goals_of_lanes(sequence) if sequence.blocks else sequence


def length_s(programme: Programme, procedure: str) -> float:
    """Return the length in seconds of a procedure that the programme can start, with default parameters.

    Raises ScoreError if the file has no such procedure, or it cannot be evaluated.
    """
    return _Plan.of(programme, programme.own_procedure(procedure), None, 0).length_s


def parameters(programme: Programme, procedure: str) -> dict[str, float | bool]:
    """Return the parameters of a procedure that the programme can start, with their defaults; without roles.

    Raises ScoreError if the file has no such procedure, or a default has no value.
    """
    own = programme.own_procedure(procedure)
    found = defaults(programme.calls, own) if isinstance(programme.calls, Definitions) else {}
    return {name: value for name, value in found.items() if not isinstance(value, Role)}


@dataclass(frozen=True, eq=False)
class _Plan:
    """The input of an expansion: calls of P procedures, or of P instances of them.

    procedure: (P,) index into names, −1 for a part of another. ticks: (P,) total length of the calls of each.
    start: the played one; length_s: its length. mirror, reverse, part: (N,), (N,), (N, 2) for
    each call. clip_s: natural lengths of clips, by name.
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
    going: tuple[Going | Aim, ...] = ()
    evaluated: Evaluated | None = None
    definitions: Definitions | None = None
    clip_s: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def goes(self) -> BoolArray:
        """Whether each call has a destination or an aim, (N,)."""
        return goes_somewhere(self.going)

    def empty_parts(self, segments: int) -> FloatArray | None:
        """Return parts (S, 2) to be filled; if all clips are played whole, a constant that takes hardly any memory."""
        if self.part is None:
            return None
        is_whole = not (self.part != WHOLE_CLIP).any()
        return np.broadcast_to(np.array(WHOLE_CLIP), (segments, 2)) if is_whole else np.zeros((segments, 2))

    @classmethod
    def of(cls, programme: Programme, start: int, values: Values | None, seed: int) -> _Plan:
        """Return the plan of a programme: version 1 as it is, version 2 after evaluation."""
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
        tick_s = programme.document.tick_s  # for inherited procedures too
        places = Places(programme.documents, done.nodes, done.module_of, done.within)
        return cls(table, done.procedure, names, programme.clip_names, places, done.ticks, done.start,
                   float(done.ticks[done.start]) * tick_s, done.mirror, done.reverse, done.part, done.going, done,
                   programme.calls)


@dataclass(frozen=True, eq=False)
class _Level:
    """N procedures of one depth, or calls that they make.

    target: (N,) the procedure; for a call of a leaf, ~ the leaf. offset: (N,) index of its first segment. length: (N,)
    seconds. transition: (N,) seconds that its caller gives for the transition after its last segment, NaN for none.
    path: (N,) see Paths. call: (N,) the call that made it. caller: (N,) index of the caller in the caller's level.
    repetition: (N,) from 0. is_mirrored, is_reversed: (N,) the result of all calls that lead to it.
    """

    target: IntArray
    offset: IntArray
    length: FloatArray
    transition: FloatArray
    path: IntArray
    call: Int32Array
    caller: Int32Array
    repetition: Int32Array
    is_mirrored: BoolArray
    is_reversed: BoolArray

    @classmethod
    def of_roots(cls, sizes: IntArray, targets: list[int], lengths_s: list[float],
                 is_mirrored: list[bool] | None = None, is_reversed: list[bool] | None = None) -> _Level:
        """Return a level of procedures without callers, with `sizes` segments each, one after the other."""
        target, none = np.array(targets, dtype=np.int64), np.zeros(len(targets), dtype=np.int64)
        size, few = sizes[target], none.astype(np.int32)
        flags = (np.array(flag or none, dtype=np.bool_) for flag in (is_mirrored, is_reversed))
        return cls(target, np.cumsum(size) - size, np.array(lengths_s), np.full(len(target), np.nan),
                   np.arange(len(target)), few, few, few, *flags)

    def at(self, chosen: BoolArray | IntArray, path: IntArray) -> _Level:
        """Return the chosen procedures or calls, with new paths."""
        return _Level(self.target[chosen], self.offset[chosen], self.length[chosen], self.transition[chosen], path,
                      self.call[chosen], self.caller[chosen], self.repetition[chosen], self.is_mirrored[chosen],
                      self.is_reversed[chosen])


@dataclass(frozen=True, eq=False)
class _Row:
    """S segments of all roots; leaf: a clip, a block (from the number of clips on) or WAIT. See Sequence."""

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


def _expanded(plan: _Plan, sizes: IntArray, roots: _Level) -> _Row:
    """Return the row of procedures or instances, expanded through all levels."""
    total, names = int(sizes[roots.target].sum()), len(plan.names)
    row = _Row(np.zeros(total, np.int64), np.zeros(total), np.full(total, np.nan), np.zeros(total, np.int64),
               Paths(np.zeros(0, np.int64), np.zeros(0, np.int64), plan.names),
               Marks(*(np.zeros(0, np.int64) for _ in range(3))), Runs.empty(total), Runs.started(0),
               np.zeros(0), np.zeros(total, np.bool_), np.zeros(total, np.bool_), plan.empty_parts(total))
    number = len(roots.target)
    parents, last = [np.full(number, -1)], [plan.procedure[roots.target]]
    level, levels, runs, known, outer = roots, list[_RunsOfLevel](), [Runs.started(number)], number, 0
    tick_s = []
    while len(level.target):
        levels.append(_RunsOfLevel.of(plan, level, sizes, is_outermost=not outer))
        tick_s.append(level.length / plan.ticks[level.target])
        calls = _calls_of(plan, level, sizes)
        leaf = calls.target < 0
        at = calls.offset[leaf]
        row.leaf[at], row.length_s[at], row.transition_s[at] = (
            ~calls.target[leaf], calls.length[leaf], calls.transition[leaf])
        row.path[at], row.is_mirrored[at], row.is_reversed[at] = (
            calls.path[leaf], calls.is_mirrored[leaf], calls.is_reversed[leaf])
        if row.part is not None and row.part.flags.writeable and plan.part is not None:
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
        level = calls.at(inner, path) if leaf.any() else replace(calls, path=path)
        known += len(code)
        del calls, leaf, at, inner, which, path, named, index  # they take much memory for a million segments
    paths = Paths(np.concatenate(parents), np.concatenate(last), plan.names)
    row = replace(row, paths=paths, runs=Runs.joined(runs), tick_s=np.concatenate(tick_s))
    return _in_played_order(row, levels)


def _calls_of(plan: _Plan, level: _Level, sizes: IntArray) -> _Level:
    """Return all calls of the procedures of a level, with single repetitions, in order."""
    table = plan.table
    number = table.first[level.target + 1] - table.first[level.target]
    caller = np.repeat(np.arange(len(number), dtype=np.int32), number)
    call = np.arange(len(caller), dtype=np.int32)
    call += (table.first[level.target] - np.cumsum(number) + number).astype(np.int32)[caller]
    repeat = table.repeat[call]
    cycle_ends = np.cumsum(repeat) - 1
    is_last = np.zeros(int(repeat.sum()), dtype=np.bool_)
    is_last[cycle_ends] = True
    repetition = np.arange(len(is_last), dtype=np.int32)
    repetition -= np.repeat((cycle_ends + 1 - repeat).astype(np.int32), repeat)
    caller, call = np.repeat(caller, repeat), np.repeat(call, repeat)
    length = table.duration_share[call] * level.length[caller]
    transition = table.transition_share[call]
    transition *= level.length[caller]
    transition[~is_last] = np.nan
    ends = np.flatnonzero(np.diff(caller, append=-1))
    outer = level.transition[caller[ends]]
    transition[ends] = np.where(np.isnan(outer), transition[ends], outer)
    target = table.target[call]
    size = np.ones(len(target), dtype=np.int32)
    size[target >= 0] = sizes[target[target >= 0]]
    offset = np.cumsum(size, dtype=np.int64)
    offset -= size
    del size, is_last, cycle_ends
    begins = np.concatenate(((0,), ends[:-1] + 1))
    offset -= np.repeat(offset[begins] - level.offset[caller[begins]], np.diff(begins, append=len(caller)))
    is_mirrored, is_reversed = level.is_mirrored[caller], level.is_reversed[caller]
    if plan.mirror is not None and plan.reverse is not None:
        is_mirrored, is_reversed = is_mirrored ^ plan.mirror[call], is_reversed ^ plan.reverse[call]
    return _Level(target, offset, length, transition, level.path[caller], call, caller, repetition, is_mirrored,
                  is_reversed)


class _RunsOfLevel(NamedTuple):
    """The runs of procedures of one level, and the segments of each: `size` from `begin` on.

    begin, size, run, path: (N,) of runs of procedures with a name, which are marked; reversed_begin, reversed_size:
    (R,) of those that play backwards relative to the run around them. number: of all runs.
    """

    begin: Int32Array
    size: Int32Array
    run: Int32Array
    path: Int32Array
    number: int
    reversed_begin: IntArray
    reversed_size: IntArray

    @classmethod
    def of(cls, plan: _Plan, level: _Level, sizes: IntArray, *, is_outermost: bool) -> _RunsOfLevel:
        """Return the runs of a level; of the outermost level, which has no callers, only reversed runs."""
        named = np.flatnonzero(plan.procedure[level.target] >= 0)
        if plan.reverse is None:
            turned = np.zeros(0, np.int64)
        else:
            turned = np.flatnonzero(level.is_reversed if is_outermost else plan.reverse[level.call])
        begin, size, run, path = (values.astype(np.int32) for values in (
            level.offset[named], sizes[level.target[named]], named, level.path[named]))
        return cls(begin, size, run, path, len(level.target), level.offset[turned], sizes[level.target[turned]])


def _in_played_order(row: _Row, levels: list[_RunsOfLevel]) -> _Row:
    """Return the row in the order of playing, with marks where procedures begin.

    Of reversed segments a…b − 1 the last comes first. Each transition stays between the same two segments, and that
    after the last stays at the end. Reversed runs within reversed ones are handled first: levels from the innermost
    outwards, since runs of one level do not overlap.
    """
    total = len(row.leaf)
    order = position = None
    if any(len(level.reversed_begin) for level in levels):
        order, seams = np.arange(total), np.arange(total)
        for level in reversed(levels):
            begin, size = level.reversed_begin, level.reversed_size
            order, seams = order[_with_reversed(total, begin, size)], seams[_with_reversed(total, begin, size - 1)]
        row = replace(row, leaf=row.leaf[order], length_s=row.length_s[order], transition_s=row.transition_s[seams],
                      path=row.path[order], made=row.made.at(order), is_mirrored=row.is_mirrored[order],
                      is_reversed=row.is_reversed[order], part=None if row.part is None else row.part[order])
        position = np.empty(total, dtype=np.int64)
        position[order] = np.arange(total)
    segments, paths, runs, outer = [], [], [], 0
    for level in levels:
        ends = level.begin, level.begin + level.size - 1
        segments.append(level.begin if position is None else np.minimum(position[ends[0]], position[ends[1]]))
        paths.append(level.path)
        runs.append(level.run + outer)
        outer += level.number
    segment, path, run = (np.concatenate(each).astype(np.int64) for each in (segments, paths, runs))
    by_time = np.argsort(segment, kind="stable")  # an outer procedure before the inner ones that start with it
    return replace(row, marks=Marks(segment[by_time], path[by_time], run[by_time]))


def _with_reversed(total: int, begin: IntArray, size: IntArray) -> IntArray:
    """Return the numbers 0…total − 1 with some ranges of them, `size` from `begin` on, reversed."""
    order = np.arange(total)
    at = np.repeat(begin, size) + np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    order[at] = np.repeat(2 * begin + size - 1, size) - at
    return order


class _Occurrence(NamedTuple):
    """One way in which a block is played."""

    block: int
    length_s: float
    is_mirrored: bool
    is_reversed: bool


@dataclass(eq=False)
class _Blocks:
    """Numbers the played blocks, each length and direction once, and expands their lanes."""

    plan: _Plan
    sizes: IntArray
    _numbers: dict[_Occurrence, int] = field(default_factory=dict)

    def rows(self, roots: _Level, loop: bool = False) -> Rows:
        """Expand procedures or instances into rows, whose blocks are numbered from the number of clips on."""
        row = _expanded(self.plan, self.sizes, roots)
        self._number_blocks(row)
        begins = roots.offset
        ends = begins + self.sizes[roots.target]
        if not loop:
            row.transition_s[ends[ends > begins] - 1] = 0.0
        going = list[Way](), list[AimedAt]()
        if self.plan.goes.any():
            origins = Origins(self.plan.places, row.made, row.runs, row.tick_s)
            going = ways_of(origins, self.plan.going, self.plan.goes, None if row.part is None else row.is_mirrored)
        has_parts = row.part is not None
        return Rows(
            self.plan.clip_names, np.append(begins, len(row.leaf)), row.leaf, row.length_s, row.transition_s, row.path,
            row.paths, row.marks, Origins(self.plan.places, row.made, row.runs, row.tick_s), loop,
            row.is_mirrored if has_parts else None, row.is_reversed if has_parts else None, row.part,
            tuple(going[0]), tuple(going[1]), self.plan.clip_s)

    def _number_blocks(self, row: _Row) -> None:
        clips = len(self.plan.clip_names)
        row.leaf[row.leaf == evaluation.WAIT] = WAIT
        for at in np.flatnonzero(row.leaf >= clips).tolist():
            met = _Occurrence(int(row.leaf[at]) - clips, float(row.length_s[at]), bool(row.is_mirrored[at]),
                              bool(row.is_reversed[at]))
            row.leaf[at] = clips + self._numbers.setdefault(met, len(self._numbers))

    def all(self) -> tuple[Block, ...]:
        """Expand the lanes of all played blocks, including blocks within lanes."""
        found: list[Block] = []
        while len(found) < len(self._numbers):
            found += self._blocks(list(self._numbers)[len(found):])
        return tuple(found)

    def _blocks(self, met: list[_Occurrence]) -> list[Block]:
        assert self.plan.evaluated is not None
        calls = [self.plan.evaluated.blocks[each.block] for each in met]
        played = [(each, lane.instance) for each, call in zip(met, calls, strict=True) for lane in call.lanes
                  if lane.instance >= 0]
        rows, numbers = self.rows(_Level.of_roots(
            self.sizes, [instance for _, instance in played], [each.length_s for each, _ in played],
            [each.is_mirrored for each, _ in played], [each.is_reversed for each, _ in played])), count()
        return [Block(tuple([self._lane(lane, call, each, rows, next(numbers) if lane.instance >= 0 else -1)
                             for lane in call.lanes]), each.length_s) for each, call in zip(met, calls, strict=True)]

    def _lane(self, lane: LaneCall, call: BlockCall, met: _Occurrence, rows: Rows, row: int) -> Lane:
        """Return a lane that plays one of some rows; row: its number, −1: none."""
        definitions = self.plan.definitions
        assert definitions is not None
        scale, texts = met.length_s / call.ticks, lane.node.texts
        weights, eases = (lane.weight, lane.weight_end), (lane.ease_in * scale, lane.ease_out * scale)
        if met.is_reversed:
            weights, eases = weights[::-1], eases[::-1]
        return Lane(texts.get("body", "whole"), texts.get("mode", "replace"), float(texts.get("fade", "0")),
                    definitions.views[call.view].masks, *weights, *eases, rows if row >= 0 else None, max(row, 0))


class _Size(NamedTuple):
    """The size of the result of a procedure.

    row: segments, with a block counted as one; segments: with those inside of blocks; calls: of procedures. depth:
    levels of procedures. lanes: lanes that play at once. turned: segments that are reversed, each counted as often as
    it is reversed.
    """

    row: int = 0
    segments: int = 0
    calls: int = 0
    depth: int = 0
    lanes: int = 0
    turned: int = 0


_LIMITS: Final = {"segments": (MAX_SEGMENTS, "segments"), "calls": (MAX_PROCEDURE_CALLS, "calls of procedures"),
                  "depth": (MAX_DEPTH, "procedures within procedures"), "lanes": (MAX_LANES, "lanes at once"),
                  "turned": (MAX_TURNED, "segments to reverse, in reversed calls inside reversed calls,")}
"""For each count of _Size: its limit, and its name in messages."""


def _checked_sizes(programme: Programme, plan: _Plan, own: int) -> IntArray:
    """Return the number of segments of each procedure, with blocks as one, (P,); raise ScoreError if too many."""
    table, blocks = plan.table, () if plan.evaluated is None else plan.evaluated.blocks
    sizes, first_block = [_Size()] * (len(table.first) - 1), len(plan.clip_names)
    leaf = ~table.target
    is_single = (leaf >= 0) & ((leaf < first_block) | (leaf >= first_block + len(blocks)))
    singles = np.concatenate(((0,), np.cumsum(np.where(is_single, table.repeat, 0))))[table.first].tolist()
    others = np.flatnonzero(~is_single)
    first, targets, repeats = (each.tolist() for each in (
        np.searchsorted(others, table.first), table.target[others], table.repeat[others]))
    reverse = [False] * len(others) if plan.reverse is None else plan.reverse[others].tolist()
    for procedure in table.innermost_first:
        row = segments = singles[procedure + 1] - singles[procedure]
        if first[procedure] == first[procedure + 1]:  # most lanes hold clips and waits alone
            sizes[procedure] = _Size(row, row, 1, 1, int(row > 0))
            continue
        calls = depth = turned = 0
        lanes = int(row > 0)
        for call in range(first[procedure], first[procedure + 1]):
            target, repeat = targets[call], repeats[call]
            is_leaf = target < 0
            inside = [sizes[inner] for inner in (
                [lane.instance for lane in blocks[~target - first_block].lanes if lane.instance >= 0] if is_leaf
                else (target,))]
            length = 1 if is_leaf else inside[0].row
            inner_segments, inner_calls, inner_lanes, inner_turned = int(is_leaf), 0, 0, length if reverse[call] else 0
            for inner in inside:
                inner_segments += inner.segments
                inner_calls += inner.calls
                inner_lanes += max(inner.lanes, is_leaf)
                inner_turned += inner.turned
                depth = max(depth, inner.depth)
            row += repeat * length
            segments += repeat * inner_segments
            calls += repeat * inner_calls
            lanes = max(lanes, inner_lanes)
            turned += repeat * inner_turned
        sizes[procedure] = _Size(*(min(each, _MOST) for each in (row, segments, calls + 1, depth + 1, lanes, turned)))
    routine = programme.procedures[own]
    for name, (most, what) in _LIMITS.items():
        found = getattr(sizes[plan.start], name)
        if found > most:
            count = f"{found}" if found < _MOST else f"more than {_MOST}"
            raise ScoreError(Problem(f"<procedure> {quoted(routine.name)}: found {count} {what} when expanded, "
                                     f"expected at most {most}", routine.place))
    return np.array([size.row for size in sizes], dtype=np.int64)
