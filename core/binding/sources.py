"""Which bone each point of the surface belongs to, before zones are blended into each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .radii import RADIUS_SHARES, limb_radii, of_neighbours, room_beside, side_by_side
from .segments import Segments
from .solid import Solid, cell_size, ray_fan

_MIDDLE = 0.6
"""Weight of a bone's distance from the limb's middle in its cost; the rest is its distance from the surface."""

_IN_SKIN, _IN_LIMB = 0.2, 0.6
"""Shares of half the limb's thickness: a bone that is nowhere deeper lies in the skin, as in a skirt or a brow, and is
compared with the surface alone; one that is somewhere deeper runs in its limb's middle."""

_SLOPE = 0.5
"""Bones in the skin, as of a skirt or a cape, blend over this share of their length: their distance from the skin is
nearly 0."""

_BARE = 2.0
"""A point of the skin is bare if the solid is empty at this many cells outside it; surfaces buried in other parts are
no skin."""

_MET = 1e-3
"""Share of the body's size; smaller distances count as 0."""

_OUTSIDE = 10.0
"""A line from surface to bone that lies wholly outside the body costs 1 + so many times its distance."""

_BEHIND, _LEAF_BEHIND, _BEYOND = 0.3, 0.1, 0.7
"""Exponents of the cost of points behind a bone's start; behind a leaf bone's start, whose limb may be round, as a head
above its chin; and beyond the end of a bone that others continue."""

_THICKNESS = 0.2
_FAR, _FAR_FROM = 2.0, 1.2
"""Thick limbs reach farther: cost falls with a power of a limb's radius, and rises with a power of the
distance that is beyond _FAR_FROM radii: a thigh that starts inside the trunk does not hold the trunk's skin."""

_THIN = 12
"""Least radius of limbs: the cell of a grid with the cube of this as number of cells, whatever the solid's own cells
are."""

_TIP = 1.0 - 1e-6
"""A leaf line shorter than this many radii of its limb only marks a tip. Both are measured in half cells, so they are
often equal up to rounding, which is no tip."""

_STEPS = 10
_AIR_STEPS = 24
_AT_ONCE = 1 << 20
_MOSTLY = 0.5
"""Share of a line inside the solid from which on it runs through the body rather than beside it."""

_FAN_RAD = np.radians(35.0)
_ALIKE = 0.3
"""A bone shares a point if its cost exceeds that of the point's cheapest bone by less than this share."""

_ON_LINE = 0.01
"""Share of a cell that is added to costs, so that rounding does not decide for points that lie on two lines."""

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Sources:
    """The bones to which N points belong.

    shares: (N, B) of each bone in a point, rows summing to 1. distances: (N,) over which a point's weights blend, the
    mean of `from_bones` by shares. from_bones: (N, B) distances from the bones' lines, for a leaf bone no more than its
    limb's radius, ∞ for bones without a line. radii: (B,) of the bones' limbs, 0 for bones without a line. past_joints:
    (B,) how far each bone's weights blend with others' far from joints, 0 to 1. It is 1 for bones that lie in the skin
    all along, such as those of a skirt. It is also 1 for bones beside others in one limb, such as a palm's.
    """

    shares: FloatArray
    distances: FloatArray
    from_bones: FloatArray
    radii: FloatArray
    past_joints: FloatArray


@dataclass(frozen=True, eq=False)
class Skin:
    """N points of the surface: positions and outward normals (N, 3), areas (N,), and depths (N,) of the limb's middle.

    walls: (N, B) how far each point is closed to each bone, 0 to 1, besides the solid's walls; None for 0. 1 costs as
    much as a line to the bone that lies outside all along.
    """

    points: FloatArray
    normals: FloatArray
    areas: FloatArray
    depths: FloatArray
    walls: FloatArray | None = None

    @classmethod
    def over(cls, solid: Solid, points: FloatArray, normals: FloatArray, areas: FloatArray, size: float) -> Skin:
        """Find the depths of the limbs' middles: half the median depth of the solid along rays inward.

        The median over a fan of rays ignores both folds and limbs that happen to lie behind (the shape
        diameter of Shapira, Shamir and Cohen-Or 2008).
        """
        fan = ray_fan(-normals, _FAN_RAD)
        rays = fan.shape[1]
        depth = solid.depths(np.repeat(points, rays, axis=0), fan.reshape(-1, 3), size).reshape(-1, rays)
        half = 0.5 * np.maximum(np.median(depth, axis=1) - solid.cell, 0.5 * solid.cell)
        return cls(points, normals, areas, half)

    def at(self, some: slice) -> Skin:
        """Return some of the points."""
        walls = None if self.walls is None else self.walls[some]
        return Skin(self.points[some], self.normals[some], self.areas[some], self.depths[some], walls)


