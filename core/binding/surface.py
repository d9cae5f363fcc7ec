"""The welded surface of all meshes: triangles turned outward, areas, normals, edge weights, samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray

_TURNING_ROUNDS = 30
"""Rounds in which neighbouring triangles agree on a side; enough for 20 % turned at random."""

_FLATTEST_COTANGENT, _STEEPEST_COTANGENT = 0.02, 50.0
"""Obtuse and needle triangles must neither cut the surface nor glue it."""

_ALIKE = 1e-6
_MOST_SAMPLES_ALONG = 400
_MOST_CORNERS = 8
"""Greatest number of corners of faces that are cut from a corner; larger faces are cut from their middle."""


@dataclass(frozen=True, eq=False)
class Surface:
    """P points (P, 3), T triangles (T, 3) of them that face outward, and values that follow from both.

    face_normals: (T, 3) of length one, or 0 where a triangle has no area; face_areas: (T,).
    normals: (P, 3) of length one, or 0 where a point has no triangle. areas: (P,) a third of the area of the point's
    cuts. cuts: (C, 3) triangles through which heat flows: as `triangles`, but each quad is cut along both diagonals.
    cut_shares: (C,) weight of each cut: ½ in quads, else 1; cut_areas: (C,).
    """

    points: FloatArray
    triangles: IntArray
    face_normals: FloatArray
    face_areas: FloatArray
    normals: FloatArray
    areas: FloatArray
    cuts: IntArray
    cut_shares: FloatArray
    cut_areas: FloatArray

    @classmethod
    def of_faces(cls, points: FloatArray, face_vertices: IntArray, face_sizes: IntArray) -> Surface:
        """Return the surface of faces, given by their corners (L,) and sizes (F,), whose quads have two cuts.

        One diagonal alone would favour a side in the quads across the middle of a symmetric body.
        """
        triangles = triangulate(points, face_vertices, face_sizes)
        return cls.build(points, triangles, _both_cuts(points, face_vertices, face_sizes))

    @classmethod
    def build(cls, points: FloatArray, triangles: IntArray,
              cuts: tuple[IntArray, FloatArray] | None = None) -> Surface:
        """Turn triangles (T, 3) outward and derive the rest; triangles that use a point twice are dropped.

        cuts: (C, 3), and their shares (C,); None for the triangles.
        """
        triangles = triangles[_proper(triangles)]
        normals, areas = _face_normals(points, triangles)
        inward = _signs(points, triangles, normals, areas) < 0.0
        if inward.any():
            triangles = np.where(inward[:, None], triangles[:, [0, 2, 1]], triangles)
            normals = np.where(inward[:, None], -normals, normals)
        at_points = np.zeros((len(points), 3))
        for corner, cosine in enumerate(_corner_products(points, triangles)):
            angle = np.arctan2(2.0 * areas, cosine)
            at_points += _summed(triangles[:, corner], normals * angle[:, None], len(points))
        cut, shares = (triangles, np.ones(len(triangles))) if cuts is None else cuts
        cut_areas = areas if cuts is None else _face_normals(points, cut)[1]
        at_each = np.bincount(cut.reshape(-1), np.repeat(shares * cut_areas, 3), len(points)) / 3.0
        return cls(points, triangles, normals, areas, _unit(at_points), at_each, cut, shares, cut_areas)

    def edges(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return edges as two point arrays (E,) and half cotangents (E,) (Pinkall and Polthier 1993); edges repeat."""
        first, second, weights = [], [], []
        sine = np.maximum(2.0 * self.cut_areas, np.finfo(float).tiny)
        for corner, cosine in enumerate(_corner_products(self.points, self.cuts)):
            first.append(self.cuts[:, (corner + 1) % 3])
            second.append(self.cuts[:, (corner + 2) % 3])
            weights.append(self.cut_shares * np.clip(cosine / sine, _FLATTEST_COTANGENT, _STEEPEST_COTANGENT) / 2.0)
        return np.concatenate(first), np.concatenate(second), np.concatenate(weights)

    def samples(self, spacing: float) -> tuple[FloatArray, FloatArray]:
        """Return points (S, 3) spread over the triangles, at most about `spacing` apart, and their area (S, 3).

        The area of a point is that of its part of the triangle, as a vector that points outward.
        """
        if not len(self.triangles):
            return np.zeros((0, 3)), np.zeros((0, 3))
        corners = np.take(self.points, self.triangles, axis=0)
        longest = np.max([_lengths(corners[:, corner] - corners[:, corner - 1]) for corner in range(3)], axis=0)
        along = np.clip(np.ceil(longest / spacing), 1, _MOST_SAMPLES_ALONG).astype(np.int64)
        runs = [along == n for n in np.unique(along)]
        points = [np.einsum("sk,tkc->tsc", _spread(int(along[run][0])), corners[run]).reshape(-1, 3) for run in runs]
        areas = self.face_normals * (self.face_areas / along**2)[:, None]
        return np.concatenate(points), np.concatenate([np.repeat(areas[run], along[run] ** 2, axis=0) for run in runs])


