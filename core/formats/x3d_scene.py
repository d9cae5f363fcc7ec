"""The nodes of an X3D or VRML file in any encoding: typed by name, with fields as text.

The value of a field is read and checked only when it is needed. Prototypes, scripts and other files are not read; the
readers of the encodings warn of what they leave out.
Source: ISO/IEC 19775-1:2023, X3D, 4.4 (nodes, DEF and USE, routes) and 5 (field types).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import FileError, quoted, some_of
from ..maths.arrays import FloatArray
from .number_text import numbers_in, wrong_word
from .polygons import Filler

MAX_NODES: Final = 50_000
"""Greatest number of nodes, and of routes."""
MAX_DEPTH: Final = 100
"""Greatest depth of nodes within nodes."""
MAX_VALUES: Final = 20_000_000
"""Numbers of a file; more are refused."""
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_\-]")
_WORDS: Final = frozenset((
    "AS", "COMPONENT", "DEF", "EXPORT", "EXTERNPROTO", "FALSE", "IMPORT", "IS", "META", "NULL", "PROFILE", "PROTO",
    "ROUTE", "TO", "TRUE", "UNIT", "USE", "X3D", "eventIn", "eventOut", "exposedField", "field", "initializeOnly",
    "inputOnly", "inputOutput", "outputOnly"))
"""Words that have another meaning in the classic encoding."""
_STRING: Final = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_METADATA: Final = frozenset(("MetadataString",))
FULL_NAME: Final = "takt:name"
"""The name of metadata with a node's full name."""
_MOST_NOTES: Final = 20
_NAMED: Final = 5
"""Greatest number of left-out parts of one kind that a warning names."""


class Value(NamedTuple):
    """The written value of a field. line: where it begins."""

    text: str
    line: int


class Use(NamedTuple):
    """A further use of a node whose DEF is elsewhere."""

    name: str
    line: int


class Child(NamedTuple):
    """A node in a field of another; field: "" if the file does not name it."""

    field: str
    node: Node | Use


@dataclass(eq=False)
class Node:
    """A node. kind: its type; name: its DEF, "" for none."""

    kind: str
    name: str
    line: int
    fields: dict[str, Value] = field(default_factory=dict)
    children: list[Child] = field(default_factory=list)

    @property
    def said(self) -> str:
        """The name of the node in messages."""
        return f"{self.kind} {quoted(self.name)}" if self.name else self.kind


class Route(NamedTuple):
    """A connection from a field of one node to a field of another. Fields are without set_ and _changed."""

    source: str
    sent: str
    target: str
    taken: str
    line: int


def route(source: str, sent: str, target: str, taken: str, line: int) -> Route:
    """Return a route by the names in the file.

    >>> route("Clock", "fraction_changed", "Turn", "set_fraction", 3)[1::2]
    ('fraction', 'fraction')
    """
    return Route(source, sent.removesuffix("_changed"), target, taken.removeprefix("set_"), line)


class LeftOut(NamedTuple):
    """A part of the file that is not read: a prototype, a script, another file. name: for the warning."""

    kind: str
    name: str
    line: int


