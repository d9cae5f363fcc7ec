"""The keys of an XML skeleton, collected while the document is parsed: a baked motion has a million of them."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from ..errors import FileError, Place
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .ogre_xml_values import MAX_NUMBER, Vector, number, scale, vector
from .xml import MAX_DEPTH, MAX_ELEMENTS, Element, EndHandler, StartHandler

MAX_KEYS: Final = 2_000_000
_COLUMNS: Final = 11
_STILL: Final = (0.0, 0.0, 0.0)
_PLAIN: Final = (1.0, 1.0, 1.0)
_NO_TURN: Final = (0.0, 1.0, 0.0, 0.0)


class Keys:
    """Collects the contents of <keyframes>; unknown elements there are ignored, as OGRE does.

    rows: the keys of each <keyframes>, by its line and column.
    """

    tag_path: tuple[str, ...] = ("skeleton", "animations", "animation", "tracks", "track", "keyframes")

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._numbers = array("d")
        self._places = array("q")
        self.rows: dict[tuple[int, int], tuple[int, int]] = {}
        self._passed = 0
        # The part read so far of the current key.
        self._is_key = self._is_rotate = False
        self._time = 0.0
        self._angle: float | None = None
        self._axis: Vector | None = None
        self._move: Vector | None = None
        self._size: Vector | None = None

    def table(self) -> FloatArray:
        """Return all keys (N, 11): time, rotation wxyz, translation, scale."""
        table = np.frombuffer(self._numbers, dtype=np.float64).reshape(-1, _COLUMNS)
        table[:, 1:5] = rot.from_axis_angle(table[:, 2:5], table[:, 1])
        return table

    def place(self, key: int) -> Place:
        """Return the line and column of a key."""
        return Place(self._path, self._places[2 * key], self._places[2 * key + 1])

    def begin(self, where: Callable[[], tuple[int, int]], done: Callable[[], None]) -> tuple[StartHandler, EndHandler]:
        """Take over at the beginning of a <keyframes>."""
        self._where, self._done = where, done
        self._group, self._first, self._depth = where(), len(self._places) // 2, 0
        self._is_key = False
        return self._start, self._end

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if not self._takes(tag, attributes):
            self._passed += 1
            if self._depth > MAX_DEPTH or self._passed > MAX_ELEMENTS:
                what = f"elements nested more than {MAX_DEPTH} deep" if self._depth > MAX_DEPTH else (
                    f"more than {MAX_ELEMENTS} elements that are not known; no more are read")
                raise FileError.at(what, self._path, *self._where())

    def _takes(self, tag: str, attributes: dict[str, str]) -> bool:
        """Take an element that begins; return whether it belongs to a key, and is the first of its kind in it."""
        if self._depth == 1:
            self._is_key = tag == "keyframe"
            if self._is_key:
                self._begin_key(attributes)
            return self._is_key
        if not self._is_key:
            return False
        if self._depth == 3 and tag == "axis" and self._is_rotate and self._axis is None:
            self._axis = self._vector(tag, attributes, None)
        elif self._depth != 2:
            return False
        elif tag == "translate" and self._move is None:
            self._move = self._vector(tag, attributes, 0.0)
        elif tag == "rotate" and self._angle is None:
            self._angle = number(self._element(tag, attributes), "angle", self._path)
            self._is_rotate = True
        elif tag == "scale" and self._size is None:
            self._size = scale(self._element(tag, attributes), self._path)
        else:
            return False
        return True

    def _begin_key(self, attributes: dict[str, str]) -> None:
        if len(self._places) >= 2 * MAX_KEYS:
            raise FileError.at(f"more than {MAX_KEYS} keys; no more are read", self._path, *self._where())
        element = self._element("keyframe", attributes)
        self._places.extend((element.line, element.column))
        self._time = number(element, "time", self._path)
        self._angle = self._axis = self._move = self._size = None
        self._is_rotate = False

    def _end(self, _tag: str) -> None:
        self._depth -= 1
        if self._depth == 0 and self._is_key:
            turn = _NO_TURN if self._angle is None or self._axis is None else (self._angle, *self._axis)
            self._numbers.extend((self._time, *turn, *(self._move or _STILL), *(self._size or _PLAIN)))
            self._is_key = False
        elif self._depth == 1 and self._is_key and self._is_rotate:
            if self._axis is None:
                place = self.place(len(self._places) // 2 - 1)
                raise FileError.at("<rotate> has no <axis>", self._path, place.line, place.column)
            self._is_rotate = False
        elif self._depth < 0:
            self.rows[self._group] = self._first, len(self._places) // 2
            self._done()

    def _vector(self, tag: str, attributes: dict[str, str], default: float | None) -> Vector:
        try:
            x, y, z = float(attributes["x"]), float(attributes["y"]), float(attributes["z"])
        except (KeyError, ValueError):
            return vector(self._element(tag, attributes), self._path, default)
        if abs(x) + abs(y) + abs(z) <= MAX_NUMBER:
            return x, y, z
        return vector(self._element(tag, attributes), self._path, default)

    def _element(self, tag: str, attributes: dict[str, str]) -> Element:
        return Element(tag, attributes, (), *self._where())
