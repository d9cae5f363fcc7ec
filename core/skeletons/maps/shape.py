"""Limbs by shape alone: hierarchy and lengths, whatever the names; where the body stands, left and right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from ..posture import STANDS, measure_posture
from .body import JOINT_OF_PART, Tree, forward_by_shape, is_upright, upwards

_ALIKE: Final = 0.1
"""Limbs of one pair have segments whose lengths differ by less than this share of the limb."""
_APART: Final = 1e-3
"""Of the body's size: limbs of which all joints are nearer to each other than this are doubles."""
_SHORTEST_LEG: Final = 0.6
"""Of the longest limb of all."""
_SHORTEST_ARM: Final = 0.35
"""Of a leg: what is shorter, as in a face, is no arm."""
_NEIGHBOURS: Final = 4
"""With so many of the limbs next in length on one joint a limb is compared."""
_MOST_PAIRS: Final = 24
_LIMB_JOINTS: Final = 3
_LEG_JOINTS: Final = 4
"""From the hip to the toes; where there are more, bones end in joints, as exporters add them."""
_EARLY: Final = 0.2
"""A joint stands between others where it lies in line with them and nearer to one than this share of the distance."""
_IN_LINE: Final = 0.999


def limbs_by_shape(tree: Tree) -> dict[str, int]:
    """Return hips, knees, ankles, toes, collarbones, shoulders, elbows, wrists and head by hierarchy and lengths.

    Empty where no joint with two limbs alike stands above another such joint. A body is looked for that has two
    pairs of chains of three joints or more, the one pair on the trunk below the other; which side is left comes from
    where toes and knees point and elbows do not, so the body has to stand.
    """
    if tree.size <= 0.0:
        return {}
    plain = without_between(tree)
    pairs = _pairs(plain)
    for legs, arms in product(pairs, repeat=2):
        if (legs is not arms and legs.length >= _SHORTEST_LEG * pairs[0].length
                and arms.length > _SHORTEST_ARM * legs.length and plain.shared((legs.top, arms.top)) >= 0
                and not plain.is_above(arms.top, legs.top) and not _has_more(pairs, legs, arms)):
            parts = _as_body(plain, legs, arms)
            if parts and is_upright(plain, parts) and _stands(plain, parts):
                return parts
    return {}


def _has_more(pairs: Sequence[_Limbs], legs: _Limbs, arms: _Limbs) -> bool:
    """Tell whether further limbs as long as the legs begin at the same joint, as those of insects do."""
    taken = {chain[0] for limbs in (legs, arms) for chain in limbs.chains}
    return any(limbs.top == legs.top and limbs.length >= _SHORTEST_LEG * legs.length
               and not taken.intersection(chain[0] for chain in limbs.chains) for limbs in pairs)


def has_limbs(tree: Tree) -> bool:
    """Tell whether there are two pairs of limbs that could be a body's, however it stands."""
    return tree.size > 0.0 and len(_pairs(without_between(tree))) > 1


def _stands(tree: Tree, parts: Mapping[str, int]) -> bool:
    """Tell whether legs and trunk are where they are in a body that stands; of bones in a pile some are not."""
    posture = measure_posture(tree.positions[None], {JOINT_OF_PART[part]: joint for part, joint in parts.items()})
    return posture is not None and bool(posture.upright[0] >= STANDS)


def without_between(tree: Tree) -> Tree:
    """Return the tree without joints that are merely between two others, in line and near one; they become roots."""
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
    """Two chains of like lengths below one joint, `top`.

    first: where in them the two longest neighbouring segments begin, which are the limb; length: of these.
    """

    top: int
    chains: tuple[list[int], list[int]]
    first: int
    length: float


def _pairs(tree: Tree) -> list[_Limbs]:
    """Return pairs of limbs alike, those with the longest ones first."""
    found = []
    for top, below in enumerate(tree.children):
        chains = [chain for child in below if len(chain := tree.chain(child)) >= _LIMB_JOINTS] if len(below) > 1 else []
        lengths = [_lengths(tree, chain) for chain in chains]
        order = sorted(range(len(chains)), key=lambda i: float(lengths[i].sum()))
        for n, i in enumerate(order):
            for j in order[n + 1:n + 1 + _NEIGHBOURS]:
                if _is_alike(lengths[i], lengths[j]) and _is_apart(tree, chains[i], chains[j]):
                    first = _two_longest(lengths[i])
                    found.append(_Limbs(top, (chains[i], chains[j]), first, float(lengths[i][first:first + 2].sum())))
    return sorted(found, key=lambda limbs: -limbs.length)[:_MOST_PAIRS]


def _lengths(tree: Tree, chain: list[int]) -> np.ndarray:
    return np.asarray(np.linalg.norm(np.diff(tree.positions[chain], axis=0), axis=1))


def _is_alike(one: np.ndarray, other: np.ndarray) -> bool:
    return len(one) == len(other) and bool(np.abs(one - other).max() <= _ALIKE * max(one.sum(), other.sum()))


def _is_apart(tree: Tree, one: list[int], other: list[int]) -> bool:
    return bool(np.linalg.norm(tree.positions[one] - tree.positions[other], axis=1).max() > _APART * tree.size)


def _two_longest(lengths: np.ndarray) -> int:
    """Return where in a chain the two neighbouring segments begin of which the shorter one is longest."""
    return int(np.argmax(np.minimum(lengths[:-1], lengths[1:])))


def _as_body(tree: Tree, legs: _Limbs, arms: _Limbs) -> dict[str, int]:
    parts: dict[str, int] = {"pelvis": legs.top}
    for limbs, said in ((legs, ("hip", "knee", "ankle", "toe")), (arms, ("shoulder", "elbow", "wrist"))):
        for side, chain in zip("lr", limbs.chains, strict=True):
            parts |= {f"{side}_{name}": joint for name, joint in
                      zip(said, chain[limbs.first:limbs.first + len(said)], strict=False)}
            if limbs is arms and limbs.first > 0:
                parts[f"{side}_clavicle"] = chain[0]
    above = [child for child in tree.children[arms.top] if not any(child in chain[:1] for chain in
                                                                   (*arms.chains, *legs.chains))]
    if above:
        chain = tree.chain(max(above, key=tree.counts.__getitem__))
        has_ends = len(legs.chains[0]) - legs.first > _LEG_JOINTS and not tree.children[chain[-1]]
        parts["head"] = chain[-2] if has_ends and len(chain) > 1 else chain[-1]
    forward, up = forward_by_shape(tree, parts), upwards(tree, parts)
    if forward is None or up is None:
        return {}
    left = np.cross(up, forward)
    for limb, said in ((legs, ("hip", "knee", "ankle", "toe")), (arms, ("clavicle", "shoulder", "elbow", "wrist"))):
        a, b = (tree.positions[chain[limb.first]] for chain in limb.chains)
        if (a - b) @ left < 0.0:
            for name in said:
                if f"l_{name}" in parts:
                    parts[f"l_{name}"], parts[f"r_{name}"] = parts[f"r_{name}"], parts[f"l_{name}"]
    return parts
