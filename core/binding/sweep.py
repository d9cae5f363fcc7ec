"""How a binding bends: every joint is turned, and visible faults are counted, without an artist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import path_to_root
from .input import BindInput
from .settings import BindCancelledError, Progress

_ANGLES_RAD = np.radians((45.0, 90.0, 120.0))
_MOST_JOINTS = 60
_LEAST_MOVED = 0.003
"""A joint is tested if it moves more than this share of the vertices, and leaves more than this share still."""

_COINCIDENT = 1e-5
_LEAST_REACH = 0.02
_FAR_LINKS = 3
_LEAKS, _TEARS = 0.01, 0.005
"""Shares of the body's size, as are the reach around a joint and what counts as the same position."""

_FLYING = 3.0
_FLIPPED = -0.5
"""A vertex flies if it leaves its neighbours by this many edges; a triangle is flipped below this cosine."""

_STRETCH_PERCENTILE = 99.0
_WORST = 0.01
"""The share of all vertices that are reported as the worst."""

_UNBROKEN = 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Sweep:
    """Visible faults when each of `joints` joints is bent by 45°, 90° and 120° about two axes; means over poses.

    flips: triangles per 1000 whose normal is more than 120° from the rest normal turned by their weights. stretch: 99th
    percentile of how many times longer or shorter edges around the joint become. volume: lost share of the volume
    around the joint, in %. flying: vertices per 1000 that leave their neighbours by more than 3 edges. leaks: vertices
    per 1000 that move though their owner is 3 or more bones away. tears: vertices per 1000 that part from another at
    the same position. broken: (V,) in how many poses each vertex flies, leaks, or is a corner of a flipped triangle;
    flying_in, leaking_in: (V,) in how many it flies, or leaks.
    """

    flips: float
    stretch: float
    volume: float
    flying: float
    leaks: float
    tears: float
    joints: int
    broken: IntArray
    flying_in: IntArray
    leaking_in: IntArray

    def worst(self, share: float = _WORST) -> BoolArray:
        """Return the vertices, (V,), that are broken in the most poses: about `share` of all, or none."""
        count = max(1, round(share * len(self.broken)))
        least = np.partition(self.broken, -count)[-count]
        return np.asarray(self.broken >= max(1, least))


def sweep(body: BindInput, weights: FloatArray, owners: IntArray | None = None,
          progress: Progress | None = None) -> Sweep:
    """Bend a body bound by weights (V, B) at each joint; rows may have any sum, those of 0 move nothing.

    owners: (V,) the bone that each vertex belongs to, or (V, N) bones that it may belong to; None for the bone with its
    greatest weight. A vertex leaks if it moves with a bone that is far from all its owners. progress: called with the
    share of the work done; when it answers False, BindCancelledError is raised. With one joint turned, a vertex moves
    by s (R − 1)(x − head), where s is the sum of its weights from that bone on. Raises TaktError where weights do not
    fit the body.
    """
    if weights.shape != (len(body.vertices), len(body.bone_names)):
        raise TaktError(f"weights have shape {weights.shape}, expected {len(body.vertices), len(body.bone_names)}")
    total = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)
    owners = weights.argmax(axis=1) if owners is None else owners
    shape, bones = _Shape.of(body), _Bones.of(body)
    owners = owners.reshape(len(weights), -1)
    share = bones.below[:, owners[:, 0]].mean(axis=1)
    joints = [int(bone) for bone in np.argsort(-share, kind="stable") if body.bone_parents[bone] >= 0
              and _LEAST_MOVED < share[bone] < 1.0 - _LEAST_MOVED][:_MOST_JOINTS]
    rows, broken = [], np.zeros((3, len(shape.points)), dtype=np.int64)
    for number, bone in enumerate(joints):
        if progress is not None and not progress(number / len(joints)):
            raise BindCancelledError("the bending was cancelled")
        for row, found in _bent(shape, bones, bone, weights @ bones.below[bone], owners[shape.first]):
            rows.append(row)
            broken += found
    flips, stretch, volume, flying, leaks, tears = np.mean(rows, axis=0).tolist() if rows else _UNBROKEN
    return Sweep(flips, stretch, volume, flying, leaks, tears, len(joints),
                 *broken[:, shape.point_of])


