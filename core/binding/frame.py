"""The body's own frame: results in it do not depend on how the whole was moved, rotated or scaled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import FloatArray

_SAME_SPREAD = 1e-6
"""Spreads of two axes that differ by less than this share count as equal, as do distances of farthest points."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame in space: origin (3,), axes (3, 3) as orthonormal columns, and the length of its unit."""

    origin: FloatArray
    axes: FloatArray
    unit: float

    @classmethod
    def of_points(cls, points: FloatArray) -> Frame:
        """Return the frame of points (V, 3): their mean, principal axes, and root mean square distance from it.

        The signs of the axes mean nothing, and the axes may be mirrored: code that uses the frame must be symmetric in
        each axis. Where the spread along two axes is the same, the farthest point decides, the first of those that are
        equally far. Coincident points have unit 1.

        >>> Frame.of_points(np.array([[1.0, 5, 0], [1, 9, 0]])).unit
        2.0
        """
        origin = points.mean(axis=0)
        offsets = points - origin
        unit = float(np.sqrt((offsets * offsets).sum() / len(points)))
        if unit == 0.0:
            return cls(origin, np.eye(3), 1.0)
        offsets = offsets / unit
        spread, axes = np.linalg.eigh(offsets.T @ offsets / len(points))
        return cls(origin, _settled(axes, spread, offsets), unit)

    def to_local(self, points: FloatArray) -> FloatArray:
        """Return points (..., 3) in this frame."""
        return np.asarray((points - self.origin) @ self.axes / self.unit)

    def to_world(self, points: FloatArray) -> FloatArray:
        """Return points (..., 3) of this frame in the space around it."""
        return np.asarray(points * self.unit @ self.axes.T + self.origin)


def _settled(axes: FloatArray, spread: FloatArray, offsets: FloatArray) -> FloatArray:
    """Turn axes of equal spread, which are arbitrary, towards the point farthest along their plane or space."""
    axes = axes.copy()
    for first in range(2):
        equal = np.flatnonzero(np.abs(spread - spread[first]) <= _SAME_SPREAD)
        equal = equal[equal >= first]
        if len(equal) < 2:
            continue
        shares = offsets @ axes[:, equal]
        squares = (shares * shares).sum(axis=1)
        farthest = shares[np.argmax(squares >= squares.max() * (1.0 - _SAME_SPREAD))]
        length = np.linalg.norm(farthest)
        if length > 0.0:  # a reflection that takes the first of the equal axes there
            mirror = farthest / length - np.eye(len(equal))[0]
            squared = mirror @ mirror
            if squared > 0.0:
                axes[:, equal] -= np.outer(axes[:, equal] @ mirror, mirror) * (2.0 / squared)
    return axes
