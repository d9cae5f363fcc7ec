"""Rotations as Euler angles and as axis and angle, for rigs and joint limits that use them.

An order names the axes as Blender does: with "XYZ", a joint rotates about X first, so R = Rz · Ry · Rx. With i, j, k
the axes in that order, angles a, b, c about them, and s = 1 if they are in the cyclic order X, Y, Z, else −1:

    R[k, i] = −s sin b,  a = atan2(s R[k, j], R[k, k]),  c = atan2(s R[j, i], R[i, i])

and (a + π, π − b, c + π) is the same rotation. G. Slabaugh, Computing Euler angles from a rotation matrix (1999).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from . import rotations as rot
from .arrays import BoolArray, FloatArray, IntArray

ORDERS: Final = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_LOCKED: Final = 1e-7
"""Cosine of b below which only a + c or a − c is determined."""
_NO_ANGLE: Final = 1e-9


def from_euler(angles_rad: FloatArray, order: str) -> FloatArray:
    """Return quaternions (..., 4) of angles (..., 3) about X, Y and Z; order: one of ORDERS.

    >>> from_euler(np.array((np.pi, 0.0, 0.0)), "XYZ").round(6).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    whole = rot.identities(*np.shape(angles_rad)[:-1])
    for axis in map("XYZ".index, order):
        whole = rot.multiply(rot.from_axis_angle(np.eye(3)[axis], angles_rad[..., axis]), whole)
    return whole


def to_euler(q: FloatArray, order: str) -> FloatArray:
    """Return angles (F, ..., 3) about X, Y and Z of unit quaternions (F, ..., 4), continuous along the first axis.

    Two triples of angles give the same rotation. Each instant takes the one that is nearer to the previous instant.
    """
    axes = np.array(["XYZ".index(axis) for axis in order])
    one, other = _triples(q, axes)
    # From one instant to the next, one → one equals other → other in distance, and one → other equals other → one.
    changes = _apart(other[1:], one[:-1]) < _apart(one[1:], one[:-1])
    takes_other = np.concatenate((np.zeros(one[:1].shape[:-1], np.bool_), np.logical_xor.accumulate(changes, axis=0)))
    result = np.empty_like(one)
    result[..., axes] = np.unwrap(np.where(takes_other[..., None], other, one), axis=0)
    return result


def least_euler(q: FloatArray, order: IntArray) -> FloatArray:
    """Return the angles about X, Y and Z (..., 3), within ±π, of rotations (..., 4), with the smallest sum of sizes.

    order: (..., 3) the axes 0, 1, 2 in the order in which they apply.

    >>> least_euler(rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), 2.0), np.array((0, 1, 2))).round(6).tolist()
    [0.0, 2.0, 0.0]
    """
    one, other = (np.remainder(triple + np.pi, 2.0 * np.pi) - np.pi for triple in _triples(q, order))
    is_less: BoolArray = np.abs(one).sum(axis=-1) <= np.abs(other).sum(axis=-1)
    angles = np.empty_like(one)
    np.put_along_axis(angles, np.broadcast_to(order, one.shape), np.where(is_less[..., None], one, other), -1)
    return angles


def _triples(q: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return both triples of angles (..., 3), in the order in which they apply, that make rotations (..., 4)."""
    matrix = rot.to_matrix(q)
    order = np.broadcast_to(order, (*matrix.shape[:-2], 3))
    m = np.take_along_axis(np.take_along_axis(matrix, order[..., None], -2), order[..., None, :], -1)
    sign = np.where((order[..., 1] - order[..., 0]) % 3 == 1, 1.0, -1.0)
    cosine = np.hypot(m[..., 0, 0], m[..., 1, 0])
    is_locked = cosine < _LOCKED
    a = np.where(is_locked, np.arctan2(-sign * m[..., 1, 2], m[..., 1, 1]),
                 np.arctan2(sign * m[..., 2, 1], m[..., 2, 2]))
    b = np.arctan2(-sign * m[..., 2, 0], cosine)
    c = np.where(is_locked, 0.0, np.arctan2(sign * m[..., 1, 0], m[..., 0, 0]))
    return np.stack((a, b, c), axis=-1), np.stack((a + np.pi, np.pi - b, c + np.pi), axis=-1)


def _apart(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the sums (...,) of the absolute differences of triples of angles (..., 3), each at most half a turn."""
    return np.asarray(np.abs(np.remainder(a - b + np.pi, 2.0 * np.pi) - np.pi).sum(axis=-1))


def to_turns(q: FloatArray) -> FloatArray:
    """Return angle and unit axis (F, ..., 4) of unit quaternions (F, ..., 4), continuous along the first axis.

    For an identity rotation, the axis is that of the previous instant; at the beginning it is Y, along which bones lie.
    """
    length = np.linalg.norm(q[..., 1:], axis=-1)
    turns = length > _NO_ANGLE
    axis = q[..., 1:] / np.where(turns, length, 1.0)[..., None]
    axis[0] = np.where(turns[0][..., None], axis[0], (0.0, 1.0, 0.0))
    instant = np.arange(len(q)).reshape(-1, *(1,) * (turns.ndim - 1))
    last = np.maximum.accumulate(np.where(turns, instant, 0), axis=0)
    axis = np.take_along_axis(axis, last[..., None], axis=0)
    back = np.where(np.sum(axis[1:] * axis[:-1], axis=-1) < 0.0, -1.0, 1.0)
    sign = np.concatenate((np.ones_like(length[:1]), np.cumprod(back, axis=0)))
    angle = np.unwrap(2.0 * np.arctan2(sign * length, q[..., 0]), axis=0)
    return np.concatenate((angle[..., None], sign[..., None] * axis), axis=-1)
