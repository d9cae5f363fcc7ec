"""What a window of the editor shows, as numbers in pixels that only have to be poured into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..maths.arrays import FloatArray
from .theme import Colour

Measure = Callable[[str, float], float]
"""How wide a text is, in pixels, at a size in pixels."""


class TextAt(NamedTuple):
    """Words from a point on, which lies on their base line; size: in pixels."""

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
    """What is drawn one upon the other: rectangles, then triangles, then texts."""

    rectangles: Rectangles
    triangles: Triangles
    texts: tuple[TextAt, ...]

    def moved(self, x: float, y: float) -> Layer:
        """Return the same elsewhere."""
        return Layer(replace(self.rectangles, boxes=np.add(self.rectangles.boxes, (x, y, x, y))),
                     replace(self.triangles, corners=np.add(self.triangles.corners, (x, y))),
                     tuple(text._replace(x=text.x + x, y=text.y + y) for text in self.texts))


@dataclass(frozen=True, eq=False)
class Picture:
    """Layers from back to front: the ground with its lines, the boxes, and what lies before them."""

    layers: tuple[Layer, ...]


@dataclass(eq=False)
class Pen:
    """Collects what becomes a layer."""

    _rectangles: list[tuple[FloatArray, ...]] = field(default_factory=list)
    _triangles: list[tuple[FloatArray, FloatArray]] = field(default_factory=list)
    _texts: list[TextAt] = field(default_factory=list)

    def rectangles(self, boxes: FloatArray, fill: FloatArray | Colour, *, radius: float = 0.0,
                   outline: FloatArray | Colour = (0.0, 0.0, 0.0, 0.0), outline_px: float = 0.0) -> None:
        """Add rectangles (N, 4) of one colour or of N."""
        number = len(boxes)
        if number:
            self._rectangles.append((np.asarray(boxes, np.float64), np.broadcast_to(fill, (number, 4)),
                                     np.broadcast_to(outline, (number, 4)), np.full(number, radius),
                                     np.full(number, outline_px)))

    def rectangle(self, box: Iterable[float], fill: Colour, *, radius: float = 0.0,
                  outline: Colour = (0.0, 0.0, 0.0, 0.0), outline_px: float = 0.0) -> None:
        """Add one."""
        self.rectangles(np.array((tuple(box),)), fill, radius=radius, outline=outline, outline_px=outline_px)

    def upright_lines(self, x: FloatArray, low: float, high: float, colour: FloatArray | Colour, wide: float) -> None:
        """Add upright lines at x (N,)."""
        x = np.round(x - wide / 2.0)
        boxes = np.stack(np.broadcast_arrays(x, low, x + wide, high), axis=-1)
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
        """Return all that was added."""
        none = np.zeros((0, 4)), np.zeros((0, 4)), np.zeros((0, 4)), np.zeros(0), np.zeros(0)
        rows = [none, *self._rectangles]
        corners = [(np.zeros((0, 2)), np.zeros((0, 4))), *self._triangles]
        return Layer(Rectangles(*(np.concatenate([row[at] for row in rows]) for at in range(5))),
                     Triangles(*(np.concatenate([row[at] for row in corners]) for at in range(2))), tuple(self._texts))


def about_as_wide(words: str, size: float) -> float:
    """Return about how wide a text is, where nobody can measure it."""
    return 0.55 * size * len(words)


def clipped(words: str, room: float, size: float, measure: Measure) -> str:
    """Return as much of some words as fits into a room, with dots where they are cut; "" where that says too little.

    >>> clipped("quarter_left", 50.0, 10.0, about_as_wide), clipped("bow", 50.0, 10.0, about_as_wide)
    ('quarter_…', 'bow')
    """
    if room <= 0.0:
        return ""
    wide = measure(words, size)
    letters = len(words)
    if wide <= room:
        return words
    letters = min(int(letters * room / wide), letters - 1)
    while letters > 1:
        shorter = words[:letters] + "…"
        if measure(shorter, size) <= room:
            return shorter
        letters -= 1
    return ""
