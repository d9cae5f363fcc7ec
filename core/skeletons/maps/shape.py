"""Detect limbs by shape only, not by names: by hierarchy and lengths; left and right by the pose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from ..posture import STANDS, measure_posture
from .body import JOINT_OF_PART, Tree, forward_by_shape, is_upright, upwards

_ALIKE: Final = 0.1
"""Limbs of one pair have segments whose lengths differ by less than this share of the limb."""
_APART: Final = 1e-3
"""Share of the body's size: limbs whose joints are all nearer to each other than this are doubles."""
_SHORTEST_LEG: Final = 0.6
"""Least length of a leg, as a share of the longest limb."""
_LEAST_LEG: Final = 0.2
"""Least length of a leg, as a share of the body's size; shorter limbs may be the fingers of a hand."""
_WHICH_LEGS: Final = ((_SHORTEST_LEG, _LEAST_LEG, True), (0.3, 0.08, True), (_SHORTEST_LEG, _LEAST_LEG, False))
"""Which legs are looked for, one after the other: the least lengths, and whether no joint is lower than their ends.

Shorter ones are legs only if they reach the ground, as those of toys do. Then ears are not arms, nor hanging arms legs.
"""
_SHORTEST_ARM: Final = 0.35
"""Least length of an arm, as a share of a leg; shorter limbs, as in a face, are no arms."""
_NEIGHBOURS: Final = 4
"""With so many of the limbs next in length on one joint a limb is compared."""
_MOST_PAIRS: Final = 24
_LIMB_JOINTS: Final = 3
_ON_GROUND: Final = 0.05
"""Share of the body's size by which no joint is lower than such a leg."""
_LEG_COS: Final = np.cos(np.radians(30.0))
_FOOT_COS: Final = np.cos(np.radians(35.0))
"""Legs bend by less at rest, feet by more."""
_THIGH: Final = 0.8
"""Least length of a thigh, as a share of the shin; collarbones are shorter."""
_ASIDE: Final = 0.03
"""Share of a segment: joints nearer to it than this are in line."""
_CLOSE: Final = 0.6
"""Share of its first segment: a limb that begins nearer to its twin begins with a collarbone, or is a leg."""
_COLLAR: Final = 0.85
"""A limb that begins there is worth so much less."""
_PASSED: Final = 0.12
"""Score lost by each joint that is passed through: neither collarbones nor elbows are."""
_EARLY: Final = 0.2
"""A joint stands between others where it lies in line with them and nearer to one than this share of the distance."""
_IN_LINE: Final = 0.999


def limbs_by_shape(tree: Tree, sides: Sequence[str]) -> dict[str, int]:
    """Return hips, knees, ankles, toes, collarbones, shoulders, elbows, wrists and head by hierarchy and lengths.

    sides: "l", "r" or "" for each joint, by its name. If names do not show which side is left, toes and knees, which
    point to the front, and elbows, which point to the back, do. A body has two pairs of similar chains of at least
    three joints, one pair lower on the trunk than the other, and stands upright. The result is empty if there is none.
    """
    if tree.size <= 0.0:
        return {}
    plain = without_between(tree)
    pairs = [_from_the_hip(plain, limbs) for limbs in _pairs(plain)]
    for shortest, least, reaches_ground in _WHICH_LEGS:
        for legs, arms in product(pairs, repeat=2):
            if (legs is not arms and legs.length >= max(shortest * pairs[0].length, least * plain.size)
                    and arms.length > _SHORTEST_ARM * legs.length and plain.shared((legs.top, arms.top)) >= 0
                    and not plain.is_above(arms.top, legs.top) and not _has_more(pairs, legs, arms)):
                parts = _as_body(plain, legs, arms, sides)
                if (parts and is_upright(plain, parts) and _stands(plain, parts)
                        and (not reaches_ground or _is_lowest(plain, parts))):
                    return parts
    return {}


def _is_lowest(tree: Tree, parts: dict[str, int]) -> bool:
    """Tell whether a body's legs reach down to its lowest joints, as legs on which it stands do, even short ones."""
    up = upwards(tree, parts)
    if up is None:
        return False
    heights = tree.positions @ (up / np.linalg.norm(up))
    ends = [heights[[ankle, *tree.below(ankle)]].min() for ankle in (parts["l_ankle"], parts["r_ankle"])]
    return bool(max(ends) - heights.min() <= _ON_GROUND * tree.size)


def _from_the_hip(tree: Tree, limbs: _Limbs) -> _Limbs:
    """Return limbs that begin one joint earlier, if their last segment is a foot, which bends away from a straight leg.

    By lengths alone, a foot that is as long as the shin would be the shin, and the shin the thigh.
    """
    first, bend, end = limbs.at[:3]
    straight = [_segments(tree.positions[chain])[1] for chain in limbs.chains] if first else []
    for before in range(first):
        if not all(each[before, first] for each in straight):
            continue
        places = [tree.positions[[chain[at] for at in (before, first, bend, end)]] for chain in limbs.chains]
        steps = np.diff(np.array(places), axis=1)
        long = np.linalg.norm(steps, axis=2)
        cosines = (steps[:, :-1] * steps[:, 1:]).sum(axis=2) / np.maximum(long[:, :-1] * long[:, 1:], 1e-30)
        away = np.linalg.norm(places[0][0] - places[1][0])
        if (cosines[:, 0] > _LEG_COS).all() and (cosines[:, 1] < _FOOT_COS).all() and (
                long[:, 0] > _THIGH * long[:, 1]).all() and away > _CLOSE * long[0, 0]:
            at = (before, first, bend, bend + 1)
            return replace(limbs, at=at, length=float(long[0, :2].sum()))
    return limbs


