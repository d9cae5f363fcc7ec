"""Props that hands bring to a place: they stand there as they stood before, or as a place on the own body does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, smoothstep
from .carried import Carried
from .cast import OwnPlace
from .reach import Reaching
from .turned_chain import turn_chain

if TYPE_CHECKING:
    from ...skeletons.skeleton import Pose
    from .pulls import Act

_EASED_S: Final = 0.5
"""Time in which a hand begins to turn once it has taken a prop, and stops once it has let go."""
_MOST_RAD: Final = np.radians(60.0)
"""Greatest angle by which a hand turns."""


class Tilt(NamedTuple):
    """The up direction of a prop, (N, 3) in the axes of the hand that holds it, and its weights, (N,), 0 to 1."""

    ups: FloatArray
    shares: FloatArray

    def at(self, numbers: IntArray | BoolArray) -> Tilt:
        """Return the values in some frames."""
        return Tilt(self.ups[numbers], self.shares[numbers])


def tilt_of(carried: Iterable[Carried], hand: str, times_s: FloatArray, up: FloatArray) -> Tilt | None:
    """Return how a hand holds what it carries at times (N,), None if it never holds anything.

    up: (3,) of the model: what was up when the prop was first taken is up on it.
    """
    ups, shares = np.tile(up, (len(times_s), 1)), np.zeros(len(times_s))
    for each in carried:
        ends_s = [*(phase.begin_s for phase in each.phases[1:]), np.inf]
        for phase, end_s in zip(each.phases, ends_s, strict=True):
            if phase.hand != hand:
                continue
            own = smoothstep(times_s, phase.begin_s, phase.begin_s + _EASED_S) * (
                1.0 - (smoothstep(times_s, end_s, end_s + _EASED_S) if np.isfinite(end_s) else 0.0))
            ups[own > shares] = phase.in_hand[:, :3] @ up
            shares = np.maximum(shares, own)
    return Tilt(ups, shares) if shares.any() else None


def turn_hands(pose: Pose, world: FloatArray, acts: Sequence[Act], arms: dict[str, Reaching],
               joints: dict[str, int], up: FloatArray) -> bool:
    """Turn hands in poses (F, J, …), in place, so that their props stand at places; tell if any turns.

    On a place of the scene, up on a prop is up (3,) of the model; on one of the own body, it is what that place says.
    world: (F, J, 3, 4) of the poses. acts: in order, later ones override. joints: by name, that have places.
    """
    has_turned = False
    for side, arm in arms.items():
        own, turns = [act for act in acts if act.aim.hand == side], np.zeros((len(pose.rotations), 3))
        free = np.ones(len(turns))
        for act in reversed(own):
            if act.tilt is not None and (goal := _goal(act, world, joints, up)) is not None:
                now = _unit(np.einsum("fij,fj->fi", world[act.frames, arm.limb.last, :, :3], act.tilt.ups))
                turn = rot.log(rot.shortest_arc(now, goal))
                size = np.linalg.norm(turn, axis=1)
                share = act.weights * act.tilt.shares * free[act.frames] * np.minimum(
                    _MOST_RAD / np.maximum(size, 1e-30), 1.0)
                turns[act.frames] += share[:, None] * turn
            free[act.frames] *= 1.0 - act.weights
        if turns.any():
            has_turned = True
            turn_chain(arm.body.skeleton, pose, world, np.array([arm.limb.last]), np.ones(1), turns)
    return has_turned


def _goal(act: Act, world: FloatArray, joints: dict[str, int], up: FloatArray) -> FloatArray | None:
    """Return the wanted up direction of a prop at the place of an act, (N, 3) or (1, 3); None if any will do."""
    target = act.aim.target
    if not isinstance(target, OwnPlace):
        return up[None]
    return None if target.up is None else _unit(world[act.frames, joints[target.joint], :, :3] @ np.array(target.up))


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-30))
