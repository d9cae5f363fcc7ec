"""Which bone each place of the surface belongs to, before zones are blended into each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray
from .segments import Segments
from .solid import Solid, across, ray_fan

_MIDDLE = 0.6
"""Share of the distance from the limb's middle, against that from the surface, in what a bone costs."""

_OUTSIDE = 10.0
"""A line from surface to bone that lies wholly outside the body counts so many times more."""

_THICKNESS = 0.25
"""Thick limbs reach farther: cost falls with this power of a limb's radius."""

_BEHIND, _BEYOND = 0.2, 0.45
"""How much a bone loses towards what lies behind its start, or beyond its end where other bones go on."""

_FAR, _FAR_FROM = 1.5, 1.3
_CAP = 0.0
_FAN_RAD = np.radians(45.0)
_RADIUS_PLACES = np.linspace(0.3, 1.0, 6)
_RADIUS_RAYS = 8
_TIE = 1e-6


@dataclass(frozen=True, eq=False)
class Sources:
    """shares: (N, B) which bones a place belongs to, each row summing to 1. distances: (N,) from them."""

    shares: FloatArray
    distances: FloatArray


def find_sources(points: FloatArray, normals: FloatArray, segments: Segments, bones: int, solid: Solid) -> Sources:
    """Find the bone that each of N places of the surface, points and normals (N, 3), belongs to.

    The nearest bone, by a distance that is measured from the surface and from the middle of the limb below
    it, is longer where it leaves the body or runs along a limb the wrong way, and shorter for thick limbs.
    Bones equally near share the place.
    """
    size = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    from_surface, share = segments.nearest(points)
    from_middle, _ = segments.nearest(middles(points, normals, solid, size))
    places = segments.places(share)
    cost = (1.0 - _MIDDLE) * from_surface + _MIDDLE * from_middle
    cost *= 1.0 + _OUTSIDE * solid.share_outside(points[:, None], places)
    cost *= np.exp(_wrong_way(points[:, None] - places, share, segments))
    radius = limb_radii(segments, solid, size)
    cost /= radius ** _THICKNESS
    if _FAR > 0: cost *= np.maximum(from_surface / (_FAR_FROM * radius), 1.0) ** _FAR
    if _CAP > 0: from_surface = np.minimum(from_surface, _CAP * radius)
    return _nearest_bones(cost, from_surface, segments, bones)


def middles(points: FloatArray, normals: FloatArray, solid: Solid, size: float) -> FloatArray:
    """Return the middle of the limb below each place: half the median depth of the solid, seen inward (N, 3).

    The median over a fan of rays ignores both folds and limbs that happen to lie behind (the shape diameter
    of Shapira et al. 2008).
    """
    fan = ray_fan(-normals, _FAN_RAD)
    rays = fan.shape[1]
    depth = solid.depths(np.repeat(points, rays, axis=0), fan.reshape(-1, 3), size).reshape(-1, rays)
    half = 0.5 * np.maximum(np.median(depth, axis=1) - solid.cell, 0.5 * solid.cell)
    return points - normals * half[:, None]


def limb_radii(segments: Segments, solid: Solid, size: float) -> FloatArray:
    """Return the radius (S,) of the limb around each line: the median depth across it, where it is thinnest.

    A last bone's is taken where it is thickest, since its line may end at the skin. At least one cell.
    """
    along = segments.ends - segments.starts
    one, other = across(along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), np.finfo(float).tiny))
    turn = np.arange(_RADIUS_RAYS) * (2.0 * np.pi / _RADIUS_RAYS)
    rays = np.cos(turn)[:, None] * one[:, None] + np.sin(turn)[:, None] * other[:, None]
    places = segments.places(np.broadcast_to(_RADIUS_PLACES[:, None], (len(_RADIUS_PLACES), len(along))))
    shape = (*places.shape[:2], _RADIUS_RAYS, 3)
    depth = solid.depths(np.broadcast_to(places[:, :, None], shape).reshape(-1, 3),
                         np.broadcast_to(rays, shape).reshape(-1, 3), size).reshape(shape[:3])
    inside = solid.contains(places)
    radius = np.median(depth, axis=2)
    thinnest = np.where(inside, radius, np.inf).min(axis=0)
    chosen = np.where(segments.leaf, np.where(inside, radius, 0.0).max(axis=0), thinnest)
    known = inside.any(axis=0)
    usual = float(np.median(chosen[known])) if known.any() else solid.cell
    return np.maximum(np.where(known, chosen, usual), solid.cell)


def _wrong_way(offsets: FloatArray, share: FloatArray, segments: Segments) -> FloatArray:
    """Return (N, S) how far offsets (N, S, 3) from the lines lead back behind their starts or beyond their ends."""
    along = segments.ends - segments.starts
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), np.finfo(float).tiny)
    length = np.maximum(np.sqrt((offsets * offsets).sum(axis=2)), np.finfo(float).tiny)
    cosine = (offsets * along).sum(axis=2) / length
    ends: BoolArray = (share >= 1.0) & ~segments.leaf
    return np.asarray(_BEHIND * np.where(share <= 0.0, np.maximum(-cosine, 0.0), 0.0)
                      + _BEYOND * np.where(ends, np.maximum(cosine, 0.0), 0.0))


def _nearest_bones(cost: FloatArray, distance: FloatArray, segments: Segments, bones: int) -> Sources:
    of_bone = np.full((len(cost), bones), np.inf)
    from_bone = np.full((len(cost), bones), np.inf)
    for line, bone in enumerate(segments.bones):
        of_bone[:, bone] = np.minimum(of_bone[:, bone], cost[:, line])
        from_bone[:, bone] = np.minimum(from_bone[:, bone], distance[:, line])
    nearest = of_bone <= of_bone.min(axis=1, keepdims=True) * (1.0 + _TIE)
    count = nearest.sum(axis=1)
    return Sources(nearest / count[:, None], np.where(nearest, from_bone, 0.0).sum(axis=1) / count)
