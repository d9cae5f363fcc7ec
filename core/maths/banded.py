"""Solve symmetric positive definite systems with five diagonals, for many channels at once, with numpy only.

Two neighbouring unknowns are one block: five diagonals become three of 2 × 2 blocks C_{i−1}ᵀ, D_i, C_i. Cyclic
reduction (Hockney 1965; for blocks, Buzbee, Golub and Nielson 1970) eliminates every other block,

    x_i = D_i⁻¹ (b_i − C_{i−1}ᵀ x_{i−1} − C_i x_{i+1}),

which leaves a system of the same shape and half the size. All eliminations of a level are independent, so that N
unknowns take log₂ N steps over whole arrays. The last few blocks are one dense matrix. It is Gaussian elimination in
another order, and as stable for a positive definite matrix without a choice of pivots (Higham 2002, chapter 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from .arrays import FloatArray

_FEW: Final = 32
"""Number of blocks up to which a system is solved as one dense matrix."""


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Block rows of one level, for K channels with N blocks each.

    own: (2, 2, K, N) D_i. following: (2, 2, K, N − 1) C_i, which couples block i with the next one. right: (2, K, N)
    b_i.
    """

    own: FloatArray
    following: FloatArray
    right: FloatArray


def solve_pentadiagonal(diagonal: FloatArray, first: FloatArray, second: FloatArray, right: FloatArray) -> FloatArray:
    """Return x (K, N) of K systems A x = right whose matrices are symmetric, positive definite and have five diagonals.

    diagonal: (K, N) A[i, i]. first: (K, N − 1) A[i, i + 1]; second: (K, N − 2) A[i, i + 2]; both are empty if N is too
    small. right: (K, N). A matrix that is not positive definite is not detected: its solution is inexact, infinite or
    NaN, or numpy raises LinAlgError. Time and memory grow as K N.

    >>> ones = np.ones((1, 4))
    >>> solve_pentadiagonal(6.0 * ones, -4.0 * ones[:, 1:], ones[:, 2:], np.array(((3.0, -1.0, -1.0, 3.0),))).round(9)
    array([[1., 1., 1., 1.]])
    """
    channels, size = right.shape
    if size == 0 or channels == 0:
        return np.zeros((channels, size))
    found = _solved(_in_blocks(diagonal, first, second, right))
    return np.asarray(np.moveaxis(found, 0, -1).reshape(channels, -1)[:, :size])


def _in_blocks(diagonal: FloatArray, first: FloatArray, second: FloatArray, right: FloatArray) -> _Blocks:
    """Return pairs of unknowns as blocks; an odd last one is paired with an unknown of its own, which is 0."""
    channels, size = right.shape
    blocks, pairs = (size + 1) // 2, size // 2
    own, following = np.zeros((2, 2, channels, blocks)), np.zeros((2, 2, channels, blocks - 1))
    values = np.zeros((2, channels, blocks))
    own[1, 1] = 1.0
    own[0, 0], own[1, 1, :, :pairs] = diagonal[:, ::2], diagonal[:, 1::2]
    own[0, 1, :, :pairs] = own[1, 0, :, :pairs] = first[:, ::2]
    following[0, 0], following[1, 0] = second[:, ::2], first[:, 1::2]
    following[1, 1, :, :max(pairs - 1, 0)] = second[:, 1::2]
    values[0], values[1, :, :pairs] = right[:, ::2], right[:, 1::2]
    return _Blocks(own, following, values)


def _solved(blocks: _Blocks) -> FloatArray:
    """Return the unknowns of all blocks, (2, K, N): every other block is eliminated, the rest solved, and put in."""
    if blocks.right.shape[2] <= _FEW:
        return _solved_densely(blocks)
    before, after = (np.ascontiguousarray(blocks.following[..., begin::2]) for begin in (0, 1))
    inverse = _inverse(np.ascontiguousarray(blocks.own[..., 1::2]))
    odd, inner = before.shape[-1], after.shape[-1]
    values = _times(inverse, blocks.right[..., 1::2])
    to_last, to_next = _product(inverse, before.swapaxes(0, 1)), _product(inverse[..., :inner], after)
    own, right = (np.ascontiguousarray(each[..., ::2]) for each in (blocks.own, blocks.right))
    own[..., :odd] -= _product(before, to_last)
    own[..., 1:] -= _product(after.swapaxes(0, 1), to_next)
    right[..., :odd] -= _times(before, values)
    right[..., 1:] -= _times(after.swapaxes(0, 1), values[..., :inner])
    even = _solved(_Blocks(own, -_product(before[..., :inner], to_next), right))
    values -= _times(to_last, even[..., :odd])
    values[..., :inner] -= _times(to_next, even[..., 1:])
    found = np.empty(blocks.right.shape)
    found[..., ::2], found[..., 1::2] = even, values
    return found


def _solved_densely(blocks: _Blocks) -> FloatArray:
    """Return the unknowns of few blocks, (2, K, N), by LAPACK: there is less to do than a call of numpy takes."""
    _, channels, count = blocks.right.shape
    matrix, at = np.zeros((channels, count, 2, count, 2)), np.arange(count)
    matrix[:, at, :, at] = blocks.own.transpose(3, 2, 0, 1)
    matrix[:, at[:-1], :, at[1:]] = blocks.following.transpose(3, 2, 0, 1)
    matrix[:, at[1:], :, at[:-1]] = blocks.following.transpose(3, 2, 1, 0)
    right = np.moveaxis(blocks.right, 0, -1).reshape(channels, 2 * count, 1)
    found = np.linalg.solve(matrix.reshape(channels, 2 * count, 2 * count), right).reshape(channels, count, 2)
    return np.asarray(np.moveaxis(np.asarray(found, dtype=np.float64), -1, 0))


def _inverse(blocks: FloatArray) -> FloatArray:
    """Return the inverses of symmetric blocks (2, 2, K, N)."""
    (a, b), (_, c) = blocks
    return np.asarray(np.stack((c, -b, -b, a)).reshape(blocks.shape) / (a * c - b * b))


def _product(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the products of blocks (2, 2, K, N)."""
    made = one[:, 0, None] * other[0]
    made += one[:, 1, None] * other[1]
    return np.asarray(made)


def _times(blocks: FloatArray, values: FloatArray) -> FloatArray:
    """Return the products of blocks (2, 2, K, N) and values (2, K, N)."""
    made = blocks[:, 0] * values[0]
    made += blocks[:, 1] * values[1]
    return np.asarray(made)
