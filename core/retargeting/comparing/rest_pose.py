"""Rest poses of different characters: T-pose, A-pose, arms hanging down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...skeletons import hanim
from ...skeletons.skeleton import Skeleton
from .matching import Pairing
from .palms import hand_axes, knuckle_names


def rest_corrections(source: Skeleton, target: Skeleton, pairs: Pairing, above: IntArray, up: FloatArray | None = None,
                     backs: Mapping[str, tuple[FloatArray, FloatArray]] | None = None) -> FloatArray:
    """Return for each pair the rotation C (P, 4), in model space, from the target's rest to the source's.

    above: (P,) the pair from which each starts with its correction, −1 for none. up: (3,) in model space, if known.
    backs: by wrists' names, directions (3,) of the backs of hands of source and target, if both are known.

    Limbs are aligned with the source's limbs: each segment follows its parent's turn, then turns by the shortest arc.
    So clips fit T-poses, A-poses and hanging arms alike. Upper arms are twisted so that their elbows bend about the
    same axis, if both rest bent. Hands are aligned by their backs, and along the knuckles that both have, or else the
    forearm. A hand with an unknown back follows the forearm. Feet are aligned by soles and toes. The trunk stays,
    unless only the source's leans; then the target's is aligned with it.
    """
    pair_of = {name: p for p, name in enumerate(pairs.meant) if name}
    backs = backs or {}
    corrections = rot.identities(len(pairs))
    from_position, to_position = target.rest_world[pairs.target, :, 3], source.rest_world[pairs.source, :, 3]
    neck = next((pair_of[name] for name in _ABOVE_TRUNK if name in pair_of), None)
    for p in _downwards(above):
        name = pairs.meant[p] or ""
        if name in _FEET:
            if up is not None:
                toes = pair_of.get(f"{name[:2]}metatarsal", p)
                there, here = (position[toes] - position[p] for position in (to_position, from_position))
                corrections[p] = _foot(there, here, up)
            continue
        if above[p] >= 0:
            corrections[p] = corrections[above[p]]
        is_lowest = name in _TRUNK and (above[p] < 0 or pairs.meant[above[p]] not in _TRUNK)
        if is_lowest and neck is not None and up is not None:
            there, here = (position[neck] - position[p] for position in (to_position, from_position))
            corrections[p] = rot.multiply(_lean(there, rot.rotate(corrections[p], here), up), corrections[p])
        if name in backs:
            palms = [hand_axes(_along_hand(name, position, pair_of), back) for position, back in
                     zip((to_position, from_position), backs[name], strict=True)]
            if palms[0] is not None and palms[1] is not None:
                corrections[p] = rot.from_matrix(palms[0] @ palms[1].T)
            continue
        end = pair_of.get(_NEXT_IN_LIMB.get(name, ""))
        if end is not None:
            now = rot.rotate(corrections[p], from_position[end] - from_position[p])
            corrections[p] = rot.multiply(rot.shortest_arc(now, to_position[end] - to_position[p]), corrections[p])
            further = pair_of.get(_NEXT_IN_LIMB.get(pairs.meant[end] or "", ""))
            if name in _UPPER_ARMS and further is not None:
                there, here = (position[[p, end, further]] for position in (to_position, from_position))
                corrections[p] = rot.multiply(_elbow(there, rot.rotate(corrections[p], here)), corrections[p])
    return corrections


def _elbow(there: FloatArray, here: FloatArray) -> FloatArray:
    """Return the twist (4,) of an upper arm that aligns its elbow's axis with another's; partial if one is little bent.

    there, here: shoulder, elbow and wrist (3, 3) of the other arm and of this one. Both upper arms point the same way.
    """
    upper = there[1] - there[0]
    axes = [np.cross(arm[1] - arm[0], arm[2] - arm[1]) for arm in (there, here)]
    sines = [np.linalg.norm(axis) / max(np.prod(np.linalg.norm(np.diff(arm, axis=0), axis=1)), 1e-30)
             for axis, arm in zip(axes, (there, here), strict=True)]
    share = float(np.clip((min(sines) - _BENT[0]) / (_BENT[1] - _BENT[0]), 0.0, 1.0))
    if share <= 0.0:
        return rot.IDENTITY
    angle = np.arctan2(np.cross(axes[1], axes[0]) @ upper / np.linalg.norm(upper), axes[1] @ axes[0])
    return rot.from_axis_angle(upper, np.asarray(share * angle))


def _lean(there: FloatArray, here: FloatArray, up: FloatArray) -> FloatArray:
    """Return the turn (4,) that aligns a trunk (3,) with another, if only the other clearly leans; else the identity.

    there, here: (3,) directions of the other trunk and of this one. A body that leans by itself, such as that of an old
    man, keeps its posture.
    """
    leans, own = (float(np.degrees(rot.angle_between(rot.shortest_arc(up, trunk), rot.IDENTITY)))
                  for trunk in (there, here))
    share = float(np.clip((leans - own - _LEANS_DEG[0]) / (_LEANS_DEG[1] - _LEANS_DEG[0]), 0.0, 1.0))
    return rot.exp(share * rot.log(rot.shortest_arc(here, there))) if own < _LEANS_DEG[1] else rot.IDENTITY


def _foot(there: FloatArray, here: FloatArray, up: FloatArray) -> FloatArray:
    """Return the rotation (4,) that aligns a foot, from ankle to toes, with another's, both with level soles."""
    now, then = (foot - (foot @ up) * up for foot in (here, there))
    if min(np.linalg.norm(now), np.linalg.norm(then)) <= _LEVEL * min(np.linalg.norm(here), np.linalg.norm(there)):
        return rot.IDENTITY  # toes that point up or down, or are unknown
    return rot.shortest_arc(now, then)


def _along_hand(wrist: str, position: FloatArray, pair_of: Mapping[str, int]) -> FloatArray:
    """Return the direction (3,) from a wrist to the middle of its knuckles, else that of its forearm."""
    at = position[pair_of[wrist]]
    knuckles = [pair_of[name] for name in knuckle_names(wrist[0]) if name in pair_of]
    if knuckles:
        return np.asarray(position[knuckles].mean(axis=0) - at)
    return np.asarray(at - position[pair_of.get(f"{wrist[0]}_elbow", pair_of[wrist])])


def _downwards(above: IntArray) -> list[int]:
    """Return pairs in an order in which each comes after the one above it."""
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
_UPPER_ARMS: Final = frozenset(f"{side}_shoulder" for side in "lr")
_BENT: Final = (0.15, 0.3)
"""Sines of the bend of elbows at rest: below the first their axis is unknown, from the second on it is certain."""
_TRUNK: Final = frozenset(hanim.SPINE[:17])
"""From the lumbar to the thoracic vertebrae."""
_ABOVE_TRUNK: Final = (*hanim.SPINE[17:], "skullbase")
_LEANS_DEG: Final = (9.0, 12.0)
"""Leans of straight bodies differ by less than the first; from the second on, a lean is copied completely."""
_LEVEL: Final = 0.05
"""Sine below which two directions are parallel."""


def leg_ratio(source: Skeleton, target: Skeleton, pairs: Pairing, above: IntArray) -> float:
    """Return target size ÷ source size: by the lengths of legs if both have them, else of all paired bones."""
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
