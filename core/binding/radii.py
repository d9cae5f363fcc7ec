"""The thickness of the limbs in which bones run."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .segments import Segments
from .solid import Solid, across

RADIUS_SHARES = np.linspace(0.3, 1.0, 6)
"""The shares of a line at which its limb is measured; near its start, the previous limb may be thicker."""

_RADIUS_RAYS = 8

_OF_LENGTH, _OF_GAP = 1.3, 0.75
"""A leaf beside siblings is no thicker than these shares of its length and of the gap to the next sibling's tip."""

_SIDE_BY_SIDE, _AHEAD, _NEAR = 0.8, 0.5, 3.0
"""Limits for lines that run side by side: least cosine between them; greatest offset along them, as a share of the
shorter one; greatest distance, in radii of the thicker limb."""


def limb_radii(segments: Segments, solid: Solid, size: float, least: float) -> FloatArray:
    """Return the radius (S,) of the limb around each line: the median depth across it, where it is thinnest.

    For a leaf bone, the depth is taken where the limb is thickest, since its line ends at the skin. Only positions
    inside the body count. A line without such positions gets the radius of the line whose end is nearest to its start.
    No radius is less than `least`.
    """
    one, other = across(segments.directions)
    turn = np.arange(_RADIUS_RAYS) * (2.0 * np.pi / _RADIUS_RAYS)
    rays = np.cos(turn)[:, None] * one[:, None] + np.sin(turn)[:, None] * other[:, None]
    on_lines = segments.points_at(np.repeat(RADIUS_SHARES[:, None], len(segments.bones), axis=1))
    shape = (*on_lines.shape[:2], _RADIUS_RAYS, 3)
    depth = solid.depths(np.broadcast_to(on_lines[:, :, None], shape).reshape(-1, 3),
                         np.broadcast_to(rays, shape).reshape(-1, 3), size).reshape(shape[:3])
    radius, inside = np.median(depth, axis=2), solid.contains(on_lines)
    radius = np.where(segments.leaf, np.where(inside, radius, 0.0).max(axis=0),
                      np.where(inside, radius, np.inf).min(axis=0))
    known = inside.any(axis=0)
    if known.any() and not known.all():
        gap = np.linalg.norm(segments.starts[:, None] - segments.ends[known], axis=2)
        radius = np.where(known, radius, radius[known][np.argmin(gap, axis=1)])
    return np.maximum(np.where(np.isfinite(radius), radius, 0.0), least)


def side_by_side(radius: FloatArray, segments: Segments, solid: Solid) -> BoolArray:
    """Return (S, S) which lines run side by side in one limb, as those of a palm or of two thighs in one haunch.

    radius: (S,) as `limb_radii`. Lines are in one limb if no air is between their middles; farther along, the limb may
    fork. Leaf lines, as of fingertips and ears, are limbs of their own.
    """
    middles = segments.points_at(np.full((1, len(radius)), 0.5))[0]
    offsets = middles[None] - middles[:, None]
    ahead = np.abs((offsets * segments.directions[:, None]).sum(axis=2))
    beside = segments.directions @ segments.directions.T > _SIDE_BY_SIDE
    beside &= ahead < _AHEAD * np.minimum(segments.lengths[:, None], segments.lengths)
    beside &= np.linalg.norm(offsets, axis=2) < _NEAR * np.maximum(radius[:, None], radius)
    beside &= (segments.bones[:, None] != segments.bones) & ~segments.leaf[:, None] & ~segments.leaf
    one, other = np.nonzero(beside)
    if len(one):
        beside[one, other] = solid.share_outside(middles[one], middles[other]) <= 0.0
    return beside


def of_neighbours(radius: FloatArray, beside: BoolArray) -> FloatArray:
    """Return radii (S,) in which all lines that run side by side in one limb have the greatest of their radii.

    beside: (S, S) which lines run side by side. The depth of the skin around a line says where in the limb it runs, not
    how much of the limb belongs to it. Otherwise the lines in the middle would get most of the limb.

    >>> of_neighbours(np.array([1.0, 3.0, 9.0]), np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.bool_)).tolist()
    [3.0, 3.0, 9.0]
    """
    return np.asarray(np.maximum(radius, np.where(beside, radius, 0.0).max(axis=1, initial=0.0)))


def room_beside(segments: Segments, parents: IntArray) -> FloatArray:
    """Return the greatest radius (S,) of the limb of each leaf line beside its siblings, ∞ if it has none.

    A jaw, a lip and an ear start in the same head. Each only moves skin within about its own length, and no nearer to
    another tip than to its own.
    """
    last = np.flatnonzero(segments.leaf)
    bones = segments.bones[last]
    live = np.unique(segments.bones)
    siblings = np.bincount(parents[live] + 1, minlength=len(parents) + 1)[parents[bones] + 1]
    gap = np.linalg.norm(segments.ends[last, None] - segments.ends[last], axis=2)
    gap[bones[:, None] == bones] = np.inf
    room = np.minimum(_OF_LENGTH * segments.lengths[last], _OF_GAP * gap.min(axis=1, initial=np.inf))
    result = np.full(len(segments.bones), np.inf)
    result[last] = np.where((siblings > 1) & (parents[bones] >= 0), room, np.inf)
    return result
