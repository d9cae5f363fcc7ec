"""Takes a character over the ground to where another pose stands."""

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
class Carried:
    """The joints that are moved to take a body over the ground; root: the joint from which its position is read."""

    root: int
    _bearing: Bearing
    _carried: tuple[Root, ...]

    @classmethod
    def of(cls, clips: Sequence[Clip], up: FloatArray, followers: IntArray = NO_JOINTS,
           body: SkeletonMap | None = None) -> Carried | None:
        """Find what carries a body through clips, or None if nothing does. See root_chain and roots_carried."""
        chain = root_chain(clips, followers, body)
        if not len(chain):
            return None
        skeleton, top = clips[0].skeleton, int(chain[0])
        return cls(int(chain[-1]), Bearing(skeleton, chain, up), roots_carried(clips, top, skeleton, up))

    def move(self, pose: Pose, other: Pose) -> None:
        """Take poses (F, J, …) over the ground to where other ones stand and face."""
        by = self._bearing.placement(other) @ self._bearing.placement(pose).inverse()
        carry_over_ground(self._carried, pose, by.numbers)

    @property
    def joints(self) -> IntArray:
        """The joints that are moved."""
        return np.array([root.joint for root in self._carried])

    @property
    def read(self) -> IntArray:
        """The joints from whose pose it is read where the body stands."""
        return self._bearing.chain
