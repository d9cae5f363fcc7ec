"""Fill polygons with any number of corners with triangles.

Convex polygons are split as fans. From others, ears are cut off, many at once. An ear is a convex corner whose triangle
with its two neighbours contains no other corner.
Source: G. H. Meisters, Polygons have ears, American Mathematical Monthly 82 (1975); D. Eberly, Triangulation by ear
clipping (2002).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .character import fans

MAX_CORNERS: Final = 1_024
"""Greatest number of corners of a concave polygon; polygons with more are cut into fans."""
MAX_TESTS: Final = 2_500_000
"""Greatest number of tests of a corner against another one in all polygons of a file; further polygons become fans."""
_ROUND: Final = 3_000
"""The cost of a round itself, in tests."""
_AGAIN: Final = 2
"""Estimate of how often each corner is tested."""
_AT_ONCE: Final = 500_000
_STRAIGHT: Final = 1e-9
"""Sine of the angle up to which a corner counts as straight."""
_EDGE: Final = 1e-12
"""Share of a polygon's square up to which a point outside a triangle counts as on its edge."""
_MIXED: Final = 2_654_435_761
"""Factor that, modulo 2³², puts consecutive numbers into no order (D. Knuth, Sorting and Searching, 6.4)."""


class Filler:
    """Fills the polygons of one file, with bounded work.

    unfilled: the number of polygons that are split as fans though not convex, since they have too many corners.
    """

    def __init__(self) -> None:
        self.unfilled, self._left = 0, MAX_TESTS

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence about the unfilled polygons."""
        return (f"polygons that are not convex and have too many corners: {self.unfilled}; their triangles may be "
                "wrong, so triangulate them before export",) if self.unfilled else ()

    def filled(self, corners: FloatArray, counts: IntArray) -> IntArray:
        """Return the corners (T, 3) of the triangles that fill polygons, in their order; counts: (P,) corners of each.

        corners: (C, 3) positions of corners, numbered over all polygons. A polygon that is not flat is filled as seen
        along its mean normal; the triangles of one that crosses itself may not fill it. There are as many triangles as
        in a fan. Polygons without area and unfilled ones are fans.

        >>> corners = np.array([(0.0, 0, 0), (2, 0, 0), (2, 2, 0), (1.5, 0.5, 0)])
        >>> sorted(Filler().filled(corners, np.array((4,))).tolist())
        [[1, 2, 3], [3, 0, 1]]
        """
        triangles = fans(counts)
        if counts.max(initial=0) <= 3:
            return triangles
        with np.errstate(over="ignore", invalid="ignore"):
            faces, seen, hollow = _concave(corners, counts)
        found = faces[np.argsort(counts[faces], kind="stable")]
        affordable = np.cumsum(_AGAIN * counts[found] * hollow[found]) <= self._left
        chosen = np.sort(found[affordable & (counts[found] <= MAX_CORNERS)])
        self.unfilled += len(faces) - len(chosen)
        if len(chosen):
            ears = _Ears(seen[_rows(counts, chosen)], counts[chosen])
            self._left -= ears.cut(self._left)
            is_done = ears.left <= 2
            self.unfilled += int((~is_done).sum())
            pieces = np.repeat(is_done, counts[chosen] - 2)
            first = np.repeat((np.cumsum(counts) - counts)[chosen] - ears.first, counts[chosen] - 2)
            triangles[_rows(np.maximum(counts - 2, 0), chosen)[pieces]] = (ears.triangles + first[:, None])[pieces]
        return triangles


def _rows(counts: IntArray, which: IntArray) -> IntArray:
    """Return the indices of the members of some groups, whose members are numbered one group after another."""
    own = counts[which]
    return np.asarray(np.arange(own.sum()) + np.repeat((np.cumsum(counts) - counts)[which] - np.cumsum(own) + own, own))


def _concave(corners: FloatArray, counts: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
    """Return which polygons are concave, their corners as seen along normals, (C, 2), and numbers of hollow corners.

    In this view, polygons run counterclockwise, and the greatest distance from their first corner is about one.
    """
    face = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    before, after = _neighbours(counts)
    places = corners - corners[first[face]]
    size = np.zeros(len(counts))
    np.maximum.at(size, face, np.abs(places).max(axis=1))
    places /= np.where(size > 0.0, size, 1.0)[face, None]
    crossed = np.cross(places, places[after])
    normals = np.stack([np.bincount(face, crossed[:, axis], len(counts)) for axis in range(3)], axis=1)
    axis = np.abs(normals).argmax(axis=1)  # the axis along which the polygon is seen
    is_below = normals[np.arange(len(counts)), axis] < 0.0
    rows = np.arange(len(face))
    seen = np.stack((places[rows, (axis[face] + 1) % 3], places[rows, (axis[face] + 2) % 3]), axis=1)
    seen[is_below[face], 1] *= -1.0
    turn = _turn(seen[before], seen, seen[after])
    is_back = np.bincount(face, turn < -_STRAIGHT, len(counts)) > 0
    hollow = np.bincount(face, turn <= _STRAIGHT, len(counts)).astype(np.int64)
    return np.flatnonzero(is_back & (counts > 3) & np.isfinite(size) & normals.any(axis=1)), seen, hollow


def _neighbours(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the corners before and after each corner of polygons; counts: (P,) corners of each polygon."""
    first, last = (each[counts > 0] for each in (np.cumsum(counts) - counts, np.cumsum(counts) - 1))
    before, after = np.arange(counts.sum()) - 1, np.arange(counts.sum()) + 1
    before[first], after[last] = last, first
    return before, after


