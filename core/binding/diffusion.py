"""Zones that meet smoothly: heat that flows over the surface while each bone heats its own points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..maths.arrays import FloatArray, IntArray

_CLOSE_ENOUGH = 3e-4
_MOST_ROUNDS = 500
_FLOAT = np.float32
"""The solution is far less exact than this type, which halves the bytes to read, and so the time."""

_Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Graph:
    """N nodes and weighted links, kept so that products with many columns at once need no sorting.

    Rows are ordered by their number of links, most first: then the k-th link of all rows that have one is
    a leading slice ("jagged diagonals", Saad 1989). order: (N,) node of each row; slots: for each k the
    rows linked to and the weights.
    """

    order: IntArray
    slots: tuple[tuple[IntArray, _Floats], ...]
    degree: FloatArray

    @classmethod
    def build(cls, nodes: int, first: IntArray, second: IntArray, weights: FloatArray) -> Graph:
        """Build from links, each given once or in parts that add up; no node is linked to itself."""
        rows, columns = np.concatenate((first, second)), np.concatenate((second, first))
        key, part = np.unique(rows * nodes + columns, return_inverse=True)
        weight = np.bincount(part.reshape(-1), np.concatenate((weights, weights)), len(key))
        rows, columns = np.divmod(key, nodes)
        count = np.bincount(rows, minlength=nodes)
        order = np.argsort(-count, kind="stable")
        row_of = np.empty(nodes, dtype=np.int64)
        row_of[order] = np.arange(nodes)
        slot = np.arange(len(key)) - (np.cumsum(count) - count)[rows]
        sorting = np.lexsort((row_of[rows], slot))
        ends = np.cumsum(np.bincount(slot, minlength=1))[:-1]
        neighbours: list[IntArray] = np.split(row_of[columns[sorting]].astype(np.int64), ends)
        shares: list[_Floats] = np.split(weight[sorting].astype(_FLOAT), ends)
        total: FloatArray = np.asarray(np.bincount(rows, weight, nodes), dtype=np.float64)
        return cls(order.astype(np.int64), tuple(zip(neighbours, shares, strict=True)), total)

    def solve(self, hold: FloatArray, targets: FloatArray, step: Callable[[], None] | None = None) -> FloatArray:
        """Solve (L + diag hold) X = diag(hold) targets, where L is the graph's Laplacian, for all columns at once.

        hold: (N,) at least 0, and more for a node of every connected piece; targets: (N, B). Conjugate gradients,
        preconditioned by the diagonal; `step` is called once a round and may raise. There is one solution. Each row of
        X is a weighted mean of rows of `targets`.
        """
        diagonal = (self.degree + hold)[self.order, None].astype(_FLOAT)
        right = (hold[:, None] * targets)[self.order].astype(_FLOAT)
        found = targets[self.order].astype(_FLOAT)
        residual = right - self._times(diagonal, found)
        scaled = residual / diagonal
        direction = scaled.copy()
        error = (residual * scaled).sum(axis=0)
        goal = _CLOSE_ENOUGH**2 * float((right * right / diagonal).sum())
        for _ in range(_MOST_ROUNDS):
            if error.sum() <= goal:
                break
            if step is not None:
                step()
            product = self._times(diagonal, direction)
            curvature = (direction * product).sum(axis=0)
            length = np.divide(error, curvature, out=np.zeros_like(error), where=curvature > 0.0)
            found += length * direction
            residual -= length * product
            scaled = residual / diagonal
            before, error = error, (residual * scaled).sum(axis=0)
            direction *= np.divide(error, before, out=np.zeros_like(error), where=before > 0.0)
            direction += scaled
        result: FloatArray = np.empty(found.shape)
        result[self.order] = found
        return result

    def _times(self, diagonal: _Floats, x: _Floats) -> _Floats:
        product = diagonal * x
        for row, weight in self.slots:
            part = np.take(x, row, axis=0)
            part *= weight[:, None]
            product[:len(row)] -= part
        return product
