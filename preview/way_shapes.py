"""The way of a character, its footprints and its targets, as triangles."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..core.maths.arrays import FloatArray
from ..core.playing.scene.traces import Traces

_WAY: Final = (0.9, 0.9, 0.9, 0.75)
_SIDES: Final = np.array(((0.10, 0.46, 0.81, 0.9), (0.79, 0.34, 0.0, 0.9)))
"""Colours of the left and the right foot."""
_TARGET: Final = (0.93, 0.72, 0.02, 0.95)
_WAY_WIDTH, _RING, _RING_WIDTH, _HAND = 0.03, 0.24, 0.04, 0.05
"""In leg lengths: width of the path; radius and width of the ring; half the size of a hand's mark."""
_CORNERS: Final = 20
_PARTS: Final = ((0.68, 0.32, 0.5), (0.17, 0.17, 0.36))
"""Ball and heel of a footprint: the middle and half the length of an ellipse by the length, half its width by the
width."""
_LIFT: Final = 0.004
"""Height above the ground of everything drawn, in leg lengths."""
_TURNS: Final = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)


class Shapes(NamedTuple):
    """T triangles: positions (T, 3, 3), colours (T, 4), and the time until which each is in the future, (T,)."""

    positions: FloatArray
    colours: FloatArray
    when_s: FloatArray


def shapes_of(traces: Traces) -> Shapes:
    """Return the triangles for traces."""
    parts = [_ribbon(traces), *_prints(traces), *(_mark(traces, mark.position, mark.ahead, mark.by_s)
                                                   for mark in traces.places),
             *(_octahedron(mark.position, _HAND * traces.size, mark.by_s) for mark in traces.hands)]
    return Shapes(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _ribbon(traces: Traces) -> Shapes:
    way, up = traces.way + _LIFT * traces.size * traces.up, traces.up
    ahead = np.diff(way, axis=0)
    ahead -= (ahead @ up)[:, None] * up
    length = np.linalg.norm(ahead, axis=1)
    goes = length > 1e-4 * traces.size
    aside = np.cross(up, ahead[goes] / length[goes, None]) * (_WAY_WIDTH / 2.0 * traces.size)
    begin, end = way[:-1][goes], way[1:][goes]
    corners = np.stack((begin - aside, begin + aside, end + aside, end - aside), axis=1)
    return _coloured(_quads(corners), _WAY, np.repeat(traces.way_s[1:][goes], 2))


def _prints(traces: Traces) -> list[Shapes]:
    heel, along, aside, normal = traces.prints.swapaxes(0, 1)
    lift = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30) * _LIFT * 2.0 * traces.size
    found = list[Shapes]()
    for middle, half, wide in _PARTS:
        centre = heel + middle * along + lift
        rim = centre[:, None] + half * along[:, None] * np.cos(_TURNS)[:, None] + (
            wide * aside[:, None] * np.sin(_TURNS)[:, None])
        fan = np.stack((np.broadcast_to(centre[:, None], rim[:, 1:].shape), rim[:, :-1], rim[:, 1:]), axis=2)
        count = rim.shape[1] - 1
        found.append(Shapes(fan.reshape(-1, 3, 3), np.repeat(_SIDES[np.minimum(traces.sides, 1)], count, axis=0),
                            np.repeat(traces.prints_s[:, 1], count)))
    return found


def _mark(traces: Traces, position: FloatArray, ahead: FloatArray, by_s: float) -> Shapes:
    """Return a ring around a place, with an arrow in its heading."""
    up, size = traces.up, traces.size
    centre, flat = position + 3.0 * _LIFT * size * up, ahead - (ahead @ up) * up
    length = float(np.linalg.norm(flat))
    one = np.cross(up, np.eye(3)[int(np.argmin(np.abs(up)))]) if length < 1e-9 else flat
    one = one / np.linalg.norm(one)
    other = np.cross(up, one)
    rim = np.cos(_TURNS)[:, None] * one + np.sin(_TURNS)[:, None] * other
    inner, outer = (centre + radius * size * rim for radius in (_RING - _RING_WIDTH, _RING))
    triangles = _quads(np.stack((inner[:-1], outer[:-1], outer[1:], inner[1:]), axis=1))
    if length >= 1e-9:
        tip, half = _RING * 1.8, _RING * 0.6
        foot = _RING * 1.1 * one
        arrow = centre + size * np.array((tip * one, foot + half * other, foot - half * other))
        triangles = np.concatenate((triangles, arrow[None]))
    return _coloured(triangles, _TARGET, np.full(len(triangles), by_s))


def _octahedron(position: FloatArray, radius: float, by_s: float) -> Shapes:
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    triangles = position + radius * signs[:, :, None] * np.eye(3)
    return _coloured(triangles, _TARGET, np.full(len(triangles), by_s))


def _quads(corners: FloatArray) -> FloatArray:
    return np.asarray(corners[:, ((0, 1, 2), (0, 2, 3))].reshape(-1, 3, 3))


def _coloured(triangles: FloatArray, colour: tuple[float, ...], when_s: FloatArray) -> Shapes:
    return Shapes(triangles, np.tile(np.array(colour), (len(triangles), 1)), when_s)
