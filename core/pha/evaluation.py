"""Evaluation of a programme of version 2: parameters, conditions, loops and picks become a table of plain calls.

Each procedure is evaluated once for each set of values with which it is called, or at each call if it contains a pick.
Each evaluation is an *instance* of the procedure. Instances call instances as procedures call procedures in version 1.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from ..errors import Place, Problem, ScoreError, quoted, some_of
from ..maths.arrays import BoolArray, FloatArray, IntArray
from .definitions import Definitions, InView
from .document import MAX_SEGMENTS
from .expressions import ExpressionError, Role, Scope, Value, shown
from .grammar import FIT
from .naming import near
from .nodes import Node
from .origins import Within
from .ways import NOWHERE, Aim, Going

MAX_EVALUATIONS: Final = 130_000
"""Greatest number of evaluated elements, each counted for each set of values: more would take over a second."""
MOST_EACH: Final = 8
"""Number of elements that may be evaluated for each call with values, if that is more than MAX_EVALUATIONS."""
MAX_OPERATIONS: Final = 2_000_000
"""Greatest number of numbers, names and operations of expressions, arguments of calls, and choices of picks, each
counted at each use."""
MAX_NESTED: Final = 1_000
WAIT: Final = 2**40
"""The leaf of a wait."""
_WHOLE: Final = 1e-9
"""Tolerance of counts from whole numbers."""
_CHAIN_SHOWN: Final = 6
_VALUES_SHOWN: Final = 8
WHOLE_CLIP: Final = (0.0, 1.0)
"""The part of a clip that is played if a call names none."""

Values = Mapping[str, Value]


class LaneCall(NamedTuple):
    """A lane of a block: the instance that it plays (−1: none), with its weights and eases.

    ease_in, ease_out: in ticks of the block, NaN: automatic.
    """

    instance: int
    node: Node
    weight: float
    weight_end: float
    ease_in: float
    ease_out: float


class BlockCall(NamedTuple):
    """Lanes that play at the same time.

    view: number of the view that defines their masks. ticks: length of the block.
    """

    lanes: tuple[LaneCall, ...]
    view: int
    ticks: float


@dataclass(frozen=True, eq=False)
class Evaluated:
    """All calls of I instances, instance by instance, each after those that it calls.

    first: (I + 1,) first call of each instance. target: (N,) ≥ 0: an instance, else the complement (~) of a leaf: a
    clip, a block (from the number of clips on), or WAIT. repeat: (N,).
    duration, transition: (N,) ticks, NaN: no transition given. mirror, reverse: (N,); part: (N, 2) shares of a clip.
    going: (N,) the destination of each call in the scene, or its aim.
    nodes: (N,) the element of each; module_of: (N,) the module of each element. within: (N,) the elements between the
    procedure (or its part) and each call, outer ones first, each with the number of its round, from 0.
    procedure: (I,) the procedure of each, −1 for a part of one.
    ticks: (I,) total length of each. blocks: by their leaves. values: (I,) arguments of each.
    """

    first: IntArray
    target: IntArray
    repeat: IntArray
    duration: FloatArray
    transition: FloatArray
    mirror: BoolArray
    reverse: BoolArray
    part: FloatArray
    going: tuple[Going | Aim, ...]
    nodes: tuple[Node, ...]
    module_of: IntArray
    within: tuple[Within, ...]
    procedure: IntArray
    ticks: FloatArray
    blocks: tuple[BlockCall, ...]
    start: int
    values: tuple[Values, ...]


class _Call(NamedTuple):
    """A call, wait, loop or block that plays; see Evaluated."""

    target: int
    repeat: int
    duration: float
    transition: float
    node: Node
    mirror: bool = False
    reverse: bool = False
    part: tuple[float, float] = WHOLE_CLIP
    going: Going | Aim = NOWHERE
    within: Within = ()


class _Frame(NamedTuple):
    """A procedure under evaluation: its view, its call, and its arguments."""

    at: InView
    caller: Node | None
    given: Values


class _Instance(NamedTuple):
    number: int
    ticks: float


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A call whose procedure is still to be evaluated; see _Call."""

    node: Node
    frame: _Frame
    duration: float
    repeat: int
    mirror: bool
    reverse: bool
    going: Going
    within: Within


