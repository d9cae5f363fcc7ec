"""A second expander of scores, for tests alone: plain recursion over elements, written from the language's page.

It shares nothing with core/pha, knows no arrays and reports no places. What core unfolds is compared with this.
"""

import ast
import hashlib
import math
import operator
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

Value = float | bool
NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")
SECONDS = re.compile(r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)s\s*")


MOST_ELEMENTS = 5_000
"""What plays longer than this takes plain recursion too long."""


class TooLong(Exception):  # noqa: N818
    """The score plays more than plain recursion can follow in a moment."""


class Refused(Exception):  # noqa: N818 — what a score is, not what went wrong here
    """The score means nothing."""


class Lane(NamedTuple):
    """One lane of a block, its segments placed from the block's own start, in nominal seconds."""

    body: str
    mode: str
    weight: float
    weight_end: float
    ease_in_s: float
    ease_out_s: float
    segments: "tuple[Segment, ...]"


class Segment(NamedTuple):
    """What plays: a clip, a wait (no clip, no lanes) or a block of lanes. NaN as transition_s: automatic."""

    clip: str | None
    length_s: float
    transition_s: float
    is_mirrored: bool = False
    is_reversed: bool = False
    part: tuple[float, float] = (0.0, 1.0)
    lanes: tuple[Lane, ...] = ()


@dataclass
class Performance:
    """What holds while one score is unfolded. picks: how many times each has come by."""

    modules: Mapping[str, str]
    clips: Mapping[str, float]
    seed: int
    picks: dict[tuple[str, int], int] = field(default_factory=dict)
    views: "dict[str, View]" = field(default_factory=dict)
    elements: int = 0

    def view(self, src: str) -> "View":
        if src not in self.views:
            self.views[src] = View(src, self)
        return self.views[src]

    def count(self) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise TooLong


class Definition(NamedTuple):
    """A procedure, and the module it stands in."""

    module: str
    element: ET.Element


class View:
    """A module with all that it inherits and includes: where names lead to."""

    def __init__(self, src: str, performance: Performance) -> None:
        self.src, self.performance = src, performance
        self.chain = list(self._chain(src))  # itself first
        root = self.chain[0][1]
        self.tick_s = float(root.attrib["tickLength"])
        self.lets = self._lets()
        own: dict[str, Definition] = {}
        for name, element in reversed(self.chain):
            own |= {p.attrib["name"]: Definition(name, p) for p in element.findall("procedure")}
        self.own = own

    def _chain(self, src: str) -> Iterator[tuple[str, ET.Element]]:
        while True:
            root = ET.fromstring(self.performance.modules[src])
            yield src, root
            if "extends" not in root.attrib:
                return
            src = root.attrib["extends"]

    def _lets(self) -> dict[str, Value]:
        texts: dict[str, str] = {}
        for _, root in reversed(self.chain):
            texts |= {let.attrib["name"]: let.attrib["value"] for let in root.findall("let")}
        values: dict[str, Value] = {}
        for name, text in texts.items():
            values[name] = evaluate(text, values)
        return values

    def tempo(self) -> list[tuple[float, float, float]]:
        for _, root in self.chain:
            if root.findall("tempo"):
                return [(float(t.attrib["tick"]), float(t.attrib["tickLength"]), float(t.attrib.get("over", "0")))
                        for t in root.findall("tempo")]
        return []

    def target(self, name: str) -> "tuple[View, Definition] | str":
        """Return the procedure of a name with the view it runs in, or the full name of a clip."""
        if name in self.own:
            return self, self.own[name]
        for src, _ in self.chain[1:]:
            inherited = self.performance.view(src).own
            if name in {f"{src}.{own}" for own in inherited}:
                return self, inherited[name.removeprefix(f"{src}.")]
        for src in self._included():
            view = self.performance.view(src)
            for own in view.own:
                if own != "main" and name in (own, f"{src}.{own}"):
                    return view, view.own[own]
        for load in (load.attrib["src"] for _, root in self.chain for load in root.findall("load")):
            for clip in self.performance.clips:
                if clip.startswith(load + ".") and name in (clip, clip.removeprefix(load + ".")):
                    return clip
        raise Refused(f"unknown name {name}")

    def _included(self) -> list[str]:
        found: dict[str, None] = {}
        waiting = [include.attrib["src"] for _, root in self.chain for include in root.findall("include")]
        while waiting:
            src = waiting.pop(0)
            if src not in found:
                found[src] = None
                roots = [root for _, root in self._chain(src)]
                waiting += [include.attrib["src"] for root in roots for include in root.findall("include")]
        return list(found)


