"""Array types of core, and small steps over whole arrays."""

from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
ComplexArray = npt.NDArray[np.complex128]

ROUNDING: Final = 1e-6
"""Smaller differences are rounding only: of seconds, and of shares and weights from 0 to 1."""
_BY_ONE_THREAD: Final = 1 << 18
"""Multiplications in one matrix product: of larger ones BLAS gives parts to threads."""


def quotient(a: FloatArray | float, b: FloatArray) -> FloatArray:
    """Return a ÷ b, or 0 where b is not greater than 0.

    >>> quotient(6.0, np.array((3.0, 0.0))).tolist()
    [2.0, 0.0]
    """
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), b.shape)), where=b > 0.0)


def smoothstep(values: FloatArray | float, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    """Return 0 up to low, 1 from high on, and between them a cubic that is level at both ends.

    >>> smoothstep(np.array((-1.0, 0.0, 1.0, 2.0)), 0.0, 2.0).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def differs_from_rest(values: FloatArray, rest: float, tolerance: float) -> BoolArray:
    """Return a mask (J,) of joints that ever differ from rest by more than a tolerance; values: (F, J, C).

    >>> differs_from_rest(np.array((((0.0, 0.0), (0.0, 0.2)),)), 0.0, 0.1).tolist()
    [False, True]
    """
    return np.asarray(((values.min(axis=0) < rest - tolerance) | (values.max(axis=0) > rest + tolerance)).any(axis=1))


def merged(*rows: FloatArray) -> FloatArray:
    """Return the distinct values of some rows (N,), ascending; if rows ascend, many times as fast as np.unique.

    >>> merged(np.array((0.0, 1.0, 1.0)), np.array((0.5, 1.0)), np.zeros(0)).tolist()
    [0.0, 0.5, 1.0]
    """
    values = np.sort(np.concatenate(rows), kind="stable")  # a stable sort merges ascending runs
    is_first = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return values[is_first]


def distinct(numbers: IntArray) -> IntArray:
    """Return the distinct ones of numbers (N,), ascending; without a hash table, which NumPy 2.3 fills slowly.

    >>> distinct(np.array((3, 1, 3))).tolist()
    [1, 3]
    """
    ascending = np.sort(numbers)
    return np.concatenate((ascending[:1], ascending[1:][ascending[1:] != ascending[:-1]]))


def product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a · b of long matrices (N, K) and (K, M), computed in parts, one after the other.

    BLAS would divide the whole product among threads. These wait for each other in busy loops for longer than such
    products take, and for many times as long if processors have other work.

    >>> a, b = np.arange(6.0).reshape(3, 2), np.arange(600_000.0).reshape(2, -1)
    >>> bool(np.allclose(product(a, b), a @ b)), bool(np.allclose(product(b.T, a.T), b.T @ a.T))
    (True, True)
    """
    (rows, inner), columns = a.shape, b.shape[1]
    out, step = np.empty((rows, columns)), max(_BY_ONE_THREAD // max(inner * min(rows, columns), 1), 1)
    for part in (slice(start, start + step) for start in range(0, max(rows, columns), step)):
        if rows > columns:
            np.matmul(a[part], b, out=out[part])
        else:
            np.matmul(a, b[:, part], out=out[:, part])
    return out


def bounds(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest coordinates (C,) of points (N, C), many times as fast as row by row.

    >>> [ends.tolist() for ends in bounds(np.array(((0.0, 5.0), (1.0, 4.0))))]
    [[0.0, 4.0], [1.0, 5.0]]
    """
    columns = np.ascontiguousarray(points.T)
    return columns.min(axis=1), columns.max(axis=1)


def runs(mask: BoolArray) -> list[tuple[int, int]]:
    """Return where each run of True in a mask (N,) begins and ends; the end is not in it.

    >>> runs(np.array((False, True, True, False, True)))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), mask, (False,))).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def or_beside(mask: BoolArray) -> BoolArray:
    """Return which places of a mask (N,) are true, or beside one that is.

    >>> or_beside(np.array((False, False, True, False, False))).tolist()
    [False, True, True, True, False]
    """
    wide = mask.copy()
    wide[1:] |= mask[:-1]
    wide[:-1] |= mask[1:]
    return wide


def side_by_side(rows: IntArray) -> slice | IntArray:
    """Return rows (N,) as a slice if they are consecutive, else unchanged.

    >>> side_by_side(np.array((2, 3, 4))), side_by_side(np.array((2, 2))).tolist()
    (slice(2, 5, None), [2, 2])
    """
    if len(rows) and int(rows[-1]) - int(rows[0]) == len(rows) - 1 and bool((rows[1:] > rows[:-1]).all()):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows
