"""The contents of an editor window as numbers in pixels, ready to be put into batches."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..maths.arrays import FloatArray

Colour = tuple[float, float, float, float]
"""Red, green, blue and alpha as a screen takes them (sRGB), each from 0 to 1."""
Measure = Callable[[str, float], float]
"""Returns the width of a text in pixels, at a size in pixels."""
Say = Callable[[str], str]
"""Translates one of Takt's texts into the user's language."""
_BOTH_ENDS = 6
"""Number of characters from which on a shortened name keeps both of its ends."""


class TextAt(NamedTuple):
    """A text that begins at a point on its base line; size: in pixels."""

    words: str
    x: float
    y: float
    size: float
    colour: Colour


@dataclass(frozen=True, eq=False)
class Rectangles:
    """N rectangles, back to front.

    boxes: (N, 4) left, bottom, right and top; fill, outline: (N, 4) colours, an alpha of 0 is none;
    radius: (N,) of their corners, outline_px: (N,).
    """

    boxes: FloatArray
    fill: FloatArray
    outline: FloatArray
    radius: FloatArray
    outline_px: FloatArray

    def __len__(self) -> int:
        return len(self.boxes)


@dataclass(frozen=True, eq=False)
class Triangles:
    """Triangles, back to front: corners (3 N, 2) and the colour of each corner, (3 N, 4)."""

    corners: FloatArray
    colours: FloatArray


@dataclass(frozen=True, eq=False)
class Layer:
    """Shapes drawn in this order: rectangles, then triangles, then texts."""

    rectangles: Rectangles
    triangles: Triangles
    texts: tuple[TextAt, ...]

    def moved(self, x: float, y: float) -> Layer:
        """Return the layer moved by x, y."""
        return Layer(replace(self.rectangles, boxes=np.add(self.rectangles.boxes, (x, y, x, y))),
                     replace(self.triangles, corners=np.add(self.triangles.corners, (x, y))),
                     tuple(text._replace(x=text.x + x, y=text.y + y) for text in self.texts))


@dataclass(frozen=True, eq=False)
class Picture:
    """Layers from back to front: the background with its lines, the boxes, and all in front of them."""

    layers: tuple[Layer, ...]


_NONE: Colour = (0.0, 0.0, 0.0, 0.0)
_NO_TRIANGLES = np.zeros((0, 2)), np.zeros((0, 4))


class _Alike(NamedTuple):
    """Rectangles (N, 4) with the same corner radius and outline width; one colour for all, or one for each."""

    boxes: FloatArray
    fill: FloatArray | Colour
    outline: FloatArray | Colour
    radius: float
    outline_px: float


@dataclass(eq=False)
class Pen:
    """Collects shapes for a layer."""

    _rectangles: list[_Alike] = field(default_factory=list)
    _triangles: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    _texts: list[TextAt] = field(default_factory=list)

    def rectangles(self, boxes: FloatArray, fill: FloatArray | Colour, *, radius: float = 0.0,
                   outline: FloatArray | Colour = _NONE, outline_px: float = 0.0) -> None:
        """Add rectangles (N, 4) of one colour or of N."""
        if len(boxes):
            self._rectangles.append(_Alike(boxes, fill, outline, radius, outline_px))

    def rectangle(self, box: Iterable[float], fill: Colour, *, radius: float = 0.0, outline: Colour = _NONE,
                  outline_px: float = 0.0) -> None:
        """Add one rectangle."""
        self.rectangles(np.array((tuple(box),)), fill, radius=radius, outline=outline, outline_px=outline_px)

    def upright_lines(self, x: FloatArray, low: float, high: float, colour: FloatArray | Colour, wide: float) -> None:
        """Add vertical lines at x (N,)."""
        boxes = np.empty((len(x), 4))
        boxes[:, 0] = np.round(x - wide / 2.0)
        boxes[:, 1], boxes[:, 2], boxes[:, 3] = low, boxes[:, 0] + wide, high
        self.rectangles(boxes, colour)

    def triangles(self, corners: FloatArray, colours: FloatArray) -> None:
        """Add triangles, corners (3 N, 2) and colours (3 N, 4)."""
        if len(corners):
            self._triangles.append((corners, colours))

    def text(self, words: str, x: float, y: float, size: float, colour: Colour) -> None:
        """Add words."""
        if words:
            self._texts.append(TextAt(words, x, y, size, colour))

    def layer(self) -> Layer:
        """Return a layer of all shapes that were added."""
        number = sum(len(alike.boxes) for alike in self._rectangles)
        columns = tuple(np.empty((number, 4)) for _ in range(3)) + tuple(np.empty(number) for _ in range(2))
        end = 0
        for alike in self._rectangles:
            begin, end = end, end + len(alike.boxes)
            for column, values in zip(columns, alike, strict=True):
                column[begin:end] = values
        corners, colours = (np.concatenate([row[at] for row in [_NO_TRIANGLES, *self._triangles]]) for at in range(2))
        return Layer(Rectangles(*columns), Triangles(corners, colours), tuple(self._texts))


def about_as_wide(words: str, size: float) -> float:
    """Return an estimate of a text's width, where it cannot be measured."""
    return 0.55 * size * len(words)


def as_written(words: str) -> str:
    """Return a text unchanged, in English."""
    return words


def clipped(words: str, room: float, size: float, measure: Measure) -> str:
    """Return words shortened in the middle, as Blender does, to fit a width; "" if hardly anything fits.

    Names of clips often begin alike and differ at their end.

    >>> clipped("melee_attack_chop", 50.0, 10.0, about_as_wide), clipped("bow", 50.0, 10.0, about_as_wide)
    ('melee…hop', 'bow')
    """
    if room <= 0.0:
        return ""
    wide = measure(words, size)
    if wide <= room:
        return words
    for letters in range(min(int(len(words) * room / wide), len(words) - 1), 1, -1):
        last = letters * 2 // 5 if letters >= _BOTH_ENDS else 0
        shorter = words[:letters - last] + "…" + words[len(words) - last:]
        if measure(shorter, size) <= room:
            return shorter
    return ""


def in_lines(words: str, room: float, size: float, measure: Measure) -> list[str]:
    """Break words into lines that fit into a room: between words, or within one that is too long, as in Japanese.

    >>> in_lines("a way too far", 50.0, 10.0, about_as_wide), in_lines("骨格を作る", 20.0, 10.0, about_as_wide)
    (['a way too', 'far'], ['骨格を', '作る'])
    """
    letters = int(len(words) * min(room / max(measure(words, size), 1e-9), 1.0))
    while True:
        lines = textwrap.wrap(words, max(letters, 1)) or [""]
        if letters <= 1 or max(measure(line, size) for line in lines) <= room:
            return lines
        letters -= 1
