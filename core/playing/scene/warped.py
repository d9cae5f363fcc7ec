"""The stage that carries a body along the ways of its score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.skeleton import Pose
from ..stage import FIRST_ROUND, Over
from .traveller import Traveller
from .warp import Warp


@dataclass(frozen=True, eq=False)
class Warped(Over):
    """The motion below, bent by a warp; not in a loop, whose rounds go on from each other."""

    warp: Warp
    traveller: Traveller

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses of the stage below, moved along their ways; see Stage."""
        pose = self.below.sample(times_s, rounds)
        self.traveller.carry(pose, self.warp.placements(times_s))
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,); what is carried always."""
        moved = self.below.moved.copy()
        moved[[root.joint for root in self.traveller.roots]] = True
        return np.asarray(moved)

    def points(self, points: FloatArray, times_s: FloatArray) -> FloatArray:
        """Carry points of the model (N, 3), each as the body is carried at a time (N,)."""
        return self.traveller.bearing.moved(points, self.warp.placements(times_s))
