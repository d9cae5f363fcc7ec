"""Rest poses of different characters: T-pose, A-pose, arms hanging down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skeleton import Skeleton
from .matching import Pairing


def rest_corrections(source: Skeleton, target: Skeleton, pairs: Pairing, above: IntArray) -> FloatArray:
    """Return for each pair the rotation C (P, 4), in model space, from the target's rest to the source's.

    above: (P,) the pair whose correction each takes over, −1 for none.
    Limbs are laid along the source's limbs, each segment by the shortest way after its parent's turn, so that
    clips go between T-poses, A-poses and hanging arms. Hands follow the forearm; feet, which stand on the ground in
    every rest pose, and the trunk stay as they are.
    """
    pair_of = {name: p for p, name in enumerate(pairs.meant) if name}
    corrections = rot.identities(len(pairs))
    from_place, to_place = target.rest_world[pairs.target, :, 3], source.rest_world[pairs.source, :, 3]
    for p in _downwards(above):
        name = pairs.meant[p]
        if above[p] >= 0 and name not in _FEET:
            corrections[p] = corrections[above[p]]
        end = pair_of.get(_NEXT_IN_LIMB.get(name or "", ""))
        if end is not None:
            now = rot.rotate(corrections[p], from_place[end] - from_place[p])
            corrections[p] = rot.multiply(rot.shortest_arc(now, to_place[end] - to_place[p]), corrections[p])
    return corrections


def _downwards(above: IntArray) -> list[int]:
    """Return pairs so that each comes after the one above it."""
    order: list[int] = []
    waiting = list(range(len(above)))
    done = {-1}
    while waiting:
        ready = [p for p in waiting if int(above[p]) in done]
        order += ready or waiting
        done.update(order)
        waiting = [p for p in waiting if p not in done]
    return order


def _limbs() -> dict[str, str]:
    """Return for each joint of a limb the one at the end of its segment."""
    chains: list[tuple[str, ...]] = [("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"),
                                     ("thumb1", "thumb2", "thumb3")]
    chains += [tuple(f"{finger}{i}" for i in range(4)) for finger in ("index", "middle", "ring", "pinky")]
    return {f"{side}_{a}": f"{side}_{b}" for side in "lr" for chain in chains for a, b in pairwise(chain)}


_NEXT_IN_LIMB: Final = _limbs()
_FEET: Final = frozenset(f"{side}_ankle" for side in "lr")


def leg_ratio(source: Skeleton, target: Skeleton, pairs: Pairing, above: IntArray) -> float:
    """Return how much larger the target is: by its legs, where both have them, else by all paired bones."""
    pair_of = {name: p for p, name in enumerate(pairs.meant) if name}
    segments = [(f"{side}_{a}", f"{side}_{b}") for side in "lr" for a, b in (("hip", "knee"), ("knee", "ankle"))]
    legs = [(pair_of[a], pair_of[b]) for a, b in segments if a in pair_of and b in pair_of]
    bones = legs or [(int(above[p]), p) for p in range(len(pairs)) if above[p] >= 0]
    before, after = (_total(skeleton, joints, bones) for skeleton, joints in
                     ((source, pairs.source), (target, pairs.target)))
    return after / before if before > 0.0 and after > 0.0 else 1.0


def _total(skeleton: Skeleton, joints: IntArray, bones: Sequence[tuple[int, int]]) -> float:
    ends = np.array(bones, dtype=np.int64).reshape(-1, 2)
    place = skeleton.rest_world[joints, :, 3]
    return float(np.linalg.norm(place[ends[:, 1]] - place[ends[:, 0]], axis=1).sum())
