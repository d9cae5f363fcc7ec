"""The stage in which head and hands aim at what a score says."""

from __future__ import annotations

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

    neck, arms: what the body has, arms by side.
    """

    aims: tuple[TimedAim, ...]
    neck: Neck | None
    arms: dict[str, Reaching]

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with head and hands where they are to be; see Stage."""
        pose = self.below.sample(times_s, rounds)
        for aim in sorted(self.aims, key=lambda aim: not aim.hand):
            weights = aim.weights(times_s)
            frames = np.flatnonzero(weights)
            if not len(frames):
                continue
            part = pose.at(frames)
            if aim.hand and aim.hand in self.arms:
                self.arms[aim.hand].reach(part, aim.position, weights[frames])
            elif not aim.hand and self.neck is not None:
                self.neck.look(part, aim.position, weights[frames])
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

    def misses(self) -> tuple[tuple[TimedAim, float], ...]:
        """Return where hands stay away from what they reach for by more than 1 %, once for each role, and how far."""
        found = dict[str, tuple[TimedAim, float]]()
        for aim in self.aims:
            if aim.hand not in self.arms or aim.role in found:
                continue
            arm = self.arms[aim.hand]
            world = world_from_pose(self.skeleton, self.sample(np.array((aim.there_s,))))
            rest = self.skeleton.rest_world[list(arm.limb), :, 3]
            away, length = np.linalg.norm(arm.palms(world)[0] - aim.position), np.linalg.norm(np.diff(rest, axis=0))
            if away > 0.01 * length:
                found[aim.role] = aim, float(away)
        return tuple(found.values())
