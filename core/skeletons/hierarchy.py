"""Ancestors, descendants and orders of a hierarchy.

A hierarchy is given by `parents` (J,): the index of each joint's parent, −1 for a root. Parents need not
come before their children, unless a function says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, IntArray


def path_to_root(parents: IntArray | Sequence[int], joint: int) -> list[int]:
    """Return a joint and its ancestors, upwards; an empty list for −1.

    >>> path_to_root([-1, 0, 1, 0], 2), path_to_root([-1], -1)
    ([2, 1, 0], [])
    """
    path = []
    while joint >= 0:
        path.append(joint)
        joint = int(parents[joint])
    return path


def is_descendant(parents: IntArray | Sequence[int], joint: int, ancestor: int) -> bool:
    """Return whether a joint is a descendant of another; no joint is a descendant of itself.

    >>> is_descendant([-1, 0, 1], 2, 0), is_descendant([-1, 0, 1], 0, 0)
    (True, False)
    """
    return joint != ancestor and ancestor in path_to_root(parents, joint)


def steps_between(parents: IntArray | Sequence[int], start: int, end: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the paths from the lowest common ancestor down to two joints, each from the top.

    Neither path includes the common ancestor. For start −1, the second is the whole path from the root to the end.

    >>> steps_between([-1, 0, 1, 0], 2, 3)
    ((1, 2), (3,))
    """
    up, down = path_to_root(parents, start), path_to_root(parents, end)
    while up and down and up[-1] == down[-1]:
        up.pop()
        down.pop()
    return tuple(reversed(up)), tuple(reversed(down))


def children_of(parents: IntArray | Sequence[int]) -> list[list[int]]:
    """Return the children of each joint.

    >>> children_of([-1, 0, 0])
    [[1, 2], [], []]
    """
    children: list[list[int]] = [[] for _ in parents]
    for joint, parent in enumerate(np.asarray(parents).tolist()):
        if parent >= 0:
            children[parent].append(joint)
    return children


def parents_first(parents: IntArray | Sequence[int]) -> list[int]:
    """Return all joints, each after its parent.

    >>> parents_first([1, -1, 0])
    [1, 0, 2]
    """
    order = np.flatnonzero(np.asarray(parents) < 0).tolist()
    children = children_of(parents)
    for joint in order:
        order += children[joint]
    return order


def subtree_sizes(parents: IntArray | Sequence[int]) -> list[int]:
    """Return the number of joints in each joint's subtree, including itself.

    >>> subtree_sizes([-1, 0, 1, 0])
    [4, 2, 1, 1]
    """
    sizes = [1] * len(parents)
    for joint in reversed(parents_first(parents)):
        if parents[joint] >= 0:
            sizes[int(parents[joint])] += sizes[joint]
    return sizes


def with_ancestors(parents: IntArray, joints: IntArray) -> IntArray:
    """Return joints and all their ancestors, (N,), ascending.

    >>> with_ancestors(np.array((-1, 0, 1, 0)), np.array((2,))).tolist()
    [0, 1, 2]
    """
    found: set[int] = set()
    for joint in joints.tolist():
        while joint >= 0 and joint not in found:
            found.add(joint)
            joint = int(parents[joint])
    return np.array(sorted(found), dtype=np.int64)


def with_descendants(parents: IntArray, joints: IntArray) -> BoolArray:
    """Return a mask (J,) of some joints and their descendants; parents must come before their children.

    >>> with_descendants(np.array((-1, 0, 1, 0)), np.array((1,))).tolist()
    [False, True, True, False]
    """
    found = np.zeros(len(parents), dtype=np.bool_)
    found[joints] = True
    for joint, parent in enumerate(parents.tolist()):
        found[joint] |= parent >= 0 and found[parent]
    return found


@dataclass(frozen=True, eq=False)
class Carried:
    """The joints that each joint carries: itself and its descendants.

    members: the carried joints of all joints, one joint after the other. begins, counts: (J,) the index in members at
    which each joint's list begins, and its length.
    """

    members: IntArray
    begins: IntArray
    counts: IntArray

    @classmethod
    def of(cls, parents: IntArray) -> Carried:
        """Find the joints that each joint carries; parents must come before their children.

        >>> Carried.of(np.array((-1, 0, 0))).members.tolist()
        [0, 1, 2, 1, 2]
        """
        each = [np.flatnonzero(with_descendants(parents, np.array((joint,)))) for joint in range(len(parents))]
        counts = np.array([len(some) for some in each])
        return cls(np.concatenate(each), np.cumsum(counts) - counts, counts)

    def by(self, joints: IntArray) -> tuple[IntArray, IntArray]:
        """Return, for joints (N,), pairs of a carrier, as its index 0…N−1, and a joint that it carries, (M,) each."""
        counts = self.counts[joints]
        pair = np.repeat(np.arange(len(joints)), counts)
        first = self.begins[joints] - (np.cumsum(counts) - counts)
        return pair, self.members[np.arange(len(pair)) + first[pair]]


def in_order(parents: IntArray, leader_of: Mapping[int, int]) -> IntArray:
    """Return followers, their leaders and all ancestors, each after its parent and after its leader.

    leader_of: for each follower, the joint that it follows. Joints that follow each other in a cycle have no order and
    come last.

    >>> in_order(np.array((-1, 0, 0)), {1: 2}).tolist()
    [0, 2, 1]
    """
    waiting = with_ancestors(parents, np.array([*leader_of, *leader_of.values()], dtype=np.int64)).tolist()
    order: dict[int, None] = {}
    while waiting:
        before = len(order)
        for joint in waiting:
            parent = int(parents[joint])
            if (parent < 0 or parent in order) and (joint not in leader_of or leader_of[joint] in order):
                order[joint] = None
        if len(order) == before:
            order |= dict.fromkeys(waiting)
        waiting = [joint for joint in waiting if joint not in order]
    return np.array(list(order), dtype=np.int64)
