"""Tweaks added to bodies whose joints are already in model space. Only joints that a tweak moves are computed.

Most tweaks act for a moment on a joint or two. Its descendants move with it, all other joints stay. For few joints this
costs far less than posing the body again.
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
"""Greatest number of joints moved in a pose, as a multiple of the body's joints; beyond it, posing again is faster."""

_SHIFT: Final = 3
"""Components of a translation."""


class _Move(NamedTuple):
    """N moves of joints (N,) at time indices (N,), with at most one at each time.

    values: quaternions (N, 4) that turn the joints in their own axes, or vectors (N, 3) that shift them in their
    parents' axes.
    """

    at: IntArray
    joints: IntArray
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Bodies:
    """Poses of bodies at F times in model space: model_from_rest, v ↦ rotate(rotation, v) + position.

    rotations: (F, J, 4) unit wxyz. positions: (F, J, 3). Both are changed in place.
    """

    skeleton: Skeleton
    rotations: FloatArray
    positions: FloatArray

    def add(self, tweaks: Tweaked, times_s: FloatArray) -> bool:
        """Add tweaks at the motion's times (F,). Return False, and add nothing, if the bodies must be posed again.

        That is the case for tweaks that scale. It is also the case where posing again is faster, since tweaks move
        most of the body several times.
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
        """Turn or shift joints with all their descendants; see _Move."""
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
        """Return the rotations of the parents of joints (N,) in model space at time indices (N,), (N, 4)."""
        parents = self.skeleton.parents[joints]
        found = rot.multiply(self.rotations[at, parents], self.skeleton.rest_world_rotations[parents])
        found[parents < 0] = rot.IDENTITY
        return found


def _moves(layer: Differences, times_s: FloatArray) -> Iterator[_Move]:
    """Yield the moves of a layer at times (F,), in the order in which they must be made."""
    if len(layer.rotations):
        at, track, turns = layer.turning(times_s)
        yield from _in_turn(at, layer.rotations.joints[track], turns)
    if len(layer.translations):
        shifts = layer.shifts(times_s)
        at, track = np.nonzero(shifts.any(axis=-1))
        yield from _in_turn(at, layer.translations.joints[track], shifts[at, track])


def _in_turn(at: IntArray, joints: IntArray, values: FloatArray) -> Iterator[_Move]:
    """Split moves of joints (N,), at ascending time indices (N,), into moves with each time at most once."""
    turn = np.arange(len(at)) - at.searchsorted(at)
    for number in range(int(turn.max(initial=-1)) + 1):
        some = turn == number
        yield _Move(at[some], joints[some], values[some])