def expand(modules: Mapping[str, str], clips: Mapping[str, float], *, procedure: str = "main", seed: int = 0,
           values: Mapping[str, Value] | None = None) -> list[Segment]:
    """Unfold the score modules[""]; clips: full names and lengths in seconds. Lengths come out in nominal seconds."""
    view = Performance(modules, clips, seed).view("")
    definition = view.own[procedure]
    segments, ticks = _body(view, definition, dict(values or {}))
    return [_scaled(segment, view.tick_s) for segment in segments] if ticks > 0.0 else []


def clock(tempo: list[tuple[float, float, float]], tick_s: float, tick: float) -> float:
    """Return the seconds at a tick: the integral of the tick's length, piece by piece."""
    pieces: list[tuple[float, float, float]] = []  # from which tick, length there, change per tick
    length, begin, slope, until = tick_s, 0.0, 0.0, 0.0
    pieces.append((0.0, tick_s, 0.0))
    for at, new, over in tempo:
        if slope and at >= until:
            length, begin, slope = length + slope * (until - begin), until, 0.0
            pieces.append((begin, length, slope))
        length, begin = length + slope * (at - begin), at
        if over > 0.0:
            slope, until = (new - length) / over, at + over
        else:
            length, slope = new, 0.0
        pieces.append((begin, length, slope))
    if slope:
        pieces.append((until, length + slope * (until - begin), 0.0))
    total = 0.0
    for (a, there_s, slope), (b, _, _) in pairwise([*pieces, (math.inf, 0.0, 0.0)]):
        span = min(tick, b) - a
        if span > 0.0:
            total += there_s * span + slope * span * span / 2.0
    return total


def _body(view: View, definition: Definition, given: Mapping[str, Value]) -> tuple[list[Segment], float]:
    """Return what a procedure plays, in its own ticks, and how many these are."""
    scope: dict[str, Value] = dict(view.lets)
    params = definition.element.findall("param")
    unknown = set(given) - {p.attrib["name"] for p in params}
    if unknown:
        raise Refused(f"unknown parameters {unknown}")
    for param in params:
        name = param.attrib["name"]
        scope[name] = given[name] if name in given else evaluate(param.attrib["default"], scope)
    children = [child for child in definition.element if child.tag != "param"]
    return _block(view, definition, children, scope)


def _block(view: View, home: Definition, children: list[ET.Element],
           scope: dict[str, Value]) -> tuple[list[Segment], float]:
    scope, segments, ticks = dict(scope), [], 0.0
    is_taken = False
    for child in children:
        if child.tag == "let":
            scope[child.attrib["name"]] = evaluate(child.attrib["value"], scope)
            continue
        if child.tag in ("if", "elif", "else"):
            is_taken = is_taken and child.tag != "if"
            if is_taken or not (child.tag == "else" or _truth(evaluate(child.attrib["test"], scope))):
                continue
            is_taken = True
            more, length = _block(view, home, list(child), scope)
        else:
            more, length = _element(view, home, child, scope)
        segments += more
        ticks += length
    return segments, ticks


def _element(view: View, home: Definition, element: ET.Element,
             scope: dict[str, Value]) -> tuple[list[Segment], float]:
    """Return what call, wait, loop, pick or together plays, in the ticks of its procedure."""
    view.performance.count()
    segments: list[Segment] = []
    ticks = 0.0
    if element.tag == "loop":
        for i in range(_whole(_number(element, "times", scope), 0)):
            inner = {**scope, element.attrib["index"]: float(i)} if "index" in element.attrib else scope
            more, length = _block(view, home, list(element), inner)
            segments, ticks = segments + more, ticks + length
    elif element.tag == "pick":
        segments, ticks = _element(view, home, _picked(view, home, element, scope), scope)
    elif element.tag == "wait":
        ticks = _number(element, "duration", scope)
        if ticks > 0.0:
            segments = [Segment(None, ticks, math.nan)]
    elif element.tag == "together":
        segments, ticks = _together(view, home, element, scope)
    else:
        segments, ticks = _call(view, element, scope)
    if ticks < 0.0:
        raise Refused("a negative length")
    if "transition" in element.attrib and segments:
        transition = _number(element, "transition", scope)
        if transition < 0.0:
            raise Refused("a negative transition")
        segments = [*segments[:-1], segments[-1]._replace(transition_s=transition)]
    return segments, ticks


