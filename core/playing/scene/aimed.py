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


class Act(NamedTuple):
    """An aim in some frames (N,) of poses, with its weights (N,) there.

    carried: what it aims at, where hands hold that at times; beside_carried: whether hands hold anything at times.
    """

    aim: TimedAim
    frames: IntArray
    weights: FloatArray
    carried: Carried | None
    beside_carried: bool

    def among(self, is_meant: BoolArray) -> Act:
        """Return it in some of its frames; is_meant: (N,)."""
        return self._replace(frames=self.frames[is_meant], weights=self.weights[is_meant])


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
        pose = self.posed(times_s, self.acts(times_s), rounds)
        for side, grip in self.grips.items():
            weights = np.max([hold.weights(times_s) for hold in self.holds if hold.hand == side], axis=0)
            if len(frames := np.flatnonzero(weights)):
                _change(pose, frames, grip.close, weights[frames])
        return pose

    def posed(self, times_s: FloatArray, acts: Sequence[Act], rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with what some acts do in them; hands are open."""
        pose = self.below.sample(times_s, rounds)
        hands = [act for act in acts if act.aim.hand in self.arms]
        self._lean(pose, times_s, hands)
        if self.neck is not None:
            self._look(pose, times_s, [act for act in acts if not act.aim.hand], hands, self.neck)
        self._reach(pose, times_s, hands)
        return pose

    @cached_property
    def _spans_s(self) -> FloatArray:
        """From when to when each aim acts, (A, 2)."""
        return np.array([(aim.begin_s, aim.back_s) for aim in self.aims]).reshape(-1, 2)

    def acts(self, times_s: FloatArray) -> list[Act]:
        """Return what acts at any of some times, in order."""
        if not len(times_s):
            return []
        begins, ends = self._spans_s.T
        found = []
        for number in np.flatnonzero((begins < times_s.max()) & (ends > times_s.min())).tolist():
            aim = self.aims[number]
            near = np.flatnonzero((times_s > aim.begin_s) & (times_s < aim.back_s))
            weights = aim.weights(times_s[near])
            carried = aim.carried or self.carried.get(aim.role)
            act = Act(aim, near, weights, carried, bool(self.carried)).among(weights > 0.0)
            if len(act.frames):
                found.append(act)
        return found

    def _lean(self, pose: Pose, times_s: FloatArray, acts: Sequence[Act]) -> None:
        self._turn(pose, times_s, acts, "lean")
        again = [act for act in acts if act.beside_carried]
        if again:
            seen = pose.at(np.arange(len(times_s)))  # a copy
            self._turn(seen, times_s, again, "reach")
            self._turn(pose, times_s, again, "lean", follows=True, seen=seen)
            self._turn(pose, times_s, again, "lean")

    def _reach(self, pose: Pose, times_s: FloatArray, acts: Sequence[Act]) -> None:
        self._turn(pose, times_s, acts, "reach")
        self._turn(pose, times_s, acts, "reach", follows=True)

    def _look(self, pose: Pose, times_s: FloatArray, looks: Sequence[Act], hands: Sequence[Act], neck: Neck) -> None:
        """Turn heads in poses; where the chest goes along, so that an arm is too short again, the body leans more."""
        if not looks:
            return
        seen = pose
        if any(act.carried for act in looks):
            seen = pose.at(np.arange(len(times_s)))  # a copy
            self._reach(seen, times_s, hands)
        steps = [(step.frames, self._targets(step, times_s, seen), step.weights)
                 for step in _steps(looks, len(times_s))]
        for frames, target, weights in steps:
            _change(pose, frames, neck.look, target, weights)
        is_seen = np.zeros(len(times_s), dtype=np.bool_)
        is_seen[np.concatenate([act.frames for act in looks])] = True
        hands = [act for act in (each.among(is_seen[each.frames]) for each in hands) if len(act.frames)]
        if not hands:
            return
        before = neck.gaze(pose)
        self._lean(pose, times_s, hands)
        for frames, target, weights in steps:
            _change(pose, frames, neck.look_on, target, weights, (before[0][frames], before[1][frames]))

    def _turn(self, pose: Pose, times_s: FloatArray, acts: Sequence[Act], how: str, *, follows: bool = False,
              seen: Pose | None = None) -> None:
        """Let bodies lean, or hands reach, for all that they aim at, in place.

        follows: for what another hand leads at the time, or for all else. seen: poses in which that hand is where it
        will be.
        """
        meant = [act if act.carried is None else
                 act.among(act.carried.is_led(times_s[act.frames], act.aim.hand) == follows)
                 for act in acts if act.carried is not None or not follows]
        for step in _steps(meant, len(times_s)):
            _change(pose, step.frames, getattr(self.arms[step.hand], how),
                    self._targets(step, times_s, pose if seen is None else seen), step.weights)

    def _targets(self, step: _Step, times_s: FloatArray, pose: Pose) -> FloatArray:
        """Return where in the frames of a step, (N, 3), things are to be touched or seen; pose: of all frames."""
        own_s = times_s[step.frames]
        shown_s, first, found = self.shown(own_s), 0, list[FloatArray]()
        hands = self.hands(pose.at(step.frames)) if any(act.carried for act in step.acts) else {}
        for act in step.acts:
            own = slice(first, first := first + len(act.frames))
            found.append(act.aim.positions(shown_s[own]) if act.carried is None else act.carried.positions(
                own_s[own], shown_s[own], {side: at[own] for side, at in hands.items()}, act.aim.hand, act.aim.grip))
        return np.concatenate(found)

    def hands(self, pose: Pose) -> dict[str, FloatArray]:
        """Return where hands are in poses (F, J, …), (F, 3, 4) each in the model."""
        world = world_from_pose(self.skeleton, pose)
        return {side: world[:, arm.limb.last] for side, arm in self.arms.items()}

    def lacks(self, act: Act, times_s: FloatArray, hands: Mapping[str, FloatArray]) -> FloatArray:
        """Return what lies between a palm and what it is to touch in the frames of an act, (N, 3).

        times_s: of these frames; hands: (N, 3, 4) where each is then.
        """
        shown_s = self.shown(times_s)
        target = act.aim.positions(shown_s) if act.carried is None else act.carried.positions(
            times_s, shown_s, hands, act.aim.hand, act.aim.grip)
        return np.asarray(target - self.arms[act.aim.hand].palm_of(hands[act.aim.hand]))

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
        times_s, told = np.array([(aim.there_s, aim.end_s) for aim in asked]), set[str]()
        hands = self.hands(self.sample(times_s.ravel()))
        for number, aim in enumerate(asked):
            frames = np.array((2 * number, 2 * number + 1))
            act = Act(aim, frames, np.ones(2), self.carried.get(aim.role), bool(self.carried))
            lacks = self.lacks(act, times_s[number], {side: at[frames] for side, at in hands.items()})
            away = float(np.linalg.norm(lacks, axis=-1).max())
            if away > self.arms[aim.hand].near and aim.role not in told:
                told.add(aim.role)
                yield aim, away


class _Step(NamedTuple):
    """What happens at once in some frames (N,): acts of one hand, "" for the head, in frames that they do not share."""

    hand: str
    acts: list[Act]

    @property
    def frames(self) -> IntArray:
        """Those of one act after those of another."""
        return np.concatenate([act.frames for act in self.acts])

    @property
    def weights(self) -> FloatArray:
        """The weights there."""
        return np.concatenate([act.weights for act in self.acts])


def _steps(acts: Sequence[Act], frames: int) -> list[_Step]:
    """Put acts in steps, so that in each frame they come one after the other in their order."""
    met, found = np.zeros(frames, dtype=np.int64), dict[tuple[int, str], _Step]()
    for act in acts:
        rank = met[act.frames]
        met[act.frames] += 1
        for number in np.unique(rank).tolist():
            step = found.setdefault((number, act.aim.hand), _Step(act.aim.hand, []))
            step.acts.append(act.among(rank == number))
    return [step for _, step in sorted(found.items(), key=lambda item: item[0])]


def _change(pose: Pose, frames: IntArray, turn: Callable[..., None], *values: object) -> None:
    """Turn joints in some of the poses, in place."""
    part = pose.at(frames)
    turn(part, *values)
    pose.rotations[frames] = part.rotations
