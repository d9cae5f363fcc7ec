"""Positions of some joints of a posed skeleton, without computing the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray, side_by_side
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.skeleton import Pose, Skeleton


def _turns() -> FloatArray:
    """Return the linear map from the 16 products qₐ·q_b of a quaternion's numbers to its matrix, (16, 4, 4).

    The image q·v·q⁻¹ of a vector v is linear in these products. The last number on the diagonal is |q|² = 1.
    """
    one, xyzw = np.eye(4), np.roll(np.eye(4), -1, axis=0)
    images = rot.multiply(rot.multiply(one[:, None, None], xyzw), rot.conjugate(one)[:, None])
    return np.asarray(np.roll(images, -1, axis=-1).swapaxes(-1, -2).reshape(16, 4, 4))


_TURNS: Final = _turns()
_NUMBERS: Final = 19
"""Number of values in which a joint's matrix is linear: 16 products, and three numbers of the translation."""
_MOST_KNOWN: Final = 256
"""Number of selections of joints that are cached."""


@dataclass(frozen=True, eq=False)
class Joints:
    """N joints of a skeleton whose matrices are needed. Only they and their ancestors are computed.

    keep: (K,) these joints and their ancestors, by depth. levels: indices into keep of the joints of each depth, and of
    their parents; a parent shared by all of them is given once. local: (K, 19, 16) linear map from the products of a
    quaternion's numbers, and a translation, to the 4 × 4 matrix parent_from_joint, rest included. at: (N,) indices of
    the N joints into keep. Adjacent indices are slices, which copy nothing. is_scaled: whether any of the K is scaled
    at rest.
    """

    keep: IntArray
    levels: tuple[tuple[slice, slice | IntArray], ...]
    local: FloatArray
    at: slice | IntArray
    is_scaled: bool

    @classmethod
    def of(cls, skeleton: Skeleton, joints: Sequence[int]) -> Joints:
        """Return the joints with these indices, in any order; a joint may be given twice."""
        return cls._of(skeleton, tuple(joints))

    @classmethod
    @lru_cache(maxsize=_MOST_KNOWN)
    def _of(cls, skeleton: Skeleton, joints: tuple[int, ...]) -> Joints:
        kept = with_ancestors(skeleton.parents, np.array(joints, dtype=np.int64))
        is_kept = np.zeros(len(skeleton), dtype=np.bool_)
        is_kept[kept] = True
        wanted = [level[is_kept[level]] for level in skeleton.levels]
        keep = np.concatenate((*wanted, np.zeros(0, dtype=np.int64)))
        row = np.full(len(skeleton), -1, dtype=np.int64)
        row[keep] = np.arange(len(keep))
        ends = np.cumsum([len(level) for level in wanted])
        levels = tuple((slice(int(end) - len(level), int(end)), _parents(row[skeleton.parents[level]]))
                       for level, end in zip(wanted[1:], ends[1:], strict=True) if len(level))
        rest = np.tile(np.eye(4), (len(keep), 1, 1, 1))
        rest[:, 0, :3, :3] = rot.to_matrix(skeleton.rest_rotations[keep])
        rest[:, 0, :3, 3] = skeleton.rest_translations[keep]
        local = rest @ _TURNS
        local[..., :3] *= skeleton.rest_scales[keep][:, None, None]
        moves = np.zeros((len(keep), 3, 4, 4))
        moves[..., :3, 3] = np.eye(3)
        local = np.concatenate((local, moves), axis=1)
        at = side_by_side(row[np.asarray(joints, dtype=np.int64)])
        return cls(keep, levels, local.reshape(-1, _NUMBERS, 16), at,
                   bool((skeleton.rest_scales[keep] != 1.0).any()))

    def turned(self, axes: FloatArray) -> Joints:
        """Return the same joints with matrices in other axes. axes: (3, 3) rotation from model space."""
        local, turn = self.local.reshape(-1, _NUMBERS, 4, 4).copy(), np.eye(4)
        turn[:3, :3] = axes
        roots = slice(0, self.levels[0][0].start if self.levels else len(self.keep))
        local[roots] = turn @ local[roots]
        return replace(self, local=local.reshape(-1, _NUMBERS, 16))

    def matrices(self, pose: Pose) -> FloatArray:
        """Return their matrices model_from_joint, (N, F, 4, 4), in poses of the whole skeleton (F, J, …)."""
        return self.posed(pose)[0]

    def posed(self, pose: Pose) -> tuple[FloatArray, bool]:
        """Return the same, and whether any of them, or of their ancestors, is scaled."""
        turns = np.ascontiguousarray(pose.rotations.take(self.keep, axis=1).transpose(2, 1, 0))  # long inner loops
        numbers = np.empty((_NUMBERS, *turns.shape[1:]))
        np.multiply(turns[:, None], turns, out=numbers[:-3].reshape(4, *turns.shape))
        numbers[-3:] = pose.translations.take(self.keep, axis=1).transpose(2, 1, 0)
        world = (numbers.transpose(1, 2, 0) @ self.local).reshape(*turns.shape[1:], 4, 4)
        scales = pose.scales.take(self.keep, axis=1)
        are_scaled = bool(np.count_nonzero(scales != 1.0))
        if are_scaled:
            world[..., :3] *= scales.swapaxes(0, 1)[..., None, :]
        for level, parents in self.levels:
            world[level] = world[parents] @ world[level]
        return world[self.at], are_scaled or self.is_scaled

    def positions(self, pose: Pose) -> FloatArray:
        """Return their positions in poses (F, J, …), (F, N, 3)."""
        return np.asarray(self.matrices(pose)[..., :3, 3].swapaxes(0, 1))


def _parents(rows: IntArray) -> slice | IntArray:
    """Return the indices (N,) of parents, N ≥ 1, as a slice if they are adjacent; a single one if all are equal.

    >>> _parents(np.array((2, 2))), _parents(np.array((2, 3)))
    (slice(2, 3, None), slice(2, 4, None))
    """
    return side_by_side(rows[:1] if (rows == rows[0]).all() else rows)