@dataclass(frozen=True, eq=False)
class _Shape:
    """The body's P points, coincident vertices of a part being one, in units of its size.

    point_of: (V,) the point of each vertex; first: (P,) a vertex of each. areas: (T, 3) normals of triangles, with
    twice their area as length. around: (P,) the mean length of the edges at each point.
    """

    vertices: FloatArray
    point_of: IntArray
    first: IntArray
    points: FloatArray
    triangles: IntArray
    areas: FloatArray
    edges: IntArray
    lengths: FloatArray
    around: FloatArray

    @classmethod
    def of(cls, body: BindInput) -> _Shape:
        vertices = body.vertices / _size(body)
        key = np.column_stack((np.rint(vertices / _COINCIDENT).astype(np.int64), body.part))
        _, first, point_of = np.unique(key, axis=0, return_index=True, return_inverse=True)
        points, point_of = vertices[first], point_of.reshape(-1)
        triangles = point_of[_fans(body)]
        a, b, c = triangles.T
        triangles = triangles[(a != b) & (b != c) & (c != a)]
        edges = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
        lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
        number = np.maximum(np.bincount(edges.reshape(-1), minlength=len(points)), 1)
        around = np.bincount(edges.T.reshape(-1), np.tile(lengths, 2), len(points)) / number
        areas = _area_vectors(points, triangles)
        return cls(vertices, point_of, first, points, triangles, areas, edges, lengths, around)


@dataclass(frozen=True, eq=False)
class _Bones:
    """B bones, in units of the body's size.

    below: (B, B) whether the second bone is the first or a descendant of it; far: (B, B) as `far_bones`.
    """

    heads: FloatArray
    tails: FloatArray
    parents: IntArray
    below: FloatArray
    far: BoolArray

    @classmethod
    def of(cls, body: BindInput) -> _Bones:
        size = _size(body)
        return cls(body.heads / size, body.tails / size, body.bone_parents, _below(body.bone_parents),
                   far_bones(body.bone_parents))


def far_bones(parents: IntArray) -> BoolArray:
    """Return (B, B) whether the second bone is three or more links away from the first, and no descendant of it.

    >>> far_bones(np.array([-1, 0, 1, 2, 0]))[4].tolist()  # a leg of three bones and one of a single bone
    [False, False, True, True, False]
    """
    below = _below(parents)
    common = below.T @ below
    depth = below.sum(axis=0)
    links = np.where(common > 0.0, depth[:, None] + depth - 2.0 * common, len(parents))
    return np.asarray((links >= _FAR_LINKS) & (below == 0.0))


def _below(parents: IntArray) -> FloatArray:
    below = np.zeros((len(parents), len(parents)))
    for bone in range(len(parents)):
        below[path_to_root(parents, bone), bone] = 1.0
    return below


def _bent(shape: _Shape, bones: _Bones, bone: int, share: FloatArray,
          owners: IntArray) -> Iterator[tuple[list[float], BoolArray]]:
    """Yield for each pose of one joint the columns of `Sweep`, and which points (3, P) are broken, fly, and leak.

    share: (V,) the sum of each vertex's weights from this bone on.
    """
    head = bones.heads[bone]
    at_point = np.bincount(shape.point_of, share) / np.bincount(shape.point_of)
    gap = np.abs(share - share[shape.first][shape.point_of])
    offsets, own_offsets = shape.points - head, shape.vertices[gap > 0.0] - head
    reach = max(0.5 * min(float(np.linalg.norm(head - bones.heads[bones.parents[bone]])),
                          float(np.linalg.norm(bones.tails[bone] - head))), _LEAST_REACH)
    near = np.linalg.norm(offsets, axis=1) < reach
    near_edges, near_triangles = near[shape.edges.T].any(axis=0), shape.triangles[near[shape.triangles.T].any(axis=0)]
    others = bones.far[bone][owners].all(axis=1)
    corners = at_point[shape.triangles.T]
    varying = np.flatnonzero(corners.max(axis=0) - corners.min(axis=0) > _NOTHING)  # other triangles turn rigidly
    uneven = _Uneven.of(shape, at_point)
    volume = _cone(offsets, near_triangles)
    for axis in _axes(bones, bone):
        for angle in _ANGLES_RAD:
            turn = _rotation(axis, float(angle)) - np.eye(3)
            moved = at_point[:, None] * (offsets @ turn.T)
            flipped = _flipped(shape, varying, at_point, offsets + moved, axis, float(angle))
            stretch = _stretched(shape, offsets + moved, near_edges)
            lost = float(np.clip(1.0 - _cone(offsets + moved, near_triangles) / volume, -1.0, 1.0)) \
                if volume > 1e-9 else 0.0
            flying = uneven.flying(moved, shape.around)
            leaking = others & (np.linalg.norm(moved, axis=1) > _LEAKS)
            torn = np.count_nonzero(gap[gap > 0.0] * np.linalg.norm(own_offsets @ turn.T, axis=1) > _TEARS)
            broken = np.stack((flying | leaking, flying, leaking))
            broken[0, shape.triangles[flipped]] = True
            yield [1e3 * float(flipped.mean()) if len(flipped) else 0.0, stretch, 100.0 * lost,
                   1e3 * float(flying.mean()), 1e3 * float(leaking.mean()), 1e3 * torn / len(gap)], broken


