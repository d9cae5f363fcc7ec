"""Formulas over numbers, which are floats or arrays that broadcast with each other.

Formulas of these functions and + − · ÷ are computed over whole arrays if there are many numbers. For a few numbers,
numpy's calls would take far longer than the arithmetic, so Python's floats are faster. Both branches of a choice are
computed: neither may divide by zero. Vectors are sequences of three numbers. With arrays, a vector is one array with
the components as its first axis, so that few calls are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final, TypeVar

import numpy as np

from . import rotations as rot
from .arrays import BoolArray, FloatArray

Number = TypeVar("Number", float, FloatArray)
Vector = Sequence[Number]
Quaternion = Sequence[Number]

_ARRAY: Final = np.ndarray
_NEXT_AND_LAST: Final = np.array((1, 2, 0, 2, 0, 1))
"""After each of a vector's numbers, the next one; then the one before it."""
_CONJUGATE: Final = np.array((1.0, -1.0, -1.0, -1.0))[:, None, None]
_PRODUCT: Final = rot.multiply(np.eye(4)[:, None], np.eye(4)).reshape(16, 4).T.copy()
"""What makes a·b of the products of a quaternion's numbers with another one's, (4, 16)."""


def worked_out(formula: Callable[..., Sequence[Any]], first: FloatArray, *others: FloatArray) -> FloatArray:
    """Return the K numbers, (L, F, K), that a formula computes from records (L, F, ...) of L things in F frames.

    The formula gets the numbers of each record, nested as they are. Any record but the first may be (1, F, ...) or (L,
    1, ...): the same for all things or for all frames.

    >>> sides, scale = np.array([[[3.0, 4.0], [6.0, 8.0]]]), np.full((1, 1, 1), 2.0)
    >>> worked_out(lambda xy, by: (root(xy[0] * xy[0] + xy[1] * xy[1]) * by[0],), sides, scale).tolist()
    [[[10.0], [20.0]]]
    """
    things, frames = first.shape[:2]
    if frames == 1:
        each = [record[:, 0].tolist() * (things // len(record)) for record in others]
        found = chain.from_iterable(map(formula, first[:, 0].tolist(), *each))
        return np.fromiter(found, dtype=np.float64).reshape(things, 1, -1)
    return np.asarray(formula(*map(_numbers_first, (first, *others)))).transpose(1, 2, 0)


def _numbers_first(record: FloatArray) -> FloatArray:
    """Return a record (L, F, ...) with its numbers first, as formulas need them: (..., L, F)."""
    return record if record.ndim == 2 else np.ascontiguousarray(record.transpose(*range(2, record.ndim), 0, 1))


def of_each(formula: Callable[..., Number], *numbers: Sequence[Number]) -> Sequence[Number]:
    """Return the result of a formula for each of N records of numbers; arrays are computed in one pass.

    numbers: the first numbers of all N records, then the second numbers, and so on.

    >>> of_each(lambda one, other: one - other, [1.0, 2.0], [3.0, 5.0])
    [-2.0, -3.0]
    """
    if isinstance(numbers[0], _ARRAY):
        return _as_it_is(formula(*numbers))
    return list(map(formula, *numbers))


def root(x: Number) -> Number:
    """Return the square root of numbers that are negative at most by rounding."""
    return math.sqrt(0.0 if x < 0.0 else x) if isinstance(x, float) else np.sqrt(np.maximum(x, 0.0))


def length(v: Sequence[Number]) -> Number:
    """Return the lengths of vectors."""
    if isinstance(v, _ARRAY):
        return _as_it_is(np.sqrt(np.add.reduce(v * v, axis=0)))
    x, y, z = v
    squares = x * x + y * y + z * z
    return math.sqrt(squares) if isinstance(squares, float) else np.sqrt(squares)


def lengths(*vectors: Sequence[Number]) -> Sequence[Number]:
    """Return the length of each of several vectors of the same shape; arrays are computed in one pass."""
    if isinstance(vectors[0], _ARRAY):
        return _as_it_is(length(np.array(vectors).swapaxes(0, 1)))
    return list(map(length, vectors))


def cosine_sine(angle: Number) -> tuple[Number, Number]:
    """Return the cosine and the sine of angles in radians."""
    return (math.cos(angle), math.sin(angle)) if isinstance(angle, float) else (np.cos(angle), np.sin(angle))


def arc_cosine(x: Number) -> Number:
    """Return the angles with these cosines, which are clipped to −1…1."""
    inside = within(x, -1.0, 1.0)
    return math.acos(inside) if isinstance(inside, float) else np.arccos(inside)


def direction(y: Number, x: Number) -> Number:
    """Return the angles of directions (x, y) in the plane."""
    return math.atan2(y, x) if isinstance(y, float) else np.arctan2(y, x)


def least(x: Number, other: Number | float) -> Number:
    """Return the lesser of two numbers."""
    return (other if other < x else x) if isinstance(x, float) else np.minimum(x, other)


def greatest(x: Number, other: Number | float) -> Number:
    """Return the greater of two numbers."""
    return (other if other > x else x) if isinstance(x, float) else np.maximum(x, other)


def within(x: Number, low: Number | float, high: Number | float) -> Number:
    """Return numbers clipped to the range from low to high."""
    if isinstance(x, float):
        return low if x < low else high if x > high else x
    return np.minimum(np.maximum(x, low), high)


def eased(share: Number) -> Number:
    """Return 3x² − 2x³ of x, which is clipped to the range from 0 to 1."""
    x = within(share, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def minimum_jerk(share: Number) -> Number:
    """Return 10x³ − 15x⁴ + 6x⁵ of x, which is clipped to the range from 0 to 1: Flash and Hogan 1985."""
    x = within(share, 0.0, 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


def softly(x: Number, softness: Number | float) -> Number:
    """Return 0 below 0, x − softness/2 from `softness` > 0 on, and a smooth curve in between.

    >>> [softly(x, 2.0) for x in (-1.0, 0.0, 1.0, 2.0, 3.0)]
    [0.0, 0.0, 0.25, 1.0, 2.0]
    """
    beyond = greatest(x, 0.0)
    inside = least(beyond, softness)
    return inside * (beyond - inside / 2.0) / softness


def chosen(which: bool | BoolArray, x: Number, other: Number | float) -> Number:
    """Return the first number where `which` is true, else the other."""
    found: Any = (x if which else other) if isinstance(which, bool) else np.where(which, x, other)
    number: Number = found
    return number


def either(which: bool | BoolArray, v: Sequence[Number], other: Sequence[Number]) -> Vector[Number]:
    """Return the first vector where `which` is true, else the other."""
    found: Vector[Number] = _as_it_is((v if which else other) if isinstance(which, bool) else np.where(which, v, other))
    return found


def is_nothing(x: Number) -> bool:
    """Return whether a number is 0; always false for arrays, which hardly ever have only zeros."""
    return isinstance(x, float) and x == 0.0


def holds_anywhere(condition: bool | BoolArray) -> bool:
    """Return whether a condition holds for any number."""
    return condition if isinstance(condition, bool) else bool(condition.any())


def plus(a: Sequence[Number], b: Sequence[Number]) -> Vector[Number]:
    """Return the sums of vectors."""
    if isinstance(a, _ARRAY):
        return _as_it_is(a + b)
    (ax, ay, az), (bx, by, bz) = a, b
    return ax + bx, ay + by, az + bz


def minus(a: Sequence[Number], b: Sequence[Number]) -> Vector[Number]:
    """Return the differences of vectors."""
    if isinstance(a, _ARRAY):
        return _as_it_is(a - b)
    (ax, ay, az), (bx, by, bz) = a, b
    return ax - bx, ay - by, az - bz


def scaled(v: Sequence[Number], by: Number) -> Vector[Number]:
    """Return vectors multiplied by a factor."""
    if isinstance(v, _ARRAY):
        return _as_it_is(v * by)
    x, y, z = v
    return x * by, y * by, z * by


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """Return the dot product of vectors."""
    if isinstance(a, _ARRAY):
        return _as_it_is(np.add.reduce(a * b, axis=0))
    (ax, ay, az), (bx, by, bz) = a, b
    return ax * bx + ay * by + az * bz


def by_rows(rows: Sequence[Sequence[Number]], v: Sequence[Number]) -> Vector[Number]:
    """Return vectors multiplied by matrices, which are given by their three rows."""
    if isinstance(rows, _ARRAY):
        return _as_it_is(np.add.reduce(rows * v, axis=1))
    x, y, z = rows
    return dot(x, v), dot(y, v), dot(z, v)


def cross(a: Sequence[Number], b: Sequence[Number]) -> Vector[Number]:
    """Return the cross product of vectors."""
    if isinstance(a, _ARRAY) and isinstance(b, _ARRAY):
        a, b = a.take(_NEXT_AND_LAST, axis=0), b.take(_NEXT_AND_LAST, axis=0)
        return _as_it_is(a[:3] * b[3:] - a[3:] * b[:3])
    (ax, ay, az), (bx, by, bz) = a, b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def rotated(q: Sequence[Number], v: Sequence[Number]) -> Vector[Number]:
    """Return a vector rotated by a unit quaternion: v + w·t + xyz × t with t = 2·xyz × v."""
    if isinstance(q, _ARRAY):
        axis = q[1:]
        t = 2.0 * _as_it_is(cross(axis, v))
        return _as_it_is(v + q[0] * t + cross(axis, t))
    (w, x, y, z), (vx, vy, vz) = q, v
    tx, ty, tz = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    return (vx + 2.0 * (w * tx + y * tz - z * ty), vy + 2.0 * (w * ty + z * tx - x * tz),
            vz + 2.0 * (w * tz + x * ty - y * tx))


def quaternion(w: Number, xyz: Sequence[Number]) -> Quaternion[Number]:
    """Return a quaternion made of its two parts."""
    if isinstance(xyz, _ARRAY):
        found: Quaternion[Number] = _as_it_is(np.concatenate((np.asarray(w)[None], xyz)))
        return found
    x, y, z = xyz
    return w, x, y, z


def joined(*numbers: Sequence[Number]) -> Sequence[Number]:
    """Return the numbers of several vectors, quaternions or any others one after another.

    >>> joined((1.0, 2.0), (3.0,))
    [1.0, 2.0, 3.0]
    """
    return _as_it_is(np.concatenate(numbers)) if isinstance(numbers[0], _ARRAY) else list(chain.from_iterable(numbers))


def conjugate(q: Sequence[Number]) -> Quaternion[Number]:
    """Return the inverse rotation of a unit quaternion."""
    if isinstance(q, _ARRAY):
        found: Quaternion[Number] = _as_it_is(q * _CONJUGATE)
        return found
    w, x, y, z = q
    return w, -x, -y, -z


def product(a: Sequence[Number], b: Sequence[Number]) -> Quaternion[Number]:
    """Return a·b of quaternions: rotate by b first, then by a."""
    if isinstance(a, _ARRAY):
        return _as_it_is((_PRODUCT @ (a[:, None] * b).reshape(16, -1)).reshape(a.shape))
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return (aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)


def unit(q: Sequence[Number]) -> Quaternion[Number]:
    """Return a quaternion, which is not zero, scaled to unit length."""
    if isinstance(q, _ARRAY):
        return _as_it_is(q / np.sqrt(np.add.reduce(q * q, axis=0)))
    w, x, y, z = q
    size = root(w * w + x * x + y * y + z * z)
    return w / size, x / size, y / size, z / size


def _as_it_is(numbers: Any) -> Any:
    """Return an array unchanged, in place of its numbers one after another."""
    return numbers
