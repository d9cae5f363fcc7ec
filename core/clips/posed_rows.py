"""Joints and their ancestors in the order in which they are posed, and the keys of their tracks.

The same rows are needed many times for one clip, and for each clip of a body. So the rows of recent requests are
cached.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray, side_by_side
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.skeleton import Skeleton
from .keyed import around
from .tracks import Tracks

_NO_ARC: Final = 1e-12
"""Rotations count as equal if the sine of the half-angle between them is smaller."""
_MOST_KNOWN: Final = 256


@dataclass(frozen=True, eq=False)
class JointRows:
    """Joints of a skeleton with their ancestors, R in all.

    kept: (R,) the joints, each after its parent, grouped by depth. levels: the rows of each depth; above: the rows of
    their parents. wanted: (N,) the rows of the requested joints. row: (J,) the row of each joint of the skeleton, or −1
    if it has none. rest_rotations: (4, R); rest_translations, rest_scales: (3, R, 1), at rest; rest_scaled: whether any
    scale is not 1.
    """

    kept: IntArray
    levels: tuple[slice, ...]
    above: tuple[IntArray | slice, ...]
    wanted: IntArray
    row: IntArray
    rest_rotations: FloatArray
    rest_translations: FloatArray
    rest_scales: FloatArray
    rest_scaled: bool

    @cached_property
    def turns(self) -> FloatArray:
        """Matrices (R, 4, 4) that multiply quaternions by the rest rotations."""
        return rot.multiply(self.rest_rotations.T[:, None], np.eye(4)).swapaxes(1, 2)


@lru_cache(maxsize=_MOST_KNOWN)
def rows_of(skeleton: Skeleton, joints: bytes) -> JointRows:
    """Return the rows of joints (N,), of int64, in any order."""
    wanted = np.frombuffer(joints, dtype=np.int64)
    kept = with_ancestors(skeleton.parents, wanted)
    row, depth = np.full(len(skeleton) + 1, -1, dtype=np.int64), np.zeros(len(kept), dtype=np.int64)
    row[kept] = np.arange(len(kept))
    for own, above in enumerate(row[skeleton.parents[kept]].tolist()):
        depth[own] = depth[above] + 1 if above >= 0 else 0
    order = np.argsort(depth, kind="stable")
    kept = kept[order]
    row[kept] = np.arange(len(kept))
    edges = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2)).tolist()
    levels = tuple(slice(a, b) for a, b in pairwise(edges))
    parents, scales = row[skeleton.parents[kept]], skeleton.rest_scales[kept]
    return JointRows(kept, levels, tuple(side_by_side(parents[level]) for level in levels), row[wanted], row[:-1],
                     skeleton.rest_rotations[kept].T, skeleton.rest_translations[kept].T[..., None],
                     scales.T[..., None], not bool((scales == 1.0).all()))


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of N joints at the same times (K,).

    rows: (N,) of the joints, ascending. values: (V, C) of many tracks; those of these joints begin at starts (N,).
    turns: (N, C, C) matrices that multiply the values, or None.
    """

    rows: IntArray | slice
    times_s: FloatArray
    values: FloatArray
    starts: IntArray
    turns: FloatArray | None

    def at(self, times_s: FloatArray, *, is_spherical: bool) -> FloatArray:
        """Return values (C, N, F) at times (F,), linear between keys; see keyed.interpolated."""
        before, after, share = around(self.times_s, times_s)
        first = self._taken(before)
        if not share.any():
            return first
        last = self._taken(after)
        if len(first) != 4:
            last -= first
            last *= share
            first += last
            return first
        dot = _dots(first, last)
        if is_spherical:
            return _on_arcs(first, last, dot, share)
        first *= 1.0 - share
        last *= np.where(dot < 0.0, -share, share)
        first += last
        first /= np.sqrt(_dots(first, first))
        return first

    def _taken(self, keys: IntArray) -> FloatArray:
        """Return values of keys (F,) of each joint, (C, N, F), turned."""
        found = self.values.take(self.starts[:, None] + keys, axis=0)
        if self.turns is None:
            return np.moveaxis(found, -1, 0).copy()
        out = np.empty((found.shape[2], *found.shape[:2]))
        np.matmul(self.turns, found.swapaxes(1, 2), out=out.swapaxes(0, 1))
        return out


def keys_of_rows(tracks: Tracks, rows: JointRows, *, is_turned: bool = False) -> tuple[Keys, ...]:
    """Return the keys of the tracks of some rows, grouped by key times and by the array that stores them.

    is_turned: rest rotations turn the values to the parents' axes.
    """
    if not len(tracks):
        return ()
    row, found = rows.row[tracks.joints], list[Keys]()
    own = row.argsort()[np.count_nonzero(row < 0):]
    for times, alike in tracks.alike(own):
        lies_in = tracks.places[alike, 0]
        for stored in sorted({*lies_in.tolist()}):
            which = alike[lies_in == stored]
            found.append(Keys(side_by_side(row[which]), times, tracks.stored[stored], tracks.places[which, 1],
                              rows.turns[row[which]] if is_turned else None))
    return tuple(found)


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the dot products of values (C, …)."""
    return np.asarray(np.einsum("c...,c...->...", a, b))


def _on_arcs(a: FloatArray, b: FloatArray, dot: FloatArray, share: FloatArray) -> FloatArray:
    """Return quaternions at shares (F,) of the arcs from a to b, (4, N, F) each; see rot.slerp. dot: (N, F) of both."""
    b *= np.where(dot < 0.0, -1.0, 1.0)
    b -= np.abs(dot) * a
    sine = np.sqrt(_dots(b, b))
    angle = share * np.where(sine > _NO_ARC, np.arctan2(sine, np.abs(dot)), sine)
    b *= np.divide(np.sin(angle), sine, out=np.zeros_like(sine), where=sine > 0.0)
    b += a * np.cos(angle)
    return b
