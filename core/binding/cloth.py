"""Cloth: loose sheets that hang along limbs, as a cape or a long tabard, and bend with each of them."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray, IntArray, smoothstep
from ..skeletons.hierarchy import parents_first
from .segments import Segments

_THIN, _THICK = 0.2, 0.3
"""Compactness of square sheets whose thickness is 1/40 and 1/20 of their width: of cloth, and of a board."""

_TINY = float(np.finfo(np.float64).tiny)
_NO_LENGTH = 1e-6
"""A limb that spreads less than this in the body's frame, whose size is about 1, has no length to hang along."""


def thinness(compact: FloatArray) -> FloatArray:
    """Return how far parts are sheets, (M,), 0 to 1; compact: (M,) as `compactness` in rigid.py.

    >>> thinness(np.array([0.0, 0.25, 0.6])).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.asarray(1.0 - smoothstep(compact, _THIN, _THICK))


def along_limbs(weights: FloatArray, points: FloatArray, areas: FloatArray, part: IntArray, cloth: FloatArray,
                segments: Segments, parents: IntArray) -> FloatArray:
    """Return how far parts that are cloth run along each limb, a bone with its descendants: (M, B), 0 for other parts.

    weights (C, B), points (C, 3), areas (C,) and part (C,) of points; cloth (M,): 0 for parts that are no cloth;
    parents (B,), −1 for a root. The points of a part that a limb moves are projected onto the bones' lines. The result
    is the spread of the projected points, divided by that of the lines. It is about 1 for a sleeve, and near 0 for a
    collar, which only lies beside the shoulder. It is 0 if the lines have no extent.
    """
    bones, count, some = len(parents), len(cloth), cloth[part] > 0.0
    of_part, of_limb = np.zeros((count, bones, 5)), np.zeros((bones, 5))
    weights, points, areas, part = weights[some], points[some], areas[some], part[some]
    distance, share = segments.nearest(points)
    for bone in np.unique(segments.bones):
        lines = np.flatnonzero(segments.bones == bone)
        line = lines[distance[:, lines].argmin(axis=1)]
        on_line = segments.starts[line] + share[np.arange(len(points)), line, None] * segments.along[line]
        moments = _moments(weights[:, bone] * areas, on_line)
        of_part[:, bone] = np.stack([np.bincount(part, column, count) for column in moments.T], axis=1)
        ends = np.stack((segments.starts[lines[0]], segments.ends[lines[0]]))
        # Simpson's rule, which is exact for squares: both ends once, the middle four times
        of_limb[bone] = segments.lengths[lines[0]] * (
            _moments(np.full(2, 1 / 6), ends).sum(axis=0) + _moments(np.array([4 / 6]), ends[:1] / 2 + ends[1:] / 2)[0])
    for bone in reversed(parents_first(parents)):
        if parents[bone] >= 0:
            of_part[:, parents[bone]] += of_part[:, bone]
            of_limb[parents[bone]] += of_limb[bone]
    spread, whole = _spread(of_part), _spread(of_limb)
    return np.asarray(np.divide(spread, whole, out=np.zeros_like(spread), where=whole > _NO_LENGTH))


def _moments(mass: FloatArray, positions: FloatArray) -> FloatArray:
    """Return masses (N,), their products with positions (N, 3), and with the positions' squares: (N, 5)."""
    squared = (positions * positions).sum(axis=1)
    return np.asarray(mass[:, None] * np.column_stack((np.ones(len(mass)), positions, squared)))


def _spread(moments: FloatArray) -> FloatArray:
    """Return the standard deviation (...) of positions, from sums (..., 5) of their `_moments`."""
    mean = moments[..., 1:] / np.maximum(moments[..., :1], _TINY)
    return np.asarray(np.sqrt(np.maximum(mean[..., 3] - (mean[..., :3] ** 2).sum(axis=-1), 0.0)))
