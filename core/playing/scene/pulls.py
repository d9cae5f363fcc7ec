"""Pulls on hands, and the resulting positions of hands and of what they move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from .aim import TimedAim
from .carried import Spots
from .cast import OwnPlace
from .reach import Reaching
from .upright import Tilt

Palms = Mapping[str, FloatArray]
"""A value for each hand, by side."""


class Act(NamedTuple):
    """An aim in some frames (N,) of poses, with its weights (N,) there.

    spots: (N,) target positions. keeps: (N,) how strongly a hand holds on to what another one moves, 0 to 1. tilt: how
    the hand holds a prop that is to stand as the target does, or None.
    """

    aim: TimedAim
    frames: IntArray
    weights: FloatArray
    spots: Spots
    keeps: FloatArray
    tilt: Tilt | None = None

    def at(self, numbers: IntArray | BoolArray) -> Act:
        """Return the act in some of its frames."""
        return Act(self.aim, self.frames[numbers], self.weights[numbers], self.spots.at(numbers), self.keeps[numbers],
                   None if self.tilt is None else self.tilt.at(numbers))

    def among(self, frames: IntArray) -> Act:
        """Return the act in those of its frames that are among others (M,), ascending, as indices into these."""
        own = self.at(np.isin(self.frames, frames))
        return own._replace(frames=frames.searchsorted(own.frames))


def carriers(arms: Mapping[str, Reaching], aims: Sequence[TimedAim]) -> dict[str, int]:
    """Return the joints that may move targets of aims: wrists by side, and joints with own places by name."""
    found = {aim.target.joint: arms[aim.hand].body.skeleton.index_of[aim.target.joint] for aim in aims
             if isinstance(aim.target, OwnPlace) and aim.hand in arms}
    return found | {side: arm.limb.last for side, arm in arms.items()}


def together(acts: Sequence[Act]) -> Act:
    """Return acts of one hand, or of heads, in disjoint frames as one."""
    frames = np.concatenate([act.frames for act in acts])
    spots = Spots.joined([act.spots for act in acts])
    weights, keeps = (np.concatenate(each) for each in zip(*((act.weights, act.keeps) for act in acts), strict=True))
    return Act(acts[0].aim, frames, weights, spots, keeps).at(frames.argsort())


@dataclass(frozen=True, eq=False)
class Pulls:
    """Acts on hands in F frames, by side. arms: of all hands.

    A hand's position depends only on its position without pull, on its pull, and on the hand that moves what it
    follows. So it does not jump if another hand begins to move that, or stops.
    """

    arms: Mapping[str, Reaching]
    acts: Mapping[str, Sequence[Act]]
    frames: int

    @classmethod
    def of(cls, arms: Mapping[str, Reaching], acts: Sequence[Act], frames: int) -> Pulls:
        """Take the acts of all hands, in their order."""
        own = {side: [act for act in acts if act.aim.hand == side] for side in arms}
        return cls(arms, {side: found for side, found in own.items() if found}, frames)

    def among(self, frames: IntArray) -> Pulls:
        """Return the pulls in some frames, ascending."""
        return Pulls(self.arms, {side: [act.among(frames) for act in acts] for side, acts in self.acts.items()},
                     len(frames))

    @cached_property
    def weights(self) -> dict[str, FloatArray]:
        """Weight of the pull on each hand, (F,) from 0 to 1."""
        return {side: self._weights(side, [act.weights for act in acts]) for side, acts in self.acts.items()}

    @cached_property
    def leans(self) -> dict[str, FloatArray]:
        """Weight of leaning for each hand, (F,) from 0 to 1: 0 for what another hand brings along."""
        found, none = dict[str, FloatArray](), np.zeros(self.frames)
        for side, acts in self.acts.items():
            own = [act.weights * (1.0 - sum((act.spots.share_of(leading) * (
                1.0 - self.weights.get(leading, none)[act.frames]) for leading in act.spots.leading), np.zeros(())))
                for act in acts]
            found[side] = self._weights(side, own)
        return found

    def _weights(self, side: str, weights: Sequence[FloatArray]) -> FloatArray:
        free = np.ones(self.frames)
        for act, own in zip(self.acts[side], weights, strict=True):
            free[act.frames] *= 1.0 - own
        return 1.0 - free

    @cached_property
    def _carriers(self) -> dict[str, int]:
        return carriers(self.arms, [act.aim for acts in self.acts.values() for act in acts])

    @cached_property
    def _passes(self) -> int:
        """Number of passes: in the first, other hands are unmoved; each further pass lets hands follow them."""
        follow = [side for side, acts in self.acts.items() if any(act.spots.leading for act in acts)]
        return 1 << len(follow)

    def palms(self, world: FloatArray) -> dict[str, FloatArray]:
        """Return the positions of palms, (F, 3). world: (F, J, 3, 4)."""
        return {side: arm.palms(world) for side, arm in self.arms.items()}

    def settled(self, world: FloatArray, own: Palms | None = None, *, leans: bool = False) -> tuple[Palms, Palms]:
        """Return goals of pulled palms, (F, 3), and the resulting transforms of all hands, (F, 3, 4).

        world: (F, J, 3, 4) of bodies with arms not moved yet. own: (F, 3) positions from which palms are pulled, None
        for their current ones. leans: the result is for leaning bodies, so targets in other hands change softly, see
        Spots.
        """
        palms = self.palms(world)
        rests = {name: world[:, joint] for name, joint in self._carriers.items()}
        hands, goals, gives = rests, dict[str, FloatArray](), dict[str, FloatArray]()
        for number in range(2 * self._passes if self._passes > 1 else 1):
            if number == self._passes:
                gives = self._gives(world, goals, leans=leans)
            goals = {side: self._pulled(side, palms[side], hands, softly=leans) for side in self.acts}
            goals |= {side: goals.get(side, palms[side]) + give for side, give in gives.items()}
            hands = rests | {side: _moved(rests[side], self.arms[side].within(world, goal) - palms[side])
                             for side, goal in goals.items()}
        if own is not None:
            goals = {side: self._pulled(side, own[side], hands, softly=leans) for side in self.acts}
            goals = {side: goal + gives[side] if side in gives else goal for side, goal in goals.items()}
        return goals, hands

    def _gives(self, world: FloatArray, goals: Palms, *, leans: bool) -> dict[str, FloatArray]:
        """Return how far hands, (F, 3), stay nearer to others that hold what they move.

        So the others can reach it. For leaning bodies, pulled hands stay where they are. goals: of palms without that.
        """
        found = dict[str, FloatArray]()
        for side, acts in self.acts.items():
            short = self.arms[side].short(world, goals[side])
            for act in (each for each in acts if each.aim.grip is not None):
                for leading in act.spots.leading:
                    pulled = self.weights.get(leading, np.zeros(self.frames))[act.frames] if leans else 0.0
                    firm = act.weights * act.keeps * act.spots.share_of(leading) * (1.0 - pulled)
                    found.setdefault(leading, np.zeros_like(short))[act.frames] += firm[:, None] * short[act.frames]
        return found

    def _pulled(self, side: str, own: FloatArray, hands: Palms, *, softly: bool) -> FloatArray:
        """Return a palm's position after its pull from its own position (F, 3). hands: their transforms."""
        goal = own.copy()
        for act in self.acts[side]:
            there = act.spots.seen({other: hands[other][act.frames] for other in act.spots.leading}, softly=softly)
            goal[act.frames] += act.weights[:, None] * (there - goal[act.frames])
        return goal


def _moved(hands: FloatArray, by: FloatArray) -> FloatArray:
    """Return hands (F, 3, 4) moved by (F, 3)."""
    return np.concatenate((hands[..., :3], hands[..., 3:] + by[..., None]), axis=2)
