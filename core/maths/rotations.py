"""Rotations as arrays of unit quaternions wxyz, shape (..., 4). All functions broadcast.

q and -q are the same rotation: every function that blends takes the shorter arc, unless it is told otherwise.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arrays import FloatArray, IntArray

ComplexArray = npt.NDArray[np.complex128]

IDENTITY: FloatArray = np.array((1.0, 0.0, 0.0, 0.0))
IDENTITY.setflags(write=False)

_NO_ARC = 1e-12
"""Where the sine of a half-angle is below this, it is taken for the half-angle: the two are one rotation, or nearly."""
_OPPOSITE = 1e-12
"""Directions this near to opposite do not say about which axis to turn."""
_FEW = 512
_TINY_SINE = 1e-150
"""Below this a sine and its angle count as zero: their squares vanish."""


def identities(*shape: int) -> FloatArray:
    """Return identity quaternions of shape (*shape, 4).

    >>> identities(2).tolist()
    [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """
    out = np.zeros((*shape, 4))
    out[..., 0] = 1.0
    return out


def normalized(q: FloatArray) -> FloatArray:
    """Scale quaternions to unit length; raise ValueError if a length is zero or not finite.

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
    # A quaternion is a pair of complex numbers, (w + xi) + (y + zi)·j, and j·c = c̄·j: two products each instead
    # of four, and in the order in which they lie in memory.
    a1, a2 = _pair(a)
    b1, b2 = _pair(b)
    second = a1 * b2
    second += a2 * b1.conj()
    first = a1 * b1
    first -= a2 * np.conjugate(b2, out=b2)
    out = np.empty((*np.shape(first), 2), dtype=np.complex128)
    out[..., 0], out[..., 1] = first, second
    return out.view(np.float64)


def _pair(q: FloatArray) -> tuple[ComplexArray, ComplexArray]:
    # The second half is copied: by its strides, it seems to end 16 bytes after the array. If the product lies there,
    # NumPy 1.26 assumes an overlap, multiplies number by number, and rounds the last bit differently.
    pair = np.ascontiguousarray(q, dtype=np.float64).view(np.complex128)
    return pair[..., 0], pair[..., 1].copy()


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Rotate vectors (..., 3).

    >>> rotate(from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2), np.array((1.0, 0.0, 0.0))).round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    w, x, y, z = (q[..., i] for i in range(4))
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    # v + w·t + xyz × t with t = 2·xyz × v, number by number: inner loops over three numbers would cost the most.
    w, tx, ty, tz = 2.0 * w, y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    out = np.empty((*np.shape(tx), 3))
    out[..., 0] = vx + w * tx + 2.0 * (y * tz - z * ty)
    out[..., 1] = vy + w * ty + 2.0 * (z * tx - x * tz)
    out[..., 2] = vz + w * tz + 2.0 * (x * ty - y * tx)
    return out


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the cross product of vectors (..., 3), several times as fast as numpy's on short arrays."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    x = ay * bz - az * by
    out = np.empty((*np.shape(x), 3))
    out[..., 0] = x
    out[..., 1] = az * bx - ax * bz
    out[..., 2] = ax * by - ay * bx
    return out


def from_axis_angle(axis: FloatArray, angle_rad: FloatArray | float) -> FloatArray:
    """Make rotations about axes (..., 3), which need not be unit; a zero axis gives the identity."""
    length = np.sqrt(np.einsum("...i,...i->...", axis, axis))
    half = np.where(length > 0.0, 0.5 * np.asarray(angle_rad), 0.0)
    sine = np.divide(np.sin(half), length, out=np.zeros_like(half), where=length > 0.0)
    out = np.empty((*half.shape, 4))
    out[..., 0] = np.cos(half)
    np.multiply(axis, sine[..., None], out=out[..., 1:])
    return out


def shortest_arc(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the smallest rotations (..., 4) from the directions a to the directions b, (..., 3).

    For opposite directions, it is half a turn about any perpendicular axis. For a zero vector, it is the identity.

    >>> shortest_arc(np.array((2.0, 0.0, 0.0)), np.array(((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)))).round(3).tolist()
    [[0.707, 0.0, 0.0, 0.707], [0.0, 0.0, 0.0, 1.0]]
    """
    axis = cross(a, b)
    sine, cosine = np.sqrt(_dot(axis, axis)), _dot(a, b)
    length, is_opposite = sine, (cosine < 0.0) & (sine <= _OPPOSITE * -cosine)
    if np.any(is_opposite):
        across = cross(a, np.eye(3)[np.argmin(np.abs(a), axis=-1)])
        axis = np.where(is_opposite[..., None], across, axis)
        length = np.sqrt(_dot(axis, axis))
    half = np.arctan2(sine, cosine) / 2.0
    out = np.empty((*np.shape(axis)[:-1], 4))
    out[..., 0] = np.cos(half)
    out[..., 1:] = axis * np.divide(np.sin(half), length, out=np.zeros_like(half), where=length > 0.0)[..., None]
    return out


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray((a[..., None, :] @ b[..., :, None])[..., 0, 0])


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

    Bar-Itzhack (2000): the quaternion is the eigenvector of the largest eigenvalue of a symmetric 4×4 matrix. That also
    gives the nearest rotation where the input is slightly off.
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


def from_exact_matrix(matrix: FloatArray) -> FloatArray:
    """Convert matrices (..., 3, 3) that are rotations up to rounding into quaternions with w ≥ 0; fast.

    Shepperd (1978): four times a quaternion's product with its own largest component is a row of sums of the matrix.
    A matrix that is not a rotation is not detected; see `from_matrix`.

    >>> from_exact_matrix(np.diag((1.0, -1.0, -1.0))).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    m = matrix
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    sums = np.empty((*m.shape[:-2], 4, 4))
    sums[..., 0, 0], sums[..., 1, 1] = 1.0 + xx + yy + zz, 1.0 + xx - yy - zz
    sums[..., 2, 2], sums[..., 3, 3] = 1.0 - xx + yy - zz, 1.0 - xx - yy + zz
    sums[..., 0, 1] = sums[..., 1, 0] = m[..., 2, 1] - m[..., 1, 2]
    sums[..., 0, 2] = sums[..., 2, 0] = m[..., 0, 2] - m[..., 2, 0]
    sums[..., 0, 3] = sums[..., 3, 0] = m[..., 1, 0] - m[..., 0, 1]
    sums[..., 1, 2] = sums[..., 2, 1] = m[..., 0, 1] + m[..., 1, 0]
    sums[..., 1, 3] = sums[..., 3, 1] = m[..., 0, 2] + m[..., 2, 0]
    sums[..., 2, 3] = sums[..., 3, 2] = m[..., 1, 2] + m[..., 2, 1]
    largest = np.argmax(np.diagonal(sums, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(sums, largest[..., None, None], axis=-2)[..., 0, :]
    q /= np.sqrt(np.einsum("...i,...i->...", q, q))[..., None]
    return np.where(q[..., :1] < 0.0, -q, q)


def to_matrix(q: FloatArray) -> FloatArray:
    """Turn unit quaternions into rotation matrices (..., 3, 3)."""
    out = np.empty((*np.shape(q)[:-1], 3, 3))
    write_matrix(q, out)
    return out


def write_matrix(q: FloatArray, out: FloatArray) -> None:
    """Write the rotation matrices of unit quaternions (..., 4) into out (..., 3, 3), of any memory layout."""
    w, x, y, z = (q[..., i] for i in range(4))
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz, wx, wy, wz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2, w * x2, w * y2, w * z2
    for i, (a, b) in enumerate(((yy, zz), (xx, zz), (xx, yy))):
        np.subtract(1.0, a + b, out=out[..., i, i])
    for i, j, a, b in ((0, 1, xy, wz), (1, 2, yz, wx), (2, 0, xz, wy)):
        np.subtract(a, b, out=out[..., i, j])
        np.add(a, b, out=out[..., j, i])


def angle_between(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the angle in radians, 0 to π, of the rotation from a to b, along the shorter arc.

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


def continuous(q: FloatArray, starts: IntArray | None = None) -> FloatArray:
    """Flip signs so that neighbours along the first axis (N, ..., 4) lie in the same hemisphere; the first stays.

    starts: (T + 1,) where each of T runs of rows begins, from 0 to N; each run is handled separately, and its first
    stays.

    >>> turns = np.array(((1.0, 0, 0, 0), (-1.0, 0, 0, 0), (-1.0, 0, 0, 0)))
    >>> continuous(turns)[:, 0].tolist(), continuous(turns, np.array((0, 2, 3)))[:, 0].tolist()
    ([1.0, 1.0, 1.0], [1.0, 1.0, -1.0])
    """
    if len(q) == 0:
        return q
    flips = np.einsum("...i,...i->...", q[1:], q[:-1]) < 0.0
    if not flips.any():
        return q
    signs = np.ones(q.shape[:-1])
    signs[1:] -= 2.0 * (np.cumsum(flips, axis=0) % 2)
    if starts is not None:
        signs *= np.repeat(signs[starts[:-1]], np.diff(starts), axis=0)
    return q * signs[..., None]


def nlerp(a: FloatArray, b: FloatArray, t: FloatArray | float) -> FloatArray:
    """Blend linearly along the shorter arc and normalise; t of shape (...) is 0 at a and 1 at b."""
    dot = np.einsum("...i,...i->...", a, b)
    out = np.asarray(a * np.asarray(1.0 - t)[..., None] + b * np.where(dot < 0.0, -t, t)[..., None])
    out /= np.sqrt(np.einsum("...i,...i->...", out, out))[..., None]  # at least √½, since the arc is the shorter one
    return out


def slerp(a: FloatArray, b: FloatArray, t: FloatArray | float) -> FloatArray:
    """Blend at constant angular speed along the shorter arc (Shoemake 1985); t of shape (...) is 0 at a, 1 at b."""
    return blend(a, b, t)


def blend(a: FloatArray, b: FloatArray, t: FloatArray | float, is_linear: bool = False,
          is_signed: bool = False) -> FloatArray:
    """Blend by SLERP, or by normalised LERP, which passes the same arc at an uneven speed.

    is_signed: take the arc between the quaternions as they are, also where it is the longer one, so that it changes
    smoothly with them. Opposite quaternions, which are one rotation, have no arc between them: the first stays.
    """
    half, across = arc(a, b, is_signed)
    angle = np.arctan2(t * np.sin(half), 1.0 - t + t * np.cos(half)) if is_linear else half * t
    return np.asarray(a * np.cos(angle)[..., None] + across * np.sin(angle)[..., None])


def mean(q: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the mean rotations (..., 4) of N rotations (N, ..., 4) by weights (N, ...); signs do not matter.

    It is the eigenvector of Σ w·q·qᵀ with the largest eigenvalue, which minimises squared chords (Markley et al. 2007,
    "Averaging quaternions").
    """
    spread = np.einsum("n...,n...i,n...j->...ij", weights, q, q)
    found: FloatArray = np.linalg.eigh(spread)[1][..., -1]
    return aligned(found, q[0])


def arc(a: FloatArray, b: FloatArray, is_signed: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return the half-angle (...) of the arc from a to b, and the unit quaternion across, (..., 4).

    On the great circle, a·cos x + across·sin x leads from a at x = 0 to b at the half-angle; across is
    perpendicular to a. Where a and b are one rotation, both are zero. a and b must have unit length.
    It is the shorter arc, at most π/2, unless is_signed.
    """
    dot = np.asarray(np.einsum("...i,...i->...", a, b))[..., None]
    if not is_signed:
        b, dot = np.where(dot < 0.0, -b, b), np.abs(dot)
    off = b - dot * a
    sine = np.sqrt(np.einsum("...i,...i->...", off, off))
    across = np.divide(off, sine[..., None], out=np.zeros_like(off), where=sine[..., None] > 0.0)
    return np.where(sine > _NO_ARC, np.arctan2(sine, dot[..., 0]), sine), across


def log(q: FloatArray) -> FloatArray:
    """Return rotation vectors (..., 3), axis times angle in radians, 0 to π long.

    >>> log(from_axis_angle(np.array((0.0, 0.0, 1.0)), 0.5)).round(6).tolist()
    [0.0, 0.0, 0.5]
    """
    xyz = np.where(q[..., :1] < 0.0, -q[..., 1:], q[..., 1:])
    sine = np.sqrt(np.einsum("...i,...i->...", xyz, xyz))
    angle = 2.0 * np.arctan2(sine, np.abs(q[..., 0]))
    # angle ÷ sine tends to 2 where both vanish
    return np.asarray(xyz * np.divide(angle, sine, out=np.full_like(angle, 2.0), where=sine > _TINY_SINE)[..., None])


def exp(vector: FloatArray) -> FloatArray:
    """Return the rotations (..., 4) of rotation vectors (..., 3).

    >>> exp(np.array((0.0, 0.0, np.pi))).round(6).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    half = 0.5 * np.sqrt(np.einsum("...i,...i->...", vector, vector))
    out = np.empty((*vector.shape[:-1], 4))
    cosine, sine = cosine_sine(half)
    out[..., 0] = cosine
    np.multiply(vector, (0.5 * sine / np.maximum(half, _TINY_SINE))[..., None], out=out[..., 1:])
    return out


def cosine_sine(angle: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return cosines and sines of angles in radians; many are computed from half-angle tangents, numpy's fastest.

    >>> cosine, sine = cosine_sine(np.array((0.0, np.pi / 2.0, np.pi)))
    >>> (cosine + 0.0).round(12).tolist(), sine.round(12).tolist()
    ([1.0, 0.0, -1.0], [0.0, 1.0, 0.0])
    """
    if angle.size <= _FEW:  # for few, calls take longer than the arithmetic
        return np.cos(angle), np.sin(angle)
    t = np.tan(0.5 * angle)
    square = t * t
    by = 1.0 / (1.0 + square)
    return (1.0 - square) * by, (t + t) * by


def twist(q: FloatArray, axis: FloatArray) -> FloatArray:
    """Return the part of each rotation about a unit axis (3,) (swing–twist decomposition q = swing · twist).

    A rotation by π about an axis perpendicular to it has no defined twist: the identity is returned.
    """
    part = np.concatenate((q[..., :1], np.sum(q[..., 1:] * axis, axis=-1, keepdims=True) * axis), axis=-1)
    length = np.linalg.norm(part, axis=-1, keepdims=True)
    return np.where(length > 1e-12, part / np.where(length > 1e-12, length, 1.0), IDENTITY)