_Calls = list[_Call]
_BlockSteps = Generator["tuple[_Frame, _ProcedureSteps]", _Instance, "_Played"]
_ProcedureSteps = Generator["tuple[_Frame, _ProcedureSteps]", _Instance, _Instance]
_Played = tuple[_Calls, float]
_NAN: Final = float("nan")


def _alike(at: InView, given: Values) -> tuple[object, ...]:
    """Return a key that is equal for calls with the same result, if nothing is picked. It tells 1 from yes."""
    return at, *given, *given.values(), *map(type, given.values())


def unknown_value(name: str, procedure: str, known: list[str], place: Place) -> Problem:
    """Return the problem of an argument for which a started procedure has no parameter."""
    return Problem(f"<procedure> {quoted(procedure)}: found a value for {quoted(name)}, expected one for its "
                   f"parameters: {', '.join(map(quoted, known)) or 'none'}{near(name, known)}", place)


def evaluate(definitions: Definitions, start: int, clip_durations_s: tuple[float, ...], *,
             values: Values | None = None, seed: int = 0) -> Evaluated:
    """Evaluate a procedure (a number) of the first module.

    clip_durations_s: of all clips; values: of the procedure's parameters; seed: for picks. Raises ScoreError, with the
    chain of calls and their values, if an expression has no value or a wrong one, or if a called procedure plays
    nothing. So it does beyond MAX_EVALUATIONS, MAX_OPERATIONS and MAX_NESTED.
    """
    return _Evaluation(definitions, clip_durations_s, seed).run(start, values or {})


def defaults(definitions: Definitions, procedure: int) -> dict[str, Value]:
    """Return the parameters of a procedure of the first module, each with its default, in the order of the text.

    Raises ScoreError if a default has no value.
    """
    frame = _Frame((0, procedure), None, {})
    scope = _Evaluation(definitions, (), 0, _frames=[frame]).scope(frame)
    return {name: scope[name] for name in (param.texts["name"] for param in definitions.params[procedure])}


_Player = Callable[["_Evaluation", Node, Scope, Within], _Played | _BlockSteps]
"""A function that evaluates an element: returns its calls, or the steps that lead to them if it has contents."""


