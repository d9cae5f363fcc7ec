"""Points along NURBS, as curves of paths mostly are."""

from __future__ import annotations

import numpy as np

from ...maths.arrays import FloatArray


def b_spline(points: FloatArray, weights: FloatArray, order: int, *, is_cyclic: bool, reaches_ends: bool,
             between: int) -> FloatArray:
    """Return points (N, 3) along a rational B-spline, `between` for each of its spans (de Boor 1978; Piegl 1997).

    points: (P, 3), two at least; weights: (P,), above 0. order: one more than the degree; it is at most P. is_cyclic:
    the last point leads to the first one. reaches_ends: else the spline begins and ends within its points.

    >>> line = np.array(((0.0, 0, 0), (1.0, 0, 0), (2.0, 0, 0)))
    >>> b_spline(line, np.ones(3), 3, is_cyclic=False, reaches_ends=True, between=2)[:, 0].round(6).tolist()
    [0.0, 1.0, 2.0]
    """
    order = int(np.clip(order, 2, len(points)))
    if is_cyclic:
        points, weights = (np.concatenate((each, each[:order - 1])) for each in (points, weights))
    count = len(points)
    knots = np.arange(count + order, dtype=np.float64)
    if reaches_ends and not is_cyclic:
        knots = np.concatenate((np.zeros(order - 1), np.arange(count - order + 2.0), np.full(order - 1,
                                                                                            count - order + 1.0)))
    first, last = knots[order - 1], knots[count]
    at = np.linspace(first, last, int(last - first + 0.5) * between + 1)
    span = np.clip(np.searchsorted(knots, at, side="right") - 1, order - 1, count - 1)
    homogeneous = np.concatenate((points * weights[:, None], weights[:, None]), axis=1)
    rows = span[:, None] - (order - 1) + np.arange(order)
    corners = homogeneous[rows]
    for level in range(1, order):
        left = knots[rows[:, level:]]
        right = knots[rows[:, level:] + order - level]
        share = ((at[:, None] - left) / (right - left))[..., None]
        corners[:, level:] = (1.0 - share) * corners[:, level - 1:-1] + share * corners[:, level:]
    found = corners[:, -1]
    return np.asarray(found[:, :3] / found[:, 3:])
