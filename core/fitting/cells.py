"""The body's filled cells as a graph: which of them touch, and distances through the inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from ..binding.solid import Solid, dilated
from ..binding.surface import connected
from ..maths.arrays import BoolArray, FloatArray, IntArray

_STEPS: Final = np.array([step for step in product((-1, 0, 1), repeat=3) if any(step)])
_FORWARD: Final = np.array([tuple(step) > (0, 0, 0) for step in _STEPS.tolist()])

_GAP_COST: Final = 2.0
"""Factor on the length of a bridge over a gap, so that paths prefer the body."""

_DEEPEST: Final = 12
"""Greatest depth in layers; deeper cells count as this deep."""


@dataclass(frozen=True, eq=False)
class Cells:
    """N filled cells of a solid, and which of them touch.

    points: (N, 3) their centres. neighbours: (N, 26) the cells around each, N if there is none; lengths (26,) the
    distances to them. bridges: (M, 2) pairs that join loose parts, bridge_lengths (M,). depth: (N,) the layer
    below the surface of each, from 1. cell: the edge length.
    """

    points: FloatArray
    neighbours: IntArray
    lengths: FloatArray
    bridges: IntArray
    bridge_lengths: FloatArray
    depth: IntArray
    cell: float

    def __len__(self) -> int:
        return len(self.points)

    @classmethod
    def of(cls, solid: Solid) -> Cells:
        """Return the graph of a solid's filled cells, with each loose part joined to the nearest one."""
        filled = np.pad(solid.filled, 1)
        number = np.full(filled.shape, -1, dtype=np.int64)
        at = np.argwhere(filled)
        count = len(at)
        number[filled] = np.arange(count)
        flat = np.where(number < 0, count, number).reshape(-1)
        strides = np.array((filled.shape[1] * filled.shape[2], filled.shape[2], 1))
        neighbours = flat[(at @ strides)[:, None] + _STEPS @ strides]
        points = (at - 1 - np.array(solid.filled.shape) // 2) * solid.cell
        first = np.repeat(np.arange(count), int(_FORWARD.sum()))
        second = neighbours[:, _FORWARD].reshape(-1)
        touch = second < count
        part = connected(count, first[touch], second[touch])
        bridges = _bridges(number, at, part) if part.max(initial=0) else np.zeros((0, 2), dtype=np.int64)
        gaps = np.linalg.norm(points[bridges[:, 0]] - points[bridges[:, 1]], axis=1)
        return cls(points, neighbours, np.linalg.norm(_STEPS, axis=1) * solid.cell, bridges, _GAP_COST * gaps,
                   _depth(filled)[filled], solid.cell)

    def some(self, kept: BoolArray) -> Cells:
        """Return the graph of only those cells that are kept, (N,)."""
        place = np.rint(self.points / self.cell).astype(np.int64)
        half = np.abs(place).max(axis=0)
        filled = np.zeros(tuple(2 * half + 1), dtype=np.bool_)
        filled[tuple((place[kept] + half).T)] = True
        return Cells.of(Solid(filled, self.cell))

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Return each pair of touching cells once, (E,) and (E,), including bridges."""
        first = np.repeat(np.arange(len(self)), int(_FORWARD.sum()))
        second = self.neighbours[:, _FORWARD].reshape(-1)
        touch = second < len(self)
        return (np.concatenate((first[touch], self.bridges[:, 0])),
                np.concatenate((second[touch], self.bridges[:, 1])))

    def distances(self, sources: Sequence[int] | IntArray) -> FloatArray:
        """Return the length (N,) of the shortest path through the inside from each cell to the nearest source."""
        count = len(self)
        found = np.full(count + 1, np.inf)
        found[count] = -np.inf  # the entry for "no cell" is never reached
        front = np.asarray(sources, dtype=np.int64)
        found[front] = 0.0
        ends = np.concatenate((self.bridges, self.bridges[:, ::-1]))
        spans = np.tile(self.bridge_lengths, 2)
        is_next = np.zeros(count, dtype=np.bool_)
        while len(front):
            there = self.neighbours[front]
            ways = found[front, None] + self.lengths
            shorter = ways < found[there] - 1e-9 * self.cell
            reached, ways = there[shorter], ways[shorter]
            if len(ends):
                over = found[ends[:, 0]] + spans
                gained = over < found[ends[:, 1]] - 1e-9 * self.cell
                reached, ways = (np.concatenate((reached, ends[gained, 1])), np.concatenate((ways, over[gained])))
            np.minimum.at(found, reached, ways)
            is_next[reached] = True
            front = np.flatnonzero(is_next)
            is_next[front] = False
        return found[:count]

    def way(self, distances: FloatArray, start: int) -> IntArray:
        """Return the cells (W,) of a shortest path from a cell to the source of these distances (N,)."""
        padded = np.append(distances, np.inf)
        over: dict[int, list[tuple[int, float]]] = {}
        for (one, other), length in zip(self.bridges.tolist(), self.bridge_lengths.tolist(), strict=True):
            over.setdefault(one, []).append((other, length))
            over.setdefault(other, []).append((one, length))
        cells = [start]
        while distances[cells[-1]] > 0.0:
            here = cells[-1]
            around = self.neighbours[here]
            totals = padded[around] + self.lengths
            best, least = int(around[totals.argmin()]), float(totals.min())
            for other, length in over.get(here, ()):
                if distances[other] + length < least:
                    best, least = other, float(distances[other] + length)
            cells.append(best)
        return np.array(cells, dtype=np.int64)

    def nearest(self, point: FloatArray) -> int:
        """Return the cell whose centre is nearest to a point (3,)."""
        return int(((self.points - point) ** 2).sum(axis=1).argmin())


def parts_of(count: int, triangles: IntArray) -> IntArray:
    """Return the connected part of each of `count` points (P,) under triangles (T, 3).

    >>> parts_of(4, np.array([[0, 1, 3]])).tolist()
    [0, 0, 1, 0]
    """
    one, two, three = triangles.T
    return connected(count, np.concatenate((one, two)), np.concatenate((two, three)))


def _depth(filled: BoolArray) -> IntArray:
    """Return the layer below the surface of each cell of a grid, 0 outside."""
    depth = filled.astype(np.int64)
    left = filled
    for _ in range(_DEEPEST - 1):
        left = ~dilated(~left, 1)
        if not left.any():
            break
        depth += left
    return depth


def _bridges(number: IntArray, at: IntArray, part: IntArray) -> IntArray:
    """Return the pairs of cells (M, 2) that join all parts (N,) into one with the shortest gaps (Kruskal 1956).

    All parts grow at once, layer by layer, into the free cells around them; where two parts meet, there is a path
    between them. number: the grid of cells' numbers, −1 outside; at: (N, 3) the position of each cell in it.
    """
    flat = number.reshape(-1).copy()
    shape = number.shape
    strides = np.array((shape[1] * shape[2], shape[2], 1))
    border = np.ones(shape, dtype=np.bool_)
    border[1:-1, 1:-1, 1:-1] = False
    layer = np.zeros(len(flat), dtype=np.int64)
    front, steps = at @ strides, 0
    while len(front):
        steps += 1
        grown = []
        for step in (*strides.tolist(), *(-strides).tolist()):
            there = front + step
            free = (flat[there] < 0) & ~border.reshape(-1)[there]
            flat[there[free]], layer[there[free]] = flat[front[free]], steps
            grown.append(there[free])
        front = np.unique(np.concatenate(grown))
    pairs, costs = [], []
    inner = np.flatnonzero(~border.reshape(-1) & (flat >= 0))
    for step in strides.tolist():
        one, other = flat[inner], flat[inner + step]
        meet = (other >= 0) & (part[one] != part[np.maximum(other, 0)])
        pairs.append(np.stack((one[meet], other[meet]), axis=1))
        costs.append((layer[inner] + layer[inner + step])[meet])
    ends, cost = np.concatenate(pairs), np.concatenate(costs)
    return ends[_spanning(part[ends], cost, int(part.max()) + 1)]


def _spanning(parts: IntArray, costs: IntArray, count: int) -> IntArray:
    """Return the links, among pairs of parts (E, 2) with costs (E,), of a least spanning tree of `count` parts."""
    order = np.argsort(costs, kind="stable")
    key = parts.min(axis=1) * count + parts.max(axis=1)
    first = np.sort(np.unique(key[order], return_index=True)[1])
    tree, root = [], list(range(count))

    def top(part: int) -> int:
        while root[part] != part:
            root[part] = root[root[part]]
            part = root[part]
        return part

    for link in order[first].tolist():
        one, other = top(int(parts[link, 0])), top(int(parts[link, 1]))
        if one != other:
            root[one] = other
            tree.append(link)
    return np.array(tree, dtype=np.int64)
