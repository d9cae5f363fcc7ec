"""A skeleton as a body: its tree, where it stands, and which limbs its shape shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ..hierarchy import children_of, is_descendant, way_up
from ..skeleton import Skeleton

UPRIGHT: Final = 0.6
"""Cosine between the trunk and the direction from feet to hips above which a body stands upright."""
_MIRROR_TOLERANCE: Final = 0.04
"""How far from its mirror image a joint may stand, as a share of the body's size."""


def _right_angled() -> FloatArray:
    """Return the 24 rotations that lead axes to axes, as matrices."""
    found = [np.array(signs)[:, None] * np.eye(3)[list(order)]
             for order in permutations(range(3)) for signs in product((1.0, -1.0), repeat=3)]
    return np.array([matrix for matrix in found if np.linalg.det(matrix) > 0.0])


_AXES: Final = _right_angled()


@dataclass(frozen=True, eq=False)
class Tree:
    """Joints that may belong to a body, and what hangs on what. parents: (J,), −1 for roots; places: (J, 3)."""

    parents: IntArray
    places: FloatArray

    @classmethod
    def of(cls, skeleton: Skeleton) -> Tree:
        """Take a skeleton; of a generated Rigify rig the deforming bones, below what leads to them."""
        parents = skeleton.parents.copy()
        deforming = {name[4:]: joint for name, joint in skeleton.index_of.items() if name.startswith("DEF-")}
        if deforming:
            for joint, name in enumerate(skeleton.names):
                if name.startswith("DEF-"):
                    parents[joint] = _deforming_above(skeleton, joint, deforming)
        return cls(parents, skeleton.rest_world[:, :, 3])

    @cached_property
    def children(self) -> list[list[int]]:
        """Return what hangs directly below each joint."""
        return children_of(self.parents)

    def way_up(self, joint: int) -> list[int]:
        """Return a joint and all above it, upwards."""
        return way_up(self.parents, joint)

    def is_above(self, above: int, joint: int) -> bool:
        """Tell whether a joint hangs somewhere below another."""
        return is_descendant(self.parents, joint, above)

    def shared(self, joints: Sequence[int]) -> int:
        """Return the lowest joint above (or equal to) all of some, −1 where they hang on different roots."""
        ways = [self.way_up(joint) for joint in joints]
        return next((joint for joint in ways[0] if all(joint in way for way in ways[1:])), -1)

    def between(self, above: int, joint: int) -> list[int]:
        """Return the joints strictly between, from above downwards; none where one is not above the other."""
        way = self.way_up(joint)
        return way[1:way.index(above)][::-1] if above in way[1:] else []

    @cached_property
    def size(self) -> float:
        """Return the longest edge of the box around all joints."""
        return float(np.ptp(self.places, axis=0).max()) if len(self.places) else 0.0


def _deforming_above(skeleton: Skeleton, joint: int, deforming: dict[str, int]) -> int:
    above = int(skeleton.parents[joint])
    while above >= 0:
        name = skeleton.names[above]
        twin = above if name.startswith("DEF-") else deforming.get(name.partition("-")[2], joint)
        if twin != joint:
            return twin
        above = int(skeleton.parents[above])
    return -1