def find_sources(skin: Skin, segments: Segments, parents: IntArray, solid: Solid, size: float,
                 step: Callable[[], None] = lambda: None, reach: FloatArray | None = None,
                 apart: BoolArray | None = None) -> Sources:
    """Find the bone that each of N points of the surface belongs to: the one that costs least.

    The cost is the distance of the bone from the surface and from the limb's middle. It is higher if the way to the
    bone leaves the body, leads against the bone's direction, or is long for a limb of its radius. Bones that cost
    nearly the same share the point. The line of a leaf bone tells little of the shape of a limb's end, such as a face
    in front of a head's axis. So the bone gets a second line, to the middle of the skin that was found for it. If bones
    run through the air, as along the axis of a pipe, ways to them always leave the body, so that costs less. `step` is
    called now and then, and may raise. reach: (B,) the greatest radius of what a bone moves, ∞ where its limb decides;
    None for ∞. apart: (B, B) bones in different skins, as `told_apart`, which do not count as side by side; None for no
    such bones.
    """
    thin = cell_size(skin.points, _THIN)
    measured = limb_radii(segments, solid, size, 0.0)
    beside = side_by_side(measured, segments, solid)
    raw = of_neighbours(measured, beside)
    radius = np.minimum(np.maximum(raw, thin), np.maximum(room_beside(segments, parents), thin))
    most = np.full(len(segments.bones), np.inf) if reach is None else reach[segments.bones]
    radius = np.minimum(radius, most)
    inside = _shares_inside(segments, solid)
    outside = _OUTSIDE * float(np.average(inside, weights=segments.lengths + _TINY))
    centred = _centred(segments, parents, skin, solid, size)
    in_skin = np.where(np.isinf(most), 1.0 - centred, 0.0)  # eyes, with a finite reach, are no strips
    one_skin = beside if apart is None else beside & ~apart[segments.bones[:, None], segments.bones]
    reaches = _Reaches.of(segments, len(parents), radius, in_skin, one_skin)
    lines = _Lines(segments, centred, radius, reaches, solid, outside)
    found = _cheapest(skin, lines, step)
    to_centres = _to_centres(skin, segments, parents, np.minimum(raw, radius), inside, np.isinf(most), found)
    if not len(to_centres.bones):
        return found
    room = np.maximum(room_beside(segments.joined(to_centres), parents)[-len(to_centres.bones):], thin)
    return _cheapest(skin, lines.joined(to_centres, np.minimum(limb_radii(to_centres, solid, size, thin), room)), step)


@dataclass(frozen=True, eq=False)
class _Reaches:
    """Limits of the distances over which weights of B bones blend.

    most: (B,) upper limit, a limb's radius for a leaf bone, else ∞. least: (B,) lower limit, half its length for a bone
    in the skin, else 0. past_joints: (B,) as in `Sources`.
    """

    most: FloatArray
    least: FloatArray
    past_joints: FloatArray

    @classmethod
    def of(cls, segments: Segments, bones: int, radius: FloatArray, in_skin: FloatArray, beside: BoolArray) -> _Reaches:
        """Return the limits, from lines' radius (S,), share in the skin (S,), and lines beside them (S, S)."""
        most, least, past_joints = np.full(bones, np.inf), np.zeros(bones), np.zeros(bones)
        most[segments.bones[segments.leaf]] = radius[segments.leaf]
        past_joints[segments.bones] = 1.0
        np.minimum.at(past_joints, segments.bones, in_skin)
        np.maximum.at(least, segments.bones, _SLOPE * segments.lengths * past_joints[segments.bones])
        past_joints[segments.bones[beside.any(axis=1)]] = 1.0
        return cls(most, least, past_joints)


@dataclass(frozen=True, eq=False)
class _Lines:
    """The S lines of B bones in a body.

    centred: (S,) see `_centred`. radius: (S,) of their limbs. outside: by how much what leaves the solid costs more.
    """

    segments: Segments
    centred: FloatArray
    radius: FloatArray
    reaches: _Reaches
    solid: Solid
    outside: float

    def joined(self, others: Segments, radius: FloatArray) -> _Lines:
        """Return these with other lines (N), which run in the middle of limbs of radius (N,)."""
        centred = np.concatenate((self.centred, np.ones(len(radius))))
        return replace(self, segments=self.segments.joined(others), centred=centred,
                       radius=np.concatenate((self.radius, radius)))


def _shares_inside(segments: Segments, solid: Solid) -> FloatArray:
    """Return the share of each line, (S,), that lies inside the solid."""
    shares = (np.arange(_STEPS) + 0.5) / _STEPS
    on_lines = segments.points_at(np.repeat(shares[:, None], len(segments.bones), axis=1))
    return np.asarray(solid.contains(on_lines).mean(axis=0))


