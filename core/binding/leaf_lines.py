"""Where limbs end in rigs whose tails are not trusted: at the tails, or in the direction from their parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .radii import limb_radii
from .segments import Segments
from .solid import Solid

_COMMON: Final = 0.8
"""If the mean of the tails' unit directions is longer than this, all tails point in one direction, as some importers
leave them."""

_DEEPER: Final = 1.25
"""A tail is used if the inside is deeper along it, by this factor, than in the direction away from the parent."""

_BACK: Final = 0.5
"""Cosine to the direction of the parent from which on a tail leads back."""

_CLEAR: Final = 0.5
"""A line is clear of other bones if each of its points is farther from them than this share of its distance from the
start."""

_SHORT: Final = 0.5
"""A line that leaves the body before this share of its parent's length has the wrong direction."""

_MUCH_DEEPER: Final = 1.5
"""Another direction, clear of other bones, is used if the inside is deeper there by this factor."""

_AS_FAR: Final = 0.75
"""Share of the farthest child's distance from the parent's head from which on a child continues the limb."""

_MET: Final = 1e-3
"""Share of the body's size; smaller distances count as 0."""

_AT_SKIN: Final = 0.5
"""A bone that starts at least this many radii from a limb's middle grows from the limb's side."""

_SLENDER: Final = 4.0
"""A line that is at least this many times as long as its radius is a limb, not a way through a trunk."""

_AROUND: Final = np.cos(np.radians(25.0))
"""Directions within this cosine of the deepest one are averaged."""

_SAME: Final = 1e-6
"""Depths that differ by less than this share count as equal. All such directions count, or a symmetric foot would turn
aside."""

_SHARES: Final = np.linspace(0.3, 1.0, 8)
_STEPS: Final = np.array([step for step in np.ndindex(5, 5, 5) if max(abs(k - 2) for k in step) == 2]) - 2.0
_DIRECTIONS: Final = _STEPS / np.linalg.norm(_STEPS, axis=1, keepdims=True)
"""98 directions, the same in a mirror along each axis."""

_TINY: Final = float(np.finfo(np.float64).tiny)


def away_from_body(segments: Segments, parents: IntArray, solid: Solid, size: float) -> Segments:
    """Return the lines, of which those of single-bone limbs under a root outside the body lead away from the body.

    parents (B,). The direction from such a root to a fin or a wing does not tell where the fin goes. A limb that starts
    within the radius of another bone's limb, as a control does, stays as it is.
    """
    outer = np.setdiff1d(np.flatnonzero(parents < 0), segments.bones[solid.contains(segments.starts)])
    alone = np.flatnonzero(segments.leaf & np.isin(parents[segments.bones], outer))
    others = np.flatnonzero(~segments.leaf & ~np.isin(segments.bones, outer))
    if not len(alone) or not len(others):
        return segments
    there, away, nearest = _nearest_of(segments, others, alone)
    limb = limb_radii(_some(segments, others), solid, size, 0.0)[nearest]
    starts = segments.starts[alone]
    ends = segments.ends.copy()
    ends[alone] = np.where((away >= np.maximum(limb, _TINY))[:, None], 2.0 * starts - there, ends[alone])
    return replace(segments, ends=ends)


def along_tails(segments: Segments, parents: IntArray, heads: FloatArray, tails: FloatArray,
                groups: Sequence[IntArray], solid: Solid, size: float) -> Segments:
    """Return the lines, of which those of leaf bones end at their tails if these lead farther through the inside.

    parents (B,), heads and tails (B, 3); groups: of partners, whose tails are used together or not at all. A tail is
    ignored if it leads back to the bone's parent, or runs beside other bones. It is also ignored if nearly all tails of
    the rig point in its direction. Bones without a parent that do not follow their tails lead away from the nearest
    point of other lines.
    """
    segments = _from_others(segments, parents)
    leaves = np.flatnonzero(segments.leaf)
    bones = segments.bones[leaves]
    along = _units(tails - heads)
    if not len(leaves) or _point_one_way(along):
        return segments
    back = (along[bones] * -segments.directions[leaves]).sum(axis=1) > _BACK
    by_tail, on = (solid.depths(heads[bones], directions, size)
                   for directions in (along[bones], segments.directions[leaves]))
    deeper = np.zeros(len(parents))
    deeper[bones] = np.maximum(by_tail, solid.cell) / np.maximum(on, solid.cell)
    deeper[bones[back | ~_clear(segments, bones, heads[bones], along[bones], by_tail)]] = 0.0
    for group in groups:
        own = np.intersect1d(group, bones)
        deeper[own] = deeper[own].min(initial=np.inf)
    turned = deeper[bones] > _DEEPER
    ends = segments.ends.copy()
    ends[leaves[turned]] = tails[bones[turned]]
    return replace(segments, ends=ends)