def _has_more(pairs: Sequence[_Limbs], legs: _Limbs, arms: _Limbs) -> bool:
    """Tell whether more limbs as long as the legs begin at the same joint, as in insects."""
    taken = {chain[0] for limbs in (legs, arms) for chain in limbs.chains}
    return any(limbs.top == legs.top and limbs.length >= _SHORTEST_LEG * legs.length
               and not taken.intersection(chain[0] for chain in limbs.chains) for limbs in pairs)


def has_limbs(tree: Tree) -> bool:
    """Return whether there are two pairs of limbs that may belong to a body, in any pose, even if limbs coincide."""
    return tree.size > 0.0 and len(_pairs(tree, apart=False)) > 1


def has_limbs_besides(tree: Tree, parts: Mapping[str, int]) -> bool:
    """Return whether there are further limbs that may belong to a body, in addition to the known parts."""
    known = [parts[f"{side}_{part}"] for side in "lr" for part in ("hip", "shoulder") if f"{side}_{part}" in parts]
    taken = {joint for top in known for joint in (*tree.path_to_root(top), top, *tree.below(top))}
    lengths = [limbs.length for limbs in _pairs(tree, apart=False)
               if not taken.intersection(chain[i] for chain in limbs.chains for i in limbs.at)]
    reach = max((tree.reaches[top] for top in known), default=0.0)
    return max(lengths, default=0.0) > _SHORTEST_ARM * reach


def _stands(tree: Tree, parts: Mapping[str, int]) -> bool:
    """Tell whether legs and trunk have the posture of a standing body; bones in a pile have not."""
    posture = measure_posture(tree.positions[None], {JOINT_OF_PART[part]: joint for part, joint in parts.items()})
    return posture is not None and bool(posture.upright[0] >= STANDS)


def without_between(tree: Tree) -> Tree:
    """Return the tree with joints made roots that lie on the line between two others and near one of these."""
    parents = tree.parents.copy()
    for joint, parent in enumerate(tree.parents.tolist()):
        if parent < 0 or len(tree.children[joint]) != 1:
            continue
        child = tree.children[joint][0]
        before, after = np.diff(tree.positions[[parents[joint], joint, child]], axis=0)
        lengths = float(np.linalg.norm(before)), float(np.linalg.norm(after))
        is_in_line = before @ after >= _IN_LINE * lengths[0] * lengths[1]
        if is_in_line and 0.0 < lengths[0] < _EARLY * (lengths[0] + lengths[1]):
            parents[child], parents[joint] = parents[joint], -1
    return Tree(parents, tree.positions)


@dataclass(frozen=True, eq=False)
class _Limbs:
    """Two chains of similar lengths below one joint, `top`.

    at: indices in the chains at which the limb begins, bends and ends, and the next one, if any; length: of its two
    segments.
    """

    top: int
    chains: tuple[list[int], list[int]]
    at: tuple[int, ...]
    length: float


def _pairs(tree: Tree, apart: bool = True) -> list[_Limbs]:
    """Return pairs of similar limbs, the longest first; apart: only pairs whose joints are in different positions."""
    found = []
    for top, below in enumerate(tree.children):
        chains = [chain for child in below if len(chain := tree.chain(child)) >= _LIMB_JOINTS] if len(below) > 1 else []
        lengths = [_lengths(tree, chain) for chain in chains]
        order = sorted(range(len(chains)), key=lambda i: float(lengths[i].sum()))
        for n, i in enumerate(order):
            for j in order[n + 1:n + 1 + _NEIGHBOURS]:
                if _is_alike(lengths[i], lengths[j]) and (not apart or _is_apart(tree, chains[i], chains[j])):
                    at, length = _limb(tree, chains[i], chains[j])
                    found.append(_Limbs(top, (chains[i], chains[j]), at, length))
    return sorted(found, key=lambda limbs: -limbs.length)[:_MOST_PAIRS]


def _lengths(tree: Tree, chain: list[int]) -> np.ndarray:
    return np.asarray(np.linalg.norm(np.diff(tree.positions[chain], axis=0), axis=1))


def _is_alike(one: np.ndarray, other: np.ndarray) -> bool:
    return len(one) == len(other) and bool(np.abs(one - other).max() <= _ALIKE * max(one.sum(), other.sum()))


def _is_apart(tree: Tree, one: list[int], other: list[int]) -> bool:
    return bool(np.linalg.norm(tree.positions[one] - tree.positions[other], axis=1).max() > _APART * tree.size)


