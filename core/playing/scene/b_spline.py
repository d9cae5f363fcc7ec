"""Points along NURBS curves, the usual type of paths."""

from __future__ import annotations

import numpy as np

from ...maths.arrays import FloatArray


def b_spline(points: FloatArray, weights: FloatArray, order: int, *, is_cyclic: bool, reaches_ends: bool,
             between: int, is_bezier: bool = False) -> FloatArray:
    """Return points (N, 3) along a rational B-spline, `between` for each of its spans (de Boor 1978; Piegl 1997).

    points: (P, 3), P ≥ 2. weights: (P,), positive. order: degree + 1, at most P. is_cyclic: the last point leads to the
    first one. reaches_ends, is_bezier: see `knots_of`. If the number of points does not fit the knots of Bézier curves,
    the points themselves are returned, as Blender draws it.

    >>> line = np.array(((0.0, 0, 0), (1.0, 0, 0), (2.0, 0, 0)))
    >>> b_spline(line, np.ones(3), 3, is_cyclic=False, reaches_ends=True, between=2)[:, 0].round(6).tolist()
    [0.0, 1.0, 2.0]
    """
    order = int(np.clip(order, 2, len(points)))
    if is_bezier and ((len(points) <= order and not reaches_ends) or (is_cyclic and len(points) % (order - 1))):
        return np.concatenate((points, points[:1])) if is_cyclic else points
    if is_cyclic:
        points, weights = (np.concatenate((each, each[:order - 1])) for each in (points, weights))
    count = len(points)
    knots = knots_of(count + order, order, is_cyclic=is_cyclic, reaches_ends=reaches_ends, is_bezier=is_bezier)
    first, last = knots[order - 1], knots[count]
    at = np.linspace(first, last, int(last - first + 0.5) * between + 1)
    span = np.minimum(np.searchsorted(knots, at, side="right"), np.searchsorted(knots, last)) - 1
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


def knots_of(count: int, order: int, *, is_cyclic: bool, reaches_ends: bool, is_bezier: bool) -> FloatArray:
    """Return integer knots (count,), ascending, as Blender has them.

    reaches_ends: otherwise the spline begins and ends within its points. is_bezier: inner knots are repeated, so that
    the spline consists of Bézier curves. is_cyclic: the last knots are as far apart as the first ones.

    >>> knots_of(8, 4, is_cyclic=False, reaches_ends=True, is_bezier=False).tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    """
    inner, alone = order - 1 if is_bezier else 1, int(reaches_ends and is_cyclic)
    head = order - is_cyclic if reaches_ends else min(2, inner) if is_bezier else 1
    tail = 2 * order - 1 if is_cyclic else order if reaches_ends else 0
    after_head = np.arange(count - tail - alone) - head
    knots = np.concatenate((np.zeros(alone), alone + np.maximum(after_head // inner + 1, 0.0)))
    at, length = np.arange(count), len(knots)
    again = alone + max((length - alone - head) // inner + 1, 0)
    return np.asarray(knots[at % length] + again * (at // length))
