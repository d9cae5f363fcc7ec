"""The stage in which head and hands aim at what a score says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.skeleton import Pose, world_from_pose
from ..stage import FIRST_ROUND, Over
from .aim import TimedAim
from .look import Neck
from .reach import Reaching


@dataclass(frozen=True, eq=False)
class Aimed(Over):
    """The motion below with aims: the body leans, then the head turns, with the chest, then arms reach from there.

    neck, arms: what the body has, arms by side. shown: from times to those that a clock shows.
    """

    aims: tuple[TimedAim, ...]
    neck: Neck | None
    arms: dict[str, Reaching]
    shown: Callable[[FloatArray], FloatArray]

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with head and hands where they are to be; see Stage."""
        pose = self.below.sample(times_s, rounds)
        hands = [(self.arms[aim.hand], aim) for aim in self.aims if aim.hand in self.arms]
        for arm, aim in hands:
            self._turn(pose, times_s, aim, arm.lean)
        if self.neck is not None:
            self._look(pose, times_s, hands, self.neck)
        for arm, aim in hands:
            self._turn(pose, times_s, aim, arm.reach)
        return pose

    def _look(self, pose: Pose, times_s: FloatArray, hands: list[tuple[Reaching, TimedAim]], neck: Neck) -> None:
        """Turn heads in poses; where the chest goes along, so that an arm is too short again, the body leans more."""
        looks = [aim for aim in self.aims if not aim.hand]
        for aim in looks:
            self._turn(pose, times_s, aim, neck.look)
        if not (looks and hands):
            return
        before = neck.gaze(pose)
        for arm, aim in hands:
            self._turn(pose, times_s, aim, arm.lean)
        for aim in looks:
            frames = np.flatnonzero(aim.weights(times_s))
            gaze = before[0][frames], before[1][frames]
            self._turn(pose, times_s, aim, partial(neck.look_on, before=gaze))

    def _turn(self, pose: Pose, times_s: FloatArray, aim: TimedAim,
              turn: Callable[[Pose, FloatArray, FloatArray], None]) -> None:
        """Turn poses by the weights of an aim, in place."""
        weights = aim.weights(times_s)
        frames = np.flatnonzero(weights)
        if len(frames):
            part = pose.at(frames)
            turn(part, aim.positions(self.shown(times_s[frames])), weights[frames])
            pose.rotations[frames] = part.rotations

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
