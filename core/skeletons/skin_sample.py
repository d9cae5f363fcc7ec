"""A sample of a body's skin vertices, which shows shapes that joints do not show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray
from .skeleton import Skeleton

_MOST: Final = 1000
"""Vertices of one joint; dense skins need no more."""


@dataclass(frozen=True, eq=False)
class SkinSample:
    """N vertices of a skin, each with the joint that moves it most.

    joints: (N,). offsets: (N, 3) from these joints, in joint space, so that they are valid in any axes and in any pose.
    Raises TaktError if the shapes do not fit.

    >>> body = Skeleton.from_arrays(["arm", "hand"], [-1, 0], np.tile((1.0, 0, 0, 0), (2, 1)), [(0, 0, 0), (0, 1, 0)])
    >>> sample = SkinSample.at_rest(body, np.array((0, 1)), np.array([(0, 0.5, 0.0), (0, 1.5, 0.0)]))
    >>> sample.of_joints(body, np.array((False, True))).tolist()
    [[0.0, 1.5, 0.0]]
    """

    joints: IntArray
    offsets: FloatArray

    def __post_init__(self) -> None:
        if self.offsets.shape != (len(self.joints), 3):
            raise TaktError(f"{len(self.joints)} joints and offsets {self.offsets.shape} do not go together")

    @classmethod
    def at_rest(cls, skeleton: Skeleton, joints: IntArray, positions: FloatArray) -> SkinSample:
        """Return a sample of vertices with positions (N, 3) in model space while the skeleton rests."""
        back, origins = np.linalg.pinv(skeleton.rest_world[:, :, :3]), skeleton.rest_world[:, :, 3]
        return cls(joints, (back[joints] @ (positions - origins[joints])[..., None])[..., 0])

    def of_joints(self, skeleton: Skeleton, wanted: BoolArray) -> FloatArray:
        """Return the positions (M, 3), in model space at rest, of the vertices of some joints, a mask (J,)."""
        kept = wanted[self.joints]
        rest = skeleton.rest_world[self.joints[kept]]
        return np.asarray((rest[..., :3] @ self.offsets[kept, :, None])[..., 0] + rest[..., 3])


def evenly(joints: IntArray) -> IntArray:
    """Return rows that represent all vertices: at most 1000 for each joint; joints: (V,) the joint of each vertex.

    >>> evenly(np.repeat((0, 1), (2, 3000)))[:4].tolist()
    [0, 1, 4, 7]
    """
    order = np.argsort(joints, kind="stable")
    _, first, count = np.unique(joints[order], return_index=True, return_counts=True)
    rank, of_joint = np.arange(len(order)) - np.repeat(first, count), np.repeat(count, count)
    share = np.minimum(_MOST / of_joint, 1.0)
    return np.sort(order[np.floor((rank + 1) * share + 1e-9) > np.floor(rank * share + 1e-9)])
