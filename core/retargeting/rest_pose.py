"""Rest poses of different characters: T-pose, A-pose, arms hanging down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons import hanim
from ..skeletons.skeleton import Skeleton
from .matching import Pairing


def rest_corrections(source: Skeleton, target: Skeleton, pairs: Pairing, above: IntArray, up: FloatArray | None = None,
                     soles: Mapping[str, FloatArray] | None = None) -> FloatArray:
    """Return for each pair the rotation C (P, 4), in model space, from the target's rest to the source's.

    above: (P,) the pair whose correction each takes over, −1 for none. up: (3,) in model space, where it is known.
    soles: for ankles of the source the direction (3,) away from the ground that their soles have at rest; up where
    nothing is said.
    Limbs are laid along the source's limbs, each segment by the shortest arc after its parent's turn, so that
    clips fit T-poses, A-poses and hanging arms alike. Hands are laid palm on palm where both have two fingers, else
    they follow the forearm. Feet are laid sole on sole, their toes in the same direction. The trunk stays as it is,
    unless the source's leans by itself and the target's does not: then it is laid along it.
    """
    pair_of = {name: p for p, name in enumerate(pairs.meant) if name}
    corrections = rot.identities(len(pairs))
    from_position, to_position = target.rest_world[pairs.target, :, 3], source.rest_world[pairs.source, :, 3]
    neck = next((pair_of[name] for name in _ABOVE_TRUNK if name in pair_of), None)
    for p in _downwards(above):
        name = pairs.meant[p] or ""
        if name in _FEET:
            if up is not None:
                toes = pair_of.get(f"{name[:2]}metatarsal", p)
                there, here = (position[toes] - position[p] for position in (to_position, from_position))
                corrections[p] = _foot(there, here, (soles or {}).get(name, up), up)
            continue
        if above[p] >= 0:
            corrections[p] = corrections[above[p]]
        is_lowest = name in _TRUNK and (above[p] < 0 or pairs.meant[above[p]] not in _TRUNK)
        if is_lowest and neck is not None and up is not None:
            there, here = (position[neck] - position[p] for position in (to_position, from_position))
            corrections[p] = rot.multiply(_lean(there, rot.rotate(corrections[p], here), up), corrections[p])
        if name in _HANDS and len(knuckles := [pair_of[k] for k in _knuckles(name) if k in pair_of]) > 1:
            palms = [_palm(position[p], position[knuckles]) for position in (to_position, from_position)]
            if palms[0] is not None and palms[1] is not None:
                corrections[p] = rot.from_matrix(palms[0] @ palms[1].T)
            continue
        end = pair_of.get(_NEXT_IN_LIMB.get(name, ""))
        if end is not None:
            now = rot.rotate(corrections[p], from_position[end] - from_position[p])
            corrections[p] = rot.multiply(rot.shortest_arc(now, to_position[end] - to_position[p]), corrections[p])
    return corrections


def _lean(there: FloatArray, here: FloatArray, up: FloatArray) -> FloatArray:
    """Return the turn (4,) that lays one trunk (3,) along another, if only that one leans clearly; else none.

    A target that leans itself, as an old man does, keeps its bearing.
    """
    leans, own = (float(np.degrees(rot.angle_between(rot.shortest_arc(up, trunk), rot.IDENTITY)))
                  for trunk in (there, here))
    share = float(np.clip((leans - own - _LEANS_DEG[0]) / (_LEANS_DEG[1] - _LEANS_DEG[0]), 0.0, 1.0))
    return rot.exp(share * rot.log(rot.shortest_arc(here, there))) if own < _LEANS_DEG[1] else rot.IDENTITY


def _foot(there: FloatArray, here: FloatArray, sole: FloatArray, up: FloatArray) -> FloatArray:
    """Return the rotation (4,) that lays a foot, from ankle to toes, on another's: first its sole, then its toes."""
    tilt = rot.shortest_arc(up, sole)
    now = rot.rotate(tilt, here - (here @ up) * up)
    then = there - (there @ sole) * sole
    if min(np.linalg.norm(now), np.linalg.norm(then)) <= _LEVEL * min(np.linalg.norm(here), np.linalg.norm(there)):
        return tilt  # toes that point up or down, or that nobody knows
    return rot.multiply(rot.shortest_arc(now, then), tilt)


def _palm(wrist: FloatArray, knuckles: FloatArray) -> FloatArray | None:
    """Return axes (3, 3) of a hand: along it, through its palm, across; None where wrist and knuckles are in line."""
    along, across = knuckles.mean(axis=0) - wrist, knuckles[0] - knuckles[-1]
    through = np.cross(across, along)
    if np.linalg.norm(through) <= _LEVEL * np.linalg.norm(across) * np.linalg.norm(along):
        return None
    along, through = along / np.linalg.norm(along), through / np.linalg.norm(through)
    return np.stack((along, through, np.cross(along, through)), axis=1)


def _knuckles(wrist: str) -> list[str]:
    return [f"{wrist[:2]}{finger}1" for finger in ("index", "middle", "ring", "pinky")]


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
_HANDS: Final = frozenset(f"{side}_wrist" for side in "lr")
_TRUNK: Final = frozenset(hanim.SPINE[:17])
"""From the lumbar to the thoracic vertebrae."""
_ABOVE_TRUNK: Final = (*hanim.SPINE[17:], "skullbase")
_LEANS_DEG: Final = (9.0, 12.0)
"""Bodies that stand straight differ by less than the first; from the second on all of a lean is taken over."""
_LEVEL: Final = 0.05
"""Sine below which two directions are one."""


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
    position = skeleton.rest_world[joints, :, 3]
    return float(np.linalg.norm(position[ends[:, 1]] - position[ends[:, 0]], axis=1).sum())
