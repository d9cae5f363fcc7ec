"""A skeleton as a body: its tree of joints, and its directions up, left and front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from .. import hanim
from ..hierarchy import children_of, is_descendant, parents_first, path_to_root, subtree_sizes
from ..skeleton import Skeleton

JOINT_OF_PART: Final = {"pelvis": hanim.ROOT, "head": "skullbase"} | {
    f"{side}_{part}": f"{side}_{joint}" for side in "lr" for part, joint in
    (("hip", "hip"), ("knee", "knee"), ("ankle", "ankle"), ("toe", "metatarsal"), ("clavicle", "sternoclavicular"),
     ("shoulder", "shoulder"), ("elbow", "elbow"), ("wrist", "wrist"))}
"""Parts of a body, as names and shape tell them, and the joint of H-Anim that each is."""
_FORK: Final = 3
_FARTHER: Final = 1.6
"""A limb goes on past a fork where one branch reaches so much farther than the next; the others twist its skin."""
UPRIGHT: Final = 0.6
"""Cosine between the trunk and the direction from feet to hips above which a body stands upright."""


def _right_angled() -> FloatArray:
    """Return the 24 rotations that lead axes to axes, as matrices."""
    found = [np.array(signs)[:, None] * np.eye(3)[list(order)]
             for order in permutations(range(3)) for signs in product((1.0, -1.0), repeat=3)]
    return np.array([matrix for matrix in found if np.linalg.det(matrix) > 0.0])


_AXES: Final = _right_angled()


@dataclass(frozen=True, eq=False)
class Tree:
    """Joints that may belong to a body. parents: (J,), −1 for roots; positions: (J, 3) at rest."""

    parents: IntArray
    positions: FloatArray

    @classmethod
    def of(cls, skeleton: Skeleton) -> Tree:
        """Return the tree of a skeleton; in Rigify rigs, a deforming bone's parent is the deforming bone above it."""
        parents = skeleton.parents.copy()
        deforming = {name[4:]: joint for name, joint in skeleton.index_of.items() if name.startswith("DEF-")}
        if deforming:
            for joint, name in enumerate(skeleton.names):
                if name.startswith("DEF-"):
                    parents[joint] = _deforming_above(skeleton, joint, deforming)
        return cls(parents, skeleton.rest_world[:, :, 3])

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each joint."""
        return children_of(self.parents)

    def path_to_root(self, joint: int) -> list[int]:
        """Return a joint and its ancestors, upwards."""
        return path_to_root(self.parents, joint)

    def is_above(self, above: int, joint: int) -> bool:
        """Return whether a joint is an ancestor of another."""
        return is_descendant(self.parents, joint, above)

    def shared(self, joints: Sequence[int]) -> int:
        """Return the lowest common ancestor of some joints, which may be one of them, or −1 if their roots differ."""
        paths = [self.path_to_root(joint) for joint in joints]
        return next((joint for joint in paths[0] if all(joint in path for path in paths[1:])), -1)

    def between(self, above: int, joint: int) -> list[int]:
        """Return the joints between an ancestor and its descendant, downwards; empty if it is not an ancestor."""
        path = self.path_to_root(joint)
        return path[1:path.index(above)][::-1] if above in path[1:] else []

    @cached_property
    def counts(self) -> list[int]:
        """The number of joints in each joint's subtree, including itself."""
        return subtree_sizes(self.parents)

    def below(self, joint: int) -> list[int]:
        """Return all descendants of a joint, parents before children."""
        found = list(self.children[joint])
        for child in found:
            found += self.children[child]
        return found

    def chain(self, joint: int) -> list[int]:
        """Return the chain from a joint down to its fork, as in a hand: where no branch is much longer than others."""
        chain = [joint]
        while below := sorted(self.children[chain[-1]], key=self._reach_from_parent, reverse=True):
            if len(below) >= _FORK and self._reach_from_parent(below[0]) < _FARTHER * self._reach_from_parent(below[1]):
                break
            chain.append(below[0])
        return chain

    def _reach_from_parent(self, joint: int) -> float:
        return float(np.linalg.norm(self.positions[joint] - self.positions[self.parents[joint]])) + self.reaches[joint]

    @cached_property
    def reaches(self) -> list[float]:
        """The length of the longest path from each joint down to a descendant."""
        reaches = [0.0] * len(self.parents)
        for joint in reversed(parents_first(self.parents)):
            above = int(self.parents[joint])
            if above >= 0:
                length = float(np.linalg.norm(self.positions[joint] - self.positions[above]))
                reaches[above] = max(reaches[above], length + reaches[joint])
        return reaches

    @cached_property
    def size(self) -> float:
        """The longest edge of the box around all joints."""
        return float(np.ptp(self.positions, axis=0).max()) if len(self.positions) else 0.0


