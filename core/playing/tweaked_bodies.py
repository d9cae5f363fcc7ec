"""Tweaks of bodies whose joints are already placed in model space: only what a tweak moves is worked out anew.

Most tweaks act for a moment, on a joint or two. What such a joint carries turns about it and goes along with it; all
else stays. For a few joints that costs far less than posing the body again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.hierarchy import Carried
from ..skeletons.skeleton import Skeleton
from .differences import Differences, Tweaked

_MOST: Final = 2.0
"""So many times as many joints as the body has are moved at most; from there on it is quicker to pose it again."""

_SHIFT: Final = 3
"""Values of one shift."""


class _Move(NamedTuple):
    """Joints (N,) that turn or are shifted at times with numbers (N,), each once.

    values: quaternions (N, 4) by which they turn further in their own axes, or vectors (N, 3) in the axes of their
    parents.
    """

    at: IntArray
    joints: IntArray
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Bodies:
    """What the joints of bodies do at F times: model_from_rest, v ↦ rotate(rotation, v) + position.

    rotations: (F, J, 4) unit wxyz; positions: (F, J, 3). Both are changed in place.
    """

    skeleton: Skeleton
    rotations: FloatArray
    positions: FloatArray

    def add(self, tweaks: Tweaked, times_s: FloatArray) -> bool:
        """Add what tweaks say at times (F,); False: nothing is added, since posing the bodies again is quicker.

        So it is where tweaks scale, and where they move most of the body again and again. Tweaks go by the time of the
        motion.
        """
        moves = [move for layer in tweaks.layers for move in _moves(layer, times_s)]
        carried, most = self.skeleton.carried, _MOST * len(times_s) * len(self.skeleton)
        moved = sum(int(carried.counts[move.joints].sum()) for move in moves)
        if moved > most or any(len(layer.scales) for layer in tweaks.layers):
            return False
        for move in moves:
            self._move(carried, *move)
        return True

    def _move(self, carried: Carried, at: IntArray, joints: IntArray, values: FloatArray) -> None:
        """Turn or shift joints, and all that they carry; see _Move."""
        pair, member = carried.by(joints)
        member = at[pair] * len(self.skeleton) + member
        rotations, positions = self.rotations.reshape(-1, 4), self.positions.reshape(-1, 3)
        if values.shape[1] == _SHIFT:
            positions[member] += rot.rotate(self._parents(at, joints), values)[pair]
            return
        own, rest = self.rotations[at, joints], self.skeleton.rest_world[joints, :, 3]
        head = self.positions[at, joints] + rot.rotate(own, rest)
        world = rot.multiply(own, self.skeleton.rest_world_rotations[joints])
        turns = rot.multiply(rot.multiply(world, values), rot.conjugate(world))
        back, turns = head - rot.rotate(turns, head), turns[pair]
        rotations[member] = rot.multiply(turns, rotations.take(member, axis=0))
        positions[member] = rot.rotate(turns, positions.take(member, axis=0)) + back[pair]

    def _parents(self, at: IntArray, joints: IntArray) -> FloatArray:
        """Return how the parents of joints (N,) are turned in model space at times with numbers (N,), (N, 4)."""
        parents = self.skeleton.parents[joints]
        found = rot.multiply(self.rotations[at, parents], self.skeleton.rest_world_rotations[parents])
        found[parents < 0] = rot.IDENTITY
        return found


def _moves(layer: Differences, times_s: FloatArray) -> Iterator[_Move]:
    """Yield what a layer does at times (F,), in turn."""
    if len(layer.rotations):
        at, track, turns = layer.turning(times_s)
        yield from _in_turn(at, layer.rotations.joints[track], turns)
    if len(layer.translations):
        shifts = layer.shifts(times_s)
        at, track = np.nonzero(shifts.any(axis=-1))
        yield from _in_turn(at, layer.translations.joints[track], shifts[at, track])


def _in_turn(at: IntArray, joints: IntArray, values: FloatArray) -> Iterator[_Move]:
    """Yield moves of joints (N,) at times with ascending numbers (N,), each time once at most in each."""
    turn = np.arange(len(at)) - at.searchsorted(at)
    for number in range(int(turn.max(initial=-1)) + 1):
        some = turn == number
        yield _Move(at[some], joints[some], values[some])
