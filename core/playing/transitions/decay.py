"""Inertialization after the seam: the next clip begins at once, and its offset to the last pose and speed fades out.

D. Bollo, Inertialization: high-performance animation transitions in Gears of War, GDC 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...maths.arrays import FloatArray, IntArray, quotient
from .blending import Inertialization, Offsets
from .curves import Weight

_ROUNDING = 1e-9
"""Offsets smaller than this count as 0. If they shrank, T would be so short that their speed would vanish at once."""


@dataclass(frozen=True, eq=False)
class Decay(Offsets):
    """Fading offsets after N seams, from the next clip to the pose before the seam: R vectors, see Differing.

    value x, rate v, acceleration a: (N, R, 3) at the seam. time_s T: (N, R) durations of the fades. With s = t/T, an
    offset is x·(1 − 10s³ + 15s⁴ − 6s⁵) + v·T·(s − 6s³ + 8s⁴ − 3s⁵) + a·T²·(s² − 3s³ + 3s⁴ − s⁵)/2. This is the quintic
    whose value, speed and acceleration are 0 at T. If the offset is already shrinking, at the speed v along x, T is at
    most −5x/v. Then a is such that the third derivative begins at 0. So the offset never overshoots.
    """

    value: FloatArray
    rate: FloatArray
    acceleration: FloatArray
    time_s: FloatArray

    @classmethod
    def of(cls, found: Inertialization) -> Decay:
        """Return the decay of the offsets right after each seam; each ends within its duration after the seam."""
        value, rate = found.offsets[:, 1], found.rates[:, 1]
        size = np.sqrt(np.sum(value * value, axis=-1))
        size[size < _ROUNDING] = 0.0
        along = quotient(np.sum(value * rate, axis=-1), size)
        limit = np.where(along < 0.0, quotient(5.0 * size, -along), np.inf)
        time = np.minimum(found.after_s[:, None], np.where(size > 0.0, limit, np.inf))
        braking = np.maximum(quotient(-8.0 * along * time - 20.0 * size, time * time), 0.0)
        direction = value * quotient(1.0, size)[..., None]
        return cls(value, rate, direction * braking[..., None], time)

    def vectors(self, at: IntArray, time_s: FloatArray, curve: Weight) -> FloatArray:
        """Return the offsets at some instants; see Offsets."""
        time = self.time_s[at]
        s = np.clip(np.divide(time_s[:, None], time, out=np.ones_like(time), where=time > 0.0), 0.0, 1.0)
        squares, left = s * s, 1.0 - s
        lefts = left * left * left * s
        by_value = 1.0 - squares * s * (10.0 - s * (15.0 - 6.0 * s))
        by_rate = time * lefts * (1.0 + 3.0 * s)
        by_acceleration = 0.5 * time * time * lefts * s
        return np.asarray(self.value[at] * by_value[..., None] + self.rate[at] * by_rate[..., None]
                          + self.acceleration[at] * by_acceleration[..., None])
