"""Move a character over the ground to the position and heading of another pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...clips.clip import Clip
from ...maths.arrays import FloatArray, IntArray
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from .placement import Bearing, Root
from .root_motion import NO_JOINTS, carry_over_ground, root_chain, roots_carried


@dataclass(frozen=True, eq=False)
class RootAlignment:
    """The joints that are moved to carry a body over the ground. root: the joint whose position is the body's."""

    root: int
    _bearing: Bearing
    _carried: tuple[Root, ...]

    @classmethod
    def of(cls, clips: Sequence[Clip], up: FloatArray, followers: IntArray = NO_JOINTS,
           body: SkeletonMap | None = None) -> RootAlignment | None:
        """Find the joints that carry a body in clips; None if it never travels. See root_chain, roots_carried."""
        chain = root_chain(clips, followers, body)
        if not len(chain):
            return None
        skeleton, top = clips[0].skeleton, int(chain[0])
        return cls(int(chain[-1]), Bearing(skeleton, chain, up), roots_carried(clips, top, skeleton, up))

    def move(self, pose: Pose, other: Pose) -> None:
        """Move poses (F, J, …) over the ground to the positions and headings of other poses."""
        by = self._bearing.placement(other) @ self._bearing.placement(pose).inverse()
        carry_over_ground(self._carried, pose, by.numbers)

    @property
    def joints(self) -> IntArray:
        """The joints that are moved."""
        return np.array([root.joint for root in self._carried])

    @property
    def read(self) -> IntArray:
        """The joints from whose poses the body's position is computed."""
        return self._bearing.chain
