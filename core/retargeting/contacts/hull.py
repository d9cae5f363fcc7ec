"""Convex hull of a rigid part of a body, such as a head or a thigh, and distances of points from it.

The hull is that of the part's skin, stored as extents in directions all around. Without skin it is a standard shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray, product
from ...skeletons.skeleton import Skeleton
from ..skin_points import evenly_around

_NORMALS: Final = evenly_around(80)
_COVERED: Final = 0.94
"""Any direction has at least this cosine with one of the normals."""
_ROUND: Final = 0.15
"""Share of the hull's size over which the direction out changes smoothly from one plane to the next."""


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex part of a body that one joint carries.

    joint: of the skeleton. middle: (3,) relative to the joint at rest, in model axes. rest: (3, 3) the joint's axes
    there. supports: (K,) extents of the part in directions all around. size: its mean radius.
    """

    joint: int
    middle: FloatArray
    rest: FloatArray
    supports: FloatArray
    size: float

    @classmethod
    def of(cls, points: FloatArray, joint: int, own: Skeleton) -> Hull:
        """Return the hull of points (P, 3) that move with a joint. own: its skeleton in the points' rest pose.

        >>> skeleton = Skeleton.from_arrays(["head"], [-1], np.array([(1.0, 0, 0, 0)]), np.zeros((1, 3)))
        >>> ball = Hull.of(evenly_around(2000), 0, skeleton)
        >>> outside, out = Hulls.placed((ball,), skeleton.rest_world[None]).outside(np.array([[(0.0, 3.0, 0.0)]]), 0.0)
        >>> np.allclose(outside, 2.0, atol=0.05), np.allclose(out, (0.0, 1.0, 0.0), atol=0.2)
        (True, True)
        """
        middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
        supports = ((points - middle) @ _NORMALS.T).max(axis=0)
        rest = own.rest_world[joint]
        return cls(joint, middle - rest[:, 3], rest[:, :3], supports, float(supports.mean()))


class _LookedAt(NamedTuple):
    """N pairs of a point and a hull: indices of hull, point and frame.

    beyond: (N, K) distances from the hull's planes, and the largest of them, (N,).
    """

    hull: IntArray
    point: IntArray
    frame: IntArray
    beyond: FloatArray
    distance: FloatArray


@dataclass(frozen=True, eq=False)
class Hulls:
    """Hulls of one part of a body in F frames. Frames are the last axis, since all are processed alike.

    rest_from_model: (3, 3, H, F) into the model's axes at rest. offsets: (3, H, F) shift each hull's middle to the
    origin.
    """

    hulls: tuple[Hull, ...]
    rest_from_model: FloatArray
    offsets: FloatArray

    @classmethod
    def placed(cls, hulls: tuple[Hull, ...], world: FloatArray) -> Hulls:
        """Place hulls. world: (F, J, 3, 4) of all joints."""
        matrix = world.transpose(2, 3, 1, 0).take([hull.joint for hull in hulls], axis=2)
        turns = turned_by(np.stack([hull.rest for hull in hulls]), inverses(matrix[:, :3]))
        middles = np.stack([hull.middle for hull in hulls], axis=1)[..., None]
        return cls(hulls, turns, -middles - along(turns, matrix[:, 3]))

    def outside(self, points: FloatArray, thickness: float, far: float = np.inf,
                wanted: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return how far points (F, P, 3) are outside all hulls, (F, P), and unit directions out, (F, P, 3).

        Hulls nearly as near as the nearest, within a thickness, are averaged into the direction. Points not wanted (F,
        P), or farther than `far` from all hulls, are infinitely far outside and have no direction.
        """
        found, nearest = self._looked_at(points, thickness, far, wanted)
        out = np.zeros((3, *nearest.shape))
        if not len(found.distance):
            return nearest.T, out.T
        near = nearest[found.point, found.frame]
        share = 1.0 - (found.distance - near) / np.maximum(thickness + np.abs(near), 1e-30)
        counts = np.flatnonzero(share > 0.0)
        hull, point, frame = found.hull[counts], found.point[counts], found.frame[counts]
        size = np.array([hull.size for hull in self.hulls])[hull, None]
        planes = found.beyond[counts]
        planes -= found.distance[counts, None]
        planes /= _ROUND * size
        planes += 1.0
        np.square(np.maximum(planes, 0.0, out=planes), out=planes)
        ways = along(inverses(self.rest_from_model[:, :, hull, frame]), product(planes, _NORMALS).T)
        ways *= share[counts] / np.maximum(np.sqrt((ways * ways).sum(axis=0)), 1e-30)
        for each, way in zip(out, ways, strict=True):
            each += np.bincount(point * nearest.shape[1] + frame, way, nearest.size).reshape(nearest.shape)
        out /= np.maximum(np.sqrt((out * out).sum(axis=0)), 1e-30)
        return nearest.T, out.T

    def distance(self, points: FloatArray, thickness: float, far: float = np.inf) -> FloatArray:
        """Return how far points (F, P, 3) are outside all hulls, (F, P); see outside."""
        return self._looked_at(points, thickness, far, None)[1].T

    def _looked_at(self, points: FloatArray, thickness: float, far: float,
                   wanted: BoolArray | None) -> tuple[_LookedAt, FloatArray]:
        """Return points (F, P, 3) paired with the hulls that may be nearest, and their distances outside, (P, F)."""
        own = self._seen(points)
        away, supports = np.sqrt(own[0] ** 2 + own[1] ** 2 + own[2] ** 2), np.stack([h.supports for h in self.hulls])
        least = _COVERED * away - supports.max(axis=1)[:, None, None]
        most = (away - supports.min(axis=1)[:, None, None]).min(axis=0)
        is_looked_at = least <= np.maximum(2.0 * most, 0.0) + thickness
        if far < np.inf:
            is_looked_at &= (least < far).any(axis=0)
        if wanted is not None:
            is_looked_at &= wanted.T
        hull, point, frame = np.nonzero(is_looked_at)
        beyond = product(own[:, hull, point, frame].T, _NORMALS.T)
        beyond -= supports if len(supports) == 1 else supports[hull]
        distance = beyond.max(axis=1)
        away[...] = np.inf
        away[hull, point, frame] = distance
        return _LookedAt(hull, point, frame, beyond, distance), away.min(axis=0)

    def at(self, frames: IntArray) -> Hulls:
        """Return some of the frames."""
        return Hulls(self.hulls, self.rest_from_model.take(frames, axis=-1), self.offsets.take(frames, axis=-1))

    def _seen(self, points: FloatArray) -> FloatArray:
        """Return points (F, P, 3) relative to each hull's middle, (3, H, P, F)."""
        turns, at = self.rest_from_model[:, :, :, None], np.ascontiguousarray(points.T)
        return along(turns, at[:, None]) + self.offsets[:, :, None]


