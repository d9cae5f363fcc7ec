"""The mirror plane of a body, and limbs made equal on both of its sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .cells import Cells
from .humanoid import Limb

_ALIKE: Final = 0.9
"""Least share of a humanoid that coincides with its mirror image for its limbs to be alike, whatever it wears on one
side.
"""

_NEARLY: Final = 0.06
"""Limbs whose mirror images differ by less than this share of the body's height are made alike by their means."""


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane, by its unit normal (3,) and a point (3,); like: share of the body that lies in its mirror image."""

    normal: FloatArray
    point: FloatArray
    like: float

    @property
    def mirrors(self) -> bool:
        """Return whether both sides of the body are equal."""
        return self.like >= _ALIKE

    def away(self, points: FloatArray) -> FloatArray:
        """Return the signed distances of points (..., 3)."""
        return np.asarray((points - self.point) @ self.normal)

    def mirrored(self, points: FloatArray) -> FloatArray:
        """Return the mirror images of points (..., 3)."""
        return np.asarray(points - 2.0 * self.away(points)[..., None] * self.normal)

    def onto(self, points: FloatArray) -> FloatArray:
        """Return the points of the plane that are nearest to points (..., 3)."""
        return np.asarray(points - self.away(points)[..., None] * self.normal)


class Symmetry:
    """Measures how well planes mirror a body."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        place = np.rint(cells.points / cells.cell).astype(np.int64)
        self._low = place.min(axis=0) - 1
        self._filled = np.zeros(tuple(place.max(axis=0) - self._low + 2), dtype=np.bool_)
        self._filled[tuple((place - self._low).T)] = True
        self.centre = cells.points.mean(axis=0)
        self.axes = np.linalg.eigh(np.cov((cells.points - self.centre).T))[1].T
        """(3, 3) the body's main axes, one a row. A plane that mirrors it is across one of them, and has its centre."""

    def plane(self, normal: FloatArray, point: FloatArray) -> Plane:
        """Return a plane with a unit normal (3,) and a point (3,), and how well it mirrors the body."""
        image = Plane(normal, point, 0.0).mirrored(self._cells.points)
        at = np.rint(image / self._cells.cell).astype(np.int64) - self._low
        within = ((at >= 0) & (at < self._filled.shape)).all(axis=1)
        return Plane(normal, point, float(self._filled[tuple(at[within].T)].sum() / len(image)))

    def main_plane(self, normal: FloatArray) -> Plane:
        """Return the plane across a main axis of the body: the axis nearest to the direction `normal` (3,)."""
        towards = self.axes @ normal
        axis = int(np.abs(towards).argmax())
        return self.plane(self.axes[axis] * (1.0 if towards[axis] >= 0.0 else -1.0), self.centre)


def made_alike(left: Limb, right: Limb, plane: Plane, height: float) -> tuple[Limb, Limb]:
    """Return two limbs as mirror images of each other.

    If they are nearly mirror images already, both get the mean. If they differ more, and the plane mirrors the body,
    the limb with more certainty is mirrored to the other side; otherwise both stay as they are.
    """
    own, other = _points(left), plane.mirrored(_points(right))
    if float(np.linalg.norm(own - other, axis=1).max()) <= _NEARLY * height:
        mean = (own + other) / 2.0
    elif plane.mirrors:
        sure = sum(left.certain), sum(right.certain)
        mean = own if sure[0] > sure[1] else other if sure[1] > sure[0] else (own + other) / 2.0
    else:
        return left, right
    certain = max(left.certain, right.certain, key=sum) if plane.mirrors else None
    return (_moved(left, mean, certain or left.certain),
            _moved(right, plane.mirrored(mean), certain or right.certain))


def _points(limb: Limb) -> FloatArray:
    return np.array((limb.root, limb.middle, limb.end, limb.tip))


def _moved(limb: Limb, points: FloatArray, certain: tuple[float, float, float]) -> Limb:
    root, middle, end, tip = points
    return replace(limb, root=root, middle=middle, end=end, tip=tip, certain=certain)
