"""Formulas over numbers, which are floats or arrays that broadcast with each other.

What is written with these functions and with + − · ÷ is worked out over whole arrays where there are many numbers. For
a few, numpy's calls would take far longer than the arithmetic, and Python's own floats are faster. Both branches of a
choice are worked out: nothing may divide by zero in either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from .arrays import BoolArray, FloatArray

Number = TypeVar("Number", float, FloatArray)
Vector = tuple[Number, Number, Number]
Quaternion = tuple[Number, Number, Number, Number]


def worked_out(formula: Callable[..., Sequence[Any]], *records: FloatArray) -> FloatArray:
    """Return the K numbers that a formula makes of records (L, F, ...) of L things in F frames, (L, F, K).

    It gets the numbers of each record, nested as they are. A record may be (1, F, ...) or (L, 1, ...): the same for
    all things or frames; but not the first.

    >>> sides, scale = np.array([[[3.0, 4.0], [6.0, 8.0]]]), np.full((1, 1, 1), 2.0)
    >>> worked_out(lambda xy, by: (root(xy[0] * xy[0] + xy[1] * xy[1]) * by[0],), sides, scale).tolist()
    [[[10.0], [20.0]]]
    """
    things, frames = records[0].shape[:2]
    if frames == 1:
        each = [record[:, 0].tolist() * (things // len(record)) for record in records]
        return np.fromiter(chain.from_iterable(map(formula, *each)), dtype=np.float64).reshape(things, 1, -1)
    found = formula(*(np.ascontiguousarray(record.transpose(*range(2, record.ndim), 0, 1)) for record in records))
    return np.array(found).transpose(1, 2, 0)


def of_both(formula: Callable[..., Sequence[Number]], one: Sequence[Number], other: Sequence[Number],
            *more: Number) -> tuple[Sequence[Number], Sequence[Number]]:
    """Return what a formula makes of two sequences of as many numbers; of arrays in one pass.

    >>> of_both(lambda pair, by: (pair[0] * by, pair[1] * by), [1.0, 2.0], [3.0, 4.0], 2.0)
    ((2.0, 4.0), (6.0, 8.0))
    """
    if isinstance(one, list):
        return formula(one, *more), formula(other, *more)
    found: Any = formula(np.stack((one, other), axis=1), *more)
    return [number[0] for number in found], [number[1] for number in found]


def root(x: Number) -> Number:
    """Return the square root of numbers that are not negative but for rounding."""
    return math.sqrt(0.0 if x < 0.0 else x) if isinstance(x, float) else np.sqrt(np.maximum(x, 0.0))


def length(v: Sequence[Number]) -> Number:
    """Return how long vectors are."""
    x, y, z = v
    squares = x * x + y * y + z * z
    return math.sqrt(squares) if isinstance(squares, float) else np.sqrt(squares)


def cosine_sine(angle: Number) -> tuple[Number, Number]:
    """Return both of angles in radians."""
    return (math.cos(angle), math.sin(angle)) if isinstance(angle, float) else (np.cos(angle), np.sin(angle))


def arc_cosine(x: Number) -> Number:
    """Return the angles whose cosines these are, or would be if they were in −1…1."""
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
    """Return numbers, or the nearest between low and high where they are beyond."""
    if isinstance(x, float):
        return low if x < low else high if x > high else x
    return np.minimum(np.maximum(x, low), high)


def chosen(which: bool | BoolArray, x: Number, other: Number | float) -> Number:
    """Return the first number where it is chosen, else the other."""
    found: Any = (x if which else other) if isinstance(which, bool) else np.where(which, x, other)
    number: Number = found
    return number


def holds_anywhere(condition: bool | BoolArray) -> bool:
    """Tell whether a condition holds for any number."""
    return condition if isinstance(condition, bool) else bool(condition.any())


def holds_everywhere(condition: bool | BoolArray) -> bool:
    """Tell whether a condition holds for all numbers."""
    return condition if isinstance(condition, bool) else bool(condition.all())


def dot(a: Sequence[Number], b: Sequence[Number]) -> Number:
    """Return the dot product of vectors."""
    (ax, ay, az), (bx, by, bz) = a, b
    return ax * bx + ay * by + az * bz


def cross(a: Sequence[Number], b: Sequence[Number]) -> Vector[Number]:
    """Return the cross product of vectors."""
    (ax, ay, az), (bx, by, bz) = a, b
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def rotated(q: Sequence[Number], v: Sequence[Number]) -> Vector[Number]:
    """Return a vector rotated by a unit quaternion."""
    (w, x, y, z), (vx, vy, vz) = q, v
    tx, ty, tz = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    return (vx + 2.0 * (w * tx + y * tz - z * ty), vy + 2.0 * (w * ty + z * tx - x * tz),
            vz + 2.0 * (w * tz + x * ty - y * tx))


def product(a: Sequence[Number], b: Sequence[Number]) -> Quaternion[Number]:
    """Return a·b of quaternions: rotate by b first, then by a."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return (aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)


def unit(q: Quaternion[Number]) -> Quaternion[Number]:
    """Return a quaternion, which is not zero, scaled to unit length."""
    w, x, y, z = q
    size = root(w * w + x * x + y * y + z * z)
    return w / size, x / size, y / size, z / size
