"""The stage that moves a body along the paths of its score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.skeleton import Pose
from ..stage import FIRST_ROUND, Over
from .traveller import Traveller
from .warp import Warp

_INSTANTS: Final = 17
"""Number of instants at which a displacement is sampled."""


@dataclass(frozen=True, eq=False)
class Warped(Over):
    """The stage below, with the whole body moved and turned over the ground by a warp.

    Not for a motion that loops, since each of its rounds begins where the one before ends.
    """

    warp: Warp
    traveller: Traveller

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses of the stage below, moved along their paths; see Stage."""
        pose = self.below.sample(times_s, rounds)
        self.traveller.carry(pose, self.warp.placements(times_s))
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,); always includes those that carry the body."""
        moved = self.below.moved.copy()
        moved[[root.joint for root in self.traveller.roots]] = True
        return np.asarray(moved)

    def points(self, points: FloatArray, times_s: FloatArray) -> FloatArray:
        """Move points of the model (N, 3) as the body is moved at times (N,)."""
        return self.traveller.bearing.moved(points, self.warp.placements(times_s))

    def halfway(self, points: FloatArray, spans_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return when points of the model (N, 3) have gone half of their way in spans of time, and how far that is.

        spans_s: (N, 2). Results: (N,) each. The way is the one on which the warp moves a point during its span. If a
        point stands where it is at that time, the warp never takes the body farther from it than that.
        """
        own, middle_s = np.arange(len(points)), spans_s.mean(axis=1)
        times_s = spans_s[:, :1] + np.linspace(0.0, 1.0, _INSTANTS) * np.diff(spans_s, axis=1)
        carried = self.points(points.repeat(_INSTANTS, axis=0), times_s.ravel()).reshape(-1, _INSTANTS, 3)
        way = np.cumsum(np.pad(np.linalg.norm(np.diff(carried, axis=1), axis=2), ((0, 0), (1, 0))), axis=1)
        half = way[:, -1] / 2.0
        after = np.clip((way < half[:, None]).sum(axis=1), 1, _INSTANTS - 1)
        step = way[own, after] - way[own, after - 1]
        share = (half - way[own, after - 1]) / np.maximum(step, 1e-30)
        found = times_s[own, after - 1] + share * (times_s[own, after] - times_s[own, after - 1])
        return np.asarray(np.where(step > 0.0, found, middle_s)), half
