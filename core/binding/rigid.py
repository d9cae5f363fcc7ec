"""Pieces that move as one: a part that is mostly one bone's is wholly that bone's."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .surface import Surface

_MOSTLY, _HALF, _HARDLY = 0.7, 0.4, 0.3
"""The share of its strongest bone from which on a part becomes stiff: a soft one, one of an assembly, a compact one."""

_SOME_PARTS, _MANY_PARTS = 30, 100
"""A body of many parts is an assembly of hard ones, as a machine or armour is."""

_WHOLLY = 0.2
"""Above those by this much, it is stiff altogether."""

_LEAD = 0.1
"""Between two bones of the same share none is chosen; from this lead on the stronger is."""

_SHEET, _BLOB = 0.4, 0.7
"""Compactness of what bends with the skin it lies on, as a belt, and of what does not, as an eye or a tooth."""

_SOLID = 0.2
"""Compactness from which on a part of an assembly may be hard; cards of hair and feathers are none."""

_TINY = float(np.finfo(np.float64).tiny)


def stiffened(weights: FloatArray, areas: FloatArray, part: IntArray, loose: BoolArray,
              compact: FloatArray) -> FloatArray:
    """Return weights (C, B) where parts that one bone moves nearly alone follow it alone, as far as it does.

    areas (C,) > 0 and part (C,) of each point; loose and compact (M,), for each part: whether it holds no bone, and
    `compactness`. Parts are stiff by degrees, so that no threshold decides: weights w of a part whose mean
    is mostly bone b become (1 − t) w + t b, where t rises from 0 to 1 with that bone's share of the mean.

    >>> mostly_one = np.array([[0.9, 0.1], [1.0, 0.0], [0.5, 0.5]])
    >>> stiffened(mostly_one, np.ones(3), np.array([0, 0, 1]), np.zeros(2, bool), np.zeros(2)).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]
    """
    count = len(loose)
    total = np.maximum(np.bincount(part, areas, count), _TINY)
    mean = np.stack([np.bincount(part, areas * column, count) for column in weights.T], axis=1) / total[:, None]
    assembly = _ramp(np.float64(count), _SOME_PARTS, _MANY_PARTS) * _ramp(compact, 0.0, _SOLID)
    soft = _MOSTLY + (_HALF - _MOSTLY) * assembly
    from_share = soft + (_HARDLY - soft) * loose * _ramp(compact, _SHEET, _BLOB)
    strongest = np.sort(mean, axis=1)[:, ::-1]
    lead = strongest[:, 0] - strongest[:, 1] if mean.shape[1] > 1 else strongest[:, 0]
    stiff = (_ramp(strongest[:, 0], from_share, from_share + _WHOLLY) * _ramp(lead, 0.0, _LEAD))[part]
    result = weights * (1.0 - stiff[:, None])
    result[np.arange(len(part)), mean.argmax(axis=1)[part]] += stiff
    return np.asarray(result)


def compactness(surface: Surface, part: IntArray) -> FloatArray:
    """Return how compact each part is, (M,): 1 for a ball, near 0 for a sheet, a long band, or half a shell.

    part: (P,) which each of the surface's points belongs to, 0 … M − 1. It is the part's sphericity (Wadell 1935:
    the area of a ball of its volume, over its own), times how far its surface is closed.
    """
    own = part[surface.triangles[:, 0]]
    count = int(part.max()) + 1
    flows = surface.face_normals * surface.face_areas[:, None]
    centres = surface.points[surface.triangles].mean(axis=1)
    area = np.maximum(np.bincount(own, surface.face_areas, count), _TINY)
    middle, flow = (np.stack([np.bincount(own, values[:, axis], count) for axis in range(3)], axis=1)
                    for values in (centres * surface.face_areas[:, None], flows))
    volume = np.bincount(own, ((centres - (middle / area[:, None])[own]) * flows).sum(axis=1), count) / 3.0
    sphericity = (36.0 * np.pi) ** (1.0 / 3.0) * np.maximum(volume, 0.0) ** (2.0 / 3.0) / area
    return np.asarray(sphericity * (1.0 - np.minimum(np.linalg.norm(flow, axis=1) / area, 1.0)))


def _ramp(values: FloatArray | np.float64, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    """Return 0 below `low`, 1 above `high`, and a smooth step between."""
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))
