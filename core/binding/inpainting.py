"""Weights for vertices that have none, found from those around them along the surface."""

from __future__ import annotations

import numpy as np

from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray
from .diffusion import Graph
from .input import BindInput
from .surface import connected
from .welding import welded_surface

REACH = 0.03
"""Share of the body's size over which the weights at a border give way to the prior's."""


def inpainted(body: BindInput, weights: FloatArray, known: BoolArray, prior: FloatArray,
              reach: float | None = REACH) -> FloatArray:
    """Return weights (V, B) in which known rows are kept, and all others continue them along the surface.

    weights: (V, B), of which only known rows are read; they sum to 1. known: (V,) which rows are. prior: (V, B), rows
    summing to 1: what the other rows should be far from known ones. Where one of several coincident vertices is known,
    the others take its weights.

    With X fixed to w at known points, the others get prior + D, where D is w − prior at known points and solves
    (L + A/r²) D = 0 elsewhere: D meets the known points without a step and fades over about r, which is `reach` times
    the body's size. So a small gap gets the weights around it, and the middle of a wide gap gets its prior. If `reach`
    is None, the prior only fills pieces of the surface without any known point, and other rows solve L X = 0. That is
    weight inpainting (Abdrashitov, Raichstat, Monsen and Hill 2023) with a membrane instead of their thin plate. So
    weights never leave the range of those around them. Raises TaktError where shapes do not fit.

    >>> strip = BindInput.from_arrays([[x, y, 0] for x in range(3) for y in range(2)], [[0, 2, 3, 1], [2, 4, 5, 3]],
    ...                               ["a", "b"], [-1, 0], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]])
    >>> ends = np.repeat([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], 2, axis=0)
    >>> known = np.array([True, True, False, False, True, True])
    >>> inpainted(strip, ends, known, np.full((6, 2), 0.5), reach=None)[2].round(1).tolist()
    [0.5, 0.5]
    """
    shape = len(body.vertices), len(body.bone_names)
    if weights.shape != shape or prior.shape != shape or known.shape != shape[:1]:
        raise TaktError(f"weights {weights.shape} and prior {prior.shape} must both have shape {shape}, "
                        f"known {known.shape} the first of it")
    point_of, surface, _ = welded_surface(body)
    first, second, links = surface.edges()
    at_points = _means(point_of[known], weights[known], len(surface.points))
    before = _means(point_of, prior, len(surface.points))
    fixed = np.zeros(len(surface.points), dtype=np.bool_)
    fixed[point_of[known]] = True
    piece = connected(len(fixed), first, second)
    reached = np.isin(piece, piece[fixed])
    offset = before if reach is not None else np.zeros_like(before)
    size = float(np.linalg.norm(np.ptp(surface.points, axis=0)))
    screen = np.zeros(len(fixed)) if reach is None or size == 0.0 else surface.areas / (reach * size) ** 2
    found = np.where(fixed[:, None], at_points, before)
    free = reached & ~fixed
    found[free] = offset[free] + _extended(fixed, free, at_points - offset, screen, (first, second, links))[free]
    found = np.maximum(found, 0.0)
    found /= np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.where(known[:, None], weights, found[point_of])


def _extended(fixed: BoolArray, free: BoolArray, values: FloatArray, screen: FloatArray,
              links: tuple[IntArray, IntArray, FloatArray]) -> FloatArray:
    """Return values (P, B) that are kept where fixed and solve (L + screen) X = 0 where free.

    Only columns that are not 0 on all fixed points are solved for.
    """
    result = values.copy()
    some = np.flatnonzero((values[fixed] != 0.0).any(axis=0))
    result[free] = 0.0
    if not free.any() or not len(some):
        return result
    number = np.cumsum(free) - 1
    first, second, weights = links
    inner = free[first] & free[second]
    one, other = np.concatenate((first, second)), np.concatenate((second, first))
    border = free[one] & fixed[other]
    at, inward = number[one[border]], np.concatenate((weights, weights))[border]
    count = int(free.sum())
    pull = np.stack([np.bincount(at, inward * values[other[border], column], count) for column in some], axis=1)
    hold = screen[free] + np.bincount(at, inward, count)
    targets = np.divide(pull, hold[:, None], out=np.zeros_like(pull), where=hold[:, None] > 0.0)
    graph = Graph.build(count, number[first[inner]], number[second[inner]], weights[inner])
    result[np.ix_(free, some)] = graph.solve(hold, targets)
    return result


def _means(index: IntArray, rows: FloatArray, count: int) -> FloatArray:
    """Return the mean (count, B) of the rows (N, B) at each point, 0 for points without rows.

    index: (N,) the point of each row.
    """
    number = np.maximum(np.bincount(index, minlength=count), 1)
    return np.stack([np.bincount(index, column, count) for column in rows.T], axis=1) / number[:, None]
