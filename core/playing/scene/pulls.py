"""What pulls hands somewhere, and where that brings them, with what they lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from .aim import TimedAim
from .carried import Spots
from .reach import Reaching

Palms = Mapping[str, FloatArray]
"""What there is of hands, by side."""


class Act(NamedTuple):
    """An aim in some frames (N,) of poses, with its weights (N,) there.

    spots: (N,) where what it aims at is. keeps: (N,) how firmly a hand holds on to what another one leads, 0 to 1.
    """

    aim: TimedAim
    frames: IntArray
    weights: FloatArray
    spots: Spots
    keeps: FloatArray

    def at(self, numbers: IntArray | BoolArray) -> Act:
        """Return it in some of its frames."""
        return Act(self.aim, self.frames[numbers], self.weights[numbers], self.spots.at(numbers), self.keeps[numbers])

    def among(self, frames: IntArray) -> Act:
        """Return it in those of its frames that are among others (M,), ascending, by their numbers in these."""
        own = self.at(np.isin(self.frames, frames))
        return own._replace(frames=frames.searchsorted(own.frames))


def together(acts: Sequence[Act]) -> Act:
    """Return acts of one hand, or of heads, in frames that they do not share, as one."""
    frames = np.concatenate([act.frames for act in acts])
    spots = Spots.joined([act.spots for act in acts])
    weights, keeps = (np.concatenate(each) for each in zip(*((act.weights, act.keeps) for act in acts), strict=True))
    return Act(acts[0].aim, frames, weights, spots, keeps).at(frames.argsort())


@dataclass(frozen=True, eq=False)
class Pulls:
    """Acts on hands in F frames, by side. arms: of all hands.

    Where each hand comes depends on nothing but where it would be without, what pulls it, and where the other hand
    comes that leads what it follows. So it goes on without a jump where another hand begins to lead, or stops.
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
        """Return what pulls hands in some of the frames, ascending."""
        return Pulls(self.arms, {side: [act.among(frames) for act in acts] for side, acts in self.acts.items()},
                     len(frames))

    @cached_property
    def weights(self) -> dict[str, FloatArray]:
        """How much each hand is pulled, (F,) from 0 to 1."""
        return {side: self._weights(side, [act.weights for act in acts]) for side, acts in self.acts.items()}

    @cached_property
    def leans(self) -> dict[str, FloatArray]:
        """How much bodies lean for each hand, (F,) from 0 to 1: not for what another hand takes along as they do."""
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
    def _passes(self) -> int:
        """In the first pass hands come where the others have not moved; with each other one those follow."""
        follow = [side for side, acts in self.acts.items() if any(act.spots.leading for act in acts)]
        return 1 << len(follow)

    def palms(self, world: FloatArray) -> dict[str, FloatArray]:
        """Return where palms are, (F, 3); world: (F, J, 3, 4)."""
        return {side: arm.palms(world) for side, arm in self.arms.items()}

    def settled(self, world: FloatArray, own: Palms | None = None, *, leans: bool = False) -> tuple[Palms, Palms]:
        """Return where palms are to be that are pulled, (F, 3), and where that brings all hands, (F, 3, 4).

        world: (F, J, 3, 4) of bodies whose arms are not yet moved. own: (F, 3) from where palms are to be pulled; None:
        from where they are. leans: this is for bodies that lean; what other hands lead goes over softly, see Spots.
        """
        palms = self.palms(world)
        rests = {side: world[:, arm.limb.last] for side, arm in self.arms.items()}
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
        """Return by how much hands that lead, (F, 3), stay nearer to others that are to hold on to what they lead.

        So that these can. Where bodies lean for that, hands that are pulled stay where they are. goals: where palms are
        to be without that.
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
        """Return where a palm comes from its own position (F, 3); hands: where they are."""
        goal = own.copy()
        for act in self.acts[side]:
            there = act.spots.seen({other: hands[other][act.frames] for other in act.spots.leading}, softly=softly)
            goal[act.frames] += act.weights[:, None] * (there - goal[act.frames])
        return goal


def _moved(hands: FloatArray, by: FloatArray) -> FloatArray:
    """Return hands (F, 3, 4) moved by (F, 3)."""
    return np.concatenate((hands[..., :3], hands[..., 3:] + by[..., None]), axis=2)
