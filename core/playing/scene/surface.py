"""Surface of floors: height and slope at many points at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...maths.arrays import FloatArray, IntArray
from .cast import SceneFloor

_STEEPEST: Final = 1e-6
"""Triangles that cover a smaller share of their area on the ground are walls."""
_FLAT: Final = np.sqrt(0.5)
"""Cosine of the steepest slope on which somebody sits: 45°."""
_BESIDE: Final = 1e-9
"""Tolerance beside a triangle, as a share of it, which closes gaps between neighbours."""
_MOST_CELLS: Final = 512
"""Greatest number of grid cells along each side."""


class Heights(NamedTuple):
    """The floor below N points: heights (N,), NaN for none, and slopes (N, 2), rise per length in each direction."""

    heights: FloatArray
    slopes: FloatArray


@dataclass(frozen=True, eq=False)
class Surface:
    """T triangles over the ground, grouped by cells of a grid; of overlapping ones the highest counts.

    plane: (T, 3) coefficients a + b·x + c·y. inside: (T, 3, 3) from (1, x, y) to barycentric coordinates. corner, size:
    of the grid, (2,), and of a cell. count: (2,) cells. first: (cells + 1,) begin of each cell's triangles in
    `members`.
    """

    plane: FloatArray
    inside: FloatArray
    corner: FloatArray
    size: float
    count: IntArray
    first: IntArray
    members: IntArray

    @classmethod
    def of(cls, floors: Sequence[SceneFloor], axes: FloatArray) -> Surface:
        """Take the floors. axes: (3, 3) from the model to ground coordinates, see footholds.ground_axes."""
        corners = np.concatenate([np.zeros((0, 3, 3)), *(floor.points[floor.triangles] for floor in floors)]) @ axes.T
        one, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        across = np.cross(one, other)
        corners = corners[np.abs(across[:, 2]) > _STEEPEST * np.linalg.norm(across, axis=1)]
        ground = corners.copy()
        ground[..., 2] = 1.0
        inside = np.linalg.inv(ground[..., (2, 0, 1)]).swapaxes(1, 2)
        plane = (inside.swapaxes(1, 2) @ corners[..., 2:])[..., 0]
        low, high = corners[..., :2].min(axis=1), corners[..., :2].max(axis=1)
        begin = low.min(axis=0, initial=np.inf) if len(low) else np.zeros(2)
        extent = float((high.max(axis=0, initial=-np.inf) - begin).max()) if len(low) else 1.0
        size = max(float((high - low).mean()) if len(low) else 1.0, extent / _MOST_CELLS, 1e-30)
        cells = np.floor((np.stack((low, high)) - begin) / size).astype(np.int64)
        count = cells[1].max(axis=0, initial=0) + 1
        wide = cells[1] - cells[0] + 1
        each = wide.prod(axis=1)
        owner = np.repeat(np.arange(len(each)), each)
        number = np.arange(len(owner)) - np.repeat(np.cumsum(each) - each, each)
        x, y = cells[0, owner, 0] + number % wide[owner, 0], cells[0, owner, 1] + number // wide[owner, 0]
        cell = y * count[0] + x
        order = np.argsort(cell, kind="stable")
        first = np.searchsorted(cell[order], np.arange(int(count.prod()) + 1))
        return cls(plane, inside, begin, size, count, first, owner[order])

    @property
    def is_nowhere(self) -> bool:
        """Whether it covers no point at all."""
        return not len(self.members)

    def below(self, points: FloatArray) -> Heights:
        """Return the floor at points (..., 2) over the ground, as (...,) and (..., 2)."""
        at = points.reshape(-1, 2)
        cells = np.floor((at - self.corner) / self.size)
        (x, y), (most_x, most_y) = cells.T, self.count
        is_over = (x >= 0) & (x < most_x) & (y >= 0) & (y < most_y)
        column, row = np.where(is_over[:, None], cells, 0).astype(np.int64).T
        cell = row * self.count[0] + column
        each = np.where(is_over, self.first[cell + 1] - self.first[cell], 0)
        point = np.repeat(np.arange(len(at)), each)
        member = self.members[np.repeat(self.first[cell] - (np.cumsum(each) - each), each) + np.arange(len(point))]
        where = np.concatenate((np.ones((len(point), 1)), at[point]), axis=1)
        shares = (self.inside[member] @ where[..., None])[..., 0]
        is_on = (shares >= -_BESIDE).all(axis=1)
        point, member, where = point[is_on], member[is_on], where[is_on]
        height = (self.plane[member] * where).sum(axis=1)
        order = np.lexsort((height, point))  # the last one of each point is the highest
        heights, slopes = np.full(len(at), np.nan), np.zeros((len(at), 2))
        heights[point[order]], slopes[point[order]] = height[order], self.plane[member[order], 1:]
        return Heights(heights.reshape(points.shape[:-1]), slopes.reshape(*points.shape[:-1], 2))

    def has_room(self, point: FloatArray, level: float, size: float) -> bool:
        """Return whether at a point (2,) there is room to stand below the highest triangle.

        The room is as high as size, on a triangle that faces up and is at most a size away from a level.
        """
        cell = np.floor((point - self.corner) / self.size).astype(np.int64)
        if not ((cell >= 0) & (cell < self.count)).all():
            return False
        number = int(cell[1] * self.count[0] + cell[0])
        member, where = self.members[self.first[number]:self.first[number + 1]], np.array((1.0, *point))
        member = member[(self.inside[member] @ where >= -_BESIDE).all(axis=1)]
        heights, faces_up = self.plane[member] @ where, np.linalg.det(self.inside[member]) > 0.0
        order = np.argsort(heights)
        is_free = np.diff(heights[order]) > size
        return bool((is_free & faces_up[order[:-1]] & (np.abs(heights[order[:-1]] - level) <= size)).any())


def highest_along(points: FloatArray, triangles: IntArray, up: FloatArray) -> float | None:
    """Return the height along up (3,) of the highest of triangles (T, 3) of points (V, 3) above or below the origin.

    In lengths of up; None if there is none. Steep triangles, such as those of a back that leans over a seat, count only
    if there are no others.

    >>> square = np.array(((-1.0, -1.0, 2.0), (2.0, -1.0, 2.0), (-1.0, 2.0, 2.0)))
    >>> highest_along(square, np.array(((0, 1, 2),)), np.array((0.0, 0.0, 0.5)))
    4.0
    """
    corner, one, other = (points[triangles[:, 0]], points[triangles[:, 1]] - points[triangles[:, 0]],
                          points[triangles[:, 2]] - points[triangles[:, 0]])
    normal, across = np.cross(one, other), np.cross(corner, up)  # Möller and Trumbore 1997, for a ray from the origin
    facing = normal @ up
    facing[np.abs(facing) <= _STEEPEST * np.linalg.norm(normal, axis=1) * np.linalg.norm(up)] = np.nan
    first, second = (other * across).sum(axis=1) / facing, -(one * across).sum(axis=1) / facing
    is_on = (first >= -_BESIDE) & (second >= -_BESIDE) & (first + second <= 1.0 + _BESIDE)
    is_flat = np.abs(facing) >= _FLAT * np.linalg.norm(normal, axis=1) * np.linalg.norm(up)
    along = ((corner * normal).sum(axis=1) / facing)[is_on & is_flat if (is_on & is_flat).any() else is_on]
    return float(along.max()) if len(along) else None
