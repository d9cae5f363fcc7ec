"""Bones that correspond: the same bone on the other side of the body, in the next leg, or in a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import parents_first, path_to_root, subtree_sizes
from .conventions import named_partners

_SAME_STEP: Final = 0.01
"""Distances from the parent that differ by less than this share of the skeleton's size count as equal."""

_SAME_PLACE: Final = 1e-3
"""Ends of bones within this share of the skeleton's size count as coincident."""


def partner_groups(names: Sequence[str], claim: IntArray, parents: IntArray, heads: FloatArray,
                   size: float) -> list[IntArray]:
    """Return groups of two or more of B bones that are partners; no bone is in two of them.

    Partners have names that differ only in the side. If names tell no side, bones are partners if their parents are the
    same bone or partners. They must also have the same distance from these, number of descendants and claim (B,) to
    skin, but different positions.

    >>> heads = np.array([[0, 0, 0], [1, 0, 0], [-1, 0, 0], [2, 0, 0], [-2, 0, 0]], dtype=float)
    >>> nobody = np.zeros(5, dtype=np.int64)
    >>> [group.tolist() for group in partner_groups("abcde", nobody, np.array([-1, 0, 0, 1, 2]), heads, 4.0)]
    [[1, 2], [3, 4]]
    """
    group = np.arange(len(names))
    named = named_partners(names)
    for bone, other in enumerate(named.tolist()):
        if other >= 0 and named[other] == bone:
            group[bone] = min(bone, other)
    step = np.linalg.norm(heads - heads[parents], axis=1)
    descendants = np.array(subtree_sizes(parents))
    for bone in parents_first(parents):
        if parents[bone] < 0 or named[bone] >= 0:
            continue
        alike = (group[parents] == group[parents[bone]]) & (parents >= 0) & (named < 0) & (claim == claim[bone]) \
            & (descendants == descendants[bone]) & (np.abs(step - step[bone]) <= _SAME_STEP * size) \
            & (np.linalg.norm(heads - heads[bone], axis=1) > _SAME_STEP * size)
        alike[bone] = True
        group[bone] = group[np.flatnonzero(alike)].min()
    return [own for first in np.unique(group) if len(own := np.flatnonzero(group == first)) > 1]


def copied_trees(claim: IntArray, parents: IntArray, heads: FloatArray, tails: FloatArray, size: float) -> BoolArray:
    """Return which bones (B,) belong to a copy: a tree in which each bone lies at a bone of another tree.

    Two armatures that were joined are such trees. Of two trees, the smaller one is the copy, or the later one in the
    list. A bone with a better claim (B,) to skin than the one in its place is no copy. heads, tails: (B, 3).

    >>> ends = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1.0]])
    >>> copied_trees(np.zeros(5), np.array([-1, 0, 1, -1, 3]), ends, ends + 1.0, 1.0).tolist()
    [False, False, False, True, True]
    """
    tree = np.array([path_to_root(parents, bone)[-1] for bone in range(len(parents))])
    roots, sizes = np.unique(tree, return_counts=True)
    copied = np.zeros(len(parents), dtype=np.bool_)
    if len(roots) < 2:
        return copied
    together = claim[:, None] <= claim
    for ends in (heads, tails):
        together &= np.linalg.norm(ends[:, None] - ends, axis=2) <= _SAME_PLACE * size
    for root in roots[np.lexsort((-roots, sizes))].tolist():
        own = tree == root
        copied |= own & together[np.ix_(own, ~own & ~copied)].any(axis=1).all()
    return copied