def into_limbs(segments: Segments, parents: IntArray, groups: Sequence[IntArray], solid: Solid,
               size: float) -> Segments:
    """Return the lines, of which those of leaf bones that soon leave the body turn to where the inside is deepest.

    A foot may stand at any angle to its shin. Such a bone is the only child that starts about as far from its parent's
    head, and its new direction is clear of all other bones: beside others, a thick limb would look like a long one. A
    bone beside others may start at the skin of the limb that it grows from, as a fin does. It turns away from that
    limb, if the part there is slender; partners (groups) turn together or not at all.
    """
    length = np.zeros(len(parents))
    np.maximum.at(length, segments.bones, segments.lengths)
    within = segments.leaf & solid.contains(segments.starts)
    alone = _go_on_alone(segments, parents)[segments.bones]
    outward = _outward(segments, np.flatnonzero(within & ~alone), solid, size)
    leaves = np.flatnonzero(within & (alone | outward.any(axis=1)))
    on = solid.depths(segments.starts[leaves], segments.directions[leaves], size)
    leaves = leaves[on < _SHORT * length[parents[segments.bones[leaves]]]]
    ends = segments.ends.copy()
    for line in leaves.tolist():
        bone, start = segments.bones[line], segments.starts[line]
        starts = np.repeat(start[None], len(_DIRECTIONS), axis=0)
        depth = solid.depths(starts, _DIRECTIONS, size)
        depth[~_clear(segments, np.full(len(starts), bone), starts, _DIRECTIONS, depth)] = 0.0
        depth[_DIRECTIONS @ outward[line] < 0.0] = 0.0
        here = float(solid.depths(start[None], segments.directions[[line]], size)[0])
        most = float(depth.max())
        if most > _MUCH_DEEPER * max(here, solid.cell):
            best = _units((depth >= most * (1.0 - _SAME))[None] @ _DIRECTIONS)[0]
            way = (depth * (_DIRECTIONS @ best >= _AROUND))[None] @ _DIRECTIONS
            ends[line] = start + most * _units(way)[0] if way.any() else ends[line]
    turned = replace(segments, ends=ends)
    slender = turned.lengths >= _SLENDER * limb_radii(turned, solid, size, 0.0)
    kept = alone | ((ends != segments.ends).any(axis=1) & slender)
    for group in groups:
        own = segments.leaf & np.isin(segments.bones, group)
        kept[own] &= alone[own] | kept[own].all()
    return replace(segments, ends=np.where(kept[:, None], ends, segments.ends))


def _outward(segments: Segments, own: IntArray, solid: Solid, size: float) -> FloatArray:
    """Return the vectors (S, 3) from the nearest other bone to lines' starts, 0 for lines that start inside its limb.

    own: (N,) the lines to compute; other lines get 0. Lines that end at the start do not count.
    """
    found = np.zeros((len(segments.bones), 3))
    radius = limb_radii(segments, solid, size, 0.0)
    for line in own.tolist():
        leads = np.linalg.norm(segments.ends - segments.starts[line], axis=1) <= _MET * size
        others = np.flatnonzero(~leads & ~segments.leaf & (segments.bones != segments.bones[line]))
        if len(others):
            there, away, nearest = _nearest_of(segments, others, np.array([line]))
            if away[0] >= _AT_SKIN * radius[others[nearest[0]]]:
                found[line] = segments.starts[line] - there[0]
    return found


def _go_on_alone(segments: Segments, parents: IntArray) -> BoolArray:
    """Return which bones (B,) are farthest from their parent's head, without a sibling about as far from it."""
    heads = np.zeros((len(parents), 3))
    heads[segments.bones] = segments.starts
    own = np.unique(segments.bones)
    own = own[parents[own] >= 0]
    step, farthest, count = np.zeros(len(parents)), np.zeros(len(parents)), np.zeros(len(parents))
    step[own] = np.linalg.norm(heads[own] - heads[parents[own]], axis=1)
    np.maximum.at(farthest, parents[own], step[own])
    far = own[step[own] >= _AS_FAR * farthest[parents[own]]]
    np.add.at(count, parents[far], 1)
    found = np.zeros(len(parents), dtype=np.bool_)
    found[far] = count[parents[far]] == 1
    return found


def _from_others(segments: Segments, parents: IntArray) -> Segments:
    """Return the lines, of which those of leaf bones without a parent lead away from the nearest other bone."""
    rootless = segments.leaf & (parents[segments.bones] < 0)
    others = np.flatnonzero(~rootless)
    if not rootless.any() or not len(others):
        return segments
    own = np.flatnonzero(rootless)
    there, away, _ = _nearest_of(segments, others, own)
    ends = segments.ends.copy()
    ends[own] = np.where(away[:, None] > 0.0, 2.0 * segments.starts[own] - there, ends[own])
    return replace(segments, ends=ends)


def _some(segments: Segments, lines: IntArray) -> Segments:
    return Segments(segments.bones[lines], segments.starts[lines], segments.ends[lines], segments.leaf[lines])


def _nearest_of(segments: Segments, others: IntArray, own: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the nearest points (N, 3) on other lines from the starts of N lines, their distances, and these lines."""
    rest = _some(segments, others)
    away, share = rest.nearest(segments.starts[own])
    nearest = away.argmin(axis=1).astype(np.int64)
    each = np.arange(len(own))
    return rest.points_at(share)[each, nearest], away[each, nearest], nearest


def _units(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY))


def _point_one_way(along: FloatArray) -> bool:
    """Tell whether nearly all of these unit vectors (B, 3) point in one direction; vectors of length 0 do not count."""
    count = np.count_nonzero(along.any(axis=1))
    return bool(np.linalg.norm(along.sum(axis=0)) >= _COMMON * count)


def _clear(segments: Segments, bones: IntArray, starts: FloatArray, along: FloatArray, depths: FloatArray) -> BoolArray:
    """Return which rays (N,) lead away from all other bones, up to their depths (N,) in the body."""
    reach = _SHARES[:, None] * depths
    points = starts + reach[..., None] * along
    away = segments.nearest(points.reshape(-1, 3))[0].reshape(*reach.shape, len(segments.bones))
    away[:, bones[:, None] == segments.bones] = np.inf
    return np.asarray((away.min(axis=2, initial=np.inf) >= _CLEAR * reach).all(axis=0))
