"""Joint limits, which may decide whether a transition turns a joint along the shorter or the longer arc.

Limits are angles about a joint's own axes at rest, as in H-Anim's llimit and ulimit or Blender's Limit Rotation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import TaktError
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...maths.euler import least_euler

_BEYOND_RAD = np.radians(5.0)
"""Tolerance in which an arc may leave the limits, since neither limits nor clips are exact."""
_STEPS = 24
"""Number of steps in which arcs are sampled, so that none is longer than 15°."""
_ARCS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Limits:
    """Angle limits of L joints of a skeleton.

    joints: (L,) their indices. low, high: (L, 3) radians about x, y and z of the joint's own axes at rest; −inf and inf
    where it is free. order: (L, 3) those axes (0, 1, 2) in the order in which the angles apply. Raises TaktError for
    shapes that do not match and for ranges without any angle.
    """

    joints: IntArray
    low: FloatArray
    high: FloatArray
    order: IntArray

    def __post_init__(self) -> None:
        shape = (len(self.joints), 3)
        if not self.low.shape == self.high.shape == self.order.shape == shape:
            raise TaktError(f"limits of {len(self.joints)} joints have shapes {self.low.shape}, {self.high.shape}, "
                            f"{self.order.shape}, expected {shape} each")
        if not (self.low <= self.high).all():
            raise TaktError("a joint's lower limit is above its upper one; exchange them")
        if not (np.sort(self.order, axis=1) == (0, 1, 2)).all():
            raise TaktError("the order of a joint's angles must name each of the axes 0, 1, 2 once")

    @classmethod
    def of(cls, degrees: Mapping[int, Sequence[tuple[float, float]]]) -> Limits:
        """Build limits from the lowest and highest angles of joints about x, y and z, applied in that order.

        >>> Limits.of({3: ((0.0, 150.0), (-10.0, 10.0), (-np.inf, np.inf))}).high.round(3).tolist()
        [[2.618, 0.175, inf]]
        """
        table = np.radians(np.array(list(degrees.values()), dtype=np.float64).reshape(-1, 3, 2))
        return cls(np.array(list(degrees), dtype=np.int64), table[..., 0], table[..., 1],
                   np.tile((0, 1, 2), (len(table), 1)))

    def exceeds(self, a: FloatArray, b: FloatArray) -> BoolArray:
        """Return whether joints should turn along the longer arc between rotations a and b (..., J, 4), (..., J).

        That is so if the shorter arc exceeds the limits and the longer one does not.
        """
        is_long = np.zeros(a.shape[:-1], dtype=np.bool_)
        here, there = a[..., self.joints, :].reshape(-1, 4), b[..., self.joints, :].reshape(-1, 4)
        limit = np.resize(np.arange(len(self.joints)), len(here))
        found = np.zeros(len(here), dtype=np.bool_)
        for start in range(0, len(here), _ARCS_AT_ONCE):
            part = slice(start, start + _ARCS_AT_ONCE)
            found[part] = self._exceeds(here[part], there[part], limit[part])
        is_long[..., self.joints] = found.reshape(*a.shape[:-2], len(self.joints))
        return is_long

    def angles(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the angles from a to b, (..., J, 4), along the arcs that the limits decide on, (..., J)."""
        short = rot.angle_between(a, b)
        return np.where(self.exceeds(a, b), 2.0 * np.pi - short, short)

    def _exceeds(self, a: FloatArray, b: FloatArray, limit: IntArray) -> BoolArray:
        turn = rot.log(rot.multiply(rot.conjugate(a), b))
        share = np.linspace(0.0, 1.0, _STEPS + 1)[:, None]

        def exceed(which: BoolArray, turns: FloatArray) -> BoolArray:
            arc = rot.multiply(a[which, None], rot.exp(share * turns[which, None]))
            out = np.zeros(len(a), dtype=np.bool_)
            out[which] = self._beyond(arc, limit[which]).max(axis=1) > _BEYOND_RAD
            return out

        short = exceed(np.linalg.norm(turn, axis=1) > _BEYOND_RAD, turn)
        return short & ~exceed(short, long_arc(turn))

    def _beyond(self, q: FloatArray, limit: IntArray) -> FloatArray:
        """Return the angle by which rotations (M, T, 4) exceed the limits (M,), (M, T) in radians."""
        low, high = self.low[limit, None], self.high[limit, None]
        is_free = ~(np.isfinite(low) & np.isfinite(high)) | (high - low >= 2.0 * np.pi)
        low, high = np.where(is_free, -np.pi, low), np.where(is_free, np.pi, high)
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        off = (least_euler(q, self.order[limit, None]) - middle + np.pi) % (2.0 * np.pi) - np.pi
        return np.asarray(np.where(is_free, 0.0, np.abs(off) - half).max(axis=-1))


def long_arc(turn: FloatArray) -> FloatArray:
    """Return the rotation vectors (..., 3) of the same rotations along the other arc; zero where there is no turn."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return np.asarray(turn * (1.0 - np.divide(2.0 * np.pi, angle, out=np.ones_like(angle), where=angle > 0.0)))
