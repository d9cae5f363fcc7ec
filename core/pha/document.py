"""The contents of a score's text, as values that know their places in it. Gustaitis et al. 2007, chapter 5."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import Place, Problem, quoted
from .expressions import NUMBER
from .garbage import without_search_for_cycles
from .grammar import GRAMMAR
from .naming import near
from .nodes import BlockReader, Node, shifted
from .text import Span, Text, difference

MAX_SEGMENTS = 1_000_000
"""Greatest number of segments that are expanded."""
MAX_PROBLEMS = 100
MIN_TICK_S, MAX_TICK_S = 1e-6, 1e6
"""Least and greatest length of a tick in seconds: others are slips, and times would lose their digits."""

_INTEGER = re.compile(r"\+?[0-9]+")
_ATTRIBUTES = {
    "pha": ("tickLength", "version"),
    "load": ("src",),
    "include": ("src",),
    "procedure": ("name",),
    "call": ("name", "duration", "transition", "repeat"),
}
_TOP = ("load", "include", "music", "tempo", "mask", "role", "let", "procedure")
"""The elements that are read directly below `pha` in version 2."""
_CHILDREN: dict[str, tuple[str, ...]] = {"pha": ("load", "include", "procedure"), "procedure": ("call",)}


class Item(Protocol):
    """Something written in a text."""

    @property
    def element(self) -> int:
        """Its number in the text."""


class Source(NamedTuple):
    """A load, an include or an extends: a dotted path below the library; element: its number in the text."""

    src: str
    element: int


class Call(NamedTuple):
    """A call: lengths in ticks; transition None: not given; element: its number in the text."""

    name: str
    duration: float
    transition: float | None
    repeat: int
    element: int


@dataclass(frozen=True)
class Procedure:
    """A named row of calls; element: its number in the text.

    block: in version 2, instead of calls, all its elements, parameters first.
    """

    name: str
    calls: tuple[Call, ...]
    element: int
    block: tuple[Node, ...] = ()

    @property
    def params(self) -> tuple[Node, ...]:
        """Its parameters, only in version 2."""
        if not self.block or self.block[0].tag != "param":  # most have none
            return ()
        return tuple(takewhile(lambda node: node.tag == "param", self.block))

    @property
    def ticks(self) -> float:
        """The total length of its calls."""
        return sum([call.duration * call.repeat for call in self.calls]) if self.calls else 0.0

    def shifted(self, by: int) -> Procedure:
        """Return it with its element's number, and those of all within it, increased."""
        calls = tuple([call._replace(element=call.element + by) for call in self.calls])
        return Procedure(self.name, calls, self.element + by, tuple([shifted(node, by) for node in self.block]))


class Tempo(NamedTuple):
    """A change of tempo: from a tick on, a tick lasts tick_s; over: the number of ticks over which it changes."""

    tick: float
    tick_s: float
    over: float
    element: int


class Music(NamedTuple):
    """The music of a score: a dotted path below the library; offset_s: time in the music at tick 0."""

    src: str
    offset_s: float
    element: int


class Mask(NamedTuple):
    """A name for a part of the body; fade: number of joints over which its border is blended."""

    name: str
    body: str
    fade: float
    element: int


class NamedRole(NamedTuple):
    """A name for something in the scene; kind: of ROLE_KINDS."""

    name: str
    kind: str
    element: int


@dataclass(frozen=True)
class Document:
    """The contents of one score file, and its text, in which each value has its place.

    If problems hold an error, the wrong values are replaced by harmless ones.
    version: 1 or 2; all fields after it are of version 2.
    """

    text: Text
    tick_s: float
    loads: tuple[Source, ...]
    includes: tuple[Source, ...]
    procedures: tuple[Procedure, ...]
    problems: tuple[Problem, ...]
    version: int = 1
    extends: Source | None = None
    lets: tuple[Node, ...] = ()
    masks: tuple[Mask, ...] = ()
    roles: tuple[NamedRole, ...] = ()
    tempo: tuple[Tempo, ...] = ()
    music: Music | None = None

    @property
    def path(self) -> Path | None:
        """The file it came from."""
        return self.text.path

    def place(self, item: Item) -> Place:
        """Return the line and column of something of this document."""
        return self.text.place(item.element)

    def span(self, item: Item, attribute: str = "") -> Span | None:
        """Return the bytes of something of this document, or of an attribute's value, None if that is not there."""
        return self.text.value_span(item.element, attribute) if attribute else self.text.span(item.element)