@dataclass(eq=False)
class _Evaluation:
    definitions: Definitions
    clip_durations_s: tuple[float, ...]
    seed: int
    _instances: list[tuple[_Calls, float, int, int, Values]] = field(default_factory=list)
    _known: dict[tuple[object, ...], _Instance] = field(default_factory=dict)
    _blocks: dict[BlockCall, int] = field(default_factory=dict)
    _lets: dict[int, dict[str, Value]] = field(default_factory=dict)
    _picked: dict[tuple[int, int], int] = field(default_factory=dict)
    _frames: list[_Frame] = field(default_factory=list)
    _names_used: dict[Node, frozenset[str]] = field(default_factory=dict)
    _picks = 0
    _evaluated = 0
    _operations = 0

    def run(self, start: int, values: Values) -> Evaluated:
        """Evaluate without recursion between procedures, so that any depth up to MAX_NESTED is possible."""
        frame = _Frame((0, start), None, values)
        self._frames = [frame]
        self._check_given(start, values)
        waiting: list[_ProcedureSteps] = [self._procedure(frame)]
        answer: _Instance | None = None
        while waiting:
            try:
                frame, steps = next(waiting[-1]) if answer is None else waiting[-1].send(answer)
            except StopIteration as stop:
                answer = stop.value
                waiting.pop()
                self._frames.pop()
                continue
            if len(waiting) >= MAX_NESTED:
                raise self._error(frame.caller, f"found more than {MAX_NESTED} procedures within procedures")
            waiting.append(steps)
            self._frames.append(frame)
            answer = None
        assert answer is not None
        return self._table(answer.number)

    def _check_given(self, start: int, values: Values) -> None:
        procedure = self.definitions.procedures[start]
        known = [param.texts["name"] for param in procedure.params]
        for name in values:
            if name not in known:
                raise ScoreError(unknown_value(name, procedure.name, known, self.definitions.places[
                    self.definitions.module_of[start]](procedure)))

    # Procedures and blocks

    def _procedure(self, frame: _Frame) -> _ProcedureSteps:
        (_, procedure), _, given = frame
        before = self._picks
        scope = self.scope(frame)
        calls, ticks = yield from self._block(self.definitions.blocks[procedure], scope, ())
        instance = self._new_instance(calls, ticks, procedure)
        if self._picks == before:
            self._known[_alike(frame.at, given)] = instance
        return instance

    def scope(self, frame: _Frame) -> dict[str, Value]:
        """Return the values with which a procedure begins: its file's lets, and its parameters."""
        (view, procedure), caller, given = frame
        scope, params = dict(self._file_lets(view)), self.definitions.params[procedure]
        self._spend(caller, 2 * len(params))  # each parameter counts, and its default, if a number
        for param in params:
            name, default = param.texts["name"], param.expressions["default"].constant
            if name in given:
                scope[name] = given[name]
            else:
                scope[name] = self._value(param, "default", scope) if default is None else default
        return scope

    def _new_instance(self, calls: _Calls, ticks: float, procedure: int = -1) -> _Instance:
        frame = self._frames[-1]
        self._instances.append((calls, ticks, procedure, self.definitions.module_of[frame.at[1]],
                                frame.given if procedure >= 0 else {}))
        return _Instance(len(self._instances) - 1, ticks)

    def _block(self, nodes: Iterable[Node], outer: Scope, within: Within) -> _BlockSteps:
        """Return the calls of elements in a row; within: the elements around them, see Evaluated."""
        scope, calls, ticks, is_taken = outer, _Calls(), 0.0, False
        targets, new = self.definitions.targets[self._frames[-1].at[0]], tuple.__new__
        for node in nodes:
            self._evaluated += 1
            if self._evaluated > MAX_EVALUATIONS:
                self._check_count(node)
            plain = node.plain
            if plain is not None and (target := targets[node]).__class__ is int:
                duration, transition = plain
                if duration > 0.0:
                    row = ~target, 1, duration, transition, node, False, False, WHOLE_CLIP, NOWHERE, within
                    calls.append(new(_Call, row))  # as _Call(*row), in half of the time
                    ticks += duration
                continue
            more: _Calls = []
            length = 0.0
            if node.tag == "let":
                scope = {**scope, node.texts["name"]: self._value(node, "value", scope)}
            elif node.tag in ("if", "elif", "else"):
                is_taken = is_taken and node.tag != "if"
                if not is_taken and (node.tag == "else" or self._truth(node, "test", scope)):
                    is_taken = True
                    more, length = yield from self._block(node.children, scope, (*within, (node, 0)))
            elif node.tag == "call":
                found = self._call(node, scope, within)
                more, length = found if isinstance(found, tuple) else (yield from self._performed(found))
            else:
                played = self._player(node)(self, node, scope, within)
                more, length = played if isinstance(played, tuple) else (yield from played)
            if more and "transition" in node.expressions:
                more = [*more[:-1], more[-1]._replace(transition=self._length(node, "transition", scope))]
            calls += more
            ticks += length
        return calls, ticks

    def _player(self, node: Node) -> _Player:
        """Return the function that evaluates an element that neither is a call nor controls others."""
        if node.tag not in PLAYED_BY:
            raise self._error(node, f"found <{node.tag}>, which is a word of the language, but nothing plays it; "
                                    f"expected {' or '.join(f'<{tag}>' for tag in PLAYED_BY)}")
        return PLAYED_BY[node.tag]

    def _wait(self, node: Node, scope: Scope, within: Within) -> _Played:
        ticks = self._length(node, "duration", scope)
        return self._rest(node, ticks, NOWHERE, within), ticks

    def _look(self, node: Node, scope: Scope, within: Within) -> _Played:
        ticks = self._length(node, "duration", scope)
        return self._rest(node, ticks, Aim(self._role(node, "at", scope, _LOOKED_AT)), within), ticks

    def _reach(self, node: Node, scope: Scope, within: Within) -> _Played:
        comes, holds = self._length(node, "duration", scope), self._length(node, "hold", scope)
        aim = Aim(self._role(node, "for", scope, _TARGETS), node.texts["with"][0], holds / max(comes + holds, 1e-30))
        return self._rest(node, comes + holds, aim, within), comes + holds

    def _hold(self, node: Node, scope: Scope, within: Within) -> _Played:
        ticks = self._length(node, "duration", scope)
        aim = Aim(self._role(node, "prop", scope, ("prop",)), node.texts["with"][0], holds=True)
        return self._rest(node, ticks, aim, within), ticks

    def _meet(self, node: Node, scope: Scope, within: Within) -> _Played:
        comes, holds = self._length(node, "duration", scope), self._length(node, "hold", scope)
        aim = Aim(self._role(node, "person", scope, ("person",)), node.texts["with"][0],
                  holds / max(comes + holds, 1e-30), meets=node.texts["hand"][0])
        return self._rest(node, comes + holds, aim, within), comes + holds

    def _rest(self, node: Node, ticks: float, aim: Going | Aim, within: Within) -> _Calls:
        row = ~WAIT, 1, ticks, _NAN, node, False, False, WHOLE_CLIP, aim, within
        return [tuple.__new__(_Call, row)] if ticks > 0.0 else []  # as _Call(*row), in half of the time

    def _pick(self, node: Node, scope: Scope, within: Within) -> _BlockSteps:
        return (yield from self._block((self._picked_child(node, scope),), scope, (*within, (node, 0))))

    def _call(self, node: Node, scope: Scope, within: Within) -> _Played | _Asked:
        """Return the calls of a call, or a request if its procedure was not yet evaluated with these values."""
        duration = self._length(node, "duration", scope)
        if duration == 0.0:
            return [], 0.0
        view, _ = self._frames[-1].at
        target = self.definitions.targets[view][node]
        repeat = self._count_of(node, "repeat", scope, 1) if "repeat" in node.expressions else 1
        going = self._going(node, scope)
        mirror, reverse = self._flag(node, "mirror", scope), self._flag(node, "reverse", scope)
        if isinstance(target, int):
            part = self._part(node, scope, target)
            return [_Call(~target, repeat, duration, _NAN, node, mirror, reverse, part, going, within)], (
                duration * repeat)
        if "to" in node.expressions and not going.to:
            raise self._error(node, f"<call> to: found a number for the procedure {quoted(node.name)}, expected a role "
                                    "that is a place; only clips have parts")
        given = {name: self._value(child, name, scope) if expression.constant is None else expression.constant
                 for child in node.children for name, expression in child.expressions.items()}
        self._spend(node, len(given))
        known = self._known.get(_alike(target, given))
        if known is None:
            return _Asked(node, _Frame(target, node, given), duration, repeat, mirror, reverse, going, within)
        self._count(node)
        call = _Call(known.number, repeat, duration, _NAN, node, mirror, reverse, going=going, within=within)
        return [call], duration * repeat

    def _going(self, node: Node, scope: Scope) -> Going:
        """Return the destination of a call in the scene."""
        expressions, fits = node.expressions, node.texts.get("repeat") == FIT
        if not fits and _GOING.keys().isdisjoint(expressions):
            return NOWHERE
        found = {name: self._role(node, name, scope, kinds) for name, kinds in _GOING.items() if name in expressions}
        going = Going(**found, faces="facing" not in expressions or self._truth(node, "facing", scope), fits=fits)
        if going.to and going.along:
            raise self._error(node, "<call> to, along: found both, expected one of them: a path ends where it ends")
        if fits and not (going.to or going.along):
            raise self._error(node, "<call> repeat: found fit without a way, expected a place in `to`, or a path in "
                                    "`along`, or a whole number")
        return going

    def _role(self, node: Node, name: str, scope: Scope, kinds: tuple[str, ...]) -> str:
        """Return the name of a role, or "" if `to` gives a part of the clip instead."""
        expression = node.expressions[name]
        self._spend(node, expression.size)
        try:
            value = expression.value(scope)
            if value.__class__ is Role and value.kind in kinds:
                return value.name
            return "" if name == "to" and not isinstance(value, Role) else expression.role(scope, kinds).name
        except ExpressionError as error:
            raise self._error(node, f"<{node.tag}> {name}: {error}") from None

    def _performed(self, asked: _Asked) -> _BlockSteps:
        """Evaluate the procedure of a call; once for each repetition if it picks."""
        duration, repeat, mirror, reverse = asked.duration, asked.repeat, asked.mirror, asked.reverse
        going, node, within, calls = asked.going, asked.node, asked.within, list[_Call]()
        for i in range(repeat):
            self._count(node)
            before = self._picks
            instance = yield asked.frame, self._procedure(asked.frame)
            if instance.ticks <= 0.0:
                raise self._error(node, f"<call> name: {quoted(node.texts['name'])} plays nothing this time, expected "
                                        "something to play, or a duration of 0")
            if self._picks == before:  # all repetitions are equal
                call = _Call(instance.number, repeat, duration, _NAN, node, mirror, reverse, going=going,
                             within=within)
                return [call], duration * repeat
            calls.append(_Call(instance.number, 1, duration, _NAN, node, mirror, reverse, going=going,
                               within=(*within, (node, i))))
        return calls, duration * repeat

    def _loop(self, node: Node, scope: Scope, within: Within) -> _BlockSteps:
        times, index = self._count_of(node, "times", scope, 0), node.texts.get("index", "")
        uses_index = bool(index) and index in self._names_within(node)
        if uses_index and self._evaluated + times > self._most:
            raise self._too_much(node)
        calls: _Calls = []
        total = 0.0
        for i in range(times):
            before, around = self._picks, (*within, (node, i))
            may_be_alike = not uses_index and not calls
            more, ticks = yield from self._block(node.children, {**scope, index: float(i)} if index else scope,
                                                 () if may_be_alike else around)
            if self._picks == before and not uses_index:  # all rounds are equal
                body = self._new_instance(more, ticks)
                call = _Call(body.number, times, ticks, _NAN, node, within=within)
                return ([call] if ticks > 0.0 else []), ticks * times
            calls += [call._replace(within=(*around, *call.within)) for call in more] if may_be_alike else more
            total += ticks
        return calls, total

    def _names_within(self, node: Node) -> frozenset[str]:
        """Return the names that expressions of an element's descendants need."""
        if node not in self._names_used:
            found = set[str]()
            for child in node.children:
                found.update(*(expression.names for expression in child.expressions.values()))
                if child.children:  # no deeper than elements may be nested
                    found |= self._names_within(child)
            self._names_used[node] = frozenset(found)
        return self._names_used[node]

    def _together(self, node: Node, scope: Scope, within: Within) -> _BlockSteps:
        lanes, longest = [], 0.0
        for lane in node.children:
            calls, ticks = yield from self._block(lane.children, scope, ())
            instance = self._new_instance(calls, ticks).number if ticks > 0.0 else -1
            weight, weight_end, eases = 1.0, 1.0, (_NAN, _NAN)
            if lane.expressions:
                weight, ease = self._length(lane, "weight", scope, 1.0), self._length(lane, "ease", scope, _NAN)
                weight_end = self._length(lane, "weightEnd", scope, weight)
                eases = self._length(lane, "easeIn", scope, ease), self._length(lane, "easeOut", scope, ease)
            lanes.append(LaneCall(instance, lane, weight, weight_end, *eases))
            longest = max(longest, ticks)
        ticks = self._length(node, "duration", scope, longest)
        if ticks == 0.0:
            return [], 0.0
        leaf = WAIT
        if any(lane.instance >= 0 for lane in lanes):
            block = BlockCall(tuple(lanes), self._frames[-1].at[0], ticks)
            leaf = len(self.clip_durations_s) + self._blocks.setdefault(block, len(self._blocks))
        return [_Call(~leaf, 1, ticks, _NAN, node, within=within)], ticks

    def _picked_child(self, node: Node, scope: Scope) -> Node:
        """Return the child chosen by a hash of the seed, the pick's number in its file, and its earlier evaluations."""
        _, procedure = self._frames[-1].at
        module, number = self.definitions.module_of[procedure], self.definitions.picks[node]
        count = self._picked.get((module, number), 0)
        self._picked[module, number] = count + 1
        self._picks += 1
        self._spend(node, len(node.children))
        weights = [self._length(child, "weight", scope, 1.0) for child in node.children]
        if sum(weights) <= 0.0:
            raise self._error(node, "<pick>: found weights that are all 0, expected one above 0 at least")
        text = f"{self.seed}|{self.definitions.sources[module]}|{number}|{count}"
        share = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") / 2.0**64
        chosen = bisect_right(list(accumulate(weights)), share * sum(weights))
        return node.children[min(chosen, max(i for i, weight in enumerate(weights) if weight > 0.0))]

    # Values

    def _file_lets(self, view: int) -> dict[str, Value]:
        if view not in self._lets:
            values: dict[str, Value] = dict(self.definitions.views[view].roles)
            for let in self.definitions.views[view].lets:
                try:
                    values[let.name] = let.value.value(values)
                except ExpressionError as error:
                    raise ScoreError(Problem(f"<let> value: {error}", let.at.place)) from None
            self._lets[view] = values
        return self._lets[view]

    def _value(self, node: Node, name: str, scope: Scope) -> Value:
        self._spend(node, node.expressions[name].size)
        try:
            return node.expressions[name].value(scope)
        except ExpressionError as error:
            raise self._error(node, f"<{node.tag}> {name}: {error}") from None

    def _number(self, node: Node, name: str, scope: Scope) -> float:
        self._spend(node, node.expressions[name].size)
        try:
            return node.expressions[name].number(scope)
        except ExpressionError as error:
            raise self._error(node, f"<{node.tag}> {name}: {error}") from None

    def _truth(self, node: Node, name: str, scope: Scope) -> bool:
        self._spend(node, node.expressions[name].size)
        try:
            return node.expressions[name].truth(scope)
        except ExpressionError as error:
            raise self._error(node, f"<{node.tag}> {name}: {error}") from None

    def _flag(self, node: Node, name: str, scope: Scope) -> bool:
        return name in node.expressions and self._truth(node, name, scope)

    def _length(self, node: Node, name: str, scope: Scope, default: float = 0.0) -> float:
        """Return a number that must not be negative."""
        expression = node.expressions.get(name)
        if expression is None:
            return default
        value = expression.constant
        if value.__class__ is not float:
            value = self._number(node, name, scope)
        if value < 0.0:
            raise self._unfit(node, name, value, "0 or more")
        return value

    def _count_of(self, node: Node, name: str, scope: Scope, least: int) -> int:
        value = self._number(node, name, scope)
        whole = round(value)
        if abs(value - whole) > _WHOLE or not least <= whole <= MAX_SEGMENTS:
            raise self._unfit(node, name, value, f"a whole number from {least} to {MAX_SEGMENTS}")
        return whole

    def _part(self, node: Node, scope: Scope, clip: int) -> tuple[float, float]:
        is_whole = "from" not in node.expressions and "to" not in node.expressions
        if is_whole or clip == self.definitions.gap:  # the length of a missing clip is unknown
            return WHOLE_CLIP
        is_place = "to" in node.expressions and bool(self._role(node, "to", scope, _GOING["to"]))
        begin, end = (self._share(node, name, scope, clip) if name in node.expressions else default
                      for name, default in (("from", 0.0), ("" if is_place else "to", 1.0)))
        if not 0.0 <= begin < end <= 1.0:
            raise self._error(node, f"<call> from, to: found the part from {begin:.6g} to {end:.6g} of the clip, "
                                    "expected 0 ≤ from < to ≤ 1")
        return begin, end

    def _share(self, node: Node, name: str, scope: Scope, clip: int) -> float:
        value, duration_s = self._number(node, name, scope), self.clip_durations_s[clip]
        if name not in node.in_seconds:
            return value
        return value / duration_s if duration_s > 0.0 else 0.0

    # Limits and errors

    def _count(self, node: Node) -> None:
        self._evaluated += 1
        if self._evaluated > MAX_EVALUATIONS:
            self._check_count(node)

    def _check_count(self, node: Node) -> None:
        if self._evaluated > self._most:
            raise self._too_much(node)

    def _spend(self, node: Node | None, operations: int) -> None:
        self._operations += operations
        if self._operations > MAX_OPERATIONS:
            raise self._error(node, f"found more than {MAX_OPERATIONS} operations to evaluate; expected fewer or "
                                    "shorter expressions, fewer values in calls, or loops of fewer rounds")

    @cached_property
    def _most(self) -> int:
        """The number of elements that may be evaluated."""
        with_values = max(sum(bool(call.children) for call in calls) for calls in self.definitions.targets)
        return max(MAX_EVALUATIONS, MOST_EACH * with_values)

    def _too_much(self, node: Node) -> ScoreError:
        return self._error(node, f"found more than {self._most} elements to evaluate; expected fewer, or loops "
                                 "whose blocks do not use their index")

    def _unfit(self, node: Node, name: str, value: float, wanted: str) -> ScoreError:
        return self._error(node, f"<{node.tag}> {name}: found {quoted(node.expressions[name].text)}, which is "
                                 f"{shown(value)}, expected {wanted}")

    def _error(self, node: Node | None, message: str) -> ScoreError:
        """Return the error with its place, and the chain of calls, with their values, that leads to it."""
        procedure = self._frames[-1].at[1]
        place = Place() if node is None else self.definitions.place(procedure, node)
        called = [self._called(frame) for frame in self._frames]
        if len(called) > 2 * _CHAIN_SHOWN:
            called = [*called[:_CHAIN_SHOWN], "…", *called[-_CHAIN_SHOWN:]]
        return ScoreError(Problem(f"{message} (in {' → '.join(called)})", place))

    def _called(self, frame: _Frame) -> str:
        values = some_of([f"{name} = {shown(value)}" for name, value in frame.given.items()], _VALUES_SHOWN)
        return self.definitions.procedures[frame.at[1]].name + (f"({values})" if values else "")

    def _table(self, start: int) -> Evaluated:
        calls, ticks, procedures, modules, values = zip(*self._instances, strict=True)
        sizes = np.array([0, *map(len, calls)])
        rows = [call for instance in calls for call in instance]
        target, repeat, duration, transition, node, mirror, reverse, part, going, within = (
            zip(*rows, strict=True) if rows else ((),) * len(_Call._fields))
        number = len(rows)
        return Evaluated(
            np.cumsum(sizes), np.fromiter(target, np.int64, number),
            np.ones(number, np.int64) if repeat.count(1) == number else np.fromiter(repeat, np.int64, number),
            np.fromiter(duration, np.float64, number), np.fromiter(transition, np.float64, number),
            np.fromiter(mirror, np.bool_, number) if True in mirror else np.zeros(number, np.bool_),
            np.fromiter(reverse, np.bool_, number) if True in reverse else np.zeros(number, np.bool_),
            np.full((number, 2), WHOLE_CLIP) if part.count(WHOLE_CLIP) == number else np.array(part), going, node,
            np.repeat(modules, sizes[1:]), within,
            np.array(procedures, dtype=np.int64), np.array(ticks), tuple(self._blocks), start, values)


_TARGETS: Final = ("place", "prop")
_LOOKED_AT: Final = (*_TARGETS, "person")
_GOING: Final = {"to": ("place",), "at": ("place",), "along": ("path",)}
"""The attributes of a call that name roles, and the kinds of these."""
PLAYED_BY: Final[Mapping[str, _Player]] = {
    "wait": _Evaluation._wait, "look": _Evaluation._look, "reach": _Evaluation._reach, "hold": _Evaluation._hold,
    "meet": _Evaluation._meet, "loop": _Evaluation._loop, "pick": _Evaluation._pick,
    "together": _Evaluation._together}
"""The functions that evaluate elements, by tag, except `call`, `let`, `if`, `elif` and `else`."""
