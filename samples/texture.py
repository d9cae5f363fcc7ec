"""The dancer's clothes and skin as a picture: seen from the front and from the back, as plain functions of place.

Four columns beside each other: suit and shoes from the front and from the back, skin likewise. Colours are linear.
"""

from __future__ import annotations

import numpy as np

from ..core.maths.arrays import FloatArray
from .body import PALETTE, Body
from .cage import SHOE, SKIN, SUIT

SIZE_PX = 1024
COLUMNS = 4
LEFT_M, WIDTH_M, HEIGHT_M = -0.32, 0.64, 1.80
"""What of the place in front of the figure a column shows."""
_FIRST_COLUMN = {SUIT: 0, SHOE: 0, SKIN: 2}
TEXTURED = tuple(_FIRST_COLUMN)
"""The materials that the picture is for."""
_CREAM, _ORANGE, _SOLE = np.array((0.83, 0.76, 0.62)), np.array((0.93, 0.33, 0.16)), np.array((0.80, 0.80, 0.78))
_BLUSH = np.array((0.80, 0.24, 0.17))
_SHOE_M, _SOLE_M, _RIB_M = 0.115, 0.016, 0.014
_STAFF_M = (1.165, 0.022)
"""Where a staff of five lines goes round the chest: its lowest line, and from one to the next."""
_NOTES = ((-0.085, 1), (-0.045, 3), (0.000, 2), (0.045, 4), (0.085, 0))
"""Across the chest: where each note stands, and on which line."""
_BANDS_M = ((0.640, 0.675, 0.165), (0.655, 0.660, 0.165), (1.215, 1.240, -0.165), (1.226, 1.229, -0.165))
"""Round thighs and upper arms: from, to, and beyond how far out, nearer where that is positive."""


def texture_coordinates(body: Body) -> FloatArray:
    """Return where in the picture the corners of each face lie, (Q, 4, 2), from the lower left."""
    corners = body.positions[body.quads]
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    first = np.array([_FIRST_COLUMN.get(int(material), 0) for material in body.materials])
    column = first + (normals[:, 2] < 0.0)
    across = np.clip((corners[..., 0] - LEFT_M) / WIDTH_M, 0.0, 1.0)
    return np.stack(((column[:, None] + across) / COLUMNS, corners[..., 1] / HEIGHT_M), axis=-1)


def picture() -> FloatArray:
    """Return the picture, (SIZE_PX, SIZE_PX, 3), the lowest row first."""
    y = (np.arange(SIZE_PX) + 0.5) / SIZE_PX * HEIGHT_M
    x = LEFT_M + (np.arange(SIZE_PX // COLUMNS) + 0.5) / (SIZE_PX // COLUMNS) * WIDTH_M
    place = np.stack(np.meshgrid(x, y), axis=-1)
    return np.concatenate((_clothes(place, is_front=True), _clothes(place, is_front=False),
                           _skin(place, is_front=True), _skin(place, is_front=False)), axis=1)


def _clothes(place: FloatArray, is_front: bool) -> FloatArray:
    x, y = place[..., 0], place[..., 1]
    colour = np.tile(np.array(PALETTE[SUIT][1]), (*x.shape, 1))
    colour *= (1.0 + 0.12 * np.cos(2.0 * np.pi * y / _RIB_M))[..., None]
    for low, high, out in _BANDS_M:
        around = (np.abs(x) < out) if out > 0.0 else (np.abs(x) > -out)
        _lay(colour, (_CREAM if high - low > 0.01 else _ORANGE), _between(y, low, high) * around)
    lowest, apart = _STAFF_M
    on_chest = np.abs(x) < 0.165
    for line in range(5):
        _lay(colour, _CREAM, _between(y, lowest + line * apart - 0.0016, lowest + line * apart + 0.0016) * on_chest)
    for along, line in _NOTES if is_front else ():
        _lay(colour, _ORANGE, _note(x - along, y - lowest - line * apart))
    _lay(colour, np.array(PALETTE[SHOE][1]), _between(y, 0.0, _SHOE_M))
    _lay(colour, _SOLE, _between(y, -1.0, _SOLE_M))
    return colour


def _skin(place: FloatArray, is_front: bool) -> FloatArray:
    x, y = place[..., 0], place[..., 1]
    colour = np.tile(np.array(PALETTE[SKIN][1]), (*x.shape, 1))
    if is_front:
        for across, height, size, share in ((0.043, 1.594, 0.016, 0.45), (0.0, 1.594, 0.009, 0.35)):
            near = np.exp(-((np.abs(x) - across) ** 2 + (y - height) ** 2) / (2.0 * size**2))
            _lay(colour, _BLUSH, share * near)
    return colour


def _note(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return how much of a place a note covers whose head lies at the origin."""
    turned = x * 0.94 + y * 0.34, y * 0.94 - x * 0.34
    head = np.clip((1.0 - np.hypot(turned[0] / 0.0125, turned[1] / 0.0095)) * 4.0, 0.0, 1.0)
    stem = _between(x, 0.0085, 0.0118) * _between(y, 0.0, 0.055)
    return np.asarray(np.maximum(head, stem))


def _between(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return 1 between two bounds, 0 outside, and what lies between within a texel."""
    texel = HEIGHT_M / SIZE_PX
    return np.clip(np.minimum(values - low, high - values) / texel + 0.5, 0.0, 1.0)


def _lay(colour: FloatArray, other: FloatArray, share: FloatArray) -> None:
    """Lay a colour over a picture where it covers it."""
    colour += (other - colour) * share[..., None]
