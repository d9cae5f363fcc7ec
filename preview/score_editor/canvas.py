"""Core's pictures on the screen: a batch of rectangles and triangles for each layer, and texts in Blender's font.

Only built-in shaders are used, since others come out darker in some editors.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import blf
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras.batch import batch_for_shader

from ...bridge.language import say_drawn
from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.score_editor.picture import Colour, Layer, Picture, Rectangles, TextAt

_FONT = 0
_STEPS = 4
"""Points on the arc of a corner."""
_LEAST_RADIUS_PX = 2.0
"""Corners of a smaller radius are drawn square, since the arc can hardly be seen."""
_CORNERS = np.array((2, 3, 0, 3, 0, 1, 2, 1))
_HALVES = np.array(((0, 1, 2), (0, 2, 3)))
"""A rectangle that has neither arcs nor an outline: which of left, bottom, right and top its points are at, and its two
triangles."""


class _Form(NamedTuple):
    """How a rectangle is drawn with P points around it, against the clock from the middle of its right edge on.

    arcs: (P, 2) directions from the middles of its corners' arcs. middles: (P, 2) from which of left, bottom, right and
    top the middle of each point's arc is reached, and inwards: (P, 2) in which direction. fill, edge: (T, 3) triangles
    of the inside and of the outline, by the numbers of its 3 P points: around the inside, and on both sides of the
    outline.
    """

    arcs: FloatArray
    middles: IntArray
    inwards: FloatArray
    fill: IntArray
    edge: IntArray

    @classmethod
    def of(cls, steps: int) -> "_Form":
        """Return the form with so many points at each corner."""
        angles = (np.arange(4)[:, None] + np.linspace(0.0, 1.0, steps)).ravel() * (np.pi / 2.0)
        first, points = np.zeros(4 * steps - 2, np.int64), np.arange(4 * steps)
        outer, inner = 4 * steps + points, 8 * steps + points
        return cls(np.stack((np.cos(angles), np.sin(angles)), axis=-1),
                   np.repeat(np.array(((2, 3), (0, 3), (0, 1), (2, 1))), steps, axis=0),
                   np.repeat(np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))), steps, axis=0),
                   np.stack((first, points[1:-1], points[2:]), axis=-1),
                   np.concatenate((np.stack((outer, np.roll(outer, -1), np.roll(inner, -1)), axis=-1),
                                   np.stack((outer, np.roll(inner, -1), inner), axis=-1))))


_ROUND, _SQUARE = _Form.of(_STEPS), _Form.of(1)


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
    boxes = rectangles.boxes
    room = np.maximum(np.minimum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) / 2.0, 0.0)
    radius, edge = np.minimum(rectangles.radius, room), np.minimum(rectangles.outline_px, room)
    is_filled, is_edged = rectangles.fill[:, 3] > 0.0, (rectangles.outline[:, 3] > 0.0) & (edge > 0.0)
    is_round = radius >= _LEAST_RADIUS_PX
    shapes, ranks = [], []
    for form, are_such in ((None, is_filled & ~is_edged & ~is_round), (_SQUARE, is_edged & ~is_round),
                           (_ROUND, is_round)):
        if not are_such.any():
            continue
        such = np.flatnonzero(are_such)
        if form is None:
            shapes.append(_plain(rectangles, such))
            ranks.append(such.repeat(2))
        else:
            is_there = np.stack((is_filled[such], is_edged[such]), axis=-1)
            shapes.append(_with_edges(rectangles, such, form, radius[such], edge[such], is_there))
            ranks.append(such.repeat(is_there @ (len(form.fill), len(form.edge))))
    return _back_to_front(shapes, ranks)


def _plain(rectangles: Rectangles, such: IntArray) -> Shapes:
    """Draw some of the rectangles without arcs and outlines."""
    halves = _HALVES + (np.arange(len(such)) * 4)[:, None, None]
    points = rectangles.boxes[such][:, _CORNERS].reshape(-1, 2)
    return points, np.repeat(rectangles.fill[such], 4, axis=0), halves.reshape(-1, 3)


def _with_edges(rectangles: Rectangles, such: IntArray, form: _Form, radius: FloatArray, edge: FloatArray,
                is_there: BoolArray) -> Shapes:
    """Draw some of the rectangles in a form, with corners of a radius and edges so wide, both (N,).

    is_there: (N, 2) whether the inside and the outline are drawn.
    """
    points = np.empty((len(such), 3, len(form.arcs), 2), np.float32)
    colours = np.empty((*points.shape[:3], 4), np.float32)
    points[:, 0] = points[:, 1] = _around(rectangles.boxes[such], form, radius)
    points[:, 2] = _around(rectangles.boxes[such] + edge[:, None] * (1.0, 1.0, -1.0, -1.0), form,
                           np.maximum(radius - edge, 0.0))
    colours[:, 0] = rectangles.fill[such][:, None]
    colours[:, 1:] = rectangles.outline[such][:, None, None]
    triangles = np.concatenate((form.fill, form.edge)) + (np.arange(len(such)) * 3 * len(form.arcs))[:, None, None]
    if not is_there.all():
        triangles = triangles[np.repeat(is_there, (len(form.fill), len(form.edge)), axis=1)]
    return points.reshape(-1, 2), colours.reshape(-1, 4), triangles.reshape(-1, 3)


def _around(boxes: FloatArray, form: _Form, radius: FloatArray) -> FloatArray:
    """Return the points around rectangles (N, 4) with corners of a radius (N,), (N, P, 2)."""
    return np.asarray(boxes[:, form.middles] + (form.inwards + form.arcs) * radius[:, None, None])


def _back_to_front(shapes: list[Shapes], ranks: list[IntArray]) -> Shapes:
    """Join shapes, ordered by a rank for each triangle."""
    if len(shapes) == 1:
        return shapes[0]
    if not shapes:
        return np.empty((0, 2)), np.empty((0, 4)), np.empty((0, 3), np.int64)
    starts = np.cumsum([0, *(len(points) for points, _, _ in shapes)])
    moved = [(points, colours, triangles + start)
             for (points, colours, triangles), start in zip(shapes, starts, strict=False)]
    points, colours, triangles = map(np.concatenate, zip(*moved, strict=True))
    return points, colours, triangles[np.concatenate(ranks).argsort(kind="stable")]


def _program() -> gpu.types.GPUShader:
    return gpu.shader.from_builtin("SMOOTH_COLOR")
