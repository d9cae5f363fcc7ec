"""The body as a solid: a grid of cells that are inside or outside, made from any triangles, closed or not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray

_INSIDE = 0.5
"""The winding number from which on a position counts as inside."""

_MARGIN = 2
_SMOOTH = 2, 3, 5
_THINNEST = 0.1
"""A body flatter than this share of its length gets cells as if it were not."""

_MOST_CELLS_ALONG = 200

_FEW_CELLS = 2**21
"""Of a grid with fewer cells, what only depends on its lengths is kept: at most 8 MB."""

SAMPLE_STEP = 0.6
"""Spacing of surface samples in cells that leaves no cell of the surface out."""


@dataclass(frozen=True, eq=False)
class Solid:
    """Cells of edge length `cell`, centred on integer multiples of it: filled[(index of a cell) + centre].

    The grid is symmetric about the origin along each axis, so mirrored bodies make mirrored solids.
    """

    filled: BoolArray
    cell: float

    @classmethod
    def build(cls, points: FloatArray, samples: FloatArray, areas: FloatArray, cell: float) -> Solid:
        """Fill what the surface, given by its vertices (P, 3), samples and their areas (S, 3), encloses.

        All parts make one solid; open, intersecting and doubled surfaces are welcome. Filled are cells that hold a
        point, cells that these close off from the outside, and cells around which the surface winds at least half: the
        inside of a body with holes, or of half a body.
        """
        half = np.ceil(np.abs(points).max(axis=0) / cell).astype(np.int64) + _MARGIN
        wall = np.zeros(2 * half + 1, dtype=np.bool_)
        sampled = _cells(samples, cell, half)
        for some in (_cells(points, cell, half), sampled):
            wall[tuple(some)] = True
        winding = winding_numbers(sampled, areas / cell**2, wall.shape)
        return cls(~flood(~wall) | (winding > _INSIDE), cell)

    def centres(self) -> FloatArray:
        """Return the centres (N, 3) of the filled cells."""
        return np.asarray((np.argwhere(self.filled) - np.array(self.filled.shape) // 2) * self.cell)

    def contains(self, points: FloatArray) -> BoolArray:
        """Return for points (..., 3) whether their cell is filled; points beyond the grid are outside."""
        flat: FloatArray = np.zeros(points.shape[:-1])
        for axis, width in enumerate(self.filled.shape):
            index = np.rint(points[..., axis] / self.cell) + width // 2
            flat = flat * width + np.minimum(np.maximum(index, 0.0), width - 1.0)
        return np.asarray(self.filled.reshape(-1)[flat.astype(np.int64)])

    def depths(self, starts: FloatArray, directions: FloatArray, most: float) -> FloatArray:
        """Return how far (N,) rays run from starts (N, 3) along unit directions (N, 3) before they leave the solid.

        Precise to half a cell; no farther than `most`.
        """
        depth = np.full(len(starts), most)
        running = np.arange(len(starts))
        travelled = 0.77 * self.cell  # no multiple of half a cell: bodies built on a grid would lie on cell borders
        while len(running) and travelled < most:
            inside = self.contains(starts + directions * travelled)
            depth[running[~inside]] = travelled
            kept = np.flatnonzero(inside)
            running = running[kept]
            starts, directions = (np.take(each, kept, axis=0) for each in (starts, directions))
            travelled += 0.5 * self.cell
        return depth

    def share_outside(self, starts: FloatArray, ends: FloatArray, steps: int = 8) -> FloatArray:
        """Return the share (...) of each straight line between starts and ends (..., 3) that lies outside the solid."""
        share = np.zeros(np.broadcast_shapes(starts.shape, ends.shape)[:-1])
        for step in range(steps):
            share += ~self.contains(starts + (ends - starts) * ((step + 0.5) / steps))
        return share / steps


def cell_size(points: FloatArray, resolution: int) -> float:
    """Return the edge length of cells, if `resolution`³ of them fill the box around points (P, 3).

    >>> cell_size(np.array([[0.0, 0, 0], [1, 1, 1]]), 10)
    0.1
    """
    extent = points.max(axis=0) - points.min(axis=0)
    longest = float(extent.max())
    if longest == 0.0:
        return 1.0
    volume = float(np.prod(np.maximum(extent / longest, _THINNEST)))
    return float(longest * max(volume ** (1.0 / 3.0) / resolution, 1.0 / _MOST_CELLS_ALONG))


def winding_numbers(cells: IntArray, areas: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return how often the surface winds around each cell of a grid, `shape`: 1 inside what is closed, 0 outside.

    cells: (3, S) the cells of pieces of the surface, two or more from the grid's border. areas: (S, 3) of the pieces,
    as vectors that point outward, in units of a cell's face.

    An open surface winds in part, by the share of all directions in which its inner side is seen (the generalised
    winding number of Jacobson, Kavan and Sorkine-Hornung 2013). That number is ∇·(F ∗ 1/4πr), with the areas as a field
    F: one convolution, done by Fourier transform. Within two cells of the surface it is coarse.

    >>> directions = np.concatenate((np.eye(3), -np.eye(3)))  # a sphere of radius 3, as six pieces
    >>> around = winding_numbers(5 + 3 * directions.T.astype(int), 4 * np.pi * 3**2 / 6 * directions, (11, 11, 11))
    >>> float(around[5, 5, 5].round(1))  # so few pieces are not quite a sphere
    1.1
    """
    flat = np.ravel_multi_index(tuple(cells), shape)
    outflow = np.zeros(shape)
    for axis in range(3):
        field = np.bincount(flat, areas[:, axis], int(np.prod(shape))).reshape(shape)
        outflow += np.gradient(field, axis=axis)
    room = [_smooth_length(2 * along - 1) for along in shape]
    of = _inverse_distances_again if np.prod(room) < _FEW_CELLS else _inverse_distances
    found = of(tuple(room)) * np.fft.rfftn(outflow, room, axes=(0, 1, 2))
    found = np.fft.ifft(found, axis=0)[:shape[0]]  # axis by axis, so that no more is transformed than is kept
    found = np.fft.ifft(found, axis=1)[:, :shape[1]]
    return np.asarray(np.fft.irfft(found, room[2], axis=2)[..., :shape[2]] / (4.0 * np.pi))