def triangulate(points: FloatArray, face_vertices: IntArray, face_sizes: IntArray) -> IntArray:
    """Cut faces over points (P, 3), given by their corners (L,) and sizes (F,), into fans of triangles (T, 3).

    Quads are cut along the shorter diagonal, and along the one that reaches farther from the origin where
    both are as long: so it does not matter where a face's list begins, and mirrored bodies are cut alike.

    >>> triangulate(np.array([[0.0, 0, 0], [2, 0, 0], [3, 1, 0], [1, 1, 0]]), np.arange(4), np.array([4])).tolist()
    [[1, 2, 3], [1, 3, 0]]
    """
    start = np.cumsum(face_sizes) - face_sizes
    first = np.zeros(len(face_sizes), dtype=np.int64)
    quads = np.flatnonzero(face_sizes == 4)
    a, b, c, d = (points[face_vertices[start[quads] + corner]] for corner in range(4))
    one, other = _lengths(c - a), _lengths(d - b)
    reach, other_reach = (np.maximum(_lengths(p), _lengths(q)) for p, q in ((a, c), (b, d)))
    alike = np.abs(one - other) <= _ALIKE * one
    first[quads] = np.where(alike, other_reach > reach * (1.0 + _ALIKE), other < one)
    count = face_sizes - 2
    face = np.repeat(np.arange(len(face_sizes)), count)
    step = np.arange(len(face)) - np.repeat(np.cumsum(count) - count, count)
    return np.stack([face_vertices[start[face] + (first[face] + corner) % face_sizes[face]]
                     for corner in (np.zeros_like(step), step + 1, step + 2)], axis=1)


