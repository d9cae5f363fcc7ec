"""Where limbs end in rigs whose tails are not trusted: as the tails say, or on from the parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .segments import Segments
from .solid import Solid

_COMMON: Final = 0.8
"""Tails all point one way, as importers let them, where the mean of their directions is longer than this."""

_DEEPER: Final = 1.25
"""A tail is believed where the body goes on along it so many times as far as away from the parent."""

_BACK: Final = 0.5
"""Cosine to the parent from which on a tail leads back along it."""

_CLEAR: Final = 0.5
"""A line leaves other bones that is farther from them than this share of its way from its start."""

_SHARES: Final = np.linspace(0.3, 1.0, 8)
_TINY: Final = float(np.finfo(np.float64).tiny)


def along_tails(segments: Segments, parents: IntArray, heads: FloatArray, tails: FloatArray,
                groups: Sequence[IntArray], solid: Solid, size: float) -> Segments:
    """Return the lines, where those of leaf bones follow their tails if these run farther inside the body.

    parents (B,), heads and tails (B, 3); groups: of partners, which decide together. A tail is not believed that leads
    back to the bone's parent, that runs beside other bones, or that points where nearly all tails of the rig point.
    Lines of bones without a parent are their tails already.
    """
    leaves = np.flatnonzero(segments.leaf & (parents[segments.bones] >= 0))
    bones = segments.bones[leaves]
    along = _units(tails - heads)
    if not len(leaves) or _point_one_way(along):
        return segments
    back = (along[bones] * _units(heads[parents[bones]] - heads[bones])).sum(axis=1) > _BACK
    by_tail, on = (solid.depths(heads[bones], directions, size)
                   for directions in (along[bones], segments.directions[leaves]))
    believed = np.log(np.maximum(by_tail, solid.cell) / np.maximum(on, solid.cell))
    believed[back | ~_clear(segments, bones, heads[bones], along[bones], by_tail)] = -np.inf
    of_bone = np.zeros(len(parents))
    of_bone[bones] = np.exp(believed)
    for group in groups:
        own = np.intersect1d(group, bones)
        of_bone[own] = of_bone[own].sum() / max(1, len(own))
    turned = of_bone[bones] > _DEEPER
    ends = segments.ends.copy()
    ends[leaves[turned]] = tails[bones[turned]]
    return replace(segments, ends=ends)


def _units(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY))


def _point_one_way(along: FloatArray) -> bool:
    """Tell whether nearly all of these unit vectors (B, 3) point one way, or are of no length."""
    count = np.count_nonzero(along.any(axis=1))
    return bool(np.linalg.norm(along.sum(axis=0)) >= _COMMON * count)


def _clear(segments: Segments, bones: IntArray, starts: FloatArray, along: FloatArray, depths: FloatArray) -> BoolArray:
    """Return which rays (N,) leave all other bones, over their depths (N,) in the body."""
    reach = _SHARES[:, None] * depths
    points = starts + reach[..., None] * along
    away = segments.nearest(points.reshape(-1, 3))[0].reshape(*reach.shape, len(segments.bones))
    away[:, bones[:, None] == segments.bones] = np.inf
    return np.asarray((away.min(axis=2, initial=np.inf) >= _CLEAR * reach).all(axis=0))
