"""Polygons with any number of corners, filled with triangles.

Convex ones are fans. Of the others, ears are cut off, all at the same time: an ear is a corner that turns as the
polygon does, in whose triangle with both its neighbours no other corner is.
Source: G. H. Meisters, Polygons have ears, American Mathematical Monthly 82 (1975); D. Eberly, Triangulation by ear
clipping (2002).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .character import fans

MAX_CORNERS: Final = 4_096
"""Of a polygon that is not convex; those of more stay fans."""
MAX_TESTS: Final = 30_000_000
"""Pairs of an ear and a corner in all polygons of a list; what goes beyond stays fans."""
_AT_ONCE: Final = 1_000_000
_STRAIGHT: Final = 1e-9
"""Sine of the angle up to which a corner counts as straight."""
_EDGE: Final = 1e-12
"""Share of a polygon's area up to which a point outside a triangle counts as on its edge."""


def filled(corners: FloatArray, counts: IntArray) -> IntArray:
    """Return the corners of triangles, (T, 3), that fill polygons of some corners each, (P,), in their order.

    corners: (C, 3) where corners are, numbered over all polygons. A polygon that is not flat is filled as it is seen
    along its mean normal; one that crosses itself gets triangles that need not fill it. There are as many triangles as
    in a fan, which a polygon of no area is, and all beyond MAX_CORNERS and MAX_TESTS.

    >>> corners = np.array([(0.0, 0, 0), (2, 0, 0), (2, 2, 0), (1.5, 0.5, 0)])
    >>> filled(corners, np.array((4,))).tolist()
    [[3, 0, 1], [1, 2, 3]]
    """
    triangles = fans(counts)
    if counts.max(initial=0) <= 3:
        return triangles
    with np.errstate(over="ignore", invalid="ignore"):
        faces, seen = _concave(corners, counts)
    if len(faces):
        first, pieces = np.cumsum(counts) - counts, np.maximum(counts - 2, 0)
        begin = np.cumsum(pieces) - pieces
        for rows in _groups(counts[faces]):
            which = faces[rows]
            width = np.arange(int(counts[which].max()))
            there = width < counts[which, None]
            at = np.where(there, first[which, None] + width, first[which, None])
            found = _ears(seen[at], counts[which])
            used = width[2:] < counts[which, None]
            triangles[(begin[which, None] + width[:-2])[used]] = first[which].repeat(pieces[which])[:, None] + found[used]
    return triangles


def _concave(corners: FloatArray, counts: IntArray) -> tuple[IntArray, FloatArray]:
    """Return which polygons have a corner that turns back, (N,), and corners as they are seen along normals, (C, 2).

    Seen so, polygons run counterclockwise, and the greatest distance from their first corner is about one.
    """
    face = np.repeat(np.arange(len(counts)), counts)
    first, last = np.cumsum(counts) - counts, np.cumsum(counts) - 1
    before, after = np.arange(len(face)) - 1, np.arange(len(face)) + 1
    some = counts > 0
    before[first[some]], after[last[some]] = last[some], first[some]
    places = corners - corners[first[face]]
    size = np.zeros(len(counts))
    np.maximum.at(size, face, np.abs(places).max(axis=1))
    places /= np.where(size > 0.0, size, 1.0)[face, None]
    crossed = np.cross(places, places[after])
    normals = np.stack([np.bincount(face, crossed[:, axis], len(counts)) for axis in range(3)], axis=1)
    axis = np.abs(normals).argmax(axis=1)  # along which the polygon is seen
    is_below = normals[np.arange(len(counts)), axis] < 0.0
    rows = np.arange(len(face))
    seen = np.stack((places[rows, (axis[face] + 1) % 3], places[rows, (axis[face] + 2) % 3]), axis=1)
    seen[is_below[face], 1] *= -1.0
    one, other = seen - seen[before], seen[after] - seen
    turn, long = _cross(one, other), np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
    is_back = np.bincount(face, turn < -_STRAIGHT * long, len(counts)) > 0
    found = np.flatnonzero(is_back & (counts > 3) & (counts <= MAX_CORNERS) & np.isfinite(size) & normals.any(axis=1))
    return found[np.cumsum(counts[found] ** 2) <= MAX_TESTS], seen


