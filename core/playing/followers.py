"""Joints that copy the motion of others, instead of their own tracks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..retargeting.doubles import Doubles
from ..skeletons.skeleton import Pose
from .stage import FIRST_ROUND, Over


@dataclass(frozen=True, eq=False)
class Followers(Over):
    """The stage for joints that copy other joints. doubles: which joint copies which."""

    doubles: Doubles

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below, with these joints updated; see Stage."""
        pose = self.below.sample(times_s, rounds)
        self.doubles.follow(pose)
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        moved = self.below.moved.copy()
        moved[self.doubles.joints] = True
        return np.asarray(moved)
