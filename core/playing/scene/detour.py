"""Ways around a seat: a curve that would cross what stands on the ground leads around its corners instead."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...maths.arrays import ComplexArray, FloatArray, IntArray
from .ground_curve import GroundCurve, bend, chained

_AROUND: Final = np.exp(0.25j * np.pi * (np.arange(8) + 0.5)) / np.cos(np.pi / 8.0)
"""Corners of an octagon that holds the circle of radius 1: what a corner of a footprint becomes with room around it."""
_PULLS: Final = (1.0, 0.5, 0.25, 0.1, 0.05)
"""How far a curve swings out between two points, from as far as any way does to hardly."""
_LEAST_ROOM: Final = 0.7
"""Share of the room that a curve keeps that leads around corners at a distance of all of it."""
_LEAST_NEAR: Final = 0.5
"""Near an end that is nearer than that: share of that end's distance."""
_OUTSIDE: Final = 1.01
_CLOSED: Final = 3
"""Corners of the smallest footprint with an area."""


def footprint_of(points: ComplexArray) -> ComplexArray:
    """Return the corners (N,) of the smallest convex polygon around points on the ground, counterclockwise.

    >>> footprint_of(np.array((0.0, 2.0, 1.0 + 0.5j, 2.0 + 2.0j, 2.0j))).tolist()
    [0j, (2+0j), (2+2j), 2j]
    """
    return np.asarray(points[_hull(points)])


def round_corners(curve: GroundCurve, corners: ComplexArray, room: float, half_turn: float) -> GroundCurve:
    """Return a curve with the same ends and directions there that leads around a footprint, or the curve itself.

    corners: (N,) of the footprint, see footprint_of. room: least distance of the body's middle from it. The curve stays
    as it is if it has that room, or if it begins or ends within the footprint. Near its ends it may be as near to the
    footprint as these are. Of the two ways around, the shorter one with enough room is taken. half_turn: see bend.
    """
    if len(corners) < _CLOSED:
        return curve
    begin, end = curve.points[[0, -1]].tolist()
    away = _away(curve.points[[0, -1]], corners)
    if away.min() <= 0.0 or _has_room(curve, corners, room, away, 0.0):
        return curve
    directions = float(curve.angles[0]), float(curve.angles[-1])
    wide = footprint_of((corners[:, None] + room * _AROUND).ravel())
    ways = _taut(_outside(begin, corners, room), _outside(end, corners, room), wide)
    for pull in _PULLS:
        for between in ways:
            found = _through(np.concatenate(((begin,), between, (end,))), directions, half_turn, pull)
            if _has_room(found, corners, _LEAST_ROOM * room, away, _LEAST_NEAR):
                return found
    return found


def crosses(curve: GroundCurve, corners: ComplexArray) -> bool:
    """Return whether a curve that begins and ends outside a footprint leads through it. corners: see round_corners."""
    if len(corners) < _CLOSED:
        return False
    away = _away(curve.points, corners)
    return bool(away[[0, -1]].min() > 0.0 and away.min() < 0.0)


def _taut(begin: complex, end: complex, wide: ComplexArray) -> list[ComplexArray]:
    """Return the corners of a polygon (N,) between two points outside it: of the shortest way, then of the other one.

    None of them if the straight way does not cross the polygon.
    """
    straight: ComplexArray = np.interp(np.linspace(0.0, 1.0, 257), (0.0, 1.0), np.array((begin, end)))
    if not (_away(straight, wide) < 0.0).any():
        return [np.zeros(0, dtype=np.complex128)]
    points = np.concatenate(((begin, end), wide))
    order = _hull(points)
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))
    split = int(np.flatnonzero(order == 1)[0])
    ways = [points[order[1:split]], points[order[:split:-1]]]
    return sorted(ways, key=lambda way: float(np.abs(np.diff(np.concatenate(((begin,), way, (end,))))).sum()))


def _through(points: ComplexArray, directions: tuple[float, float], half_turn: float, pull: float) -> GroundCurve:
    """Return a smooth curve through points (N,), with directions at its ends. half_turn, pull: see bend."""
    points = points[np.append(True, np.abs(np.diff(points)) > 0.0)]
    units = np.diff(points) / np.abs(np.diff(points))
    angles = np.concatenate(((directions[0],), np.angle(units[:-1] + units[1:]), (directions[1],)))
    return chained([bend(complex(points[i]), float(angles[i]), complex(points[i + 1]), float(angles[i + 1]), half_turn,
                         pull, is_detour=True) for i in range(len(points) - 1)])


def _has_room(curve: GroundCurve, corners: ComplexArray, room: float, ends: FloatArray, near: float) -> bool:
    """Return whether a curve is so far from a footprint.

    ends: (2,) how far its ends are from it. Near an end without that room, that share of its distance is enough.
    """
    points, least = curve.points, np.full(len(curve.points), room)
    for end, away in zip(points[[0, -1]], ends.tolist(), strict=True):
        if away < room:
            least[np.abs(points - end) < room + away] = near * away
    return bool((_away(points, corners) >= least).all())


def _away(points: ComplexArray, corners: ComplexArray) -> FloatArray:
    """Return how far points (F,) are from a footprint; negative within it."""
    sides = np.roll(corners, -1) - corners
    far = np.abs(points - _nearest(points, corners))
    is_within = ((sides.conj() * (points[:, None] - corners)).imag >= 0.0).all(axis=1)
    return np.asarray(np.where(is_within, -far, far))


def _nearest(points: ComplexArray, corners: ComplexArray) -> ComplexArray:
    """Return the nearest points (F,) to points (F,) on the sides of a polygon."""
    sides, from_corners = np.roll(corners, -1) - corners, points[:, None] - corners
    share = np.clip((from_corners * sides.conj()).real / np.maximum(np.abs(sides) ** 2, 1e-30), 0.0, 1.0)
    best = np.abs(from_corners - share * sides).argmin(axis=1)
    return np.asarray(corners[best] + np.take_along_axis(share, best[:, None], axis=1)[:, 0] * sides[best])


def _outside(point: complex, corners: ComplexArray, room: float) -> complex:
    """Return a point moved straight away from a footprint until it has room."""
    foot = complex(_nearest(np.array((point,)), corners)[0])
    least = _OUTSIDE * abs(_AROUND[0]) * room  # an octagon's corners are farther away than its sides
    return point if abs(point - foot) >= least else foot + (point - foot) / abs(point - foot) * least


def _hull(points: ComplexArray) -> IntArray:
    """Return the indices of the corners of the convex hull, counterclockwise (Andrew's monotone chain, 1979)."""
    order = np.lexsort((points.imag, points.real)).tolist()
    values = points.tolist()
    chains: list[list[int]] = []
    for ordered in (order, order[::-1]):
        chain: list[int] = []
        for index in ordered:
            while len(chain) > 1 and ((values[chain[-1]] - values[chain[-2]]).conjugate()
                                      * (values[index] - values[chain[-1]])).imag <= 0.0:
                chain.pop()
            chain.append(index)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1], dtype=np.int64)