def parse(text: str | bytes, path: Path | None = None) -> Document:
    """Read a score.

    path: the file it came from, for messages and for finding its library.
    All mistakes are in the document's problems, in the order of the file. Raises FileError only if the text is not XML.

    >>> document = parse('<pha tickLength="0.5"><procedure name="main"><call name="bow" duration="2"/>'
    ...                  '</procedure></pha>')
    >>> document.tick_s, document.procedures[0].calls[0].duration
    (0.5, 2.0)
    """
    return read(Text.of(text, path))


@without_search_for_cycles
def read(text: Text, like: Document | None = None) -> Document:
    """Read a score from a text that is parsed already.

    like: the document of an earlier text; unchanged elements with unchanged numbers are taken from it.
    """
    return _Reader(text, like).document()


def _unchanged(text: Text, like: Document) -> tuple[dict[int, Procedure], dict[int, Node]]:
    """Return the parts of a document without mistakes that a text contains byte by byte, by their numbers in it.

    These are procedures; and of changed procedures, in version 2, the elements directly within them. What stands behind
    the change gets new numbers.
    """
    procedures, nodes = dict[int, Procedure](), dict[int, Node]()
    before, width = like.text, text.encoding.width
    is_alike = (before.encoding, before.is_string, before.shape.attributes[0].get("version")) == (
        text.encoding, text.is_string, text.shape.attributes[0].get("version"))
    if not is_alike or like.problems:
        return procedures, nodes
    first, last = (at // width for at in difference(before.data, text.data))
    longer, more, elements = (len(text.data) - len(before.data)) // width, len(text) - len(before), len(text)
    behind = bisect_right(before.starts, last)
    is_shifted = behind + more >= 0 and all(
        np.array_equal(np.array(old[behind:]) + longer, new[behind + more:])
        for old, new in ((before.starts, text.starts), (before.closes, text.closes)))

    def now(element: int) -> int | None:
        """Return the new number of an element whose text is unchanged, apart from its end tag; else None."""
        if is_shifted and element >= behind:
            return element + more
        if before.closes[element] + len("</") <= first:
            return element
        is_same = element < elements and (
            before.data[before.starts[element] * width:before.closes[element] * width]
            == text.data[text.starts[element] * width:text.closes[element] * width])
        return element if is_same else None

    for procedure in like.procedures:
        element = now(procedure.element)
        if element is None:
            block = procedure.block
            low = bisect_right(block, first - len("</"), key=lambda node: before.closes[node.element])
            high = bisect_left(block, behind, low, key=lambda node: node.element) if is_shifted else len(block)
            nodes |= {node.element: node for node in block[:low]}
            nodes |= {at: node for node in block[low:high] if (at := now(node.element)) is not None}
            nodes |= {node.element: node for node in (shifted(node, more) if more else node for node in block[high:])}
        elif text.shape.depths[element] == 1:
            procedures[element] = procedure if element == procedure.element else procedure.shifted(more)
    return procedures, nodes


class _Reader:
    """Turns elements into values and collects mistakes."""

    def __init__(self, text: Text, like: Document | None) -> None:
        self._text, self._shape = text, text.shape
        self._problems: list[tuple[int, str]] = []
        self._known, self._known_nodes = ({}, {}) if like is None else _unchanged(text, like)

    def document(self) -> Document:
        if self._shape.tags[0] != "pha":
            self._error(0, f"found <{self._shape.tags[0][:60]}>, expected <pha> as the outermost element of a score")
        version = self._shape.attributes[0].get("version", "1")
        if version == "2":
            return self._version_2()
        self._check(0, "pha")
        if version not in ("1", "1.0"):
            self._error(0, f"<pha> version: found {quoted(version)}, expected 1 or 2: a later version of the score "
                           "language than is read here")
        tick_s = self._seconds_per_tick(0, "pha")
        top = [(child, self._shape.tags[child]) for child in BlockReader(self._text, self._error).top]
        loads = tuple(self._sources(top, "load"))
        includes = tuple(self._sources(top, "include"))
        procedures = tuple(self._procedures(top))
        return Document(self._text, tick_s or 1.0, loads, includes, procedures, self._sorted_problems())

    def _sorted_problems(self) -> tuple[Problem, ...]:
        found = sorted(self._problems, key=lambda problem: problem[0])
        return shortened([Problem(message, self._text.place(element)) for element, message in found])

    def _version_2(self) -> Document:
        known = {element: procedure.block for element, procedure in self._known.items()}
        top = BlockReader(self._text, self._error, known, self._known_nodes, MAX_PROBLEMS).node(0)
        of: dict[str, list[Node]] = {tag: [] for tag in GRAMMAR["pha"].children}
        for node in top.children:
            of[node.tag].append(node)
        for tag in of.keys() - _TOP:
            for node in of[tag]:
                self._error(node.element, f"found <{tag}> in <pha>, which is a word of the language, but nothing reads "
                                          f"it; expected {' or '.join(f'<{known}>' for known in _TOP)}")
        extends = top.texts.get("extends")
        masks = tuple(Mask(node.texts["name"], node.texts["body"], self._plain(node, "fade", "joints"), node.element)
                      for node in self._of_unique_names(of["mask"]))
        roles = tuple(NamedRole(node.texts["name"], node.texts["is"], node.element)
                      for node in self._of_unique_names(of["role"]))
        music = [Music(node.texts["src"], self._plain(node, "offset", "seconds", may_be_negative=True), node.element)
                 for node in of["music"] if node.texts["src"]]
        procedures = tuple(Procedure(node.texts["name"], (), node.element, node.children)
                           for node in self._of_unique_names(of["procedure"]))
        loads, includes = (tuple(Source(node.texts["src"], node.element) for node in of[tag] if node.texts["src"])
                           for tag in ("load", "include"))
        lets, tempo = tuple(self._of_unique_names(of["let"])), tuple(self._tempo(of["tempo"]))
        return Document(self._text, self._tick_length(top), loads, includes, procedures, self._sorted_problems(), 2,
                        None if extends is None else Source(extends, 0), lets, masks, roles, tempo,
                        music[0] if music else None)

    def _of_unique_names(self, nodes: list[Node]) -> Iterator[Node]:
        """Yield nodes with unique names; report names that are used twice."""
        first: dict[str, Node] = {}
        for node in nodes:
            name = node.texts["name"]
            if name and name in first:
                self._error(node.element, f"<{node.tag}> name: found {quoted(name)} again, which line "
                                          f"{self._text.place(first[name].element).line} already defines; expected a "
                                          "name of its own")
            elif name:
                first[name] = node
                yield node

    def _tempo(self, nodes: list[Node]) -> Iterator[Tempo]:
        last = -1.0
        for node in nodes:
            tick = self._plain(node, "tick", "ticks")
            if tick <= last:
                self._error(node.element, f"<tempo> tick: found {tick:g} after {last:g}, expected tempos in the order "
                                          "of their ticks")
            last = tick
            yield Tempo(tick, self._tick_length(node), self._plain(node, "over", "ticks"), node.element)

    def _tick_length(self, node: Node) -> float:
        """Return seconds per tick, or 1 if they are missing or wrong, which is reported."""
        if "tickLength" not in self._shape.attributes[node.element]:
            return 1.0
        return self._seconds_per_tick(node.element, node.tag) or 1.0

    def _seconds_per_tick(self, element: int, tag: str) -> float | None:
        """Read the length of a tick, or None if it is missing or wrong, which is then reported."""
        found = self._number(element, tag, "tickLength", "seconds per tick", above_zero=True)
        if found is not None and not MIN_TICK_S <= found <= MAX_TICK_S:
            self._error(element, f"<{tag}> tickLength: found {found:g}, expected seconds per tick from {MIN_TICK_S:g} "
                                 f"to {MAX_TICK_S:g}")
            return None
        return found

    def _plain(self, node: Node, name: str, unit: str, *, may_be_negative: bool = False) -> float:
        """Return a number that is not an expression, or 0 if it is not given."""
        text = self._shape.attributes[node.element].get(name)
        if text is None:
            return 0.0
        if may_be_negative and (value := number(text)) is not None and math.isfinite(value):
            return value
        return self._number(node.element, node.tag, name, unit, above_zero=False) or 0.0

    def _sources(self, top: list[tuple[int, str]], tag: str) -> Iterator[Source]:
        for element, name in top:
            if name == tag:
                self._check(element, tag)
                src = self._word(element, tag, "src", "a dotted path below the library, as in feet.Steps")
                if src:
                    yield Source(src, element)

    def _procedures(self, top: list[tuple[int, str]]) -> Iterator[Procedure]:
        first: dict[str, int] = {}
        for element, tag in top:
            if tag != "procedure":
                continue
            inside: list[int] = []
            if element in self._known:
                name, calls = self._known[element].name, self._known[element].calls
            else:
                inside = self._check(element, "procedure")
                name = self._word(element, "procedure", "name", "a name")
                calls = tuple(self._call(child) for child in inside if self._shape.tags[child] == "call")
            if not calls and not inside:  # otherwise the misplaced elements are reported
                self._error(element, f"<procedure> {quoted(name)}: found no call, expected at least one <call>")
            if name and name in first:
                self._error(element, f"<procedure> name: found {quoted(name)} again, which line "
                                     f"{self._text.place(first[name]).line} already defines; expected a name of its "
                                     "own")
            elif name:
                first[name] = element
                yield Procedure(name, calls, element)

    def _call(self, element: int) -> Call:
        self._check(element, "call")
        name = self._word(element, "call", "name", "the name of a clip or a procedure")
        duration = self._number(element, "call", "duration", "ticks", above_zero=True) or 1.0
        transition = None
        if "transition" in self._shape.attributes[element]:
            transition = self._number(element, "call", "transition", "ticks", above_zero=False)
        return Call(name, duration, transition, self._repeat(element), element)

    def _repeat(self, element: int) -> int:
        text = self._shape.attributes[element].get("repeat")
        if text is None:
            return 1
        digits = text.strip()
        value = int(digits) if _INTEGER.fullmatch(digits) and len(digits) <= 1000 else 0
        if value < 1 or value > MAX_SEGMENTS:
            self._error(element, f"<call> repeat: found {quoted(text)}, expected an integer from 1 to {MAX_SEGMENTS}")
            return 1
        return value

    def _check(self, element: int, tag: str) -> list[int]:
        """Report attributes, elements and text that do not belong in an element; return its children."""
        allowed = _ATTRIBUTES[tag]
        for name in self._shape.attributes[element]:
            if name in allowed or self._is_enough:
                continue
            if name in GRAMMAR[tag].attributes:
                self._error(element, f"<{tag}>: found {quoted(name)}, which needs version=\"2\" on <pha>")
            else:
                self._error(element, f"<{tag}>: found an unknown attribute {quoted(name)}, expected "
                                     f"{' or '.join(allowed)}{near(name, allowed)}")
        if self._shape.words[element]:
            self._error(element, f"<{tag}>: found the text {quoted(self._shape.words[element])}, expected only "
                                 "elements")
        children, inside = _CHILDREN.get(tag, ()), list(self._text.children(element))
        for child in inside:
            name = self._shape.tags[child]
            if name in children or self._is_enough:
                continue
            if name in GRAMMAR[tag].children:
                self._error(child, f"found <{name}> in <{tag}>, which needs version=\"2\" on <pha>")
            else:
                wanted = " or ".join(f"<{c}>" for c in children) or "nothing inside"
                self._error(child, f"found <{name[:60]}> in <{tag}>, expected {wanted}{near(name, children)}")
        return inside

    def _word(self, element: int, tag: str, name: str, wanted: str) -> str:
        text = self._shape.attributes[element].get(name, "")
        if not text.strip():
            found = "an empty one" if name in self._shape.attributes[element] else "none"
            self._error(element, f"<{tag}> {name}: found {found}, expected {wanted}")
            return ""
        return text

    def _number(self, element: int, tag: str, name: str, unit: str, above_zero: bool) -> float | None:
        """Read a number, or None if it is missing or wrong, which is then reported."""
        wanted = f"a number of {unit}, " + ("greater than 0" if above_zero else "0 or more")
        text = self._shape.attributes[element].get(name)
        if text is None:
            self._error(element, f"<{tag}> {name}: found none, expected {wanted}")
            return None
        value = number(text)
        if value is None or value < 0.0 or value == float("inf") or (above_zero and value == 0.0):
            has_comma = value is None and number(text.replace(",", ".")) is not None
            hint = "; write a point, not a comma" if has_comma else ""
            self._error(element, f"<{tag}> {name}: found {quoted(text)}, expected {wanted}{hint}")
            return None
        return abs(value)

    @property
    def _is_enough(self) -> bool:
        """Whether there are so many mistakes that no more are reported."""
        return len(self._problems) > MAX_PROBLEMS

    def _error(self, element: int, message: str) -> None:
        if not self._is_enough:
            self._problems.append((element, message))


def number(text: str) -> float | None:
    """Return the number in a text as scores write it, or None if the text is not a number.

    >>> number(" 2.5 "), number("1e3"), number("bars * 2"), number("nan")
    (2.5, 1000.0, None, None)
    """
    digits = text.strip()
    return float(digits) if len(digits) <= 1000 and NUMBER.fullmatch(digits) else None


def shortened(problems: list[Problem]) -> tuple[Problem, ...]:
    """Return the first MAX_PROBLEMS problems, and one that says that there are more."""
    if len(problems) <= MAX_PROBLEMS:
        return tuple(problems)
    return (*problems[:MAX_PROBLEMS], Problem("and more; correct these first", problems[MAX_PROBLEMS].place,
                                              problems[MAX_PROBLEMS].is_warning))
