"""What is the same for all keys: pairs of joints, the paths between them, and the turns between rest poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import steps_between
from ..skeletons.skeleton import Skeleton
from .comparing.matching import SAME_POSITION, Pairing
from .comparing.rest_pose import leg_ratio, rest_corrections
from .doubles import doubles


class Steps(NamedTuple):
    """The path from one source joint to another: up through `up`, then down through `down`, both topmost first."""

    up: tuple[int, ...]
    down: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is the same for all keys.

    pairs: with the doubles. above: (P,) the pair of each target joint's nearest paired ancestor, or −1. steps: for each
    pair the path in the source from that of `above` to it. corrections: (P, 4), see rest_corrections. ratio: target
    size ÷ source size. is_own: the target is the source's own skeleton, up to axes and one scale. carried: pairs (C,
    2): the first's target joint is the double of the second's. doubles: see Retargeted.
    """

    pairs: Pairing
    above: IntArray
    steps: tuple[Steps, ...]
    corrections: FloatArray
    ratio: float
    is_own: bool
    carried: IntArray
    doubles: dict[int, int]

    @classmethod
    def as_own(cls, source: Skeleton, target: Skeleton, pairs: Pairing) -> Plan | None:
        """Plan for a target that is the source's own skeleton; return None if it is another one."""
        above = _paired_ancestors(target, pairs)
        steps, ratio = _all_steps(source, pairs, above), _ratio(source, target, pairs, above)
        if not _is_own(source, target, pairs, steps, above, ratio):
            return None
        return cls(pairs, above, steps, rot.identities(len(pairs)), ratio, True, np.zeros((0, 2), np.int64), {})

    @classmethod
    def of(cls, source: Skeleton, target: Skeleton, pairs: Pairing, skin: BoolArray, up: FloatArray | None,
           backs: Mapping[str, tuple[FloatArray, FloatArray]]) -> Plan:
        """Plan for another skeleton. skin: (J,) joints that deform its skin. up and backs: see rest_corrections."""
        above = _paired_ancestors(target, pairs)
        ratio = _ratio(source, target, pairs, above)
        found = doubles(target, pairs, skin)
        followed = {joint: int(pairs.target[p]) for joint, p in found.items()}
        if found:
            pairs = pairs.with_joints(found)
            above = _paired_ancestors(target, pairs)
        steps = _all_steps(source, pairs, above)
        rows = np.array(list(followed.items()), dtype=np.int64).reshape(-1, 2)
        carried = np.searchsorted(pairs.target, rows)
        over = above.copy()
        over[carried[:, 0]] = carried[:, 1]
        return cls(pairs, above, steps, rest_corrections(source, target, pairs, over, up, backs), ratio,
                   False, carried, followed)

    def translated(self) -> IntArray:
        """Return the pairs (N,) that are translated as well as rotated.

        None of them if one of both bodies has no legs.
        """
        if self.is_own:
            return np.arange(len(self.pairs))
        trunk: list[int] = []
        has_legs = not {"l_hip", "r_hip"}.isdisjoint(self.pairs.meant)
        for top in np.setdiff1d(np.flatnonzero(self.above < 0), self.carried[:, 0]):
            if not has_legs and self.pairs.meant[top] is not None:
                continue
            chain = [int(top)]
            while len(below := np.flatnonzero(self.above == chain[-1])) == 1:
                chain.append(int(below[0]))
            trunk += chain if len(below) else chain[:1]
        return np.array(trunk, dtype=np.int64)

    def is_mixed(self, p: int) -> bool:
        """Return whether a pair, or the one above it, blends two source joints."""
        return bool(self.pairs.share[p] > 0.0 or (self.above[p] >= 0 and self.pairs.share[self.above[p]] > 0.0))


def _paired_ancestors(target: Skeleton, pairs: Pairing) -> IntArray:
    pair_of = np.full(len(target), -1, dtype=np.int64)
    pair_of[pairs.target] = np.arange(len(pairs))
    nearest = np.full(len(target), -1, dtype=np.int64)
    for joint, parent in enumerate(target.parents):
        if parent >= 0:
            nearest[joint] = pair_of[parent] if pair_of[parent] >= 0 else nearest[parent]
    return nearest[pairs.target]


def _ratio(source: Skeleton, target: Skeleton, pairs: Pairing, above: IntArray) -> float:
    ratio = leg_ratio(source, target, pairs, above)
    return 1.0 if abs(ratio - 1.0) < SAME_POSITION else ratio


def _all_steps(source: Skeleton, pairs: Pairing, above: IntArray) -> tuple[Steps, ...]:
    return tuple(Steps(*steps_between(source.parents, int(pairs.source[above[p]]) if above[p] >= 0 else -1, int(s)))
                 for p, s in enumerate(pairs.source))


def _is_own(source: Skeleton, target: Skeleton, pairs: Pairing, steps: Sequence[Steps], above: IntArray,
            ratio: float) -> bool:
    """Return whether paired joints have the same parents and the same rest positions on both sides."""
    parents = target.parents[pairs.target]
    is_direct = not pairs.share.any() and all(
        step.up == () and len(step.down) == 1 and (above[p] < 0) == (parents[p] < 0)
        and (above[p] < 0 or pairs.target[above[p]] == parents[p]) for p, step in enumerate(steps))
    here, there = source.rest_world[pairs.source], target.rest_world[pairs.target]
    size = np.ptp(there[:, :, 3], axis=0).max() or np.abs(there[:, :, 3]).max()  # a single joint has no extent
    stretch = np.linalg.norm(here[:, :, :3], axis=1).prod(axis=1) - np.linalg.norm(there[:, :, :3], axis=1).prod(axis=1)
    return bool(is_direct and np.abs(there[:, :, 3] - ratio * here[:, :, 3]).max() <= SAME_POSITION * size
                and np.abs(stretch).max() <= SAME_POSITION)
