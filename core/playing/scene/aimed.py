"""The stage in which head and hands aim at what a score says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.skeleton import Pose, world_from_pose
from ..stage import FIRST_ROUND, Over
from .aim import TimedAim
from .look import Neck
from .reach import Reaching


@dataclass(frozen=True, eq=False)
class Aimed(Over):
    """The motion below with aims, hands first: who leans to reach still looks where he does.

    neck, arms: what the body has, arms by side. shown: from times to those that a clock shows.
    """

    aims: tuple[TimedAim, ...]
    neck: Neck | None
    arms: dict[str, Reaching]
    shown: Callable[[FloatArray], FloatArray]

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with head and hands where they are to be; see Stage."""
        pose = self.below.sample(times_s, rounds)
        for aim in sorted(self.aims, key=lambda aim: not aim.hand):
            weights = aim.weights(times_s)
            frames = np.flatnonzero(weights)
            if not len(frames):
                continue
            part, there = pose.at(frames), aim.positions(self.shown(times_s[frames]))
            if aim.hand and aim.hand in self.arms:
                self.arms[aim.hand].reach(part, there, weights[frames])
            elif not aim.hand and self.neck is not None:
                self.neck.look(part, there, weights[frames])
            pose.rotations[frames] = part.rotations
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        moved = self.below.moved.copy()
        if self.neck is not None:
            moved[self.neck.chain] = True
        for arm in self.arms.values():
            moved[[*arm.limb, *arm.spine.tolist()]] = True
        return np.asarray(moved)

    def misses(self) -> Iterator[tuple[TimedAim, float]]:
        """Yield where hands stay away from what they reach for by more than 1 % of an arm, and how far.

        Once for each role.
        """
        told = set[str]()
        for aim in self.aims:
            if aim.hand not in self.arms or aim.role in told:
                continue
            arm, times_s = self.arms[aim.hand], np.array((aim.there_s, aim.end_s))
            world = world_from_pose(self.skeleton, self.sample(times_s))
            rest = self.skeleton.rest_world[list(arm.limb), :, 3]
            away = np.linalg.norm(arm.palms(world) - aim.positions(self.shown(times_s)), axis=1).max()
            if away > 0.01 * np.linalg.norm(np.diff(rest, axis=0)):
                told.add(aim.role)
                yield aim, float(away)
