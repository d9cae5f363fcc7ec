"""The parts of COLLADA files: elements with ids, and sources of numbers and names.

Source: Khronos Group, COLLADA 1.4.1 and 1.5.0 specifications, chapter 5 (core elements).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from ..errors import FileError, quoted
from ..maths.arrays import FloatArray
from .number_text import numbers_in, wrong_word
from .polygons import Filler
from .xml import Documents, Element, parse

MAX_ELEMENTS: Final = 200_000
MAX_VALUES: Final = 20_000_000
"""Numbers of a file; more are refused."""
_MOST_NOTES: Final = 20
_NAMES: Final = ("Name_array", "IDREF_array", "SIDREF_array")


class ColladaData:
    """A whole document. Raises FileError, with the line, for unreadable content. filler: triangulates its polygons."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        self.path, self.filler, self._left = path, Filler(), MAX_VALUES
        self._notes: dict[str, None] = {}
        self.root = parse(data, path, Documents(MAX_ELEMENTS, is_programs=True))
        if self.root.tag != "COLLADA":
            raise self.error(f"this is no COLLADA file: its root is <{quoted(self.root.tag)[1:-1]}>, where <COLLADA> "
                             "is wanted", self.root)
        self._by_id: dict[str, Element] = {}
        self._read: dict[int, FloatArray] = {}
        stack = [self.root]
        while stack:
            element = stack.pop()
            name = element.attributes.get("id")
            if name is not None:
                first = self._by_id.setdefault(name, element)
                if first is not element:
                    self.note(f"the id {quoted(name)} stands on line {first.line} already; references mean that one",
                              element)
            stack.extend(reversed(element.children))

    def error(self, message: str, element: Element) -> FileError:
        """Return the error for something that is wrong with an element."""
        return FileError.at(message, self.path, element.line)

    def note(self, text: str, element: Element) -> None:
        """Store a warning about a fault in an element that does not prevent reading the rest."""
        if len(self._notes) < _MOST_NOTES:
            self._notes[f"line {element.line}: {text}"] = None

    def warnings(self) -> tuple[str, ...]:
        """Return the notes."""
        return (*self._notes, *self.filler.warnings())

    def find(self, reference: str, asking: Element) -> Element:
        """Return the element that a reference within the file (#id) leads to; raise FileError if there is none."""
        found = self._by_id.get(reference.removeprefix("#"))
        if found is None or not reference.startswith("#"):
            raise self.error(f"<{asking.tag}> refers to {quoted(reference)}; no element of the file has that id, and "
                             "other files are not read", asking)
        return found

    def has(self, reference: str) -> bool:
        """Return whether a reference leads to an element of the file."""
        return reference.startswith("#") and reference[1:] in self._by_id

    def libraries(self, tag: str) -> Iterator[Element]:
        """Yield the entries of all libraries of a kind."""
        for library in children(self.root, f"library_{tag}"):
            yield from library.children

    def spend(self, values: int, element: Element) -> None:
        """Count numbers made from the file; raise FileError if there are too many."""
        self._left -= values
        if self._left < 0:
            raise self.error(f"here the file has more than {MAX_VALUES} numbers, and no more are read", element)

    def numbers(self, element: Element, count: int = 0) -> FloatArray:
        """Return the numbers of an element's text, (N,); raise FileError if their number is not count.

        count: 0 for any number of them.
        """
        flat = self._read.get(id(element))
        if flat is None:
            flat = numbers_in(element.text)
            if flat is None:
                word, line = wrong_word(element.text, element.line)
                raise FileError.at(f"<{element.tag}> holds {quoted(word)}, which is no finite number", self.path, line)
            self.spend(len(flat), element)
            self._read[id(element)] = flat
            self._compare(element, len(flat))
        if count and len(flat) != count:
            raise self.error(f"<{element.tag}> holds {len(flat)} numbers; {count} are wanted", element)
        return flat

    def inputs(self, element: Element) -> dict[str, Element]:
        """Return the sources of an element's inputs, by semantic."""
        return {each.attributes.get("semantic", ""): self.find(each.attributes.get("source", ""), each)
                for each in children(element, "input")}

    def rows(self, source: Element) -> FloatArray:
        """Return the numbers of a source, (N, C), arranged by its accessor."""
        array = child(source, "float_array") or child(source, "int_array")
        accessor = child(child(source, "technique_common"), "accessor")
        if array is None or accessor is None:
            raise self.error(f"<{source.tag}> {quoted(source.attributes.get('id', ''))} has no <float_array>, or no "
                             "<accessor>", source)
        flat = self.numbers(array)
        count, stride, start = (self.count(accessor, key, default) for key, default in
                                (("count", 0), ("stride", 1), ("offset", 0)))
        if stride < 1 or start + count * stride > len(flat):
            raise self.error(f"<accessor> wants {count} times {stride} numbers from {start} on; there are {len(flat)}",
                             accessor)
        return flat[start:start + count * stride].reshape(count, stride)

    def names(self, source: Element) -> list[str]:
        """Return the names of a source."""
        array = next((each for tag in _NAMES if (each := child(source, tag)) is not None), None)
        if array is None:
            raise self.error(f"<{source.tag}> {quoted(source.attributes.get('id', ''))} has no list of names", source)
        found = array.text.split()
        self._compare(array, len(found))
        return found

    def _compare(self, array: Element, found: int) -> None:
        """Store a warning if a list does not have the number of values that it states."""
        said = array.attributes.get("count")
        if said is not None and said.strip() != str(found) and array.tag.endswith("_array"):
            self.note(f"<{array.tag}> says count is {quoted(said)}; it holds {found} values, and these count", array)

    def count(self, element: Element, key: str, default: int) -> int:
        """Return an attribute as a whole number, at least 0."""
        text = element.attributes.get(key, str(default))
        if not text.isdecimal() or len(text) > 9:
            raise self.error(f"<{element.tag}> {key} is {quoted(text)}; a whole number from 0 on is wanted", element)
        return int(text)

    def number(self, element: Element, key: str, default: float) -> float:
        """Return an attribute as a number."""
        found = numbers_in(element.attributes.get(key, str(default)))
        if found is None or len(found) != 1:
            raise self.error(f"<{element.tag}> {key} is {quoted(element.attributes[key])}; a finite number is wanted",
                             element)
        return float(np.float64(found[0]))


def children(element: Element | None, tag: str) -> list[Element]:
    """Return the children of an element that have a tag; empty if the element is None."""
    return [] if element is None else [each for each in element.children if each.tag == tag]


def child(element: Element | None, tag: str) -> Element | None:
    """Return the first child of an element that has a tag, or None if there is none."""
    return next((each for each in element.children if each.tag == tag), None) if element is not None else None
