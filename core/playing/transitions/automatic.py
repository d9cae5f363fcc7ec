"""The length of transitions that the score leaves open: joints need time to turn, and to go from pose to pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...clips.clip import Clip
from ...maths import rotations as rot
from ...maths.arrays import FloatArray, quotient
from .distances import Distances
from .lengths import Angles, Neighbours, Turning, automatic_lengths, longest_lengths, speed_named
from .seams import EndPoses


@dataclass(frozen=True, eq=False)
class Automatic:
    """What automatic lengths of transitions between clips are found by.

    turning: how joints turn. is_shared: whether they take the same time; else the longest counts. first, last:
    (C + 1, J, 4) the clips' end rotations as they are played. distances: how far joints go; None where keys count, as
    in PHA 1.
    """

    turning: Turning
    is_shared: bool
    first: FloatArray
    last: FloatArray
    distances: Distances | None

    @classmethod
    def of(cls, clips: Sequence[Clip], ends: EndPoses, positions: FloatArray, speed: str, *, is_shared: bool,
           angles: Angles = rot.angle_between) -> Automatic:
        """Measure clips on one skeleton.

        ends: theirs, as they are laid over each other at seams, where their joints have positions (2, C, J, 3) at
        first and at last. speed: one of SPEEDS.
        """
        turning = Turning.of(clips, speed_named(speed), angles)
        return cls(turning, is_shared, ends.first.rotations[:-1], ends.last.rotations[:-1],
                   None if turning.speed.is_by_keys else Distances.of(clips, positions, ends.moved))

    def lengths_s(self, seams: Neighbours) -> FloatArray:
        """Return the lengths of N transitions, (N,), not yet limited; 0 where no joint turns that both clips turn."""
        turning = self.turning_s(seams)
        return np.where(turning > 0.0, np.maximum(turning, self.needed_s(seams)), 0.0)

    def mean_angles_rad(self, seams: Neighbours) -> FloatArray:
        """Return how far joints that both clips turn have to turn, on average, at N seams, (N,)."""
        both = self.turning.turns[seams.before] & self.turning.turns[seams.after]
        angles = self.turning.angles(self.last[seams.before], self.first[seams.after])
        return quotient(np.where(both, angles, 0.0).sum(axis=1), both.sum(axis=1).astype(np.float64))

    def turning_s(self, seams: Neighbours) -> FloatArray:
        """Return how long they last by the joints' turning alone, (N,)."""
        lengths = automatic_lengths if self.is_shared else longest_lengths
        return lengths(self.turning, self.first, self.last, seams)

    def needed_s(self, seams: Neighbours) -> FloatArray:
        """Return how long joints need to get from pose to pose, (N,); 0 where that does not count."""
        return np.zeros(len(seams.before)) if self.distances is None else self.distances.needed_s(seams)
