"""Rotations as arrays of unit quaternions wxyz, shape (..., 4). All functions broadcast.

q and -q are the same rotation: every function that blends takes the shorter way.
"""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray

IDENTITY: FloatArray = np.array((1.0, 0.0, 0.0, 0.0))
IDENTITY.setflags(write=False)

_LERP_BELOW_RAD = 1e-4
"""Half-angles below this are blended linearly: SLERP's quotient of sines loses its digits there,
while the two ways differ by less than angle³/16 < 1e-13."""


def identities(*shape: int) -> FloatArray:
    """Return identity quaternions of shape (*shape, 4).

    >>> identities(2).tolist()
    [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """
    return np.tile(IDENTITY, (*shape, 1))


def normalized(q: FloatArray) -> FloatArray:
    """Scale to unit length; raise ValueError where a length is zero or not finite.

    >>> normalized(np.array((0.0, 0.0, 2.0, 0.0))).tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if not (np.isfinite(length).all() and (length > 0.0).all()):
        raise ValueError("a quaternion of length zero (or not finite) is no rotation")
    return np.asarray(q / length)


def conjugate(q: FloatArray) -> FloatArray:
    """Return the inverse rotation."""
    return np.asarray(q * np.array((1.0, -1.0, -1.0, -1.0)))


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a·b: rotate by b first, then by a.

    >>> quarter = from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2)
    >>> multiply(quarter, quarter).round(6).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack((
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ), axis=-1)


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Rotate vectors (..., 3).

    >>> rotate(from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2), np.array((1.0, 0.0, 0.0))).round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    axis = q[..., 1:]
    twice = 2.0 * np.cross(axis, v)
    return np.asarray(v + q[..., :1] * twice + np.cross(axis, twice))


def from_axis_angle(axis: FloatArray, angle_rad: FloatArray | float) -> FloatArray:
    """Make rotations about axes (..., 3), which need not be unit; a zero axis gives the identity."""
    half = np.asarray(angle_rad, dtype=np.float64)[..., None] / 2.0
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    unit = np.divide(axis, length, out=np.zeros(np.shape(axis)), where=length > 0.0)
    w = np.where(length > 0.0, np.cos(half), 1.0)
    xyz = unit * np.sin(half)
    return np.concatenate((np.broadcast_to(w, (*xyz.shape[:-1], 1)), xyz), axis=-1)


def to_axis_angle(q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return unit axes (..., 3) and angles (...) in [0, π]; the identity has axis x."""
    short = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(short[..., 1:], axis=-1)
    angle = 2.0 * np.arctan2(sine, short[..., 0])
    x_axis = np.broadcast_to(np.array((1.0, 0.0, 0.0)), short[..., 1:].shape).copy()
    axis = np.divide(short[..., 1:], sine[..., None], out=x_axis, where=sine[..., None] > 0.0)
    return axis, angle


def from_matrix(matrix: FloatArray) -> FloatArray:
    """Turn rotation matrices (..., 3, 3) into quaternions with w ≥ 0.

    Bar-Itzhack (2000): the quaternion is the eigenvector of the largest eigenvalue of a symmetric 4×4
    matrix, which also gives the nearest rotation where the input is slightly off.
    """
    m = np.asarray(matrix, dtype=np.float64)
    k = np.empty((*m.shape[:-2], 4, 4))
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    k[..., 0, 0] = xx + yy + zz
    k[..., 1, 1], k[..., 2, 2], k[..., 3, 3] = xx - yy - zz, yy - xx - zz, zz - xx - yy
    k[..., 0, 1] = k[..., 1, 0] = m[..., 2, 1] - m[..., 1, 2]
    k[..., 0, 2] = k[..., 2, 0] = m[..., 0, 2] - m[..., 2, 0]
    k[..., 0, 3] = k[..., 3, 0] = m[..., 1, 0] - m[..., 0, 1]
    k[..., 1, 2] = k[..., 2, 1] = m[..., 0, 1] + m[..., 1, 0]
    k[..., 1, 3] = k[..., 3, 1] = m[..., 0, 2] + m[..., 2, 0]
    k[..., 2, 3] = k[..., 3, 2] = m[..., 1, 2] + m[..., 2, 1]
    q = np.linalg.eigh(k)[1][..., -1]
    return np.where(q[..., :1] < 0.0, -q, q)


def to_matrix(q: FloatArray) -> FloatArray:
    """Turn unit quaternions into rotation matrices (..., 3, 3)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the angle in radians, 0 to π, of the rotation that leads from a to b the short way.

    The half-angle is taken from chord lengths, |a − b| and |a + b|: arccos of the dot product would
    lose half of its digits near zero.
    """
    sign = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    near = np.linalg.norm(a - sign * b, axis=-1)
    far = np.linalg.norm(a + sign * b, axis=-1)
    return np.asarray(4.0 * np.arctan2(near, far))


def aligned(q: FloatArray, reference: FloatArray) -> FloatArray:
    """Flip signs of q so that each lies in the hemisphere of its reference."""
    return np.where(np.sum(q * reference, axis=-1, keepdims=True) < 0.0, -q, q)


def continuous(q: FloatArray, axis: int = 0) -> FloatArray:
    """Flip signs along an axis so that neighbours lie in the same hemisphere; the first stays.

    >>> continuous(np.array(((1.0, 0, 0, 0), (-1.0, 0, 0, 0), (-1.0, 0, 0, 0))))[:, 0].tolist()
    [1.0, 1.0, 1.0]
    """
    q = np.moveaxis(q, axis, 0)
    if len(q) == 0:
        return np.moveaxis(q, 0, axis)
    flips = np.sum(q[1:] * q[:-1], axis=-1) < 0.0
    later = np.where(np.logical_xor.accumulate(flips, axis=0), -1.0, 1.0)
    signs = np.concatenate((np.ones((1, *q.shape[1:-1])), later))
    return np.moveaxis(q * signs[..., None], 0, axis)


def nlerp(a: FloatArray, b: FloatArray, t: FloatArray | float) -> FloatArray:
    """Blend linearly the short way and normalise; t of shape (...) is 0 at a and 1 at b."""
    t = np.asarray(t, dtype=np.float64)[..., None]
    return normalized(a + (aligned(b, a) - a) * t)


def slerp(a: FloatArray, b: FloatArray, t: FloatArray | float) -> FloatArray:
    """Blend at constant angular speed the short way (Shoemake 1985); t of shape (...) is 0 at a, 1 at b."""
    t = np.asarray(t, dtype=np.float64)[..., None]
    b = aligned(b, a)
    half = (angle_between(a, b) / 2.0)[..., None]
    tiny = half < _LERP_BELOW_RAD
    sine = np.where(tiny, 1.0, np.sin(half))
    wa = np.where(tiny, 1.0 - t, np.sin((1.0 - t) * half) / sine)
    wb = np.where(tiny, t, np.sin(t * half) / sine)
    return normalized(wa * a + wb * b)


def twist(q: FloatArray, axis: FloatArray) -> FloatArray:
    """Return the part of each rotation about a unit axis (3,) (swing–twist decomposition q = swing · twist).

    A rotation by π about an axis perpendicular to it has no defined twist: the identity is returned.
    """
    part = np.concatenate((q[..., :1], np.sum(q[..., 1:] * axis, axis=-1, keepdims=True) * axis), axis=-1)
    length = np.linalg.norm(part, axis=-1, keepdims=True)
    return np.where(length > 1e-12, part / np.where(length > 1e-12, length, 1.0), IDENTITY)
