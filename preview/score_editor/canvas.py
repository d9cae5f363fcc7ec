"""Core's pictures on the screen: a batch of rectangles and triangles for each layer, and texts in Blender's font.

Only built-in shaders are used, since others come out darker in some editors.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import blf
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras.batch import batch_for_shader

from ...bridge.language import say_drawn
from ...core.maths.arrays import FloatArray, IntArray
from ...core.score_editor.picture import Colour, Layer, Picture, Rectangles, TextAt

_FONT = 0
_STEPS = 4
"""Points on the arc of a corner."""
_POINTS = 4 * _STEPS
_ANGLES = (np.arange(4)[:, None] + np.linspace(0.0, 1.0, _STEPS)).ravel() * (np.pi / 2.0)
_ARCS = np.stack((np.cos(_ANGLES), np.sin(_ANGLES)), axis=-1)
"""Around a rectangle against the clock, from the middle of its right edge on: the upper right corner comes first."""
_MIDDLES = np.repeat(np.array(((2, 3), (0, 3), (0, 1), (2, 1))), _STEPS, axis=0)
"""From which of left, bottom, right and top the middle of each point's arc is reached."""
_INWARDS = np.repeat(np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))), _STEPS, axis=0)
_FILL = np.stack((np.zeros(_POINTS - 2, np.int64), np.arange(1, _POINTS - 1), np.arange(2, _POINTS)), axis=-1)
"""Triangles of a rectangle's inside, by the numbers of its points."""
_OUTER, _INNER = np.arange(_POINTS), _POINTS + np.arange(_POINTS)
_EDGE = np.concatenate((np.stack((_OUTER, np.roll(_OUTER, -1), np.roll(_INNER, -1)), axis=-1),
                        np.stack((_OUTER, np.roll(_INNER, -1), _INNER), axis=-1))) + _POINTS
"""Triangles of its outline; the points of the inside come before those of the outline."""
_CORNERS = np.array((2, 3, 0, 3, 0, 1, 2, 1))
_HALVES = np.array(((0, 1, 2), (0, 2, 3)))
"""A rectangle that has neither arcs nor an outline: which of left, bottom, right and top its points are at, and its two
triangles."""


Lines = tuple[tuple[float, Colour, tuple[tuple[str, int, int], ...]], ...]
"""Words with the whole pixels that they begin at, by the size and the colour that the font is set to once for them."""


Shapes = tuple[npt.NDArray[np.floating[Any]], npt.NDArray[np.floating[Any]], IntArray]
"""Points (P, 2), their colours (P, 4) and triangles of these (T, 3), back to front."""


@dataclass(frozen=True, eq=False)
class Poured:
    """A picture on the GPU, as layers from back to front: a batch of shapes, or None, and the texts above them."""

    layers: tuple[tuple[gpu.types.GPUBatch | None, Lines], ...]

    @classmethod
    def of(cls, picture: Picture) -> "Poured":
        """Upload a picture; consecutive layers without texts between them become one."""
        poured: list[tuple[gpu.types.GPUBatch | None, Lines]] = []
        shapes: list[Shapes] = []
        for number, layer in enumerate(picture.layers, 1):
            shapes += _shapes(layer)
            if layer.texts or number == len(picture.layers):
                poured.append((_batch(shapes), _lines(layer.texts)))
                shapes = []
        return cls(tuple(poured))

    def draw(self) -> None:
        """Draw it into the current region."""
        blend: Any = gpu.state.blend_get()
        for batch, lines in self.layers:
            gpu.state.blend_set("ALPHA")
            if batch is not None:
                batch.draw(_program())
            _write(lines)
        gpu.state.blend_set(blend)


def measured(words: str, size: float) -> float:
    """Return the width of words in pixels, in the language in which they are drawn."""
    return _measured(say_drawn(words), size)


@lru_cache(maxsize=1 << 14)
def _measured(words: str, size: float) -> float:
    blf.size(_FONT, size)
    return float(blf.dimensions(_FONT, words)[0])