def _limb(tree: Tree, chain: Sequence[int], twin: Sequence[int]) -> tuple[tuple[int, ...], float]:
    """Return the indices in a chain where a limb begins, bends and ends, and the next one, if any; and its length.

    The best choice has a long shorter segment and a similar other one. Joints within a segment, such as twist bones,
    are skipped, but as few as possible. A limb that begins close to its twin would begin with a collarbone, and counts
    less.
    """
    positions = tree.positions[list(chain)]
    apart = np.linalg.norm(positions - tree.positions[list(twin)], axis=1)
    segments, is_straight = _segments(positions)
    segments = np.where(is_straight, segments, 0.0)
    best, at, length = -1.0, (0, 1, 2), 0.0
    for i in range(len(chain) - 2):
        one, j, k = segments[i][:, None], *np.ogrid[:len(chain), :len(chain)]
        worth = np.minimum(one, segments) ** 2 / np.maximum(np.maximum(one, segments), 1e-30)
        worth = worth * (1.0 - _PASSED * (k - i - 2)) * np.where(apart[i] < _CLOSE * one, _COLLAR, 1.0)
        worth[~is_straight[i] | (j <= i)[:, 0]] = -np.inf
        worth[k <= j] = -np.inf
        bend, end = divmod(int(worth.argmax()), len(chain))
        if worth[bend, end] > best:
            best, at = float(worth[bend, end]), (i, bend, end)
            length = float(segments[i, bend] + segments[bend, end])
    return (*at, at[2] + 1)[:len(chain) - at[2] + 2], length


def _segments(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (N, N) between joints (N, 3), and whether all joints between two are in line with them."""
    segments, is_straight = np.zeros((2, len(positions), len(positions)))
    for i, first in enumerate(positions):
        x, y, z = (positions[i + 1:] - first).T
        length = np.sqrt(x * x + y * y + z * z)
        least = np.maximum(length, 1e-30)
        turned = (np.outer(y, z) - np.outer(z, y)) ** 2  # rows: joints between; columns: ends of the segment
        turned += (np.outer(z, x) - np.outer(x, z)) ** 2
        turned += (np.outer(x, y) - np.outer(y, x)) ** 2
        is_away = np.triu(np.sqrt(turned) / least > _ASIDE * least, 1)
        segments[i, i + 1:], is_straight[i, i + 1:] = length, ~is_away.any(axis=0)
    return segments, is_straight.astype(np.bool_)


def _as_body(tree: Tree, legs: _Limbs, arms: _Limbs, sides: Sequence[str]) -> dict[str, int]:
    """Return the joints by part of a body with these legs and arms; empty if left and right are unknown."""
    parts: dict[str, int] = {"pelvis": legs.top}
    for limbs, said in ((legs, ("hip", "knee", "ankle", "toe")), (arms, ("shoulder", "elbow", "wrist"))):
        for side, chain in zip("lr", limbs.chains, strict=True):
            parts |= {f"{side}_{name}": joint for name, joint in
                      zip(said, [chain[i] for i in limbs.at], strict=False)}
            if limbs is arms and limbs.at[0] > 0:
                shoulder = tree.positions[chain[0]]
                above = [joint for joint in chain[:limbs.at[0]]
                         if np.linalg.norm(tree.positions[joint] - shoulder) <= _APART * tree.size]
                parts[f"{side}_clavicle"] = above[-1]  # the last of joints in one position, which all others rotate
    above = [child for child in tree.children[arms.top] if not any(child in chain[:1] for chain in
                                                                   (*arms.chains, *legs.chains))]
    if above:
        chain = tree.chain(max(above, key=tree.counts.__getitem__))
        has_ends = len(legs.chains[0]) - legs.at[2] > 2 and not tree.children[chain[-1]]
        last = chain[-2] if has_ends and len(chain) > 1 else chain[-1]
        parts["head"] = next((joint for joint in chain if len(tree.children[joint]) > 1), last)  # forks to eyes
    forward, up = forward_by_shape(tree, parts), upwards(tree, parts)
    left = None if forward is None or up is None else np.cross(up, forward)
    for limb, said in ((legs, ("hip", "knee", "ankle", "toe")), (arms, ("clavicle", "shoulder", "elbow", "wrist"))):
        first = _first_is_left(tree, limb, left, sides)
        if first is None:
            return {}
        if not first:
            for name in said:
                if f"l_{name}" in parts:
                    parts[f"l_{name}"], parts[f"r_{name}"] = parts[f"r_{name}"], parts[f"l_{name}"]
    return parts


def _first_is_left(tree: Tree, limb: _Limbs, left: np.ndarray | None, sides: Sequence[str]) -> bool | None:
    """Tell whether the first of two limbs is the left one, by names, else by positions; None if unknown."""
    said = [{sides[joint] for joint in chain} - {""} for chain in limb.chains]
    if said in ([{"l"}, {"r"}], [{"r"}, {"l"}]):
        return said[0] == {"l"}
    if left is None:
        return None
    a, b = (tree.positions[chain[limb.at[0]]] for chain in limb.chains)
    return bool((a - b) @ left >= 0.0)