def _cheapest(skin: Skin, lines: _Lines, step: Callable[[], None]) -> Sources:
    reaches, bones = lines.reaches, lines.segments.bones
    gaps = _air_gaps(lines.segments, skin, lines.solid)
    most = max(1, _AT_ONCE // len(bones))
    found = []
    for begin in range(0, len(skin.points), most):
        found.append(_cheapest_of(skin.at(slice(begin, begin + most)), lines, gaps))
        step()
    radii = np.zeros(len(reaches.most))
    np.maximum.at(radii, bones, lines.radius)
    shares, distances, from_bones = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Sources(shares, distances, from_bones, radii, reaches.past_joints)


def _cheapest_of(skin: Skin, lines: _Lines, gaps: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the shares, distances and distances from bones of `Sources`."""
    segments, reaches = lines.segments, lines.reaches
    distance, share = segments.nearest(skin.points)
    below = skin.depths[:, None] * lines.centred
    cost = (1.0 - _MIDDLE) * distance + _MIDDLE * segments.nearest_below(skin.points, skin.normals, below)
    cost *= np.exp(_against_direction(skin.points, distance, share, segments))
    air = _air(gaps, share)
    cost *= np.maximum(distance / (_FAR_FROM * (lines.radius + air)), 1.0) ** _FAR / lines.radius**_THICKNESS
    if skin.walls is not None:
        cost *= 1.0 + _OUTSIDE * skin.walls[:, segments.bones]
    _add_outside(cost, skin.points, segments, share, air / np.maximum(distance, _TINY), lines.solid, lines.outside)
    of_bone = np.full((len(cost), len(reaches.most)), np.inf)
    from_bone = np.tile(reaches.most, (len(cost), 1))
    for line, bone in enumerate(segments.bones):
        of_bone[:, bone] = np.minimum(of_bone[:, bone], cost[:, line])
        from_bone[:, bone] = np.minimum(from_bone[:, bone], distance[:, line])
    shares = _shares(of_bone + _ON_LINE * lines.solid.cell)
    width = np.maximum(np.where(shares > 0.0, from_bone, 0.0), reaches.least)
    return shares, (shares * width).sum(axis=1), from_bone


def _shares(cost: FloatArray) -> FloatArray:
    """Return the shares (N, B) of bones in points, by their costs (N, B); rows sum to 1.

    The cheapest bone shares a point gradually with bones that cost little more. If each point had one owner, the border
    between two bones would jump over whole rows of vertices, which tears coarse meshes.
    """
    least = cost.min(axis=1, keepdims=True)
    share = np.maximum((1.0 + _ALIKE) * least - cost, 0.0) / np.maximum(_ALIKE * least, _TINY)
    share = np.where(cost <= least, 1.0, share * share * (3.0 - 2.0 * share))
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def _centred(segments: Segments, parents: IntArray, skin: Skin, solid: Solid, size: float) -> FloatArray:
    """Return how far each line (S,) runs in its limb's middle: 1 in the middle, 0 if it lies in the skin all along.

    The value compares the line's greatest depth below the nearest skin with the depth of the limb's middle there.
    Surfaces buried in the solid are no skin. A leaf bone at the end of its parent's line is at least as centred as its
    parent.
    """
    bare = np.flatnonzero(~solid.contains(skin.points + _BARE * solid.cell * skin.normals))
    if not len(bare):
        return np.ones(len(segments.bones))
    on_lines = segments.points_at(np.repeat(RADIUS_SHARES[:, None], len(segments.bones), axis=1))
    nearest = bare[_nearest(on_lines.reshape(-1, 3), skin.points[bare])[0]]
    gap = np.abs(((on_lines.reshape(-1, 3) - skin.points[nearest]) * skin.normals[nearest]).sum(axis=1))
    share = (gap / skin.depths[nearest]).reshape(on_lines.shape[:2])
    centred: FloatArray = np.clip((share.max(axis=0) - _IN_SKIN) / (_IN_LIMB - _IN_SKIN), 0.0, 1.0)
    for line in np.flatnonzero(segments.leaf):
        before = np.flatnonzero(segments.bones == parents[segments.bones[line]])
        met = np.linalg.norm(segments.ends[before] - segments.starts[line], axis=1) < _MET * size
        centred[line] = centred[before[met]].max(initial=centred[line])
    return centred


def _nearest(positions: FloatArray, points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the nearest of points (P, 3) to each of N positions (N, 3), as its index (N,), and its distance (N,)."""
    nearest, gaps = np.empty(len(positions), dtype=np.int64), np.empty(len(positions))
    step = max(1, _AT_ONCE // len(points))
    for begin in range(0, len(positions), step):
        some = positions[begin:begin + step]
        squared = (some * some).sum(axis=1)[:, None] + (points * points).sum(axis=1) \
            - 2.0 * some @ points.T
        nearest[begin:begin + step] = squared.argmin(axis=1)
        gaps[begin:begin + step] = np.sqrt(np.maximum(squared.min(axis=1), 0.0))
    return nearest, gaps


def _air_gaps(segments: Segments, skin: Skin, solid: Solid) -> FloatArray:
    """Return the distances (K + 1, S) from the nearest skin of K + 1 positions on each line, 0 inside the body."""
    along = np.linspace(0.0, 1.0, _AIR_STEPS + 1)
    on_lines = segments.points_at(np.repeat(along[:, None], len(segments.bones), axis=1))
    gaps = np.zeros(on_lines.shape[:2])
    outside = np.flatnonzero(~solid.contains(on_lines).reshape(-1))
    gaps.reshape(-1)[outside] = _nearest(on_lines.reshape(-1, 3)[outside], skin.points)[1]
    return gaps


def _air(gaps: FloatArray, share: FloatArray) -> FloatArray:
    """Return the gaps of `_air_gaps`, interpolated at shares (N, S) of the lines."""
    before = np.minimum((share * _AIR_STEPS).astype(np.int64), _AIR_STEPS - 1)
    after = share * _AIR_STEPS - before
    line = np.arange(share.shape[1])
    return np.asarray((1.0 - after) * gaps[before, line] + after * gaps[before + 1, line])


def _add_outside(cost: FloatArray, points: FloatArray, segments: Segments, share: FloatArray, air: FloatArray,
                 solid: Solid, factor: float) -> None:
    """Raise costs (N, S), in place, where the way from points (N, 3) to shares (N, S) of the lines leaves the solid.

    air: (N, S) share of the way that is outside since the bone itself runs outside; it does not count. A way that is
    otherwise outside costs 1 + `factor` times as much. Only each point's cheapest line is raised, and then lines that
    cost little more: others get no share of the point anyway.
    """
    def raised(point: IntArray, line: IntArray) -> FloatArray:
        target = segments.starts[line] + share[point, line, None] * along[line]
        away = solid.share_outside(points[point], target) - air[point, line]
        return np.asarray(cost[point, line] * (1.0 + factor * np.maximum(away, 0.0)))

    each, along = np.arange(len(cost)), segments.along
    least = raised(each, np.argmin(cost, axis=1))
    point, line = np.nonzero(cost <= least[:, None] * (1.0 + _ALIKE))
    cost[point, line] = raised(point, line)


def _against_direction(points: FloatArray, distance: FloatArray, share: FloatArray, segments: Segments) -> FloatArray:
    """Return the logarithms (N, S) of cost factors for points (N, 3) behind the lines' starts or beyond their ends.

    distance, share: (N, S) of the nearest point of each line: its distance, and its share of the line.
    """
    ahead = points @ segments.directions.T - (segments.starts * segments.directions).sum(axis=1)
    cosine = np.clip((ahead - share * segments.lengths) / np.maximum(distance, _TINY), -1.0, 1.0)  # on a line: 0 / 0
    ends: BoolArray = (share >= 1.0) & ~segments.leaf
    behind = np.where(segments.leaf, _LEAF_BEHIND, _BEHIND)
    return np.asarray(behind * np.where(share <= 0.0, np.maximum(-cosine, 0.0), 0.0)
                      + _BEYOND * np.where(ends, np.maximum(cosine, 0.0), 0.0))


def _to_centres(skin: Skin, segments: Segments, parents: IntArray, radius: FloatArray, inside: FloatArray,
                free: BoolArray, found: Sources) -> Segments:
    """Return lines from the starts of leaf bones that run inside to the centres of area of the skin found for them.

    Bones with two or more leaf bones as children also get one, such as a head with a jaw and eyes. Bones of lines that
    are not free (S,), such as eyes, get none.
    """
    weight = found.shares * skin.areas[:, None]
    area = weight.sum(axis=0)
    long = segments.lengths >= _TIP * radius
    lasts = np.unique(segments.bones[segments.leaf])
    carries = np.bincount(parents[lasts] + 1, minlength=len(parents) + 1)[1:] > 1
    first = np.zeros(len(long), dtype=np.bool_)
    first[np.unique(segments.bones, return_index=True)[1]] = True
    ends = (segments.leaf | (carries[segments.bones] & first)) & long & free
    kept = np.flatnonzero(ends & (inside > _MOSTLY) & (area[segments.bones] > 0.0))
    bones = segments.bones[kept]
    centres = (weight[:, bones].T @ skin.points) / np.maximum(area[bones], _TINY)[:, None]
    return Segments(bones, segments.starts[kept], centres, np.ones(len(kept), dtype=np.bool_))
