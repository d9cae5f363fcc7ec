"""Lines that stand for bones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .solid import Solid

_STEPS_ON = 32


@dataclass(frozen=True, eq=False)
class Segments:
    """S lines that stand for bones; a bone may have several, or none.

    bones: (S,) the bone of each line. starts, ends: (S, 3). leaf: (S,) whether no other bone goes on from its end.
    """

    bones: IntArray
    starts: FloatArray
    ends: FloatArray
    leaf: BoolArray

    @property
    def along(self) -> FloatArray:
        """From start to end, (S, 3)."""
        return self.ends - self.starts

    @property
    def lengths(self) -> FloatArray:
        """Distances from start to end (S,)."""
        return np.asarray(np.linalg.norm(self.along, axis=1))

    @property
    def directions(self) -> FloatArray:
        """Unit vectors (S, 3), 0 for lines without length."""
        length = self.lengths[:, None]
        return np.divide(self.along, length, out=np.zeros_like(self.starts), where=length > 0.0)

    def nearest(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the distances (N, S) of points (N, 3) from the lines, and the nearest points as shares (N, S), 0 to 1.

        >>> line = Segments(np.array([0]), np.zeros((1, 3)), np.array([[2.0, 0, 0]]), np.array([True]))
        >>> [values.tolist() for values in line.nearest(np.array([[0.5, 3.0, 0]]))]
        [[[3.0]], [[0.25]]]
        """
        return self._nearest(points, np.zeros_like(points), np.zeros(1))

    def nearest_below(self, points: FloatArray, normals: FloatArray, depths: FloatArray) -> FloatArray:
        """Return the distances (N, S) of the lines from positions at depths (N, S) below surface points (N, 3).

        normals: (N, 3) unit vectors that point outward.
        """
        return self._nearest(points, normals, depths)[0]

    def _nearest(self, points: FloatArray, normals: FloatArray, depths: FloatArray) -> tuple[FloatArray, FloatArray]:
        squared = (self.along * self.along).sum(axis=1)
        reach = points @ self.along.T - depths * (normals @ self.along.T) - (self.starts * self.along).sum(axis=1)
        share = np.clip(reach / np.where(squared > 0.0, squared, 1.0), 0.0, 1.0) * (squared > 0.0)
        distance = np.zeros(share.shape)
        for axis in range(3):  # rather than multiplied out, which would lose far bones' digits
            gap = points[:, axis, None] - depths * normals[:, axis, None] - self.starts[:, axis] \
                - share * self.along[:, axis]
            distance += gap * gap
        return np.sqrt(distance), share

    def points_at(self, share: FloatArray) -> FloatArray:
        """Return the points (N, S, 3) at shares (N, S) of the lines."""
        return self.starts + share[..., None] * self.along

    def joined(self, other: Segments) -> Segments:
        """Return these lines and those of `other`."""
        return Segments(*(np.concatenate(pair) for pair in zip(
            (self.bones, self.starts, self.ends, self.leaf),
            (other.bones, other.starts, other.ends, other.leaf), strict=True)))

    def to_the_skin(self, solid: Solid, size: float) -> Segments:
        """Return lines whose leaf lines end at the solid's surface, or before it, where another bone is as near.

        Lines that start outside stay as they are. size: of the body; no line is lengthened beyond it.
        """
        leaves = np.flatnonzero(self.leaf & (self.lengths > 0.0) & solid.contains(self.starts))
        if not len(leaves):
            return self
        direction, length = self.directions[leaves], self.lengths[leaves]
        depth = solid.depths(self.starts[leaves], direction, size)
        further = np.linspace(0.0, 1.0, _STEPS_ON + 1) * np.maximum(depth - length, 0.0)[:, None]
        points = self.ends[leaves, None] + further[..., None] * direction[:, None]
        away = self.nearest(points.reshape(-1, 3))[0].reshape(*further.shape, len(self.bones))
        away[:, :, :] = np.where(self.bones[leaves, None, None] == self.bones, np.inf, away)
        free = np.logical_and.accumulate(away.min(axis=2, initial=np.inf) >= further, axis=1)
        reached = np.take_along_axis(further, np.maximum(free.sum(axis=1) - 1, 0)[:, None], axis=1)[:, 0]
        ends = self.ends.copy()
        ends[leaves] = self.starts[leaves] + direction * (np.minimum(depth, length) + reached)[:, None]
        return Segments(self.bones, self.starts, ends, self.leaf)
