"""The body as a solid: a grid of cells that are inside or outside, made from any soup of surfaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray

_WIDEST_CLOSING = 3
"""Cells; holes up to twice as wide are closed where the inside leaks out through them."""

_LEAK = 1.3
"""Closing counts as having stopped a leak where it makes the inside larger by this factor."""

_MARGIN = _WIDEST_CLOSING + 2
_THINNEST = 0.1
"""A body flatter than this share of its length gets cells as if it were not."""

_MOST_CELLS_ALONG = 200

SAMPLE_STEP = 0.6
"""Spacing of surface samples in cells that leaves no cell of the surface out."""


@dataclass(frozen=True, eq=False)
class Solid:
    """Cells of edge length `cell`, centred on integer multiples of it: filled[(index of a cell) + centre].

    The grid is symmetric about the origin along each axis, so mirrored bodies make mirrored solids.
    """

    filled: BoolArray
    cell: float
    closing: int

    @classmethod
    def build(cls, points: FloatArray, samples: FloatArray, cell: float) -> Solid:
        """Fill what the surface, given by its vertices (P, 3) and samples (S, 3), encloses.

        All parts make one solid; open, intersecting and doubled surfaces are welcome. Cells that hold a
        point are filled, and so are those that cannot be reached from outside without passing them. A
        surface with holes encloses nothing at first: it is thickened cell by cell until it does, and what
        was thickened is taken off again.
        """
        half = np.ceil(np.abs(points).max(axis=0) / cell).astype(np.int64) + _MARGIN
        wall = np.zeros(2 * half + 1, dtype=np.bool_)
        for some in (points, samples):
            i, j, k = (np.rint(some / cell).astype(np.int64) + half).T
            wall[i, j, k] = True
        best, closing = ~flood(~wall), 0
        for width in range(1, _WIDEST_CLOSING + 1):
            filled = ~(grown(flood(~grown(wall, width)), width) & ~wall)
            if filled.sum() - wall.sum() > _LEAK * (best.sum() - wall.sum()):
                best, closing = filled, width
        return cls(best, cell, closing)

    def contains(self, points: FloatArray) -> BoolArray:
        """Return for points (..., 3) whether their cell is filled; beyond the grid nothing is."""
        half = np.array(self.filled.shape) // 2
        index = np.clip(np.rint(points / self.cell), -half, half).astype(np.int64) + half
        flat = (index[..., 0] * self.filled.shape[1] + index[..., 1]) * self.filled.shape[2] + index[..., 2]
        return np.asarray(self.filled.reshape(-1)[flat])

    def depths(self, starts: FloatArray, directions: FloatArray, most: float) -> FloatArray:
        """Return how far (N,) rays run from starts (N, 3) along unit directions (N, 3) before they leave the solid.

        Precise to half a cell; no farther than `most`.
        """
        depth = np.full(len(starts), most)
        running = np.arange(len(starts))
        travelled = 0.77 * self.cell  # no multiple of half a cell: bodies built on a grid would lie on cell borders
        while len(running) and travelled < most:
            inside = self.contains(starts[running] + directions[running] * travelled)
            depth[running[~inside]] = travelled
            running = running[inside]
            travelled += 0.5 * self.cell
        return depth

    def share_outside(self, starts: FloatArray, ends: FloatArray, steps: int = 8) -> FloatArray:
        """Return which share of the straight lines between starts and ends (..., 3) lies outside the solid."""
        share = np.zeros(np.broadcast_shapes(starts.shape, ends.shape)[:-1])
        for step in range(steps):
            share += ~self.contains(starts + (ends - starts) * ((step + 0.5) / steps))
        return share / steps


def cell_size(points: FloatArray, resolution: int) -> float:
    """Return the edge of cells of which `resolution`³ fill the box around points (P, 3).

    >>> cell_size(np.array([[0.0, 0, 0], [1, 1, 1]]), 10)
    0.1
    """
    extent = points.max(axis=0) - points.min(axis=0)
    longest = float(extent.max())
    if longest == 0.0:
        return 1.0
    volume = float(np.prod(np.maximum(extent / longest, _THINNEST)))
    return float(longest * max(volume ** (1.0 / 3.0) / resolution, 1.0 / _MOST_CELLS_ALONG))


def grown(cells: BoolArray, width: int) -> BoolArray:
    """Return cells and all that can be reached from them in `width` steps through faces."""
    for _ in range(width):
        wider = cells.copy()
        for axis in range(3):
            here, there = np.moveaxis(wider, axis, 0), np.moveaxis(cells, axis, 0)
            here[1:] |= there[:-1]
            here[:-1] |= there[1:]
        cells = wider
    return cells


def flood(free: BoolArray) -> BoolArray:
    """Return the free cells that can be reached from the grid's border, sweeping along each axis both ways."""
    reached = np.zeros_like(free)
    for axis in range(3):
        here, allowed = np.moveaxis(reached, axis, 0), np.moveaxis(free, axis, 0)
        here[0] |= allowed[0]
        here[-1] |= allowed[-1]
    before = -1
    while (now := int(reached.sum())) != before:
        before = now
        for axis in range(3):
            here, allowed = np.moveaxis(reached, axis, 0), np.moveaxis(free, axis, 0)
            for order in (range(1, len(here)), range(len(here) - 2, -1, -1)):
                step = order.step
                for k in order:
                    here[k] |= here[k - step] & allowed[k]
    return reached


def ray_fan(axes: FloatArray, spread_rad: float) -> FloatArray:
    """Return 13 unit directions (N, 13, 3) around each of axes (N, 3): itself, 4 at half the spread, 8 at all of it.

    The fan looks the same after a quarter turn and in a mirror, whatever the axis it started from.
    """
    one, other = across(axes)
    fan = [axes]
    for count, angle in ((4, 0.5 * spread_rad), (8, spread_rad)):
        for turn in np.arange(count) * (2.0 * np.pi / count):
            fan.append(np.cos(angle) * axes + np.sin(angle) * (np.cos(turn) * one + np.sin(turn) * other))
    return np.stack(fan, axis=1)


def across(axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two unit vectors (N, 3) at right angles to each of axes (N, 3) and each other; axes of 0 give 0."""
    least: IntArray = np.argmin(np.abs(axes), axis=1)
    one = np.cross(axes, np.eye(3)[least])
    length = np.linalg.norm(one, axis=1, keepdims=True)
    one = np.divide(one, length, out=np.zeros_like(one), where=length > 0.0)
    return one, np.cross(axes, one)
