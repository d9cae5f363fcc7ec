"""The stage in which head and hands aim at what a score says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.skeleton import Pose, world_from_pose
from ..stage import FIRST_ROUND, Over
from .aim import TimedAim
from .carried import Carried, TimedHold
from .grip import Grip
from .look import Neck
from .reach import Reaching


class _Active(NamedTuple):
    """An aim, and its weights (F,) at the times of some poses."""

    aim: TimedAim
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Aimed(Over):
    """The motion below with aims: the body leans, then the head turns, with the chest, then arms reach from there.

    neck, arms: what the body has, arms by side. shown: from times to those that a clock shows. carried: what hands
    hold, by its role; where another hand leads it, a hand follows last. holds: when hands do so, and are closed by
    grips, by side.
    """

    aims: tuple[TimedAim, ...]
    neck: Neck | None
    arms: dict[str, Reaching]
    shown: Callable[[FloatArray], FloatArray]
    carried: Mapping[str, Carried] = field(default_factory=dict)
    holds: tuple[TimedHold, ...] = ()
    grips: Mapping[str, Grip] = field(default_factory=dict)

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with head and hands where they are to be; see Stage."""
        pose, active = self.below.sample(times_s, rounds), self._active(times_s)
        self._lean(pose, times_s, active)
        if self.neck is not None:
            self._look(pose, times_s, active, self.neck)
        self._reach(pose, times_s, active)
        for side, grip in self.grips.items():
            weights = np.max([hold.weights(times_s) for hold in self.holds if hold.hand == side], axis=0)
            if len(frames := np.flatnonzero(weights)):
                _change(pose, frames, grip.close, weights[frames])
        return pose

    @cached_property
    def _spans_s(self) -> FloatArray:
        """From when to when each aim acts, (A, 2)."""
        return np.array([(aim.begin_s, aim.back_s) for aim in self.aims]).reshape(-1, 2)

    def _active(self, times_s: FloatArray) -> list[_Active]:
        """Return the aims that act at any of some times, in order, each with its weights then."""
        if not len(times_s):
            return []
        begins, ends = self._spans_s.T
        near = np.flatnonzero((begins < times_s.max()) & (ends > times_s.min()))
        found = ((self.aims[number], self.aims[number].weights(times_s)) for number in near.tolist())
        return [_Active(aim, weights) for aim, weights in found if weights.any()]

    def _lean(self, pose: Pose, times_s: FloatArray, active: Sequence[_Active]) -> None:
        self._turn(pose, times_s, active, "lean")
        if self.carried:
            seen = pose.at(np.arange(len(times_s)))  # a copy
            self._turn(seen, times_s, active, "reach")
            self._turn(pose, times_s, active, "lean", follows=True, seen=seen)
            self._turn(pose, times_s, active, "lean")

    def _reach(self, pose: Pose, times_s: FloatArray, active: Sequence[_Active]) -> None:
        self._turn(pose, times_s, active, "reach")
        if self.carried:
            self._turn(pose, times_s, active, "reach", follows=True)

    def _look(self, pose: Pose, times_s: FloatArray, active: Sequence[_Active], neck: Neck) -> None:
        """Turn heads in poses; where the chest goes along, so that an arm is too short again, the body leans more."""
        looks = [(aim, weights, np.flatnonzero(weights)) for aim, weights in active if not aim.hand]
        if not looks:
            return
        seen = pose
        if any(aim.role in self.carried for aim, _, _ in looks):
            seen = pose.at(np.arange(len(times_s)))  # a copy
            self._reach(seen, times_s, active)
        targets = [self._positions(aim, seen, times_s, frames) for aim, _, frames in looks]
        for (_, weights, frames), target in zip(looks, targets, strict=True):
            _change(pose, frames, neck.look, target, weights[frames])
        if not any(aim.hand for aim in self.aims):
            return
        before = neck.gaze(pose)
        self._lean(pose, times_s, active)
        for (_, weights, frames), target in zip(looks, targets, strict=True):
            _change(pose, frames, neck.look_on, target, weights[frames], (before[0][frames], before[1][frames]))

    def _turn(self, pose: Pose, times_s: FloatArray, active: Sequence[_Active], how: str, *, follows: bool = False,
              seen: Pose | None = None) -> None:
        """Let bodies lean, or hands reach, for all that they aim at, in place.

        follows: for what another hand leads at the time, or for all else. seen: poses in which that hand is where it
        will be.
        """
        for aim, weights in active:
            if aim.hand not in self.arms:
                continue
            carried = self.carried.get(aim.role)
            is_meant = weights > 0.0
            if carried is not None:
                is_meant &= carried.is_led(times_s, aim.hand) == follows
            elif follows:
                continue
            frames = np.flatnonzero(is_meant)
            if len(frames):
                target = self._positions(aim, pose if seen is None else seen, times_s, frames)
                _change(pose, frames, getattr(self.arms[aim.hand], how), target, weights[frames])

    def _positions(self, aim: TimedAim, pose: Pose, times_s: FloatArray, frames: IntArray) -> FloatArray:
        """Return where something is to be touched or seen, (N, 3), in some of the poses."""
        own_s = times_s[frames]
        shown_s, carried = self.shown(own_s), self.carried.get(aim.role)
        if carried is None:
            return aim.positions(shown_s)
        return carried.positions(own_s, shown_s, self.hands(pose.at(frames)), aim.hand, aim.grip)

    def hands(self, pose: Pose) -> dict[str, FloatArray]:
        """Return where hands are in poses (F, J, …), (F, 3, 4) each in the model."""
        world = world_from_pose(self.skeleton, pose)
        return {side: world[:, arm.limb.last] for side, arm in self.arms.items()}

    def away(self, aim: TimedAim, time_s: float) -> float:
        """Return how far a hand is from what it reaches for at a time."""
        times_s = np.array((time_s,))
        return float(self._away(aim, self.sample(times_s), times_s, np.zeros(1, dtype=np.int64))[0])

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        moved = self.below.moved.copy()
        if self.neck is not None:
            moved[self.neck.chain] = True
        for arm in self.arms.values():
            moved[[*arm.limb, *arm.spine.tolist()]] = True
        for grip in self.grips.values():
            moved[grip.joints] = True
        return np.asarray(moved)

    def misses(self) -> Iterator[tuple[TimedAim, float]]:
        """Yield where hands stay away from what they reach for by more than 1 % of an arm, and how far.

        Once for each role.
        """
        asked = [aim for aim in self.aims if aim.hand in self.arms and not aim.holds]
        if not asked:
            return
        times_s, told = np.array([(aim.there_s, aim.end_s) for aim in asked]).ravel(), set[str]()
        pose = self.sample(times_s)
        for aim, frames in zip(asked, np.arange(len(times_s)).reshape(-1, 2), strict=True):
            away = float(self._away(aim, pose, times_s, frames).max())
            if away > self.arms[aim.hand].near and aim.role not in told:
                told.add(aim.role)
                yield aim, away

    def _away(self, aim: TimedAim, pose: Pose, times_s: FloatArray, frames: IntArray) -> FloatArray:
        """Return how far a hand is from what it reaches for in some of the poses, (N,)."""
        palms = self.arms[aim.hand].palms(world_from_pose(self.skeleton, pose.at(frames)))
        return np.asarray(np.linalg.norm(palms - self._positions(aim, pose, times_s, frames), axis=-1))


def _change(pose: Pose, frames: IntArray, turn: Callable[..., None], *values: object) -> None:
    """Turn joints in some of the poses, in place."""
    part = pose.at(frames)
    turn(part, *values)
    pose.rotations[frames] = part.rotations