def _flipped(shape: _Shape, some: IntArray, share: FloatArray, bent: FloatArray, axis: FloatArray,
             angle: float) -> BoolArray:
    """Return which triangles (T,), among `some`, face away from their rest normal turned by their share."""
    result = np.zeros(len(shape.triangles), dtype=np.bool_)
    normal, turn = shape.areas[some], share[shape.triangles[some]].mean(axis=1)[:, None] * angle
    along = (normal @ axis)[:, None] * axis
    meant = along + (normal - along) * np.cos(turn) + np.cross(axis, normal) * np.sin(turn)
    found = _area_vectors(bent, shape.triangles[some])
    area = np.linalg.norm(normal, axis=1)
    result[some] = ((found * meant).sum(axis=1) < _FLIPPED * np.linalg.norm(found, axis=1) * area) & (area > _NOTHING)
    return result


def _stretched(shape: _Shape, bent: FloatArray, near: BoolArray) -> float:
    if not near.any():
        return 1.0
    one, other = shape.edges[near].T
    ratio = np.maximum(np.linalg.norm(bent[one] - bent[other], axis=1), 1e-9) / np.maximum(shape.lengths[near], 1e-9)
    return float(np.percentile(np.maximum(ratio, 1.0 / ratio), _STRETCH_PERCENTILE))


@dataclass(frozen=True, eq=False)
class _Uneven:
    """The N points that move differently from a neighbour when one joint bends: no other point can fly.

    points: (N,). one: (M,) an index into them, and other: (M,) a neighbour's point, for each side of their edges.
    """

    points: IntArray
    one: IntArray
    other: IntArray

    @classmethod
    def of(cls, shape: _Shape, share: FloatArray) -> _Uneven:
        first, second = shape.edges.T
        differs = np.zeros(len(share), dtype=np.bool_)
        apart = share[first] != share[second]
        differs[first[apart]] = differs[second[apart]] = True
        one, other = np.concatenate((shape.edges[differs[first]], shape.edges[differs[second]][:, ::-1])).T
        return cls(np.flatnonzero(differs), (np.cumsum(differs) - 1)[one], other)

    def flying(self, moved: FloatArray, around: FloatArray) -> BoolArray:
        """Return which points (P,) move away from the mean of their neighbours."""
        result = np.zeros(len(moved), dtype=np.bool_)
        count = np.maximum(np.bincount(self.one, minlength=len(self.points)), 1)
        mean = np.stack([np.bincount(self.one, column[self.other], len(self.points)) for column in moved.T], axis=1)
        away = np.linalg.norm(moved[self.points] - mean / count[:, None], axis=1)
        result[self.points] = away > _FLYING * around[self.points]
        return result


def _axes(bones: _Bones, bone: int) -> tuple[FloatArray, FloatArray]:
    """Return the axis about which a joint is bent already, or else one across the body, and the one across both."""
    head = bones.heads[bone]
    children = np.flatnonzero(bones.parents == bone)
    ahead = bones.heads[children].mean(axis=0) if len(children) else bones.tails[bone]
    before, after = _unit(head - bones.heads[bones.parents[bone]]), _unit(ahead - head)
    axis = np.cross(before, after)
    for across in np.eye(3)[:2]:
        if np.linalg.norm(axis) < 0.1:
            axis = across - after * (across @ after)
    axis = _unit(axis)
    return axis, _unit(np.cross(after, axis))


def _rotation(axis: FloatArray, angle_rad: float) -> FloatArray:
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle_rad) * cross + (1.0 - np.cos(angle_rad)) * cross @ cross)


def _fans(body: BindInput) -> IntArray:
    """Return triangles (T, 3) of vertices: each face from its first corner."""
    start = np.cumsum(body.face_sizes) - body.face_sizes
    found = [np.zeros((0, 3), dtype=np.int64)]
    for corner in range(1, int(body.face_sizes.max(initial=3)) - 1):
        at = start[body.face_sizes > corner + 1]
        found.append(body.face_vertices[np.stack((at, at + corner, at + corner + 1), axis=1)])
    return np.concatenate(found)


def _area_vectors(points: FloatArray, triangles: IntArray) -> FloatArray:
    a, b, c = (points[corner] for corner in triangles.T)
    return np.asarray(np.cross(b - a, c - a))


def _cone(points: FloatArray, triangles: IntArray) -> float:
    """Return six times the volume between triangles and the origin."""
    a, b, c = (points[corner] for corner in triangles.T)
    return float((np.cross(a, b) * c).sum())


def _unit(vector: FloatArray) -> FloatArray:
    return np.asarray(vector / max(float(np.linalg.norm(vector)), _NOTHING))


def _size(body: BindInput) -> float:
    return float(np.ptp(body.vertices, axis=0).max()) or 1.0
