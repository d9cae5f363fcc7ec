"""Inertialization: the next clip begins at once, and the offset to the pose and speed before the seam fades out.

D. Bollo, Inertialization: high-performance animation transitions in Gears of War, GDC 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray, quotient
from ...skeletons.skeleton import Pose
from .blending import Crossing, Inertialization

_ROUNDING = 1e-9
"""Smaller offsets are none: on their way back they would be there at once, and take their speed with them."""


@dataclass(frozen=True, eq=False)
class _Fading:
    """Offsets of J joints after N seams: value, rate and acceleration at the seam (N, J, 3), and how long they last.

    With s = t/T they are x·(1 − 10s³ + 15s⁴ − 6s⁵) + v·T·(s − 6s³ + 8s⁴ − 3s⁵) + a·T²·(s² − 3s³ + 3s⁴ − s⁵)/2: the
    quintic that meets zero in value, speed and acceleration at T. Where the joint is already on its way back, at the
    speed v along x, T is at most −5x/v and a such that the third derivative begins at 0, which never overshoots.
    """

    value: FloatArray
    rate: FloatArray
    acceleration: FloatArray
    time_s: FloatArray

    @classmethod
    def of(cls, value: FloatArray, rate: FloatArray, time_s: FloatArray) -> _Fading:
        """Take values and rates (N, J, 3) that fade within times (N,)."""
        size = np.sqrt(np.sum(value * value, axis=-1))
        size[size < _ROUNDING] = 0.0
        along = quotient(np.sum(value * rate, axis=-1), size)
        limit = np.where(along < 0.0, quotient(5.0 * size, -along), np.inf)
        time = np.minimum(time_s[:, None], np.where(size > 0.0, limit, np.inf))
        braking = np.maximum(quotient(-8.0 * along * time - 20.0 * size, time * time), 0.0)
        direction = value * quotient(1.0, size)[..., None]
        return cls(value, rate, direction * braking[..., None], time)

    def at(self, seam: IntArray, time_s: FloatArray) -> FloatArray:
        """Return the offsets (F, J, 3) at times (F,) after seams (F,)."""
        time = self.time_s[seam]
        s = np.clip(np.divide(time_s[:, None], time, out=np.ones_like(time), where=time > 0.0), 0.0, 1.0)
        by_value = 1.0 - s**3 * (10.0 - s * (15.0 - 6.0 * s))
        by_rate = time * s * (1.0 - s)**3 * (1.0 + 3.0 * s)
        by_acceleration = time * time * s * s * (1.0 - s)**3 / 2.0
        return np.asarray(self.value[seam] * by_value[..., None] + self.rate[seam] * by_rate[..., None]
                          + self.acceleration[seam] * by_acceleration[..., None])


@dataclass(frozen=True, eq=False)
class Decay:
    """What is left of the pose before N seams, as offsets to the clip that follows; rotations as rotation vectors."""

    turning: _Fading
    moving: _Fading
    scaling: _Fading

    @classmethod
    def of(cls, crossing: Crossing, time_s: FloatArray) -> Decay:
        """Find the offsets of these seams, which fade within times (N,)."""
        found = Inertialization.of(crossing, np.zeros(len(time_s)), time_s)
        return cls(*(_Fading.of(values[1], rates[1], time_s)
                     for values, rates in (found.turning, found.moving, found.scaling)))

    def apply(self, pose: Pose, at: IntArray, time_s: FloatArray) -> Pose:
        """Add the offsets to poses (F, J, …); at: (F,) which seam; time_s: (F,) since the seam."""
        return Pose(rot.multiply(pose.rotations, rot.exp(self.turning.at(at, time_s))),
                    pose.translations + self.moving.at(at, time_s), pose.scales + self.scaling.at(at, time_s))
