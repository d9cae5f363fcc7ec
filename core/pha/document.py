"""A score's text, read into values that know their places. Gustaitis et al. 2007, chapter 5."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..errors import Place, Problem, quoted
from ..formats import xml
from ..formats.xml import Element

MAX_SEGMENTS = 1_000_000
"""More segments than this are not unfolded."""
MAX_PROBLEMS = 100
MAX_ELEMENTS = 200_000
"""Of one score's file: it is read within a second, and its author would need years."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_INTEGER = re.compile(r"\+?[0-9]+")
_ATTRIBUTES = {
    "pha": ("tickLength", "version"),
    "load": ("src",),
    "include": ("src",),
    "procedure": ("name",),
    "call": ("name", "duration", "transition", "repeat"),
}
_CHILDREN: dict[str, tuple[str, ...]] = {"pha": ("load", "include", "procedure"), "procedure": ("call",)}


class Source(NamedTuple):
    """A load or an include: a dotted path below the library."""

    src: str
    line: int
    column: int


class Call(NamedTuple):
    """A call: lengths in ticks; transition None: not given."""

    name: str
    duration: float
    transition: float | None
    repeat: int
    line: int
    column: int


@dataclass(frozen=True)
class Procedure:
    """A named row of calls."""

    name: str
    calls: tuple[Call, ...]
    line: int
    column: int

    @property
    def ticks(self) -> float:
        """What its calls add up to."""
        return sum(call.duration * call.repeat for call in self.calls)


@dataclass(frozen=True)
class Document:
    """One score file as it stands. Where problems hold an error, the values beside it are stand-ins."""

    path: Path | None
    tick_s: float
    loads: tuple[Source, ...]
    includes: tuple[Source, ...]
    procedures: tuple[Procedure, ...]
    problems: tuple[Problem, ...]

    def place(self, item: Source | Call | Procedure) -> Place:
        """Return where something of this document stands."""
        return Place(self.path, item.line, item.column)


def parse(text: str | bytes, path: Path | None = None) -> Document:
    """Read a score.

    path: the file it came from, for messages and for finding its library.
    All mistakes are in the document's problems, in the order of the file. Raises FileError only where the text
    is no XML at all.

    >>> document = parse('<pha tickLength="0.5"><procedure name="main"><call name="bow" duration="2"/>'
    ...                  '</procedure></pha>')
    >>> document.tick_s, document.procedures[0].calls[0].duration
    (0.5, 2.0)
    """
    return _Reader(path).document(xml.parse(text, path, MAX_ELEMENTS))


