"""Fewer unknowns for big meshes: neighbouring points become a cluster, and get weights of their own afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import FloatArray, IntArray, distinct
from .surface import Surface, connected

_SIDES = np.array([1.0, 0.93, 0.87])
"""Factors on the axes of normals. They differ, so that rounding does not decide for normals halfway between two axes of
a symmetric body."""

_WORTH_IT = 0.5
"""Points are joined only if at most this share of them would be left, since joining blurs weights."""

_FINER = 6
_MOST_PIECES = 1.5
_BELL = 0.6
"""Width of the bell in cells: halfway between two clusters both count the same, and 1½ cells away nearly nothing."""

_NO_SHARE = 3e-3
"""Weights smaller than this, relative to the nearest cluster's, are dropped."""

_CARRIED = 6
_AT_ONCE = 1 << 14
_SHORTEST_LINK = 0.1


@dataclass(frozen=True, eq=False)
class Clusters:
    """C clusters of a surface's P points: label (P,), and their points, normals (C, 3), areas (C,) and links.

    cell: the edge of the grid that made them, 0 where every point is its own cluster.
    """

    label: IntArray
    points: FloatArray
    normals: FloatArray
    areas: FloatArray
    links: tuple[IntArray, IntArray, FloatArray]
    cell: float

    @classmethod
    def of(cls, surface: Surface, most: int) -> Clusters:
        """Join points until there are at most about `most` clusters; a surface with up to twice as many keeps its own.

        Points are joined if they share a cell of a grid, face the same of its six sides, and are connected in it. So
        fingers stay apart. If that leaves far too many pieces, connection is not required. Links carry the conductance
        of the edges between two clusters, made smaller as the distance between them grows.
        """
        first, second, weights = surface.edges()
        if _WORTH_IT * len(surface.points) <= most:
            return cls(np.arange(len(surface.points)), surface.points, surface.normals, surface.areas,
                       (first, second, weights), 0.0)
        label, cell = _labels(surface, most)
        together = label[first] == label[second]
        pieces = connected(len(label), first[together], second[together])
        if pieces.max() < _MOST_PIECES * most:
            label = pieces
        count = int(label.max()) + 1
        share = np.maximum(surface.areas, np.finfo(float).tiny) if surface.areas.any() else np.ones(len(label))
        areas: FloatArray = np.asarray(np.bincount(label, share, count), dtype=np.float64)
        points, normals = (np.stack([np.bincount(label, share * values[:, axis], count) for axis in range(3)], axis=1)
                           / areas[:, None] for values in (surface.points, surface.normals))
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
        apart = label[first] != label[second]
        first, second = first[apart], second[apart]
        edge = _gaps(surface.points, first, second)
        first, second = label[first], label[second]
        link = np.maximum(_gaps(points, first, second), _SHORTEST_LINK * edge)
        weights = np.divide(weights[apart] * edge, link, out=np.zeros_like(edge), where=link > 0.0)
        return cls(label.astype(np.int64), points, normals, areas, (first, second, weights), cell)

    def spread(self, values: FloatArray, points: FloatArray,
               label: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Interpolate values (C, B) of clusters at points (P, 3) with labels (P,), one run of points after another.

        Yields for each run the columns, ascending, that are not 0 at all of its points, and the values in these
        columns. A point gets the mean over its own cluster and the linked ones. The weights fall with distance along a
        bell curve, which is nearly 0 where the links of the next cluster differ. Only each cluster's strongest values
        are used.
        """
        if self.cell == 0.0:
            yield np.arange(values.shape[1]), values[label]
            return
        first, second, _ = self.links
        own = np.arange(len(values))
        key = distinct(np.concatenate((first * len(values) + second, second * len(values) + first,
                                       own * len(values) + own)))
        start = np.searchsorted(key, own * len(values))
        count = np.diff(np.append(start, len(key)))
        neighbour = key % len(values)
        farthest = -np.log(_NO_SHARE) * (_BELL * self.cell) ** 2
        kept = min(_CARRIED, values.shape[1])
        columns = np.argsort(-values, axis=1, kind="stable")[:, :kept]
        strongest = np.take_along_axis(values, columns, axis=1)
        columns = np.where(strongest > 0.0, columns, columns[:, :1])
        present = np.empty(len(values), dtype=np.bool_)
        for begin in range(0, len(points), _AT_ONCE):
            own = label[begin:begin + _AT_ONCE]
            point = np.repeat(np.arange(len(own)), count[own])
            step = np.arange(len(point)) - np.repeat(np.cumsum(count[own]) - count[own], count[own])
            cluster = neighbour[start[own[point]] + step]
            squared = np.zeros(len(point))
            for axis in range(3):
                gap = np.repeat(points[begin:begin + _AT_ONCE, axis], count[own]) - self.points[cluster, axis]
                squared += gap * gap
            squared -= np.minimum.reduceat(squared, np.cumsum(count[own]) - count[own])[point]
            some = np.flatnonzero(squared < farthest)
            point, cluster = point[some], cluster[some]
            weight = np.exp(squared[some] / -((_BELL * self.cell) ** 2))
            weight /= np.bincount(point, weight, len(own))[point]
            present[:] = False
            present[cluster] = True
            used = np.flatnonzero(np.bincount(columns[present].reshape(-1)))
            at = np.searchsorted(used, columns)
            target, value = np.take(at, cluster, axis=0), np.take(strongest, cluster, axis=0)
            target += (point * len(used))[:, None]
            value *= weight[:, None]
            total: FloatArray = np.bincount(target.reshape(-1), value.reshape(-1),
                                            len(own) * len(used)).astype(np.float64)
            yield used, total.reshape(len(own), -1)


def _gaps(points: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    return np.asarray(np.linalg.norm(np.take(points, first, axis=0) - np.take(points, second, axis=0), axis=1))


def _labels(surface: Surface, most: int) -> tuple[IntArray, float]:
    """Return the clusters' numbers, from a grid as fine as `most` allows, and the edge of its cells.

    Points without faces, as wires and scans, have no area: their grid fills their box.
    """
    cell = float(np.sqrt(surface.areas.sum() / most)) or float(np.cbrt(np.ptp(surface.points, axis=0).max()**3 / most))
    towards = np.argmax(np.abs(surface.normals) * _SIDES, axis=1)
    side = 2 * towards + (np.take_along_axis(surface.normals, towards[:, None], axis=1)[:, 0] > 0.0)
    label = np.zeros(len(surface.points), dtype=np.int64)
    for step in range(_FINER):
        index = np.rint(surface.points / cell).astype(np.int64)
        index -= index.min(axis=0)
        width = index.max(axis=0) + 1
        key = ((index[:, 0] * width[1] + index[:, 1]) * width[2] + index[:, 2]) * 6 + side
        found, label = np.unique(key, return_inverse=True)
        if len(found) <= most or step == _FINER - 1:
            break
        cell *= 1.02 * float(np.sqrt(len(found) / most))
    return label.reshape(-1), cell