def _picked(view: View, home: Definition, element: ET.Element, scope: dict[str, Value]) -> ET.Element:
    root = next(root for src, root in view.chain if src == home.module)
    place = list(root.iter("pick")).index(_same(root, home, element))
    performance = view.performance
    count = performance.picks.get((home.module, place), 0)
    performance.picks[home.module, place] = count + 1
    weights = [float(_number(child, "weight", scope)) if "weight" in child.attrib else 1.0 for child in element]
    if min(weights) < 0.0 or sum(weights) <= 0.0:
        raise Refused("weights of a pick")
    text = f"{performance.seed}|{home.module}|{place}|{count}"
    u = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") / 2.0**64
    reached = 0.0
    for child, weight in zip(element, weights, strict=True):
        reached += weight
        if reached > u * sum(weights):
            return child
    return [child for child, weight in zip(element, weights, strict=True) if weight > 0.0][-1]


def _same(root: ET.Element, home: Definition, element: ET.Element) -> ET.Element:
    """Return the element of root that stands where `element` does; definitions are parsed from the same text."""
    there = next(p for p in root.findall("procedure") if p.attrib["name"] == home.element.attrib["name"])
    index = [e is element for e in home.element.iter()].index(True)
    return list(there.iter())[index]


def _call(view: View, element: ET.Element, scope: dict[str, Value]) -> tuple[list[Segment], float]:
    duration = _number(element, "duration", scope)
    if duration == 0.0:
        return [], 0.0
    if duration < 0.0:
        raise Refused("a negative length")
    repeat = _whole(_number(element, "repeat", scope), 1) if "repeat" in element.attrib else 1
    mirrors, reverses = (name in element.attrib and _truth(evaluate(element.attrib[name], scope))
                         for name in ("mirror", "reverse"))
    with_ = element.find("with")
    given = {} if with_ is None else {name: evaluate(text, scope) for name, text in with_.attrib.items()}
    target = view.target(element.attrib["name"])
    segments: list[Segment] = []
    for _ in range(repeat):
        if isinstance(target, str):
            if with_ is not None:
                raise Refused("a clip has no parameters")
            part = _part(element, scope, view.performance.clips[target])
            once = [Segment(target, duration, math.nan, part=part)]
        else:
            if "from" in element.attrib or "to" in element.attrib:
                raise Refused("a part of a procedure")
            inner, ticks = _body(*target, given)
            if ticks <= 0.0:
                raise Refused("a procedure that plays nothing")
            once = [_scaled(segment, duration / ticks) for segment in inner]
        once = _reversed(once) if reverses else once
        segments += [_mirrored(segment) for segment in once] if mirrors else once
    return segments, duration * repeat


def _part(element: ET.Element, scope: dict[str, Value], clip_s: float) -> tuple[float, float]:
    shares = []
    for name, default in (("from", 0.0), ("to", 1.0)):
        text = element.attrib.get(name)
        seconds = SECONDS.fullmatch(text or "")
        share = (default if text is None else float(seconds[1]) / clip_s if seconds
                 else _plain(evaluate(text, scope)))
        shares.append(share)
    if not 0.0 <= shares[0] < shares[1] <= 1.0:
        raise Refused("a part that is none")
    return shares[0], shares[1]