class _Ears:
    """Polygons (G,) that run counterclockwise, of which ears are cut off. places: (C, 2) their corners.

    triangles: (T, 3) corners of the triangles that are cut off; left: (G,) numbers of corners that are still there;
    first: (G,) the first of these.
    """

    def __init__(self, places: FloatArray, counts: IntArray) -> None:
        self._places, self._counts, self.left = places, counts, counts.copy()
        self.first = np.cumsum(counts) - counts
        self._loop = np.repeat(np.arange(len(counts)), counts)
        self._before, self._after = _neighbours(counts)
        self._begin = np.cumsum(counts - 2) - counts + 2
        self.triangles = np.zeros((int((counts - 2).sum()), 3), np.int64)
        self._there = np.arange(len(places))
        self._turn, self._order = np.zeros(len(places)), self._there * _MIXED % (1 << 32)
        self._is_ear, self._is_new = np.zeros(len(places), np.bool_), np.ones(len(places), np.bool_)
        self._is_gone, self._is_all_new = np.zeros(len(places), np.bool_), np.ones(len(counts), np.bool_)

    def cut(self, most: int) -> int:
        """Cut until polygons have two corners left, or need more than `most` tests; return the number of tests."""
        spent = 0
        while len(self._there):
            spent += self._look(most - spent)
            if spent > most:
                break
            self._cut(self._chosen())
        return spent

    def _look(self, most: int) -> int:
        """Find which corners are ears, among those whose neighbours are new; return the number of tests.

        If that number is more than `most`, no tests are made.
        """
        new = self._there[self._is_new[self._there]]
        self._turn[new] = _turn(*self._places[np.stack((self._before[new], new, self._after[new]))])
        convex = new[self._turn[new] > _STRAIGHT]
        hollow = self._there[self._turn[self._there] <= _STRAIGHT]  # only these can be inside an ear
        many = np.bincount(self._loop[hollow], minlength=len(self.left))
        spent = int(many[self._loop[convex]].sum()) + len(self._there) + _ROUND
        if spent > most:
            return spent
        self._is_ear[new], self._is_new[new] = False, False
        first = np.cumsum(many) - many
        for some in _portions(many[self._loop[convex]]):
            ears = convex[some]
            own = many[self._loop[ears]]
            row = np.repeat(np.arange(len(ears)), own)
            other = hollow[np.arange(len(row)) + np.repeat(first[self._loop[ears]] - np.cumsum(own) + own, own)]
            is_in = self._is_in(ears[row], other)
            self._is_ear[ears] = np.bincount(row[is_in], minlength=len(ears)) == 0
        return spent

    def _is_in(self, ears: IntArray, others: IntArray) -> BoolArray:
        """Tell which corners `others` (N,) lie in the triangle of a corner of `ears` (N,) and its neighbours."""
        point, ends = self._places[others], (self._before[ears], ears, self._after[ears])
        found = np.arange(len(others))
        for begin, end in ((2, 0), (0, 1), (1, 2)):
            one, other = (self._places[ends[each][found]] for each in (begin, end))
            at = point[found]
            # Points at a corner of the triangle do not count, as where a hole is joined to the border.
            found = found[(_cross(other - one, at - one) >= -_EDGE) & (at != one).any(axis=1)]
        is_in = np.zeros(len(others), np.bool_)
        is_in[found] = True
        return is_in

    def _chosen(self) -> IntArray:
        """Return corners to cut off now: ears of which no two are neighbours.

        If a polygon has no ears, as one that crosses itself, it is the corner that turns most, once all corners have
        been tested again.
        """
        ears = self._there[self._is_ear[self._there]]
        chosen = ears
        for beside in (self._before, self._after):
            chosen = chosen[~self._is_ear[beside[chosen]] | (self._order[chosen] > self._order[beside[chosen]])]
        has_ears = np.bincount(self._loop[ears], minlength=len(self.left)) > 0
        rest = self._there[~has_ears[self._loop[self._there]]]
        is_last = self._is_all_new[self._loop[rest]]
        self._is_new[rest[~is_last]] = True
        self._is_all_new[self._loop[rest[~is_last]]] = True
        rest = rest[is_last]
        rest = rest[np.lexsort((self._turn[rest], self._loop[rest]))]
        return np.sort(np.append(chosen, rest[np.diff(self._loop[rest], append=-1) != 0]))

    def _cut(self, corners: IntArray) -> None:
        """Cut corners off, each as a triangle with its neighbours."""
        before, after, loop = self._before[corners], self._after[corners], self._loop[corners]
        rank = np.arange(len(corners)) - np.searchsorted(loop, loop)
        at = self._begin + self._counts - self.left
        self.triangles[at[loop] + rank] = np.stack((before, corners, after), axis=1)
        self._after[before], self._before[after] = after, before
        self.left -= np.bincount(loop, minlength=len(self.left))
        self._is_new[before] = self._is_new[after] = True
        self._is_all_new[loop] = False
        self._is_gone[corners] = True
        self._there = self._there[~self._is_gone[self._there] & (self.left[self._loop[self._there]] > 2)]


def _portions(many: IntArray) -> Iterator[slice]:
    """Yield slices over N items with a bounded number of pairs in each; many: (N,) pairs of each item."""
    number = np.cumsum(many) // _AT_ONCE
    begins = np.flatnonzero(np.diff(number, prepend=-1)).tolist()
    ends = [*begins, len(many)][1:]
    yield from (slice(begin, end) for begin, end in zip(begins, ends, strict=True))


def _turn(before: FloatArray, corner: FloatArray, after: FloatArray) -> FloatArray:
    """Return the sines of the angles by which polygons turn at corners, (N,); 0 where a side has no length."""
    one, other = corner - before, after - corner
    long = np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
    return np.asarray(_cross(one, other) / np.where(long > 0.0, long, 1.0))


def _cross(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