def _inverse_distances(room: tuple[int, ...]) -> FloatArray:
    """Return the Fourier transform, as of rfftn, of 1/r over a periodic grid of these lengths, ½ for r at the centre.

    It is even along each axis, so an eighth of the grid is transformed, and all of it is real.
    """
    x, y, z = (np.arange(along // 2 + 1.0) for along in room)
    away = np.sqrt(x[:, None, None] ** 2 + y[:, None] ** 2 + z**2)
    away[0, 0, 0] = 0.5
    values = 1.0 / away
    for axis, along in enumerate(room):
        there = np.minimum(np.arange(along), along - np.arange(along))
        values = np.fft.rfft(np.take(values, there, axis=axis), axis=axis).real
    i, j = (np.minimum(np.arange(along), along - np.arange(along)) for along in room[:2])
    return np.asarray(values[i][:, j])


@lru_cache(maxsize=1)
def _inverse_distances_again(room: tuple[int, ...]) -> FloatArray:
    """Return the same, kept for the next grid: fitting tries a body without one part after the other."""
    found = _inverse_distances(room)
    found.setflags(write=False)
    return found


def _smooth_length(least: int) -> int:
    """Return the next number whose only factors are small ones, of which Fourier transforms are fast."""
    while True:
        rest = least
        for factor in _SMOOTH:
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return least
        least += 1


def _cells(points: FloatArray, cell: float, half: IntArray) -> IntArray:
    return np.rint(points / cell).astype(np.int64).T + half[:, None]


def dilated(cells: BoolArray, width: int) -> BoolArray:
    """Return cells and all cells that can be reached from them in `width` steps through faces."""
    for _ in range(width):
        wider = cells.copy()
        for axis in range(3):
            here, there = np.moveaxis(wider, axis, 0), np.moveaxis(cells, axis, 0)
            here[1:] |= there[:-1]
            here[:-1] |= there[1:]
        cells = wider
    return cells


def flood(free: BoolArray) -> BoolArray:
    """Return the free cells that can be reached from the grid's border through faces.

    Sweeping along each axis both ways reaches most of them; from there the others are reached layer by layer.
    """
    reached = np.zeros_like(free)
    for axis in range(3):
        here, allowed = np.moveaxis(reached, axis, 0), np.moveaxis(free, axis, 0)
        here[0] |= allowed[0]
        here[-1] |= allowed[-1]
    for axis in range(3):
        here, allowed = np.moveaxis(reached, axis, 0), np.moveaxis(free, axis, 0)
        for order in (range(1, len(here)), range(len(here) - 2, -1, -1)):
            step = order.step
            for k in order:
                here[k] |= here[k - step] & allowed[k]
    left = free & ~reached  # none of them lies on the border, so each has six neighbours
    front = np.flatnonzero(dilated(reached, 1) & left)
    flat, left = reached.reshape(-1), left.reshape(-1)
    _, width, depth = free.shape
    steps = np.array((width * depth, depth, 1))
    while len(front):
        flat[front], left[front] = True, False
        there = (front[:, None] + np.concatenate((steps, -steps))).reshape(-1)
        front = np.unique(there[left[there]])
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