def near(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean …?" where something known is spelt nearly so, else nothing."""
    if len(name) > 200:
        return ""
    found = difflib.get_close_matches(name, list(known)[:5000], n=1, cutoff=0.7)
    return f"; did you mean {found[0]}?" if found else ""


class _Reader:
    """Turns elements into values and collects what is wrong with them."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._problems: list[Problem] = []

    def document(self, root: Element) -> Document:
        if root.tag != "pha":
            self._error(root, f"found <{root.tag[:60]}>, expected <pha> as the outermost element of a score")
        self._check(root, "pha")
        version = root.attributes.get("version", "1")
        if version not in ("1", "1.0"):
            self._error(root, f"<pha> version: found {quoted(version)}, expected 1: a later version of the score "
                              "language than is read here")
        tick_s = self._number(root, "pha", "tickLength", "seconds per tick", above_zero=True)
        loads = tuple(self._sources(root, "load"))
        includes = tuple(self._sources(root, "include"))
        procedures = tuple(self._procedures(root))
        problems = sorted(self._problems, key=lambda p: (p.place.line or 0, p.place.column or 0))
        return Document(self._path, tick_s or 1.0, loads, includes, procedures, shortened(problems))

    def _sources(self, root: Element, tag: str) -> Iterator[Source]:
        for element in root.children:
            if element.tag == tag:
                self._check(element, tag)
                src = self._text(element, tag, "src", "a dotted path below the library, as in feet.Steps")
                if src:
                    yield Source(src, element.line, element.column)

    def _procedures(self, root: Element) -> Iterator[Procedure]:
        first: dict[str, Element] = {}
        for element in root.children:
            if element.tag != "procedure":
                continue
            self._check(element, "procedure")
            name = self._text(element, "procedure", "name", "a name")
            calls = tuple(self._call(child) for child in element.children if child.tag == "call")
            if not calls:
                self._error(element, f"<procedure> {quoted(name)}: found no call, expected at least one <call>")
            if name and name in first:
                self._error(element, f"<procedure> name: found {quoted(name)} again, which line {first[name].line} "
                                     "already defines; expected a name of its own")
            elif name:
                first[name] = element
                yield Procedure(name, calls, element.line, element.column)

    def _call(self, element: Element) -> Call:
        self._check(element, "call")
        name = self._text(element, "call", "name", "the name of a clip or a procedure")
        duration = self._number(element, "call", "duration", "ticks", above_zero=True) or 1.0
        transition = None
        if "transition" in element.attributes:
            transition = self._number(element, "call", "transition", "ticks", above_zero=False)
        return Call(name, duration, transition, self._repeat(element), element.line, element.column)

    def _repeat(self, element: Element) -> int:
        text = element.attributes.get("repeat")
        if text is None:
            return 1
        digits = text.strip()
        value = int(digits) if _INTEGER.fullmatch(digits) and len(digits) <= 1000 else 0
        if value < 1 or value > MAX_SEGMENTS:
            self._error(element, f"<call> repeat: found {quoted(text)}, expected an integer from 1 to {MAX_SEGMENTS}")
            return 1
        return value

    def _check(self, element: Element, tag: str) -> None:
        """Report attributes, elements and text that do not belong into an element."""
        allowed = _ATTRIBUTES[tag]
        for name in element.attributes:
            if name not in allowed and len(self._problems) <= MAX_PROBLEMS:
                self._error(element, f"<{tag}>: found an unknown attribute {quoted(name)}, expected "
                                     f"{' or '.join(allowed)}{near(name, allowed)}")
        if element.text:
            self._error(element, f"<{tag}>: found the text {quoted(element.text)}, expected only elements")
        children = _CHILDREN.get(tag, ())
        for child in element.children:
            if child.tag not in children:
                wanted = " or ".join(f"<{c}>" for c in children) or "nothing inside"
                self._error(child, f"found <{child.tag[:60]}> in <{tag}>, expected {wanted}{near(child.tag, children)}")

    def _text(self, element: Element, tag: str, name: str, wanted: str) -> str:
        text = element.attributes.get(name, "")
        if not text.strip():
            found = "an empty one" if name in element.attributes else "none"
            self._error(element, f"<{tag}> {name}: found {found}, expected {wanted}")
            return ""
        return text

    def _number(self, element: Element, tag: str, name: str, unit: str, above_zero: bool) -> float | None:
        """Read a number; None where it is missing or wrong, which is then reported."""
        wanted = f"a number of {unit}, " + ("greater than 0" if above_zero else "0 or more")
        text = element.attributes.get(name)
        if text is None:
            self._error(element, f"<{tag}> {name}: found none, expected {wanted}")
            return None
        digits = text.strip()
        value = float(digits) if len(digits) <= 1000 and _NUMBER.fullmatch(digits) else -1.0
        if value < 0.0 or value == float("inf") or (above_zero and value == 0.0):
            self._error(element, f"<{tag}> {name}: found {quoted(text)}, expected {wanted}")
            return None
        return abs(value)

    def _error(self, element: Element, message: str) -> None:
        if len(self._problems) <= MAX_PROBLEMS:
            self._problems.append(Problem(message, element.place(self._path)))


def shortened(problems: list[Problem]) -> tuple[Problem, ...]:
    """Keep the first MAX_PROBLEMS."""
    if len(problems) <= MAX_PROBLEMS:
        return tuple(problems)
    return (*problems[:MAX_PROBLEMS], Problem("and more; correct these first", problems[MAX_PROBLEMS].place,
                                              problems[MAX_PROBLEMS].is_warning))