@dataclass(eq=False)
class Scene:
    """A whole file. units: metres and radians in its own unit of length and angle.

    notes: sentences about faults that do not prevent reading the rest. has_unplayed: whether they name motion that is
    not played. filler: of its polygons.
    """

    path: Path | None
    roots: list[Child] = field(default_factory=list)
    named: dict[str, Node] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    units: dict[str, float] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    has_unplayed: bool = False
    filler: Filler = field(default_factory=Filler)
    _left: int = MAX_VALUES
    _read: dict[str, FloatArray] = field(default_factory=dict)

    def error(self, message: str, line: int | None) -> FileError:
        """Return the error for something that is wrong on a line."""
        return FileError.at(message, self.path, line)

    def add_route(self, route: Route) -> None:
        """Add a route; raise FileError if there are too many."""
        if len(self.routes) == MAX_NODES:
            raise self.error(f"more than {MAX_NODES} routes; no more are read", route.line)
        self.routes.append(route)

    def define(self, node: Node) -> None:
        """Make a node known by its DEF to USE and routes; the first of several with the same name counts."""
        first = self.named.setdefault(node.name, node)
        if first is not node:
            self.note(f"DEF {quoted(node.name)} stands on line {first.line} already, for {first.kind}; USE and ROUTE "
                      "mean that one", node.line)

    def note(self, text: str, line: int) -> None:
        """Store a warning about a fault on a line that does not prevent reading the rest."""
        if len(self.notes) < _MOST_NOTES:
            self.notes[f"line {line}: {text}"] = None

    def node(self, child: Child) -> Node:
        """Return the node in a field; raise FileError if it is the USE of a name that no node has."""
        if isinstance(child.node, Node):
            return child.node
        found = self.named.get(child.node.name)
        if found is None:
            raise self.error(f"USE {quoted(child.node.name)}: no node has that DEF", child.node.line)
        return found

    def children(self, node: Node, kinds: frozenset[str], *fields: str) -> Iterator[tuple[Node, int]]:
        """Yield the children of a node of some kinds, with their lines; fields: only those that are in one of these."""
        for child in node.children:
            if fields and child.field not in fields:
                continue
            if isinstance(child.node, Use) and child.node.name not in self.named and self.left_out:
                continue  # of a part that was left out
            found = self.node(child)
            if found.kind in kinds:
                yield found, child.node.line

    def numbers(self, node: Node, name: str, width: int, default: Sequence[float] | FloatArray = ()) -> FloatArray:
        """Return the numbers of a field, (N, width), or the default if the field is missing.

        Raises FileError, with the line, if a number is not finite, if width does not divide their count, or if the file
        has more than MAX_VALUES numbers.
        """
        value = node.fields.get(name)
        if value is None:
            return np.array(default, dtype=np.float64).reshape(-1, width)
        flat = self._read.get(value.text)
        if flat is None:
            flat = self._parsed(node, name, value)
            self._read[value.text] = flat
        if len(flat) % width:
            raise self.error(f"{node.said}: {name} holds {len(flat)} numbers; a multiple of {width} is wanted",
                             value.line)
        return flat.reshape(-1, width)

    def vector(self, node: Node, name: str, default: Sequence[float] | FloatArray) -> FloatArray:
        """Return as many numbers of a field as the default has, (C,)."""
        found = self.numbers(node, name, len(default), default)
        if len(found) != 1:
            raise self.error(f"{node.said}: {name} holds {found.size} numbers; {len(default)} are wanted",
                             node.fields[name].line)
        vector: FloatArray = found[0]
        return vector

    def text(self, node: Node, name: str) -> str:
        """Return the text of a field, the first of several, or "" if it is missing."""
        value = node.fields.get(name)
        return "" if value is None else (texts(value.text) or [""])[0]

    def full_name(self, node: Node) -> str:
        """Return the name in a node's metadata, which stores names that no DEF can hold; "" for none."""
        return next((self.text(each, "value") for each, _ in self.children(node, _METADATA)
                     if self.text(each, "name") == FULL_NAME), "")

    def _parsed(self, node: Node, name: str, value: Value) -> FloatArray:
        flat = numbers_in(value.text)
        if flat is None:
            word, line = wrong_word(value.text, value.line)
            raise self.error(f"{node.said}: {name} holds {quoted(word)}, which is no finite number", line)
        self.spend(len(flat), value.line)
        return flat

    def spend(self, values: int, line: int) -> None:
        """Count numbers that are made from the file; raise FileError if there are too many."""
        self._left -= values
        if self._left < 0:
            raise self.error(f"here the file has more than {MAX_VALUES} numbers, and no more are read", line)

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence about each kind of left-out content, and the stored warnings."""
        kinds: dict[str, list[LeftOut]] = {}
        for each in self.left_out:
            kinds.setdefault(each.kind, []).append(each)
        return (*(f"line {found[0].line}: left out: {kind} "
                  f"{some_of([quoted(each.name) for each in found if each.name], _NAMED)}".rstrip()
                  + f"; {_REASONS.get(kind, _REASONS[''])}" for kind, found in kinds.items()),
                *self.notes, *self.filler.warnings())


_REASONS: Final[Mapping[str, str]] = {
    "Inline": "other files are not read", "Script": "scripts are not run", "": "prototypes are not played"}


def token(name: str) -> str:
    """Return a name with _ for each character that a DEF cannot hold; keywords of the classic encoding get a leading _.

    >>> token("Rig|walk 2"), token("3rd step"), token("arm.L"), token(""), token("USE")
    ('Rig_walk_2', '_3rd_step', 'arm_L', '', '_USE')
    """
    plain = _NO_NAME.sub("_", name)
    return "_" + plain if plain and (plain[0] in "-0123456789" or plain in _WORDS) else plain


def tokens(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return a token for each name, different from each other and from the names that are taken.

    >>> tokens(["walk", "walk", "arm.L"], ["arm_L"])
    ['walk', 'walk_2', 'arm_L_2']
    """
    known = Names(taken)
    return [known.new(name) for name in names]


class Names:
    """Names that are taken, as DEFs of a file, which all differ."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = dict.fromkeys(taken)
        self._numbers: dict[str, int] = {}

    def new(self, name: str) -> str:
        """Return the token of a name, with a number if it is taken, and mark it as taken."""
        new = plain = token(name) or "unnamed"
        while new in self._taken:
            self._numbers[plain] = self._numbers.get(plain, 1) + 1
            new = f"{plain}_{self._numbers[plain]}"
        self._taken[new] = None
        return new


def is_token_of(name: str, said: str) -> bool:
    """Return whether `tokens` may have made a name from another one.

    >>> is_token_of("walk_2", "walk"), is_token_of("walker", "walk")
    (True, False)
    """
    plain, name = token(said).lstrip("_"), name.lstrip("_")
    return bool(plain) and (name == plain or (name.startswith(plain + "_") and name[len(plain) + 1:].isdecimal()))


def attribute(text: str) -> str:
    r"""Quote an attribute's text for XML; what XML cannot hold becomes U+FFFD.

    >>> print(attribute('a<b>"'), attribute("a\x01b"))
    'a&lt;b&gt;"' "a�b"
    """
    return quoteattr(_NO_XML.sub("\ufffd", text))


def text_value(text: str) -> str:
    r"""Return a text as it is written in a field, between double quotes.

    >>> text_value('a "b"'), texts(text_value('a "b" \\'))
    ('"a \\"b\\""', ['a "b" \\'])
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def texts(written: str) -> list[str]:
    """Return the texts of a field: those between double quotes, else the whole field.

    >>> texts('"a b" "c"'), texts("l_hip r_hip"), texts(" ")
    (['a b', 'c'], ['l_hip r_hip'], [])
    """
    found = [re.sub(r"\\(.)", r"\1", each) if "\\" in each else each for each in _STRING.findall(written)]
    return found or [written.strip()] if written.strip() else []