def _deforming_above(skeleton: Skeleton, joint: int, deforming: dict[str, int]) -> int:
    """Return the deforming bone above a joint, or that of an ORG- or MCH- bone above it by its name; −1 for none."""
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

    It is found by the positions of hips, feet, shoulders and head, and by the sides of the parts. The result is None if
    these do not show up or left.
    """
    left = _sides_apart(tree, parts)
    up = upwards(tree, parts)
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
    """Return the direction (3,) that the body faces, by toes, knees and elbows only, or None if they do not show it."""
    direction = np.zeros(3)
    for side in "lr":
        at = {part: tree.positions[parts[f"{side}_{part}"]] for part in
                 ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist") if f"{side}_{part}" in parts}
        if "toe" in at and "ankle" in at:
            direction += 3.0 * (at["toe"] - at["ankle"])
        for a, b, c, sign in (("hip", "knee", "ankle", 1.0), ("shoulder", "elbow", "wrist", -1.0)):
            if {a, b, c} <= set(at):
                line = at[c] - at[a]
                share = (at[b] - at[a]) @ line / max(float(line @ line), 1e-30)
                direction += sign * (at[b] - at[a] - share * line)
    up = upwards(tree, parts)
    if up is None:
        return None
    up = up / np.linalg.norm(up)
    direction -= (direction @ up) * up
    return direction if np.linalg.norm(direction) > 0.02 * tree.size else None


def is_upright(tree: Tree, parts: dict[str, int]) -> bool:
    """Return whether the trunk is upright over the legs; a body without legs or trunk counts as upright."""
    legs = [tree.positions[parts[f"{side}_hip"]] - tree.positions[parts[f"{side}_ankle"]] for side in "lr"
            if {f"{side}_hip", f"{side}_ankle"} <= set(parts)]
    trunk = _trunk(tree, parts)
    if not legs or trunk is None:
        return True
    leg = np.mean(legs, axis=0)
    return bool(leg @ trunk >= UPRIGHT * np.linalg.norm(leg) * np.linalg.norm(trunk))


def _sides_apart(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    """Return the mean direction (3,) from the right joints to the left ones, None where no part has both."""
    directions = [tree.positions[parts[f"l_{part}"]] - tree.positions[parts[f"r_{part}"]]
            for part in ("hip", "knee", "shoulder", "elbow", "ankle") if {f"l_{part}", f"r_{part}"} <= set(parts)]
    return np.mean(directions, axis=0) if directions else None


def _trunk(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    """Return the vector (3,) from the hips up to the shoulders, or to the head; without hips along the neck."""
    at = {name: [tree.positions[parts[part]] for part in said if part in parts] for name, said in
          (("hips", ("l_hip", "r_hip")), ("pelvis", ("pelvis",)), ("shoulders", ("l_shoulder", "r_shoulder")),
           ("head", ("head",)))}
    low = at["hips"] or at["pelvis"] or at["shoulders"]
    high = at["head"] if low is at["shoulders"] else at["shoulders"] or at["head"]
    if not low or not high:
        return None
    direction = np.mean(high, axis=0) - np.mean(low, axis=0)
    return direction if np.linalg.norm(direction) > 1e-6 * tree.size else None


def upwards(tree: Tree, parts: dict[str, int]) -> FloatArray | None:
    """Return the direction up along the trunk, or along the legs if there is no trunk, or None if neither is known.

    Neither is known if all joints rest at one point, as in files that give positions only in their frames.
    """
    up = _trunk(tree, parts)
    legs = [tree.positions[parts[f"{side}_hip"]] - tree.positions[parts[f"{side}_ankle"]] for side in "lr"
            if {f"{side}_hip", f"{side}_ankle"} <= set(parts)]
    if up is None and legs:
        up = np.mean(legs, axis=0)
    return None if up is None or not up.any() else up


def to_front(turn: FloatArray) -> FloatArray:
    """Return the direction (3,) that a body faces; turn: the rotation (4,) from H-Anim's axes to its own."""
    return rot.rotate(turn, np.array((0.0, 0.0, 1.0)))