def _both_cuts(points: FloatArray, face_vertices: IntArray, face_sizes: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the triangles (C, 3) of faces as `triangulate`, but of quads cut along both diagonals; and shares (C,).

    Those that use a point twice are left out.
    """
    quads = face_sizes == 4
    others = triangulate(points, face_vertices[np.repeat(~quads, face_sizes)], face_sizes[~quads])
    corners = face_vertices[np.repeat(quads, face_sizes)].reshape(-1, 4)
    cuts = np.concatenate((others, *(np.roll(corners, turn, axis=1)[:, :3] for turn in range(4))))
    shares = np.repeat((1.0, 0.5), (len(others), 4 * len(corners)))
    proper = _proper(cuts)
    return cuts[proper], shares[proper]


def _proper(triangles: IntArray) -> BoolArray:
    """Return which triangles (T, 3) have three different corners, (T,)."""
    a, b, c = triangles.T
    return np.asarray((a != b) & (b != c) & (c != a))


def with_centres(points: FloatArray, face_vertices: IntArray,
                 face_sizes: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return points, corners and sizes in which faces of many corners are triangles around their middle.

    The middles (their corners' mean) come behind the points (P, 3). Fans from a corner would link it with the whole
    rim, such as both legs' sides at a gown's flat bottom.

    >>> angle = np.arange(9) * np.pi / 4.5
    >>> rim = np.stack((np.cos(angle), np.sin(angle), np.zeros(9)), axis=1)
    >>> points, corners, sizes = with_centres(rim, np.arange(9), np.array([9]))
    >>> bool(abs(points[9]).max() < 1e-15), corners.reshape(-1, 3)[-1].tolist(), sizes.tolist()
    (True, [8, 0, 9], [3, 3, 3, 3, 3, 3, 3, 3, 3])
    """
    large = face_sizes > _MOST_CORNERS
    if not large.any():
        return points, face_vertices, face_sizes
    around = np.repeat(large, face_sizes)
    corner, size = face_vertices[around], face_sizes[large]
    face, start = np.repeat(np.arange(len(size)), size), np.cumsum(size) - size
    following = np.arange(1, len(corner) + 1)
    following[start + size - 1] = start
    middles = np.stack([np.bincount(face, points[corner, axis]) for axis in range(3)], axis=1) / size[:, None]
    triangles = np.column_stack((corner, corner[following], len(points) + face))
    return (np.concatenate((points, middles)), np.concatenate((face_vertices[~around], triangles.reshape(-1))),
            np.concatenate((face_sizes[~large], np.full(len(triangles), 3))))


def outward_signs(points: FloatArray, triangles: IntArray) -> FloatArray:
    """Return 1 for each triangle (T,) that looks outward and −1 for each that looks inward.

    Two triangles that are the only ones at an edge are compared. Where they disagree, each moves towards its
    neighbours' sign, round after round, so that the local majority wins. Then whole regions do the same, the largest
    first, if they agree inside but not with those beside them, such as half a body turned inside out. Finally, each
    connected piece is turned so that it encloses a positive volume, seen from its own centre of area.
    """
    return _signs(points, triangles, *_face_normals(points, triangles))


def _signs(points: FloatArray, triangles: IntArray, normals: FloatArray, areas: FloatArray) -> FloatArray:
    """Return the `outward_signs` of triangles whose normals (T, 3) and areas (T,) are known."""
    count = len(triangles)
    if not count:
        return np.zeros(0)
    left, right, agree = _shared_edges(triangles, len(points))
    side = np.ones(count)
    piece = connected(count, left, right)
    if (agree < 0.0).any():
        side = _turned_by_neighbours(side, left, right, agree)
        disagree = agree * side[left] * side[right] < 0.0
        patch = connected(count, left[~disagree], right[~disagree])
        if disagree.any():
            largest = _largest_of_each(patch, areas, piece)
            side *= _turned_by_neighbours(largest, patch[left[disagree]], patch[right[disagree]], -1.0)[patch]
    pieces = int(piece.max()) + 1
    flow = normals * (areas * side)[:, None]
    centres = points[triangles].mean(axis=1)
    total = np.maximum(np.bincount(piece, areas, pieces), np.finfo(float).tiny)
    middle = _summed(piece, centres * areas[:, None], pieces) / total[:, None]
    volume = np.bincount(piece, ((centres - middle[piece]) * flow).sum(axis=1), pieces)
    return np.asarray(side * np.where(volume < 0.0, -1.0, 1.0)[piece])


def _turned_by_neighbours(side: FloatArray, left: IntArray, right: IntArray, agree: FloatArray | float) -> FloatArray:
    """Return signs ±1 (N,) after rounds in which each, starting from `side`, moves towards its neighbours' mean."""
    count = len(side)
    neighbours = np.maximum(np.bincount(left, minlength=count) + np.bincount(right, minlength=count), 1)
    for _ in range(_TURNING_ROUNDS):
        said = np.bincount(left, agree * side[right], count) + np.bincount(right, agree * side[left], count)
        side = 0.5 * (side + said / neighbours)
    return np.where(side < 0.0, -1.0, 1.0)


def _largest_of_each(patch: IntArray, areas: FloatArray, piece: IntArray) -> FloatArray:
    """Return 1 for each patch that is the largest of its piece and 0 for the others; patch, areas, piece: (T,)."""
    area = np.bincount(patch, areas)
    piece_of = np.zeros(len(area), dtype=np.int64)
    piece_of[patch] = piece
    largest = np.zeros(len(area))
    order = np.lexsort((-area, piece_of))
    largest[order[np.unique(piece_of[order], return_index=True)[1]]] = 1.0
    return largest


def connected(count: int, first: IntArray, second: IntArray) -> IntArray:
    """Return the number of the connected piece of each of `count` nodes under links first–second.

    >>> connected(4, np.array([3, 2]), np.array([0, 0])).tolist()
    [0, 1, 0, 0]
    """
    label = np.arange(count)
    one, other = label[first], label[second]
    while (apart := one != other).any():
        one, other = one[apart], other[apart]  # links within one piece are done
        np.minimum.at(label, np.maximum(one, other), np.minimum(one, other))
        while not np.array_equal(higher := label[label], label):
            label = higher
        one, other = label[one], label[other]
    return np.asarray((np.cumsum(label == np.arange(count)) - 1)[label])


def _shared_edges(triangles: IntArray, points: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return triangle pairs that alone share an edge, and 1 where both run along it in opposite directions."""
    ends = np.stack((triangles, np.roll(triangles, -1, axis=1)), axis=2).reshape(-1, 2)
    key = np.minimum(ends[:, 0], ends[:, 1]) * points + np.maximum(ends[:, 0], ends[:, 1])
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    one, other = order[first[count == 2]], order[first[count == 2] + 1]
    forward = ends[:, 0] < ends[:, 1]
    return one // 3, other // 3, np.where(forward[one] != forward[other], 1.0, -1.0)


def _spread(along: int) -> FloatArray:
    """Return barycentric coordinates (along², 3) of the centres of a triangle cut into `along`² equal ones."""
    i, j = np.meshgrid(np.arange(along), np.arange(along), indexing="ij")
    upright, upside = i + j < along, i + j < along - 1
    pair = np.concatenate((np.stack((i, j), -1)[upright] + 1.0 / 3.0, np.stack((i, j), -1)[upside] + 2.0 / 3.0)) / along
    return np.concatenate((1.0 - pair.sum(axis=1, keepdims=True), pair), axis=1)


def _corner_products(points: FloatArray, triangles: IntArray) -> Iterator[FloatArray]:
    """Yield for each corner the products (T,) of the two sides that meet there: lengths times the angle's cosine.

    Lengths times its sine are twice the area, at all three: one cross product does for a triangle.
    """
    corners = [np.take(points, triangles[:, corner], axis=0) for corner in range(3)]
    sides = [corners[(corner + 1) % 3] - corners[corner] for corner in range(3)]
    for corner in range(3):
        yield -(sides[corner] * sides[corner - 1]).sum(axis=1)


def _face_normals(points: FloatArray, triangles: IntArray) -> tuple[FloatArray, FloatArray]:
    a, b, c = (np.take(points, triangles[:, k], axis=0) for k in range(3))
    across = np.cross(b - a, c - a)
    length = _lengths(across)
    unit = np.divide(across, length[:, None], out=np.zeros_like(across), where=length[:, None] > 0.0)
    return unit, length / 2.0


def _summed(index: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.stack([np.bincount(index, values[:, axis], count) for axis in range(3)], axis=1)


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))


def _unit(vectors: FloatArray) -> FloatArray:
    length = _lengths(vectors)[:, None]
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0)
