"""Automatic duration of transitions: the time that joints need to turn, and to move, from one pose to the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...clips.clip import Clip
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, quotient
from .distances import Distances
from .lengths import Angles, Neighbours, Speed, Turning, automatic_lengths, longest_lengths, speed_named
from .seams import EndPoses


@dataclass(frozen=True, eq=False)
class Automatic:
    """Input of automatic durations between clips; measured on demand.

    clips: C clips on one skeleton. ends: their end poses as placed at seams. positions: returns the joints' positions
    in their first and last poses, (2, C, J, 3). is_shared: whether joints share one duration; otherwise each has its
    own, and the longest counts. skin: (J,) joints whose rotation counts. seen: (J,) joints whose distance counts. None
    stands for all joints.
    """

    clips: tuple[Clip, ...]
    ends: EndPoses
    positions: Callable[[], FloatArray]
    speed: Speed
    is_shared: bool
    angles: Angles
    skin: BoolArray | None = None
    seen: BoolArray | None = None

    @classmethod
    def of(cls, clips: Sequence[Clip], ends: EndPoses, positions: Callable[[], FloatArray], speed: str, *,
           is_shared: bool, angles: Angles = rot.angle_between, skin: BoolArray | None = None,
           seen: BoolArray | None = None) -> Automatic:
        """Take clips on one skeleton, see above. speed: one of SPEEDS; raises TaktError for any other."""
        return cls(tuple(clips), ends, positions, speed_named(speed), is_shared, angles, skin, seen)

    @cached_property
    def turning(self) -> Turning:
        """How joints turn."""
        return Turning.of(self.clips, self.speed, self.angles, self.skin)

    @cached_property
    def distances(self) -> Distances | None:
        """How far joints move, or None if durations are measured over keys, as in PHA 1."""
        if self.speed.is_by_keys:
            return None
        return Distances.of(self.clips, self.positions(), self.ends.moved, self.seen)

    def lengths_s(self, seams: Neighbours) -> FloatArray:
        """Return the durations of N transitions, (N,), before limits; 0 where both clips turn no common joint."""
        turning = self.turning_s(seams)
        return np.where(turning > 0.0, np.maximum(turning, self.needed_s(seams)), 0.0)

    def mean_angles_rad(self, seams: Neighbours) -> FloatArray:
        """Return the mean angle that joints turned by both clips have to turn at N seams, (N,)."""
        both = self.turning.turns[seams.before] & self.turning.turns[seams.after]
        first, last = self._rotations
        angles = self.angles(last[seams.before], first[seams.after])
        return quotient(np.where(both, angles, 0.0).sum(axis=1), both.sum(axis=1).astype(np.float64))

    def turning_s(self, seams: Neighbours) -> FloatArray:
        """Return the durations by the joints' rotation alone, (N,)."""
        lengths = automatic_lengths if self.is_shared else longest_lengths
        return lengths(self.turning, *self._rotations, seams)

    def needed_s(self, seams: Neighbours) -> FloatArray:
        """Return the time that joints need to move from pose to pose, (N,); 0 if it does not count."""
        return np.zeros(len(seams.before)) if self.distances is None else self.distances.needed_s(seams)

    @property
    def _rotations(self) -> tuple[FloatArray, FloatArray]:
        """The rotations of joints at the beginning and end of each clip, as played, (C, J, 4) each."""
        return self.ends.first.rotations[:-1], self.ends.last.rotations[:-1]
