"""The root height offset that puts the contacts of a clip on the ground."""

from __future__ import annotations

import numpy as np

from ...clips.thresholds import FAR_LEGS
from ...maths.arrays import FloatArray


def lift_of_touching(low: FloatArray, touching: FloatArray, weight: FloatArray, leg: float,
                     reach: FloatArray | float = 0.0) -> FloatArray:
    """Return the root height offset (F,) that puts contacts on the ground.

    low: (F, N) the height of each part's lowest skin above its wanted height. touching: (F, N) how much the part
    touches the ground, 0 to 1; weight: (F, N) its contact weight, 0 to 2. reach: (F, N) how far legs can put the part
    down. The part with the highest weight decides. Other parts count less, the less they touch and the lower their
    weight. The body rises for parts that would be in the ground, as far as legs can still put the deciding part down.
    It sinks for parts that would hang above the ground; legs then draw up what is in the ground. Parts far above the
    ground are no contacts.
    """
    counts = near_ground(low, leg)
    touching, weight = counts * touching, counts * weight
    most = weight.argmax(axis=1)[:, None]
    base, reach = -np.take_along_axis(low, most, axis=1), np.broadcast_to(reach, low.shape)
    share = np.clip(1.0 - (np.take_along_axis(weight, most, axis=1) - weight), 0.0, 1.0) * touching
    highest = base + np.take_along_axis(reach, most, axis=1)
    base = base + (share * np.maximum(np.minimum(-low, highest) - base, 0.0)).max(axis=1, keepdims=True)
    hangs = np.maximum(low + base - reach, 0.0)
    wanted = base[:, 0] - (share * near_ground(hangs, leg) * hangs).max(axis=1)
    return np.asarray(wanted * touching.max(axis=1))


def near_ground(height: FloatArray, leg: float) -> FloatArray:
    """Return the weight, 0 to 1, by which skin at a height above the ground may count as a contact."""
    return np.asarray(np.interp(height / leg, FAR_LEGS, (1.0, 0.0)))
