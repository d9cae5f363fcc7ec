"""Clothes: transfer of the weights of the body just below them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .input import BindInput
from .welding import welded_surface

_NEAR = 0.05
"""A garment takes weights from a body within this share of the longest side of all meshes."""

_SAME_WAY = np.cos(np.radians(30.0))
"""Cosine from which on two normals look the same way."""

_AT_ONCE = 1 << 20
_TINY = float(np.finfo(np.float64).tiny)


def transferred(body: BindInput, weights: FloatArray, garment: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Return weights (V, B) in which clothes have the weights of the body below, and which vertices are known, (V,).

    weights: (V, B), rows with any sum; only the body's rows are read. garment: (V,) which vertices are clothes; all
    others are the body. A body vertex is known if its row sums to more than 0. A garment vertex is known if the nearest
    body surface is within 5 % of the longest side of all, its normal within 30° (Abdrashitov, Raichstat, Monsen and
    Hill 2023). It takes the weights at the nearest point, interpolated between the corners of that triangle. The rest
    is for `inpainted`.
    """
    total = weights.sum(axis=1)
    result = np.divide(weights, total[:, None], out=np.zeros_like(weights), where=total[:, None] > 0.0)
    result[garment] = 0.0
    known = ~garment & (total > 0.0)
    skin = _Skin.of(body, known)
    clothes = _Skin.of(body, garment)
    if not len(skin.triangles) or not garment.any():
        return result, known
    nearest, shares = skin.nearest(clothes.points)
    corners = skin.triangles[nearest]
    points, normals = (np.einsum("nk,nkc->nc", shares, values[corners]) for values in (skin.points, skin.normals))
    near = np.linalg.norm(points - clothes.points, axis=1) < _NEAR * float(np.ptp(body.vertices, axis=0).max())
    same_way = (_unit(normals) * clothes.normals).sum(axis=1) > _SAME_WAY
    found = (near & same_way)[clothes.point_of]
    at = clothes.point_of[found]
    result[clothes.vertices[found]] = np.einsum("nk,nkb->nb", shares[at], result[skin.vertex_of[corners[at]]])
    known[clothes.vertices[found]] = True
    return result, known


@dataclass(frozen=True, eq=False)
class _Skin:
    """The surface over N chosen vertices of a body, P points in the body's space.

    vertices: (N,). point_of: (N,) the point of each. vertex_of: (P,) a vertex of each. points, normals: (P, 3).
    triangles: (T, 3).
    """

    vertices: IntArray
    point_of: IntArray
    vertex_of: IntArray
    points: FloatArray
    normals: FloatArray
    triangles: IntArray

    @classmethod
    def of(cls, body: BindInput, chosen: BoolArray) -> _Skin:
        vertices = np.flatnonzero(chosen)
        if not len(vertices):
            nothing, none = np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
            return cls(vertices, none, none, nothing, nothing, np.zeros((0, 3), dtype=np.int64))
        point_of, surface, frame = welded_surface(body.only(chosen))
        vertex_of = np.zeros(len(surface.points), dtype=np.int64)
        vertex_of[point_of] = vertices
        return cls(vertices, point_of, vertex_of, frame.to_world(surface.points), surface.normals @ frame.axes.T,
                   surface.triangles)

    def nearest(self, points: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return for points (N, 3) the nearest triangle (N,) around the nearest corner, and its shares (N, 3)."""
        corner = _nearest(points, self.points, np.unique(self.triangles))
        order = np.argsort(self.triangles.reshape(-1), kind="stable")
        count = np.bincount(self.triangles.reshape(-1), minlength=len(self.points))
        start = np.cumsum(count) - count
        best = np.full(len(points), np.inf)
        triangle, shares = np.zeros(len(points), dtype=np.int64), np.zeros((len(points), 3))
        for step in range(int(count.max())):
            some = np.flatnonzero(count[corner] > step)
            found = order[start[corner[some]] + step] // 3
            own = _closest_shares(points[some], self.points[self.triangles[found]])
            gap = np.einsum("nk,nkc->nc", own, self.points[self.triangles[found]]) - points[some]
            squared = (gap * gap).sum(axis=1)
            better = squared < best[some]
            some = some[better]
            best[some], triangle[some], shares[some] = squared[better], found[better], own[better]
        return triangle, shares


def _nearest(points: FloatArray, others: FloatArray, among: IntArray) -> IntArray:
    """Return the index (N,) of the nearest of `others` (M, 3) to each of points (N, 3), among the given indices."""
    some = others[among]
    squared = (some * some).sum(axis=1)
    step = max(1, _AT_ONCE // len(some))
    found = [np.argmin(squared - 2.0 * points[begin:begin + step] @ some.T, axis=1)
             for begin in range(0, len(points), step)]
    return np.asarray(among[np.concatenate(found)])


def _closest_shares(points: FloatArray, corners: FloatArray) -> FloatArray:
    """Return the barycentric shares (N, 3) of the point of each triangle (N, 3, 3) that is closest to points (N, 3).

    >>> triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> _closest_shares(np.array([[0.25, 0.25, 5.0], [3.0, -1.0, 0.0]]), np.stack((triangle, triangle))).tolist()
    [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]
    """
    a, b, c = (corners[:, k] for k in range(3))
    ab, ac, ap = b - a, c - a, points - a
    bb, bc, cc = (ab * ab).sum(axis=1), (ab * ac).sum(axis=1), (ac * ac).sum(axis=1)
    pb, pc = (ap * ab).sum(axis=1), (ap * ac).sum(axis=1)
    area = np.maximum(bb * cc - bc * bc, _TINY)
    u, v = (cc * pb - bc * pc) / area, (bb * pc - bc * pb) / area
    found = np.stack((1.0 - u - v, u, v), axis=1)
    outside = (found < 0.0).any(axis=1)
    least = np.full(len(points), np.inf)
    for first in range(3):  # outside, the closest point lies on one of the three sides
        second = (first + 1) % 3
        side = corners[:, second] - corners[:, first]
        along = ((points - corners[:, first]) * side).sum(axis=1) / np.maximum((side * side).sum(axis=1), _TINY)
        along = np.clip(along, 0.0, 1.0)
        squared = ((corners[:, first] + along[:, None] * side - points) ** 2).sum(axis=1)
        better = outside & (squared < least)
        least[better] = squared[better]
        found[better] = 0.0
        found[better, first], found[better, second] = 1.0 - along[better], along[better]
    return found


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY))
