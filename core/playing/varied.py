"""The motion of a score whose values change while it plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Pose, Skeleton
from .stage import Playable


@dataclass(frozen=True, eq=False)
class Varied:
    """N motions, of which one plays at each instant. All of them run from time 0, whether they are seen or not.

    begin_s: (M,) ascending times. which: (M,) the motion that is seen from each of these times on; the first one is
    also seen before. The duration is that of the longest motion; a shorter one holds its last pose. Raises TaktError if
    there are no motions, or if they have different skeletons.
    """

    motions: tuple[Playable, ...]
    begin_s: FloatArray
    which: IntArray

    def __post_init__(self) -> None:
        if not self.motions or any(motion.skeleton is not self.motions[0].skeleton for motion in self.motions):
            raise TaktError("motions that are to be seen in turn must be one or more, all of one skeleton")

    @classmethod
    def of(cls, motions: Sequence[Playable], begin_s: Sequence[float], which: Sequence[int]) -> Varied:
        """Build it from motions, and from the times at which each is seen."""
        return cls(tuple(motions), np.array(begin_s, dtype=np.float64), np.array(which, dtype=np.int64))

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the poses."""
        return self.motions[0].skeleton

    @property
    def duration_s(self) -> float:
        """Duration of the longest motion."""
        return max(motion.duration_s for motion in self.motions)

    @property
    def moved(self) -> BoolArray:
        """Joints that any of them moves, (J,)."""
        return np.asarray(np.any([motion.moved for motion in self.motions], axis=0))

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses (F, J, …) at times (F,)."""
        number = self.which[np.maximum(np.searchsorted(self.begin_s, times_s, side="right") - 1, 0)]
        pose = Pose.rest(self.skeleton, len(times_s))
        for seen in np.unique(number).tolist():
            at = np.flatnonzero(number == seen)
            own = self.motions[seen].sample(times_s[at])
            pose.rotations[at], pose.translations[at], pose.scales[at] = own.rotations, own.translations, own.scales
        return pose