def _lines(texts: tuple[TextAt, ...]) -> Lines:
    alike: dict[tuple[float, Colour], list[tuple[str, int, int]]] = {}
    for words, x, y, size, colour in texts:
        alike.setdefault((size, colour), []).append((say_drawn(words), round(x), round(y)))
    return tuple((size, colour, tuple(words)) for (size, colour), words in alike.items())


def _write(lines: Lines) -> None:
    move_to, draw = blf.position, blf.draw
    for size, colour, alike in lines:
        blf.size(_FONT, size)
        blf.color(_FONT, *colour)
        for words, x, y in alike:
            move_to(_FONT, x, y, 0.0)
            draw(_FONT, words)


def _shapes(layer: Layer) -> list[Shapes]:
    """Return the rectangles of a layer as triangles, and its triangles."""
    corners = layer.triangles.corners
    order = np.arange(len(corners)).reshape(-1, 3)
    return [rectangle_triangles(layer.rectangles), (corners, layer.triangles.colours, order)]


def _batch(shapes: list[Shapes]) -> gpu.types.GPUBatch | None:
    starts = np.cumsum([0, *(len(points) for points, _, _ in shapes)]).tolist()
    if not starts[-1]:
        return None
    points: Any = np.empty((starts[-1], 2), np.float32)
    colours: Any = np.empty((starts[-1], 4), np.float32)
    order: Any = np.concatenate([triangles + start for (_, _, triangles), start in zip(shapes, starts, strict=False)],
                                dtype=np.int32, casting="unsafe")
    for shape, start, end in zip(shapes, starts, starts[1:], strict=False):
        points[start:end], colours[start:end] = shape[:2]
    return batch_for_shader(_program(), "TRIS", {"pos": points, "color": colours}, indices=order)


def rectangle_triangles(rectangles: Rectangles) -> Shapes:
    """Return points (P, 2), their colours (P, 4) and triangles (T, 3) of rectangles, back to front."""
    number = len(rectangles)
    boxes, wide = rectangles.boxes, rectangles.outline_px
    if not (rectangles.radius > 0.0).any() and not (wide > 0.0).any():
        halves = _HALVES + (np.arange(number) * 4)[:, None, None]
        return boxes[:, _CORNERS].reshape(-1, 2), np.repeat(rectangles.fill, 4, axis=0), halves.reshape(-1, 3)
    room = np.maximum(np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) / 2.0, 0.0)
    radius = np.minimum(rectangles.radius, room)
    edge = np.minimum(wide, room)[:, None]
    points, colours = np.empty((number, 3, _POINTS, 2), np.float32), np.empty((number, 3, _POINTS, 4), np.float32)
    points[:, 0] = points[:, 1] = _around(boxes, radius)
    points[:, 2] = _around(boxes + edge * (1.0, 1.0, -1.0, -1.0), np.maximum(radius - edge[:, 0], 0.0))
    colours[:, 0], colours[:, 1:] = rectangles.fill[:, None], rectangles.outline[:, None, None]
    first = (np.arange(number) * 3 * _POINTS)[:, None, None]
    is_filled, is_edged = rectangles.fill[:, 3] > 0.0, (rectangles.outline[:, 3] > 0.0) & (edge[:, 0] > 0.0)
    if is_filled.all() and is_edged.all():
        triangles = (np.concatenate((_FILL, _EDGE)) + first).reshape(-1, 3)
    else:
        is_there = np.repeat(np.stack((is_filled, is_edged), axis=-1), (len(_FILL), len(_EDGE)), axis=1)
        triangles = (np.concatenate((_FILL, _EDGE)) + first)[is_there]
    return points.reshape(-1, 2), colours.reshape(-1, 4), triangles


def _around(boxes: FloatArray, radius: FloatArray) -> FloatArray:
    """Return the points around rectangles (N, 4) with round corners, (N, P, 2)."""
    middles = boxes[:, _MIDDLES] + _INWARDS * radius[:, None, None]
    return np.asarray(middles + _ARCS * radius[:, None, None])


def _program() -> gpu.types.GPUShader:
    return gpu.shader.from_builtin("SMOOTH_COLOR")
