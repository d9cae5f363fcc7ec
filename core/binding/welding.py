"""Points at one place become one: every import that splits vertices along seams needs it."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray, IntArray


def weld(points: FloatArray, tolerance: float) -> IntArray:
    """Return for each point (V, 3) the number of its place, (V,): 0 … P − 1 in no meaningful order.

    Points closer than `tolerance` along every axis always share a place, whatever their order: groups are cut
    only at gaps wider than the tolerance, along one axis after the other, until no group breaks up any more.
    A chain of points that are each within the tolerance of the next is one place.

    >>> place = weld(np.array([[0., 0, 0], [1, 0, 0], [0, 0, 1e-9]]), 1e-6)
    >>> bool(place[0] == place[2]), bool(place[0] == place[1])
    (True, False)
    """
    place = np.zeros(len(points), dtype=np.int64)
    crowded = np.arange(len(points))  # points that still share their group with others
    unchanged = axis = 0
    while unchanged < 3 and len(crowded):
        order = crowded[np.lexsort((points[crowded, axis], place[crowded]))]
        cut = (np.diff(place[order]) != 0) | (np.diff(points[order, axis]) > tolerance)
        unchanged = unchanged + 1 if np.array_equal(cut, np.diff(place[order]) != 0) else 0
        group = np.concatenate(([0], np.cumsum(cut)))
        alone = np.bincount(group)[group] == 1
        group += place.max() + 1  # new numbers, apart from those of the points already alone
        place[order] = group
        crowded = order[~alone]
        axis = (axis + 1) % 3
    return np.unique(place, return_inverse=True)[1].reshape(-1)
