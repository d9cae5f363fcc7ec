"""Fewer places for big meshes: neighbouring points of one side of the body become one, and are told apart again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from .surface import Surface

_SIDES = np.array([1.0, 0.93, 0.87])
"""Unequal, so that normals halfway between two axes of a symmetric body do not hang on rounding."""

_FINER = 6
_SHORTEST_LINK = 0.1


@dataclass(frozen=True, eq=False)
class Clusters:
    """C clusters of a surface's P points: label (P,), and their points, normals (C, 3), areas (C,) and links."""

    label: IntArray
    points: FloatArray
    normals: FloatArray
    areas: FloatArray
    links: tuple[IntArray, IntArray, FloatArray]

    @classmethod
    def of(cls, surface: Surface, most: int) -> Clusters:
        """Join points until there are at most about `most` clusters; a surface with no more points keeps its own.

        Points are joined that share a cell of a grid and look towards the same of the six sides. Links carry
        the conductance of the edges between two clusters, made smaller as the way between them is longer.
        """
        first, second, weights = surface.edges()
        if len(surface.points) <= most:
            return cls(np.arange(len(surface.points)), surface.points, surface.normals, surface.areas,
                       (first, second, weights))
        label = _labels(surface, most)
        count = int(label.max()) + 1
        share = np.maximum(surface.areas, np.finfo(float).tiny)
        areas = np.bincount(label, share, count)
        points, normals = (np.stack([np.bincount(label, share * values[:, axis], count) for axis in range(3)], axis=1)
                           / areas[:, None] for values in (surface.points, surface.normals))
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        normals = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
        here, there = label[first], label[second]
        edge = np.linalg.norm(surface.points[first] - surface.points[second], axis=1)
        link = np.maximum(np.linalg.norm(points[here] - points[there], axis=1), _SHORTEST_LINK * edge)
        weights = np.divide(weights * edge, link, out=np.zeros_like(weights), where=link > 0.0)
        apart = here != there
        return cls(label, points, normals, areas, (here[apart], there[apart], weights[apart]))

    def spread(self, values: FloatArray, surface: Surface) -> FloatArray:
        """Carry values (C, B) back to the surface's points (P, B): those of the clusters that its edges touch, by 1/d²."""
        if len(values) == len(surface.points):
            return values
        first, second, _ = surface.edges()
        point = np.concatenate((first, second, np.arange(len(self.label))))
        cluster = self.label[np.concatenate((second, first, np.arange(len(self.label))))]
        key = np.unique(point * len(values) + cluster)
        point, cluster = np.divmod(key, len(values))
        gap = surface.points[point] - self.points[cluster]
        weight = 1.0 / np.maximum((gap * gap).sum(axis=1), np.finfo(float).tiny)
        start = np.searchsorted(point, np.arange(len(self.label)))
        total = np.add.reduceat(weight, start)
        return np.asarray(np.add.reduceat((weight / total[point])[:, None] * values[cluster], start, axis=0))


def _labels(surface: Surface, most: int) -> IntArray:
    """Number the clusters, with a grid as fine as `most` allows."""
    cell = float(np.sqrt(surface.areas.sum() / most))
    towards = np.argmax(np.abs(surface.normals) * _SIDES, axis=1)
    side = 2 * towards + (np.take_along_axis(surface.normals, towards[:, None], axis=1)[:, 0] > 0.0)
    label = np.zeros(len(surface.points), dtype=np.int64)
    for _ in range(_FINER):
        place = np.rint(surface.points / cell).astype(np.int64)
        place -= place.min(axis=0)
        width = place.max(axis=0) + 1
        key = ((place[:, 0] * width[1] + place[:, 1]) * width[2] + place[:, 2]) * 6 + side
        found, label = np.unique(key, return_inverse=True)
        if len(found) <= most:
            break
        cell *= 1.02 * float(np.sqrt(len(found) / most))
    return label.reshape(-1)
