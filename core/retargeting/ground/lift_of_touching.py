"""By how much a body is lifted, or lowered, for what touches the ground in the clip to be on it."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...maths.arrays import FloatArray

_FAR_LEGS: Final = (0.2, 0.35)
"""Skin that is higher than this when something touches the ground is not what touches it: feet of one who sits may hang
in the air. In between it counts in part."""


def lift_of_touching(low: FloatArray, touching: FloatArray, firmly: FloatArray, leg: float,
                     reach: FloatArray | float = 0.0) -> FloatArray:
    """Return by how much a body is lifted (F,) so that what touches the ground is on it.

    low: (F, N) how high each part's lowest skin is above where it belongs; touching, firmly: (F, N) how much it touches
    the ground, and how firmly, from 0 to 2. reach: (F, N) how far legs put it down. What stands most firmly decides;
    others have the less to say, the less they touch the ground, and the less firmly than that, down to nothing. Where
    it can be put down itself, the body goes as high as those want that would be in the ground; it is lowered by what
    others would still hang above it. Legs draw up what is in the ground then. What is far above the ground is not what
    touches it.
    """
    counts = near_ground(low, leg)
    touching, firmly = counts * touching, counts * firmly
    most = firmly.argmax(axis=1)[:, None]
    base, reach = -np.take_along_axis(low, most, axis=1), np.broadcast_to(reach, low.shape)
    share = np.clip(1.0 - (np.take_along_axis(firmly, most, axis=1) - firmly), 0.0, 1.0) * touching
    highest = base + np.take_along_axis(reach, most, axis=1)
    base = base + (share * np.maximum(np.minimum(-low, highest) - base, 0.0)).max(axis=1, keepdims=True)
    hangs = np.maximum(low + base - reach, 0.0)
    wanted = base[:, 0] - (share * near_ground(hangs, leg) * hangs).max(axis=1)
    return np.asarray(wanted * touching.max(axis=1))


def near_ground(height: FloatArray, leg: float) -> FloatArray:
    """Return how much of skin that is so high above the ground may be what touches it."""
    return np.asarray(np.interp(height / leg, _FAR_LEGS, (1.0, 0.0)))