def model_from_hanim(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    """Return the right-angled rotation (4,) from H-Anim's axes (Y up, facing +Z) to the model's.

    It comes from where hips, feet, shoulders and head stand and which sides the parts are said to be on; None
    where that is not enough to tell up from down or left from right.
    """
    left = _sides_apart(tree, parts)
    up = _upwards(tree, parts)
    if left is None or up is None:
        return None
    up = up / np.linalg.norm(up)
    left = left - (left @ up) * up
    if np.linalg.norm(left) <= 1e-9 * tree.size:
        return None
    left = left / np.linalg.norm(left)
    measured = np.stack((left, up, np.cross(left, up)), axis=1)
    best = int(np.argmax(np.einsum("nij,ij->n", _AXES, measured)))
    return rot.from_matrix(_AXES[best])


def forward_by_shape(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    """Return where the body faces (3,) by its toes, knees and elbows alone; None where they do not tell."""
    way = np.zeros(3)
    for side in "lr":
        place = {part: tree.places[parts[f"{side}_{part}"]] for part in
                 ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist") if f"{side}_{part}" in parts}
        if "toe" in place and "ankle" in place:
            way += 3.0 * (place["toe"] - place["ankle"])
        for a, b, c, sign in (("hip", "knee", "ankle", 1.0), ("shoulder", "elbow", "wrist", -1.0)):
            if {a, b, c} <= set(place):
                line = place[c] - place[a]
                share = (place[b] - place[a]) @ line / max(float(line @ line), 1e-30)
                way += sign * (place[b] - place[a] - share * line)
    up = _upwards(tree, parts)
    if up is None:
        return None
    up = up / np.linalg.norm(up)
    way -= (way @ up) * up
    return way if np.linalg.norm(way) > 0.02 * tree.size else None


def is_upright(tree: Tree, parts: dict[str, int]) -> bool:
    """Tell whether the trunk stands over the legs; a body without legs or trunk counts as upright."""
    legs = [tree.places[parts[f"{side}_hip"]] - tree.places[parts[f"{side}_ankle"]] for side in "lr"
            if {f"{side}_hip", f"{side}_ankle"} <= set(parts)]
    trunk = _trunk(tree, parts)
    if not legs or trunk is None:
        return True
    leg = np.mean(legs, axis=0)
    return bool(leg @ trunk >= UPRIGHT * np.linalg.norm(leg) * np.linalg.norm(trunk))


def _sides_apart(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    ways = [tree.places[parts[f"l_{part}"]] - tree.places[parts[f"r_{part}"]]
            for part in ("hip", "knee", "shoulder", "elbow", "ankle") if {f"l_{part}", f"r_{part}"} <= set(parts)]
    return np.mean(ways, axis=0) if ways else None


def _trunk(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    low = [tree.places[parts[p]] for p in ("l_hip", "r_hip") if p in parts] or [
        tree.places[parts[p]] for p in ("pelvis",) if p in parts]
    high = [tree.places[parts[p]] for p in ("l_shoulder", "r_shoulder") if p in parts] or [
        tree.places[parts[p]] for p in ("head",) if p in parts]
    if not low or not high:
        return None
    way = np.mean(high, axis=0) - np.mean(low, axis=0)
    return way if np.linalg.norm(way) > 1e-6 * tree.size else None


def _upwards(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    trunk = _trunk(tree, parts)
    if trunk is not None:
        return trunk
    legs = [tree.places[parts[f"{side}_hip"]] - tree.places[parts[f"{side}_ankle"]] for side in "lr"
            if {f"{side}_hip", f"{side}_ankle"} <= set(parts)]
    return np.mean(legs, axis=0) if legs else None


def limbs_by_shape(tree: Tree) -> dict[str, int]:
    """Return hips, knees, ankles, toes, shoulders, elbows, wrists and head by hierarchy, lengths and mirrored places.

    Empty where no joint with two mirrored limbs stands above another such joint. A body is looked for that has two
    pairs of mirrored chains of three joints or more, the one pair on the trunk below the other; which side is
    left comes from where toes and knees point and elbows do not.
    """
    for plane in np.argsort(np.ptp(tree.places, axis=0)).tolist()[::-1] if tree.size > 0.0 else []:
        pairs = _mirrored_chains(tree, plane)
        for legs, arms in product(pairs, repeat=2):
            if tree.is_above(legs.top, arms.top) or (legs.top == arms.top and legs is not arms):
                parts = _as_body(tree, legs, arms)
                if parts and is_upright(tree, parts):
                    return parts
    return {}


@dataclass(frozen=True, eq=False)
class _Limbs:
    """Two chains, mirror images of each other, that hang on one joint."""

    top: int
    chains: tuple[list[int], list[int]]


def _mirrored_chains(tree: Tree, axis: int) -> list[_Limbs]:
    """Return pairs of mirrored limbs, those with the longest ones first."""
    found = []
    for top, below in enumerate(tree.children):
        for i, a in enumerate(below):
            for b in below[i + 1:]:
                ways = _trunk_of_limb(tree, a), _trunk_of_limb(tree, b)
                if min(map(len, ways)) >= 3 and len(ways[0]) == len(ways[1]) and _is_mirrored(tree, axis, top, ways):
                    found.append((_length(tree, ways[0]), _Limbs(top, ways)))
    return [limbs for _, limbs in sorted(found, key=lambda entry: -entry[0])]


def _trunk_of_limb(tree: Tree, joint: int) -> list[int]:
    """Return the chain down from a joint, by the longer way where it branches."""
    chain = [joint]
    while tree.children[chain[-1]] and len(tree.children[chain[-1]]) < 3:
        chain.append(max(tree.children[chain[-1]], key=lambda child: len(_down(tree, child))))
    return chain


def _down(tree: Tree, joint: int) -> list[int]:
    found = [joint]
    for j in found:
        found += tree.children[j]
    return found


def _is_mirrored(tree: Tree, axis: int, top: int, chains: tuple[list[int], list[int]]) -> bool:
    one, other = (tree.places[chain] - tree.places[top] for chain in chains)
    image = other.copy()
    image[:, axis] *= -1.0
    apart = np.abs(one[:, axis] - other[:, axis]).max()
    return bool(np.linalg.norm(one - image, axis=1).max() <= _MIRROR_TOLERANCE * tree.size
                and apart > _MIRROR_TOLERANCE * tree.size)


def _length(tree: Tree, chain: list[int]) -> float:
    return float(np.linalg.norm(np.diff(tree.places[chain], axis=0), axis=1).sum())


def _as_body(tree: Tree, legs: _Limbs, arms: _Limbs) -> dict[str, int]:
    parts: dict[str, int] = {"pelvis": legs.top}
    for limbs, names in ((legs, ("hip", "knee", "ankle", "toe")), (arms, ("shoulder", "elbow", "wrist"))):
        first = _two_longest(tree, limbs.chains[0])
        for side, chain in zip("lr", limbs.chains, strict=True):
            joints = chain[first:first + len(names)]
            parts |= {f"{side}_{name}": joint for name, joint in zip(names, joints, strict=False)}
            if limbs is arms and first > 0:
                parts[f"{side}_clavicle"] = chain[first - 1]
    above = [child for child in tree.children[arms.top] if not any(child in chain[:1] for chain in arms.chains)]
    if above:
        way = _trunk_of_limb(tree, max(above, key=lambda child: len(_down(tree, child))))
        if len(way) > 1 and not tree.children[way[-1]]:
            parts["head"] = way[-1]
        else:
            parts["head"] = way[-1]
    forward, up = forward_by_shape(tree, parts), _upwards(tree, parts)
    if forward is None or up is None:
        return {}
    left = np.cross(up, forward)
    for limb in (legs, arms):
        a, b = (tree.places[chain[-1]] for chain in limb.chains)
        if (a - b) @ left < 0.0:
            names = ("hip", "knee", "ankle", "toe") if limb is legs else ("clavicle", "shoulder", "elbow", "wrist")
            for name in names:
                if f"l_{name}" in parts:
                    parts[f"l_{name}"], parts[f"r_{name}"] = parts[f"r_{name}"], parts[f"l_{name}"]
    return parts


def _two_longest(tree: Tree, chain: list[int]) -> int:
    """Return where in a chain the two neighbouring segments begin that are longest together."""
    lengths = np.linalg.norm(np.diff(tree.places[chain], axis=0), axis=1)
    return int(np.argmax(np.minimum(lengths[:-1], lengths[1:])))


def to_front(turn: FloatArray) -> FloatArray:
    """Return where a body faces (3,), by the rotation from H-Anim's axes to its own."""
    return rot.rotate(turn, np.array((0.0, 0.0, 1.0)))