def _groups(counts: IntArray) -> Iterator[IntArray]:
    """Yield rows whose counts are up to the same power of two, those of most corners first."""
    power = np.ceil(np.log2(counts)).astype(np.int64)
    for each in np.unique(power).tolist():
        rows = np.flatnonzero(power == each)
        yield rows[np.argsort(-counts[rows], kind="stable")]


def _ears(places: FloatArray, counts: IntArray) -> IntArray:
    """Return triangles (G, N − 2, 3) of polygons (G, N, 2) of some corners each, (G,), the most first."""
    group, width = places.shape[:2]
    corner = np.arange(width)
    left, alive = counts.copy(), corner < counts[:, None]
    after, before = np.tile(corner + 1, (group, 1)), np.tile(corner - 1, (group, 1))
    every = np.arange(group)
    after[every, counts - 1], before[:, 0] = 0, counts - 1
    turn, is_ear = np.full((group, width), -np.inf), np.zeros((group, width), np.bool_)
    found = np.zeros((group, width - 2, 3), np.int64)

    def look(rows: IntArray, which: IntArray) -> None:
        """Find out which corners (R, K) of polygons (R,) are ears now."""
        ends = tuple(np.take_along_axis(each[rows], which, axis=1) for each in (before, after))
        three = ends[0], which, ends[1]
        turn[rows[:, None], which], is_free = _free(places[rows], alive[rows], three)
        is_ear[rows[:, None], which] = is_free

    step = max(1, _AT_ONCE // width**2)
    for begin in range(0, group, step):
        rows = every[begin:begin + step]
        look(rows, np.broadcast_to(corner, (len(rows), width)))
    is_ear &= alive
    turn[~alive] = -np.inf
    for number in range(width - 2):
        rows = every[:int((counts > number + 2).sum())]
        # Where there is no ear, as in polygons that cross themselves, the corner that turns most is cut off.
        ears = is_ear[rows]
        chosen = np.where(ears.any(axis=1), ears.argmax(axis=1), turn[rows].argmax(axis=1))
        one, other = before[rows, chosen], after[rows, chosen]
        found[rows, number] = np.stack((one, chosen, other), axis=1)
        after[rows, one], before[rows, other] = other, one
        alive[rows, chosen], is_ear[rows, chosen], turn[rows, chosen] = False, False, -np.inf
        left[rows] -= 1
        going = left[rows] > 2
        ends = np.stack((one, other), axis=1)[going]
        for begin in range(0, len(ends), step * width):
            look(rows[going][begin:begin + step * width], ends[begin:begin + step * width])
    return found


def _free(places: FloatArray, alive: BoolArray, three: tuple[IntArray, IntArray, IntArray]
          ) -> tuple[FloatArray, BoolArray]:
    """Return how corners (R, K) turn, and whether they are ears, of polygons (R, N, 2) of the corners alive (R, N).

    three: the corner before each, itself, and the one after, (R, K) each.
    """
    row = np.arange(len(places))[:, None]
    a, b, c = (places[row, each] for each in three)
    turn = _cross(b - a, c - b)
    sides = [_cross((end - begin)[:, :, None], places[:, None] - begin[:, :, None]) >= -_EDGE
             for begin, end in ((a, b), (b, c), (c, a))]
    inside = sides[0] & sides[1] & sides[2] & alive[:, None]
    for each in (a, b, c):  # the three themselves, and what is at the same place
        inside &= (places[:, None] != each[:, :, None]).any(axis=-1)
    long = np.sqrt(((b - a) ** 2).sum(axis=-1) * ((c - b) ** 2).sum(axis=-1))
    return turn, (turn > _STRAIGHT * long) & ~inside.any(axis=-1)


def _cross(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
