"""Curves through the middle of limbs: level sets of distances through the inside, with their forks and joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..binding.surface import connected
from ..maths.arrays import FloatArray, IntArray
from .cells import Cells

_WIDTH: Final = 1.5
"""Thickness of a level in cells; thinner ones have gaps on slanted limbs."""


@dataclass(frozen=True, eq=False)
class LevelSets:
    """Connected pieces of the level sets of distances over N cells (Verroust and Lazarus 2000).

    node: (N,) the piece of each cell. For each of K pieces: level (K,), count (K,) of its cells, middle (K, 3).
    links: (E, 2) pieces that touch. width: of a level.
    """

    node: IntArray
    level: IntArray
    count: IntArray
    middle: FloatArray
    links: IntArray
    width: float

    @classmethod
    def of(cls, cells: Cells, distances: FloatArray) -> LevelSets:
        """Return the level sets of distances (N,), split into connected pieces."""
        width = _WIDTH * cells.cell
        levels = (distances / width).astype(np.int64)
        first, second = cells.pairs()
        within = levels[first] == levels[second]
        node = connected(len(cells), first[within], second[within])
        pieces = int(node.max()) + 1
        count = np.bincount(node, minlength=pieces)
        middle = np.stack([np.bincount(node, column, pieces) for column in cells.points.T], axis=1) / count[:, None]
        level = np.zeros(pieces, dtype=np.int64)
        level[node] = levels
        ends = np.sort(np.stack((node[first[~within]], node[second[~within]]), axis=1), axis=1)
        key = np.unique(ends[:, 0] * pieces + ends[:, 1])
        return cls(node, level, count, middle, np.stack((key // pieces, key % pieces), axis=1), width)

    def areas(self, cell: float) -> FloatArray:
        """Return the cross-section (K,) of each piece."""
        return np.asarray(self.count * (cell**3 / self.width))


@dataclass(frozen=True, eq=False)
class Extremity:
    """An end of the body. cell: its outermost cell; length: its distance from where it leaves the rest.

    saddle: the piece of the level sets at which it leaves the rest.
    """

    cell: int
    length: float
    saddle: int


def extremities(sets: LevelSets, distances: FloatArray, shortest: float) -> list[Extremity]:
    """Return the ends of a body, the longest first: maxima of distances (N,) that reach out by `shortest` or more.

    From the outermost level inwards, pieces are joined. Where two meet, the shorter one ends; its length is its
    persistence (Edelsbrunner, Letscher and Zomorodian 2002).
    """
    neighbours: list[list[int]] = [[] for _ in sets.level]
    for one, other in sets.links.tolist():
        neighbours[one].append(other)
        neighbours[other].append(one)
    top = np.full(len(sets.level), -np.inf)
    np.maximum.at(top, sets.node, distances)
    root = list(range(len(sets.level)))
    seen = np.zeros(len(root), dtype=np.bool_)
    found: list[tuple[int, float, int]] = []

    def of(piece: int) -> int:
        while root[piece] != piece:
            root[piece] = root[root[piece]]
            piece = root[piece]
        return piece

    for piece in np.lexsort((-top, -sets.level)).tolist():
        seen[piece] = True
        joined = sorted({of(other) for other in neighbours[piece] if seen[other]} - {piece}, key=lambda p: -top[p])
        for less in joined[1:]:
            found.append((less, float(top[less] - top[piece]), piece))
            root[less] = joined[0]
        if joined:
            root[piece] = joined[0]
    last = of(int(sets.level.argmin()))
    found.append((last, float(top[last]), int(sets.level.argmin())))
    ends = []
    for piece, length, saddle in sorted(found, key=lambda one: -one[1]):
        if length >= shortest:
            own = np.flatnonzero(sets.node == piece)
            ends.append(Extremity(int(own[distances[own].argmax()]), length, saddle))
    return ends


@dataclass(frozen=True, eq=False)
class Course:
    """A curve from an extremity inwards. points: (S, 3) middles; areas: (S,) of cross-sections; at: (S,) distances."""

    points: FloatArray
    areas: FloatArray
    at: FloatArray

    @classmethod
    def of(cls, cells: Cells, sets: LevelSets, distances: FloatArray, target: int) -> Course:
        """Return the curve through the level sets from the source of distances (N,) to a target cell."""
        return cls.along(sets, cls.pieces(cells, sets, distances, target), cells.cell)

    @classmethod
    def along(cls, sets: LevelSets, pieces: IntArray, cell: float) -> Course:
        """Return the curve through pieces (S,) of level sets of cells with this edge length."""
        at = np.asarray((sets.level[pieces] + 0.5) * sets.width, dtype=np.float64)
        return cls(sets.middle[pieces], sets.areas(cell)[pieces], at)

    @staticmethod
    def pieces(cells: Cells, sets: LevelSets, distances: FloatArray, target: int) -> IntArray:
        """Return the pieces (S,) of the level sets from the source of distances (N,) to a target cell, one a level."""
        pieces = sets.node[cells.way(distances, target)[::-1]]
        return np.asarray(pieces[np.unique(sets.level[pieces], return_index=True)[1]])

    def point_at(self, distance: float) -> FloatArray:
        """Return the point (3,) at a distance from the extremity."""
        return np.array([np.interp(distance, self.at, column) for column in self.points.T])

    def until(self, distance: float) -> Course:
        """Return the curve up to a distance from the extremity, at least two points."""
        count = max(int(np.searchsorted(self.at, distance, side="right")), 2)
        return Course(self.points[:count], self.areas[:count], self.at[:count])
