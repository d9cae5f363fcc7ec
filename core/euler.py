"""Rotations as Euler angles and as axis and angle, for rigs that turn by them; continuous over time.

An order names the axes as Blender does: by "XYZ" a joint turns about X first, so R = Rz · Ry · Rx. With i, j, k the
axes in that order, angles a, b, c about them, and s = 1 where they follow each other as X, Y, Z do, else −1:

    R[k, i] = −s sin b,  a = atan2(s R[k, j], R[k, k]),  c = atan2(s R[j, i], R[i, i])

and (a + π, π − b, c + π) is the same rotation. G. Slabaugh, Computing Euler angles from a rotation matrix (1999).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from . import rotations as rot
from .arrays import FloatArray

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

    Of the two triples of angles that mean the same, each instant takes the one that is nearer to the instant before.
    """
    i, j, k = map("XYZ".index, order)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    matrix = rot.to_matrix(q)
    cosine = np.hypot(matrix[..., i, i], matrix[..., j, i])
    is_locked = cosine < _LOCKED
    angles = np.empty((*q.shape[:-1], 3))
    angles[..., 1] = np.arctan2(-sign * matrix[..., k, i], cosine)
    angles[..., 0] = np.where(is_locked, np.arctan2(-sign * matrix[..., j, k], matrix[..., j, j]),
                              np.arctan2(sign * matrix[..., k, j], matrix[..., k, k]))
    angles[..., 2] = np.where(is_locked, 0.0, np.arctan2(sign * matrix[..., j, i], matrix[..., i, i]))
    other = np.stack((angles[..., 0] + np.pi, np.pi - angles[..., 1], angles[..., 2] + np.pi), axis=-1)
    # The way from one instant to the next is as long for both triples, so only a change between them is asked about.
    changes = _apart(other[1:], angles[:-1]) < _apart(angles[1:], angles[:-1])
    takes_other = np.concatenate((np.zeros_like(is_locked[:1]), np.logical_xor.accumulate(changes, axis=0)))
    result = np.empty_like(angles)
    result[..., [i, j, k]] = np.unwrap(np.where(takes_other[..., None], other, angles), axis=0)
    return result


def _apart(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.abs(np.remainder(a - b + np.pi, 2.0 * np.pi) - np.pi).sum(axis=-1))


def to_turns(q: FloatArray) -> FloatArray:
    """Return angle and unit axis (F, ..., 4) of unit quaternions (F, ..., 4), continuous along the first axis.

    Where nothing turns, the axis is that of the instant before; at the beginning Y, along which bones lie.
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
