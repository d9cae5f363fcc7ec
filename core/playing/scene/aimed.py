"""The stage in which head and hands aim at what a score says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray, smoothstep
from ...skeletons.hanim import UP
from ...skeletons.skeleton import Pose, world_from_pose
from ..stage import FIRST_ROUND, Over
from .aim import TimedAim, weights
from .carried import Carried, Spots, TimedHold
from .cast import OwnPlace, ScenePlace
from .grip import Grip
from .look import Neck
from .next_aims import spans_s
from .pulls import Act, Palms, Pulls, carriers, together
from .reach import Reaching
from .upright import tilt_of, turn_hands

_MOST_RAD: Final = np.radians(55.0)
"""Greatest lean of the body for each hand."""
_LEANS: Final = 6
"""Rounds in which leaning approaches the target."""
_KEEPS_S: Final = 0.25
"""Time in which a hand gives way to another one that holds the prop it moves, and time in which that ends."""


@dataclass(frozen=True, eq=False)
class Aimed(Over):
    """The motion below with aims: the body leans, then the head turns, with the chest, then arms reach.

    neck, arms: those of the body, arms by side. shown: from times to those that a clock shows. carried: props in hands,
    by role. holds: when hands hold them. grips: closed hands, by side. unit_m: see Settings. up: of the model, (3,).
    """

    aims: tuple[TimedAim, ...]
    neck: Neck | None
    arms: dict[str, Reaching]
    shown: Callable[[FloatArray], FloatArray]
    carried: Mapping[str, Carried] = field(default_factory=dict)
    holds: tuple[TimedHold, ...] = ()
    grips: Mapping[str, Grip] = field(default_factory=dict)
    unit_m: float = 1.0
    up: FloatArray = field(default_factory=lambda: UP)

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with head and hands at their targets; see Stage."""
        pose = self.posed(times_s, self.acts(times_s), rounds)
        for side, grip in self.grips.items():
            closed = np.max([hold.weights(times_s) for hold in self.holds if hold.hand == side], axis=0)
            if len(frames := np.flatnonzero(closed)):
                _change(pose, frames, grip.close, closed[frames])
        return pose

    def posed(self, times_s: FloatArray, acts: Sequence[Act], rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses of the stage below, with the given acts of head and arms applied; hands are not closed."""
        pose = self.below.sample(times_s, rounds)
        acts = [act for act in acts if act.aim.hand in self.arms or not (act.aim.hand or self.neck is None)]
        if acts:
            frames = np.unique(np.concatenate([act.frames for act in acts]))
            part = pose.at(frames)
            self._act(part, [act._replace(frames=frames.searchsorted(act.frames)) for act in acts])
            pose.rotations[frames] = part.rotations
        return pose

    @cached_property
    def spans_s(self) -> FloatArray:
        """When each aim acts, (A, 4): see the function."""
        return spans_s(self.aims)

    def acts(self, times_s: FloatArray) -> list[Act]:
        """Return what acts at any of some times, in order."""
        if not len(times_s):
            return []
        spans = self.spans_s
        found, shown_s = list[Act](), self.shown(times_s)
        for number in np.flatnonzero((spans[:, 0] < times_s.max()) & (spans[:, 3] > times_s.min())).tolist():
            aim, own_weights = self.aims[number], weights(times_s, *spans[number].tolist())
            if len(frames := np.flatnonzero(own_weights)):
                own_s = times_s[frames]
                keeps = smoothstep(own_s, aim.begin_s, aim.begin_s + _KEEPS_S) * (
                    1.0 - smoothstep(own_s, aim.end_s, aim.end_s + _KEEPS_S))
                tilt = tilt_of(self.carried.values(), aim.hand, own_s, self.up) if self._sets_down(aim) else None
                found.append(Act(aim, frames, own_weights[frames], self._spots(aim, own_s, shown_s[frames]), keeps,
                                 tilt))
        return found

    def _sets_down(self, aim: TimedAim) -> bool:
        """Return whether a hand brings what it holds to a place, where that is to stand."""
        return isinstance(aim.target, OwnPlace) or (isinstance(aim.target, ScenePlace) and not (
            aim.holds or aim.meets or aim.role in self.carried))

    def _spots(self, aim: TimedAim, times_s: FloatArray, shown_s: FloatArray) -> Spots:
        """Return the positions of an aim's target at times (N,); shown_s: by the clock."""
        if isinstance(aim.target, OwnPlace):
            return Spots(np.tile(aim.target.position, (len(times_s), 1)),
                         {aim.target.joint: np.ones(len(times_s), dtype=np.bool_)})
        carried = aim.carried or self.carried.get(aim.role)
        if carried is None:
            points = aim.positions(shown_s)
            return Spots(points if aim.grip is None else points + aim.grip, {})
        spots = carried.spots(times_s, shown_s, aim.hand, aim.grip)
        return spots if aim.begun_at is None else spots.after(aim.begun_at, times_s - aim.begin_s)

    def _act(self, pose: Pose, acts: Sequence[Act]) -> None:
        """Apply acts to poses, in place."""
        pulls = Pulls.of(self.arms, acts, len(pose.rotations))
        looks = [act for act in acts if not act.aim.hand]
        world = world_from_pose(self.skeleton, pose)
        own, may_rad = pulls.palms(world), {side: leans * _MOST_RAD for side, leans in pulls.leans.items()}
        world = self._lean(pose, world, pulls, own, may_rad)
        if looks and self.neck is not None:
            world = self._look(pose, looks, pulls, own, may_rad, self.neck)
        if turn_hands(pose, world, acts, self.arms, self.carriers, self.up):
            world = world_from_pose(self.skeleton, pose)
        goals, palms = pulls.settled(world)[0], pulls.palms(world)
        for side, goal in goals.items():
            pulled = np.flatnonzero((goal != palms[side]).any(axis=1))
            part = pose.at(pulled)
            self.arms[side].reach(part, world[pulled], goal[pulled])
            pose.rotations[pulled] = part.rotations

    def _lean(self, pose: Pose, world: FloatArray, pulls: Pulls, own: Palms, may_rad: dict[str, FloatArray],
              share: FloatArray | float = 1.0) -> FloatArray:
        """Lean bodies in poses, in place, as far as their arms are too short; return their (F, J, 3, 4).

        world: those before. own: (F, 3) positions from which palms are pulled: those without leaning, so that repeated
        leaning leans no farther. may_rad: (F,) remaining lean for each hand, reduced in place. share: share of it for
        this round.
        """
        most = {side: may * share / _LEANS for side, may in may_rad.items()}
        for _ in range(_LEANS):
            is_short = False
            for side, may in may_rad.items():
                goals, _ = pulls.settled(world, own, leans=True)
                leant = self.arms[side].lean(pose, world, goals[side], most[side])
                if leant is not None:
                    may -= leant
                    world, is_short = world_from_pose(self.skeleton, pose), True
            if not is_short:
                break
        return world

    def _look(self, pose: Pose, looks: Sequence[Act], pulls: Pulls, own: Palms, may_rad: dict[str, FloatArray],
              neck: Neck) -> FloatArray:
        """Turn heads in poses, in place, and return their bodies' (F, J, 3, 4).

        If the chest follows, so that an arm is too short again, the body leans more. own, may_rad: see _lean.
        """
        steps, looked = _steps(looks, pulls.frames), np.zeros(pulls.frames)
        for step in steps:
            looked[step.frames] = np.maximum(looked[step.frames], step.weights)
            _change(pose, step.frames, neck.look, _target(step, pulls), step.weights)
        world = world_from_pose(self.skeleton, pose)
        leant = self._lean(pose, world, pulls, own, may_rad, looked) if pulls.acts else world
        if leant is world:
            return world
        for step in steps:
            at, faced = (values[step.frames] for values in neck.gaze(world))
            _change(pose, step.frames, neck.look_on, _target(step, pulls), step.weights, (at, faced))
        return world_from_pose(self.skeleton, pose)

    def hands(self, pose: Pose) -> dict[str, FloatArray]:
        """Return the transforms of what moves targets in poses (F, J, …), (F, 3, 4) each in model space."""
        world = world_from_pose(self.skeleton, pose)
        return {name: world[:, joint] for name, joint in self.carriers.items()}

    @cached_property
    def carriers(self) -> dict[str, int]:
        """The joints that may move targets: see the function."""
        return carriers(self.arms, self.aims)

    def lacks(self, aim: TimedAim, times_s: FloatArray, hands: Mapping[str, FloatArray]) -> FloatArray:
        """Return the vectors from a palm to its target at times (N,), (N, 3).

        hands: (N, 3, 4) transforms then.
        """
        spots = self._spots(aim, times_s, self.shown(times_s))
        return np.asarray(spots.seen(hands) - self.arms[aim.hand].palm_of(hands[aim.hand]))

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
        """Yield aims that hands miss by more than 1 % of an arm, and by how much.

        Once for each role.
        """
        asked = [aim for aim in self.aims if aim.hand in self.arms and not aim.holds]
        if not asked:
            return
        times_s, told = np.array([(aim.there_s, aim.end_s) for aim in asked]), set[str]()
        hands = self.hands(self.sample(times_s.ravel()))
        for number, aim in enumerate(asked):
            own = {side: at[2 * number:2 * number + 2] for side, at in hands.items()}
            away = float(np.linalg.norm(self.lacks(aim, times_s[number], own), axis=-1).max())
            if away > self.arms[aim.hand].near and aim.role not in told:
                told.add(aim.role)
                yield aim, away


def _steps(acts: Sequence[Act], frames: int) -> list[Act]:
    """Group the acts of heads so that in each frame they come one after the other in their order."""
    met, found = np.zeros(frames, dtype=np.int64), dict[int, list[Act]]()
    for act in acts:
        rank = met[act.frames]
        met[act.frames] += 1
        for number in np.unique(rank).tolist():
            found.setdefault(number, []).append(act.at(rank == number))
    return [together(acts) for _, acts in sorted(found.items())]


def _target(step: Act, pulls: Pulls) -> Callable[[FloatArray], FloatArray]:
    """Return a function that gives head targets, (N, 3), from bodies (N, J, 3, 4)."""
    if not step.spots.leading:
        return lambda _: step.spots.points
    own = pulls.among(step.frames)
    return lambda world: step.spots.seen(own.settled(world)[1], softly=True)


def _change(pose: Pose, frames: IntArray, turn: Callable[..., None], *values: object) -> None:
    """Turn joints in some of the poses, in place."""
    part = pose.at(frames)
    turn(part, *values)
    pose.rotations[frames] = part.rotations
