"""A score's text as a lossless tree: every byte is kept, and every element knows its bytes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import AnyStr, NamedTuple
from xml.parsers import expat

import numpy as np

from ..errors import FileError, Place
from ..formats import xml
from ..maths.arrays import IntArray
from .encoding import Encoding
from .garbage import without_search_for_cycles

MAX_ELEMENTS = 200_000
"""Greatest number of elements in a score's file: these are read within a second, and nobody writes more by hand."""

MAX_ATTRIBUTES = 1_000_000
"""Greatest number of attributes of all its elements."""

_CHUNK = 4096
"""Units whose characters are counted together."""
_NAME = re.compile(rb"<[^ \t\r\n/>]+")
_ATTRIBUTE = re.compile(rb"""([ \t\r\n]+)([^ \t\r\n=/>]+)[ \t\r\n]*=[ \t\r\n]*("[^"]*"|'[^']*')""")
_TAG_END = re.compile(rb"[ \t\r\n]*(/?)>")


class Span(NamedTuple):
    """A half-open range of bytes, or of units."""

    start: int
    end: int


class AttributeSpans(NamedTuple):
    """An attribute's spans: all of it with the white space before it, its name, its value without the quotes."""

    whole: Span
    name: Span
    value: Span


class Tag(NamedTuple):
    """The spans of a start tag, in units: its name, its attributes, and its closing.

    closing: from the white space before "/>" or ">" to the tag's end.
    """

    name: Span
    attributes: dict[str, AttributeSpans]
    closing: Span
    is_empty: bool


class Shape(NamedTuple):
    """The contents of a document, whatever its spelling: its elements in the order of the file.

    depths: 0 for the root; tags; attributes: with their values as read; words: the text directly inside
    each element, without white space.
    """

    depths: list[int]
    tags: list[str]
    attributes: list[dict[str, str]]
    words: list[str]

    def copy(self) -> Shape:
        """Return a copy with lists of its own."""
        return Shape(*([*values] for values in self))

    def cut(self, start: int, end: int) -> Shape:
        """Remove elements, and return them."""
        taken = Shape(*(values[start:end] for values in self))  # type: ignore[arg-type]
        for values in self:
            del values[start:end]
        return taken

    def put(self, at: int, elements: Shape, deeper: int = 0) -> None:
        """Insert elements before the one with a number, with their depths increased by `deeper`."""
        self.depths[at:at] = [depth + deeper for depth in elements.depths]
        self.tags[at:at], self.attributes[at:at] = elements.tags, elements.attributes
        self.words[at:at] = elements.words