def inverses(matrices: FloatArray) -> FloatArray:
    """Return the inverses of matrices (3, 3, ...); zeros for singular ones."""
    (a, b, c), (d, e, f), (g, h, i) = matrices
    rows = np.empty(matrices.shape)
    rows[0, 0], rows[0, 1], rows[0, 2] = e * i - f * h, c * h - b * i, b * f - c * e
    rows[1, 0], rows[1, 1], rows[1, 2] = f * g - d * i, a * i - c * g, c * d - a * f
    rows[2, 0], rows[2, 1], rows[2, 2] = d * h - e * g, b * g - a * h, a * e - b * d
    volume = a * rows[0, 0] + b * rows[1, 0] + c * rows[2, 0]
    rows *= np.divide(1.0, volume, out=np.zeros_like(volume), where=volume != 0.0)
    return rows


def turned_by(by: FloatArray, matrices: FloatArray) -> FloatArray:
    """Return products by · matrices, (3, 3, N, F); by: (N, 3, 3), matrices: (3, 3, N, F)."""
    left = by.transpose(1, 2, 0)[..., None]
    return np.asarray(left[:, 0, None] * matrices[0] + left[:, 1, None] * matrices[1] + left[:, 2, None] * matrices[2])


def along(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return matrices (3, 3, ...) times vectors (3, ...)."""
    return np.asarray(matrices[:, 0] * vectors[0] + matrices[:, 1] * vectors[1] + matrices[:, 2] * vectors[2])
