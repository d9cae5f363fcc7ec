"""The shape of a rigid part of a body, as a head or a thigh, and how far outside of it points are: a convex hull.

The hull is that of the part's skin, by how far out it is in directions all around; without skin it is a usual one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from .skin_points import evenly_around

_NORMALS: Final = evenly_around(80)
_BALL: Final = 1.1
"""A hull's corners are farther out than its planes by at most so much."""
_ROUND: Final = 0.15
"""Of the hull's size: the direction out goes smoothly from one of its planes to the next within so much."""


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex part of a body that one joint carries.

    joint: of the skeleton. middle: (3,) in the joint's space. normals: (K, 3) what takes a position from there, in the
    joint's space, to how far out it is along directions all around, in model space as it rests; directions: (K, 3)
    these, in the joint's space. supports: (K,) how far out the part is along them. size: its mean radius.
    """

    joint: int
    middle: FloatArray
    normals: FloatArray
    directions: FloatArray
    supports: FloatArray
    size: float

    @classmethod
    def of(cls, points: FloatArray, joint: int, own: Skeleton) -> Hull:
        """Return the hull of points (P, 3) that move with a joint; own: its skeleton as they rest.

        >>> skeleton = Skeleton.from_arrays(["head"], [-1], np.array([(1.0, 0, 0, 0)]), np.zeros((1, 3)))
        >>> ball = Hull.of(evenly_around(2000), 0, skeleton)
        >>> outside, out = ball.outside(skeleton.rest_world[None], np.array([[(0.0, 3.0, 0.0)]]))
        >>> np.allclose(outside, 2.0, atol=0.05), np.allclose(out, (0.0, 1.0, 0.0), atol=0.2)
        (True, True)
        """
        middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
        supports = ((points - middle) @ _NORMALS.T).max(axis=0)
        rest = own.rest_world[joint]
        return cls(joint, np.linalg.solve(rest[:, :3], middle - rest[:, 3]), _NORMALS @ rest[:, :3],
                   np.linalg.solve(rest[:, :3], _NORMALS.T).T, supports, float(supports.mean()))

    def distance(self, world: FloatArray, points: FloatArray) -> FloatArray:
        """Return how far points (F, P, 3) are outside, (F, P); world: (F, J, 3, 4) of all joints."""
        return np.asarray(self._beyond(world, points).max(axis=-1))

    def outside(self, world: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far points (F, P, 3) are outside, (F, P), and the directions out, unit vectors (F, P, 3).

        world: (F, J, 3, 4) of all joints.
        """
        beyond = self._beyond(world, points)
        outside = beyond.max(axis=-1)
        share = np.maximum(1.0 + (beyond - outside[..., None]) / (_ROUND * self.size), 0.0) ** 2
        out = (share @ self.directions) @ world[:, self.joint, :, :3].swapaxes(1, 2)
        return outside, out / np.maximum(np.linalg.norm(out, axis=-1, keepdims=True), 1e-30)

    def _beyond(self, world: FloatArray, points: FloatArray) -> FloatArray:
        """Return how far points (F, P, 3) are beyond each of the planes, (F, P, K)."""
        matrix = world[:, self.joint]
        local = (points - matrix[:, None, :, 3]) @ rot.inverse(matrix[..., :3]).swapaxes(1, 2) - self.middle
        return np.asarray(local @ self.normals.T - self.supports)

    def at_least(self, world: FloatArray, points: FloatArray) -> FloatArray:
        """Return what points (F, P, 3) are outside at least, (F, P): by a ball about the hull."""
        matrix = world[:, self.joint]
        middle = matrix[:, :, :3] @ self.middle + matrix[:, :, 3]
        return np.asarray(np.linalg.norm(points - middle[:, None], axis=-1) - _BALL * self.supports.max())