@dataclass(frozen=True, eq=False)
class Text:
    """A well-formed document as it is written. An element is named by its number in the order of the file, the root 0.

    data: all its bytes; path: of its file. shape: its contents.
    starts, closes: for each element the units at which it begins, and at which its end tag begins, or at which it ends
    if it has no end tag. A unit is two bytes in UTF-16, else one. is_string: it was given as text, so its declared
    encoding is ignored.
    """

    data: bytes
    path: Path | None
    encoding: Encoding
    shape: Shape = field(repr=False)
    starts: list[int] = field(repr=False)
    closes: list[int] = field(repr=False)
    is_string: bool = False

    @classmethod
    def of(cls, source: bytes | str, path: Path | None = None) -> Text:
        """Read a document.

        source: a file's bytes in any encoding that expat knows, or text, whose declared encoding is ignored;
        path: for messages. Raises FileError as core.formats.xml.parse does.

        >>> text = Text.of('<pha tickLength="0.8"><call name="bow"/></pha>')
        >>> text.span(1), text.value_span(0, "tickLength")
        (Span(start=22, end=40), Span(start=17, end=20))
        """
        if len(source) > xml.MAX_KEPT_BYTES:
            raise FileError.at(f"{len(source)} bytes of XML; at most {xml.MAX_KEPT_BYTES} are read", path)
        if isinstance(source, bytes):
            return _read(source, path, is_string=False)
        try:
            return _read(source.encode(), path, is_string=True)
        except UnicodeEncodeError as error:
            raise FileError.at(f"found the character {source[error.start]!r}, which no file can hold; remove it",
                               path) from None

    def with_data(self, data: bytes) -> Text:
        """Return the document of other bytes, read in the same way; raise FileError as `of` does."""
        return _read(data, self.path, self.is_string)

    def with_attributes(self, data: bytes, shape: Shape, ends: Sequence[int], longer: Sequence[int]) -> Text:
        """Return the document with other attributes, without reading it: places behind them are shifted.

        data, shape: of the whole document after the change. ends, longer: for each change, in order, the byte at which
        what it replaces ends, and by how many bytes the document becomes longer there. The caller vouches for all.
        """
        edges, width = np.array(ends) // self.encoding.width, self.encoding.width
        shifts = np.cumsum((0, *longer)) // width
        starts, closes = (at + shifts[np.searchsorted(edges, at, side="right")] for at in (
            np.array(self.starts), np.array(self.closes)))
        new = Text(data, self.path, self.encoding, shape, starts.tolist(), closes.tolist(), self.is_string)
        if "inside" in vars(self):
            vars(new)["inside"] = self.inside
        return new

    def __len__(self) -> int:
        return len(self.starts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and (self.data, self.path) == (other.data, other.path)

    def __hash__(self) -> int:
        return hash((self.data, self.path))

    def __str__(self) -> str:
        mark = "\ufeff"
        return self.encoding.decode(self.data).removeprefix(mark)

    # Contents

    def children(self, element: int) -> Sequence[int]:
        """Return an element's children."""
        return self.inside.get(element, ())

    @cached_property
    def inside(self) -> dict[int, list[int]]:
        """The children of each element that has any; cached, since every reading needs all of them."""
        found: dict[int, list[int]] = {}
        met = [0] * (xml.MAX_DEPTH + 1)
        for element, depth in enumerate(self.shape.depths):
            met[depth] = element
            if depth:
                parent = met[depth - 1]
                if parent in found:
                    found[parent].append(element)
                else:
                    found[parent] = [element]
        return found

    def after(self, element: int) -> int:
        """Return the number of the first element after an element and all its descendants."""
        return bisect_left(self.starts, self.closes[element], element + 1)

    def parent(self, element: int) -> int:
        """Return an element's parent, −1 for the root."""
        outside = self.shape.depths[element] - 1
        return next((i for i in range(element - 1, -1, -1) if self.shape.depths[i] == outside), -1)

    # Its bytes, lines and columns

    def span(self, element: int) -> Span:
        """Return an element's bytes, from its "<" to its last ">"."""
        return self._bytes(Span(self.starts[element], self.end(element)))

    def tag_spans(self, element: int) -> tuple[Span, Span]:
        """Return the bytes of an element's start tag and of its end tag, an empty span if there is none."""
        tag = self.tag(element)
        return (self._bytes(Span(self.starts[element], tag.closing.end)),
                self._bytes(Span(self.closes[element], self.end(element))))

    def value_span(self, element: int, name: str) -> Span | None:
        """Return the bytes of an attribute's value between its quotes, or None if there is no such attribute."""
        found = self.tag(element).attributes.get(name)
        return None if found is None else self._bytes(found.value)

    def place(self, element: int) -> Place:
        """Return where an element begins: line and column from 1, columns in characters."""
        at = self.starts[element]
        line = bisect_right(self._line_starts, at)
        begin = self._line_starts[line - 1]
        if self._is_ascii:
            return Place(self.path, line, at - begin + 1)
        has_mark = begin == 0 and self.decoded(0, 3).startswith("\ufeff")
        return Place(self.path, line, self._characters_to(at) - self._characters_to(begin) - has_mark + 1)

    def elements_on(self, line: int) -> range:
        """Return the elements that begin on a line, from 1.

        >>> Text.of("<pha><a/></pha>").elements_on(1)
        range(0, 2)
        """
        starts = self._line_starts
        if not 1 <= line <= len(starts):
            return range(0)
        end = starts[line] if line < len(starts) else len(self.units)
        return range(bisect_left(self.starts, starts[line - 1]), bisect_left(self.starts, end))

    def _bytes(self, span: Span) -> Span:
        width = self.encoding.width
        return Span(span.start * width, span.end * width)

    # The same in units, for edits

    @cached_property
    def units(self) -> bytes:
        """One byte for each unit of the document: ASCII as it is, 0x80 or more for anything else."""
        return self.encoding.units(self.data)

    def tag(self, element: int) -> Tag:
        """Return the spans of a start tag, in units."""
        units, start = self.units, self.starts[element]
        name = _NAME.match(units, start)
        assert name is not None  # since expat could read it
        at, attributes = name.end(), {}
        while found := _ATTRIBUTE.match(units, at):
            at = found.end()
            value = Span(found.start(3) + 1, at - 1)
            attributes[self.decoded(*found.span(2))] = AttributeSpans(Span(*found.span()), Span(*found.span(2)), value)
        end = _TAG_END.match(units, at)
        assert end is not None
        return Tag(Span(start + 1, name.end()), attributes, Span(*end.span()), bool(end[1]))

    def end(self, element: int) -> int:
        """Return the unit at which an element ends."""
        close = self.closes[element]
        tag = self.tag(element)
        return close if tag.is_empty else self.units.index(b">", close) + 1

    def decoded(self, start: int, end: int) -> str:
        """Return the text between two units."""
        width = self.encoding.width
        return self.encoding.decode(self.data[start * width:end * width])

    def _characters_to(self, at: int) -> int:
        """Return the number of characters before a unit, in a time that does not depend on the length of its line."""
        if self._is_ascii:
            return at
        chunk, width = at // _CHUNK, self.encoding.width
        rest = self.data[chunk * _CHUNK * width:at * width]
        count = len(rest) if width == 1 and rest.isascii() else np.count_nonzero(self.encoding.character_starts(rest))
        return int(self._characters_before[chunk] + count)

    @cached_property
    def _is_ascii(self) -> bool:
        """Whether each byte is a character."""
        return self.encoding.width == 1 and self.data.isascii()

    @cached_property
    def _characters_before(self) -> IntArray:
        """The number of characters before every _CHUNK-th unit."""
        size = _CHUNK * self.encoding.width
        counts = [np.count_nonzero(self.encoding.character_starts(self.data[begin:begin + size]))
                  for begin in range(0, len(self.data), size)]
        return np.cumsum([0, *counts])

    @cached_property
    def _line_starts(self) -> list[int]:
        units = np.frombuffer(self.units, dtype=np.uint8)
        ends = units == ord("\n")
        is_return = units == ord("\r")
        ends |= is_return
        ends[:-1] &= ~(is_return[:-1] & (units[1:] == ord("\n")))
        return [0, *(np.flatnonzero(ends) + 1).tolist()]


def with_line_feeds(text: str) -> str:
    r"""Return a text whose lines all end with a line feed, as those of Blender's Texts.

    >>> with_line_feeds("one\r\ntwo\rthree\n")
    'one\ntwo\nthree\n'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text  # few have any


def difference(old: AnyStr, new: AnyStr) -> tuple[int, int]:
    """Return begin and end, in the old text, of what differs between two texts; they are equal before and behind it.

    >>> difference("a call", "a long call"), difference("same", "same")
    ((2, 2), (4, 4))
    """
    most = min(len(old), len(new))
    start = _greatest(most, lambda least, size: old[least:size] == new[least:size])
    behind = _greatest(most - start, lambda least, size: old[len(old) - size:len(old) - least]
                       == new[len(new) - size:len(new) - least])
    return start, len(old) - behind


def _greatest(most: int, are_equal: Callable[[int, int], bool]) -> int:
    """Return the greatest size, up to `most`, up to which two texts are equal.

    are_equal: whether they are so from one size to another.
    """
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if are_equal(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


@without_search_for_cycles
def _read(data: bytes, path: Path | None, is_string: bool) -> Text:
    parser = expat.ParserCreate("utf-8" if is_string else None)
    parser.buffer_text = True
    refusals = xml.Refusals(parser, path)
    begun, closes = list[tuple[int, int, str, dict[str, str]]](), list[int]()
    open_elements: list[int] = []
    declared: list[str | None] = [None]
    most, deepest, attributes_left = MAX_ELEMENTS, xml.MAX_DEPTH, MAX_ATTRIBUTES

    def start(tag: str, given: dict[str, str]) -> None:
        nonlocal attributes_left
        number, depth = len(begun), len(open_elements)
        attributes_left -= len(given)
        if number >= most:
            raise refusals.too_many(most)
        if attributes_left < 0:
            raise refusals.too_many(MAX_ATTRIBUTES, "attributes")
        if depth >= deepest:
            raise refusals.too_deep()
        begun.append((parser.CurrentByteIndex, depth, tag, given))
        closes.append(0)
        open_elements.append(number)

    def end(_: str) -> None:
        closes[open_elements.pop()] = parser.CurrentByteIndex

    def characters(text: str) -> None:
        if not text.isspace():
            pieces.setdefault(open_elements[-1], []).append(text)

    def declaration(_version: str, encoding: str | None, _standalone: int) -> None:
        declared[0] = encoding

    pieces: dict[int, list[str]] = {}
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.XmlDeclHandler = characters, declaration
    xml.feed(parser, data, path)
    starts, depths, tags, attributes = map(list, zip(*begun, strict=True))
    words = [""] * len(starts)
    for element, texts in pieces.items():
        words[element] = " ".join("".join(texts).split())
    found = Encoding("utf-8") if is_string else Encoding.of(data, declared[0])
    if found.width == 2:
        starts, closes = [i // 2 for i in starts], [i // 2 for i in closes]
    text = Text(data, path, found, Shape(depths, tags, attributes, words), starts, closes, is_string)
    _check_names(text)
    return text


def _check_names(text: Text) -> None:
    """Raise FileError if a name is too long; all are checked together, which is faster than one by one."""
    tags, attributes = text.shape.tags, text.shape.attributes
    if max(map(len, {*tags}.union(*attributes))) > xml.MAX_NAME:
        for element, names in enumerate(zip(tags, attributes, strict=True)):
            for name in (names[0], *names[1]):
                if len(name) > xml.MAX_NAME:
                    place = text.place(element)
                    raise FileError.at(xml.too_long(name), text.path, place.line, place.column)