def _together(view: View, home: Definition, element: ET.Element,
              scope: dict[str, Value]) -> tuple[list[Segment], float]:
    found = [(lane, *_block(view, home, list(lane), scope)) for lane in element.findall("lane")]
    ticks = (_number(element, "duration", scope) if "duration" in element.attrib
             else max(length for _, _, length in found))
    if ticks < 0.0:
        raise Refused("a negative length")
    if ticks == 0.0:
        return [], 0.0
    lanes = []
    for lane, inner, length in found:
        def number(name: str, default: float, lane: ET.Element = lane) -> float:
            return _number(lane, name, scope) if name in lane.attrib else default

        weight, ease = number("weight", 1.0), number("ease", math.nan)
        segments = tuple(_scaled(segment, ticks / length) for segment in inner) if length > 0.0 else ()
        lanes.append(Lane(lane.attrib.get("body", "whole"), lane.attrib.get("mode", "replace"), weight,
                          number("weightEnd", weight), number("easeIn", ease), number("easeOut", ease), segments))
    return [Segment(None, ticks, math.nan, lanes=tuple(lanes) if any(lane.segments for lane in lanes) else ())], ticks


def _scaled(segment: Segment, by: float) -> Segment:
    lanes = tuple(lane._replace(ease_in_s=lane.ease_in_s * by, ease_out_s=lane.ease_out_s * by,
                                segments=tuple(_scaled(inner, by) for inner in lane.segments))
                  for lane in segment.lanes)
    return segment._replace(length_s=segment.length_s * by, transition_s=segment.transition_s * by, lanes=lanes)


def _mirrored(segment: Segment) -> Segment:
    lanes = tuple(lane._replace(segments=tuple(map(_mirrored, lane.segments))) for lane in segment.lanes)
    return segment._replace(is_mirrored=not segment.is_mirrored, lanes=lanes)


def _reversed(segments: list[Segment]) -> list[Segment]:
    between = [segment.transition_s for segment in segments]
    backwards = []
    for segment, transition in zip(reversed(segments), [*reversed(between[:-1]), *between[-1:]], strict=True):
        lanes = tuple(lane._replace(weight=lane.weight_end, weight_end=lane.weight, ease_in_s=lane.ease_out_s,
                                    ease_out_s=lane.ease_in_s, segments=tuple(_reversed(list(lane.segments))))
                      for lane in segment.lanes)
        backwards.append(segment._replace(transition_s=transition, is_reversed=not segment.is_reversed, lanes=lanes))
    return backwards


# Values

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge}
_CALLS: dict[str, Callable[..., float]] = {"min": min, "max": max, "round": round, "floor": math.floor,
                                           "ceil": math.ceil, "abs": abs}


def evaluate(text: str, scope: Mapping[str, Value]) -> Value:
    """Return what an expression is."""
    if NUMBER.fullmatch(text):
        return float(text)

    def of(node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return float(number)
            case ast.Name(id="yes" | "no" as word):
                return word == "yes"
            case ast.Name(id=name) if name in scope:
                return scope[name]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -_plain(of(inner))
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return not _truth(of(inner))
            case ast.BoolOp(op=op, values=values):
                if isinstance(op, ast.And):
                    return all(_truth(of(value)) for value in values)
                return any(_truth(of(value)) for value in values)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _finite(_BINARY[type(op)](_plain(of(left)), _plain(of(right))))
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [of(left), *map(of, others)]
                for comparison, (a, b) in zip(ops, pairwise(sides), strict=True):
                    if isinstance(a, bool) != isinstance(b, bool) or (isinstance(a, bool) and not isinstance(
                            comparison, ast.Eq | ast.NotEq)):
                        raise Refused("unlike things compared")
                    if not _COMPARE[type(comparison)](a, b):
                        return False
                return True
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _CALLS and arguments:
                return _finite(float(_CALLS[name](*[_plain(of(argument)) for argument in arguments])))
        raise Refused(f"no expression: {text}")

    try:
        return of(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ZeroDivisionError, TypeError) as error:
        raise Refused(str(error)) from error


def _number(element: ET.Element, name: str, scope: Mapping[str, Value]) -> float:
    return _finite(_plain(evaluate(element.attrib[name], scope)))


def _plain(value: Value) -> float:
    if isinstance(value, bool):
        raise Refused("yes or no where a number belongs")
    return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Refused("no finite number")
    return float(value)


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise Refused("a number where yes or no belongs")
    return value


def _whole(value: float, least: int) -> int:
    if abs(value - round(value)) > 1e-9 or round(value) < least:
        raise Refused("no whole number")
    return round(value)


