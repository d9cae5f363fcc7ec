"""The hierarchy of bones: joined where a file has no parents, or where the parent is only a control."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.bone_names import words
from ..skeletons.hierarchy import path_to_root
from .segments import Segments
from .solid import Solid

_ALONG = 0.15
"""A bone only runs along another where it lies nearer than this share of its length to it."""

_AT_TAIL = 0.1
"""A bone begins at another bone's tail if its head is within this share of the other bone's length."""

_TINY = float(np.finfo(np.float64).tiny)
_STEPS = 16
_OUTSIDE = 4.0
_DETOUR = 0.15
_NEXT_IN_LIST = 0.4
_SAME_FIRST_WORD = 0.5
"""Factors on the cost of links between loose bones: outside the body, by the path to the root, for neighbours in the
list, and for names with the same first word. Files list bones limb by limb and name them by limb."""

_SIDE_BY_SIDE = 10.0
"""Factor on the cost of a link between two limbs that run side by side by their names: all metacarpals continue the
wrist, however near to each other they start."""

_FROM_LIMB = 2.0
"""A loose limb is joined to the trunk if the trunk is at most this many times as far away as the nearest loose limb."""

_ALIKE = 0.02
"""Heads mirror each other if they are within this share of the skeleton's size of each other's mirror images."""

_SAME_WAY = 1e-6
"""Lengths that differ by less than this share of the skeleton's size count as equal. Otherwise rounding would decide
which of two bones is nearer at the point where they meet."""

_IN_ORDER = 0.5, 0.8
"""Shares of the median cost of links. If links between neighbours in the list cost less than the first share, the order
of the list counts fully. From the second share on, it does not count."""


def rejoined(parents: IntArray, heads: FloatArray, tails: FloatArray, left_out: BoolArray) -> IntArray:
    """Return parents (B,) in which bones are joined to the limb that they continue, not to an animator's control.

    A foot or a jaw may be a child of a bone on the ground, although it begins where a shin or a skull ends. Such a bone
    becomes the child of the bone whose tail is at its head. It keeps its parent if the other bone has a child there
    already, or if it only runs along other bones, as controls do. left_out: (B,) bones that are ignored.
    """
    length = np.linalg.norm(tails - heads, axis=1)
    every = Segments(np.arange(len(heads)), heads, tails, np.zeros(len(heads), dtype=np.bool_))
    middles = 0.5 * (heads + tails)
    away = every.nearest(middles)[0]
    for bone in range(len(heads)):
        away[path_to_root(parents, bone), bone] = np.inf  # a jaw lies along its own teeth
    alone = np.where(left_out, np.inf, away).min(axis=1, initial=np.inf) > _ALONG * length
    found = parents.copy()
    for bone in np.flatnonzero((parents >= 0) & ~left_out & alone).tolist():
        gap = np.linalg.norm(tails - heads[bone], axis=1)
        near = (gap <= _AT_TAIL * length) & (length > 0.0) & ~left_out
        if near[parents[bone]] or not near.any():
            continue
        before = int(np.argmin(np.where(near, gap, np.inf) / np.where(near, length, 1.0)))
        there = np.linalg.norm(heads - tails[before], axis=1) <= _AT_TAIL * length[before]
        if bone not in path_to_root(found, before) and not (there & (found == before) & ~left_out).any():
            found[bone] = before
    return found


def live_parents(parents: IntArray, steering: BoolArray, doubled: BoolArray, heads: FloatArray, gap: float) -> IntArray:
    """Return each bone's nearest ancestor that moves skin, (B,), −1 for none.

    A `doubled` bone (B,) is replaced by the bone that moves skin nearest to its head (B, 3), if that is within `gap`.
    The replacement becomes the parent of the doubled bone's children. It also gets the doubled bone's parent, if that
    is farther from the root than its own. So DEF- bones that are all children of one root become a tree like that of
    the ORG- bones at the same positions. Bones that would become their own ancestors keep their parents of the file. An
    example is a foot under a control at the toe, if the toe is under a control at the foot.

    >>> root_and_chain, flat = [-1, 0, 1], [0, 0]  # the chain steers, two other bones start where its bones start
    >>> heads = np.array([[9, 9, 9], [0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 1.0]])
    >>> steering = np.array([True, True, True, False, False])
    >>> live_parents(np.array(root_and_chain + flat), steering, steering, heads, 1e-3).tolist()
    [-1, -1, 3, -1, 3]
    """
    moving = np.flatnonzero(~steering)
    stands_for = np.full(len(parents), -1)
    original = np.full(len(parents), -1)
    if len(moving):
        for bone in np.flatnonzero(doubled & steering).tolist():
            away = np.linalg.norm(heads[moving] - heads[bone], axis=1)
            if away.min() <= gap:
                stands_for[bone] = moving[int(away.argmin())]
                if original[stands_for[bone]] < 0:
                    original[stands_for[bone]] = bone

    def above(bone: int, own: int, stands_for: IntArray = stands_for) -> int:
        above = int(parents[bone])
        while above >= 0 and (steering[above] or above == own):
            if stands_for[above] not in (-1, own):
                return int(stands_for[above])
            above = int(parents[above])
        return above

    found = np.array([above(bone, bone) for bone in range(len(parents))], dtype=np.int64)
    while len(ring := _on_rings(found)):
        found[ring] = [above(bone, bone, np.full(len(parents), -1)) for bone in ring.tolist()]
    for bone in np.flatnonzero(original >= 0).tolist():
        path = path_to_root(found, above(int(original[bone]), bone))
        if bone not in path and found[bone] in (-1, *path):
            found[bone] = path[0] if path else -1
    return found


def _on_rings(parents: IntArray) -> IntArray:
    """Return the bones, (N,), that are their own ancestors.

    >>> _on_rings(np.array([-1, 2, 3, 1, 1])).tolist(), _on_rings(np.array([-1, 0])).tolist()
    ([1, 2, 3], [])
    """
    at = np.arange(len(parents))
    for _ in range(len(parents)):
        at = parents[at[at >= 0]]
    return np.unique(at[at >= 0])


def adopted(parents: IntArray, lines: Segments, solid: Solid) -> IntArray:
    """Return parents (B,) in which separate trees of bones are joined to one tree, the trunk.

    parents: (B,) of bones that move skin, −1 for roots; lines: those of these bones. The trunk is the tree that is
    nearest to all others. The other trees are joined one by one, the nearest first: the root gets the nearest bone of
    the joined trees as its parent. Outside the body, and to another limb, a distance counts more, so a head is joined
    to the trunk rather than to a wing. If the nearest point is a joint between two bones, the upper one is taken. So
    legs are joined to a body, not to a head. Two trees that mirror each other, such as two legs without a body, have no
    trunk, and stay separate.
    """
    found = parents.copy()
    owners = np.unique(lines.bones)
    tree = np.arange(len(parents))
    for bone in owners.tolist():
        tree[bone] = path_to_root(parents, bone)[-1]
    heads = np.zeros((len(parents), 3))
    heads[lines.bones] = lines.starts
    roots = owners[tree[owners] == owners]
    if len(roots) < 2 or (len(roots) == 2 and _mirrored(*(heads[owners[tree[owners] == root]] for root in roots))):
        return found
    away, share = lines.nearest(heads[roots])
    away *= 1.0 + _OUTSIDE * solid.share_outside(heads[roots][:, None], lines.points_at(share), _STEPS)
    to_tree = np.stack([away[:, tree[lines.bones] == root].min(axis=1) for root in roots], axis=1)
    joined = tree == roots[int(to_tree.sum(axis=0).argmin())]
    away *= np.where(joined[lines.bones], 1.0, _FROM_LIMB)
    same = _SAME_WAY * float(np.linalg.norm(np.ptp(heads[owners], axis=0)))
    while (waiting := ~joined[roots]).any():
        free = np.where(waiting[:, None] & joined[lines.bones], away, np.inf)
        bone = int(free.min(axis=1).argmin())
        near = np.unique(lines.bones[free[bone] <= free[bone].min() + same])
        found[roots[bone]] = min(near.tolist(), key=lambda other: len(path_to_root(found, other)))
        joined |= tree == roots[bone]
    return found


def _mirrored(one: FloatArray, other: FloatArray) -> bool:
    """Return whether heads (N, 3) and (M, 3), roots first, mirror each other in the plane between the roots."""
    between = other[0] - one[0]
    size = float(np.linalg.norm(np.ptp(np.concatenate((one, other)), axis=0)))
    if len(one) != len(other) or np.linalg.norm(between) <= _AT_TAIL * size:
        return False
    ahead = (one - 0.5 * (one[0] + other[0])) @ between / (between @ between)
    gaps = np.linalg.norm((one - 2.0 * ahead[:, None] * between)[:, None] - other, axis=2)
    return bool(max(gaps.min(axis=0).max(), gaps.min(axis=1).max()) < _ALIKE * size)


def parted(rig_parents: IntArray, parents: IntArray) -> BoolArray:
    """Return which bones (B,) continue a bone that does not move them, as a foot that is no child of its shin.

    rig_parents: (B,) as in the file. parents: (B,) those whose lines lead on to the bones, as `bone_lines` finds them.
    Bones that are all held by the same one, as those of a flat list under a root, are moved together by their rig.

    >>> parted(np.array([-1, 0, 1, 0]), np.array([-1, 0, 1, 2])).tolist()  # root, thigh, shin; a foot held by the root
    [False, False, False, True]
    """
    return np.array([rig_parents[bone] >= 0 and above >= 0 and above not in path_to_root(rig_parents, bone)
                     and rig_parents[above] != rig_parents[bone]
                     for bone, above in enumerate(parents.tolist())], dtype=np.bool_)


def loose_bones(parents: IntArray, heads: FloatArray, solid: Solid) -> tuple[IntArray, int]:
    """Return the bones whose hierarchy is unknown, (N,), and the one on the ground that is their parent, −1 for none.

    The hierarchy is unknown if no bone has a parent, or if all others are children of one bone outside the body: a flat
    list.

    >>> nothing = Solid(np.zeros((3, 3, 3), dtype=np.bool_), 1.0)
    >>> own, holder = loose_bones(np.array([-1, 0, 0]), np.zeros((3, 3)), nothing)
    >>> own.tolist(), holder
    ([1, 2], 0)
    """
    if (parents < 0).all():
        return np.arange(len(parents)), -1
    root = int(np.argmin(parents))
    rest = np.delete(np.arange(len(parents)), root)
    if (parents[rest] == root).all() and not solid.contains(heads[root]):
        return rest, root
    return rest[:0], -1


def linked(names: Sequence[str], heads: FloatArray, tails: FloatArray, solid: Solid) -> IntArray:
    """Return parents (B,) for bones without any: a tree over their heads (B, 3), from the middle of the body.

    A bone that begins where the tail of another ends, of tails (B, 3), is its child. The cost of a link is its length.
    It is higher outside the body. It is lower between neighbours in the list, and between names that begin with the
    same word. It is higher between limbs that run side by side by their names, such as fingers. First, the cheapest
    tree is grown bone by bone (Prim 1957). Its middle is the bone with the shortest paths to all others. The root is
    the first bone of the chain of the middle. From the root, a second tree is grown. It also counts part of the path to
    the root, so that limbs lead outward (Alpert, Hu, Huang, Kahng and Karger 1995).
    """
    cost = _link_costs(names, heads, solid)
    before = _before(heads, tails)
    own = np.flatnonzero(before >= 0)
    near = cost.copy()
    near[before[own], own] = near[own, before[own]] = 0.0
    middle = int(np.argmin(_spanning_tree(near, 0, 0.0)[1].sum(axis=1)))
    cost[:, own] += 2.0 * cost.sum()  # dearer than any other link
    cost[before[own], own] = 0.0
    return _spanning_tree(cost, path_to_root(before, middle)[-1], _DETOUR)[0]


def _before(heads: FloatArray, tails: FloatArray) -> IntArray:
    """Return for each bone the bone whose tail is at its head, (B,), −1 for none; there are no cycles."""
    length = np.linalg.norm(tails - heads, axis=1)
    found = np.full(len(heads), -1)
    for bone in range(len(heads)):
        gap = np.linalg.norm(tails - heads[bone], axis=1)
        gap[(gap > _AT_TAIL * length) | (length <= 0.0)] = np.inf
        gap[bone] = np.inf
        first = int(np.argmin(gap))
        if np.isfinite(gap[first]) and bone not in path_to_root(found, first):
            found[bone] = first
    return found


def _spanning_tree(cost: FloatArray, root: int, detour: float) -> tuple[IntArray, FloatArray]:
    """Return the parents (B,) of a tree grown from a root, and the lengths of the paths (B, B) between its bones.

    The next link is the one with the least cost plus `detour` times the path from its near end to the root.
    """
    paths = np.full(cost.shape, np.inf)
    np.fill_diagonal(paths, 0.0)
    parents = np.full(len(cost), -1)
    known, offer, via = [root], cost[root].copy(), np.full(len(cost), root)
    offer[root] = np.inf
    while len(known) < len(cost):
        new = int(np.argmin(offer))
        old = int(via[new])
        parents[new] = old
        paths[new, known] = paths[known, new] = paths[old, known] + cost[old, new]
        known.append(new)
        through = cost[new] + detour * paths[root, new]
        better = through < offer
        via[better], offer = new, np.minimum(offer, through)
        offer[known] = np.inf
    return parents, paths


def _own_words(names: Sequence[str]) -> list[list[str]]:
    """Return the words of each name without the first words that all names share, such as a file's prefix."""
    rows = [words(name) for name in names]
    shared = 0
    while len({row[shared] if len(row) > shared else "" for row in rows}) == 1 and len(rows[0]) > shared:
        shared += 1
    return [row[shared:] for row in rows]


def _side_by_side(rows: Sequence[Sequence[str]]) -> BoolArray:
    """Return which pairs of bones (B, B) belong to two limbs that run side by side, such as two fingers or arms.

    rows: the words of their names. A limb is two or more bones with the same first word that are consecutive in the
    list, if no other bones have this word: "upper" in upper-arm and upper-leg names no limb. Two limbs run side by side
    if they share at least two last words, and half of those of each limb. Numbers do not count.

    >>> fingers = [["pinky", "tip"], ["pinky", "base"], ["ring", "tip"], ["ring", "base"], ["wrist"]]
    >>> _side_by_side(fingers).sum(axis=1).tolist()
    [2, 2, 2, 2, 0]
    """
    first, last = ([row[end] if row else "" for row in rows] for end in (0, -1))
    begins = [k for k, word in enumerate(first) if k == 0 or first[k - 1] != word]
    limbs = {word for word in first if word and [first[k] for k in begins].count(word) == 1 < first.count(word)}
    ends = {word: {own for other, own in zip(first, last, strict=True) if other == word and own != word
                   and not own.isdigit()} for word in limbs}
    beside = {(one, other) for one in limbs for other in limbs if one != other
              and len(ends[one] & ends[other]) >= max(2.0, 0.5 * len(ends[one]), 0.5 * len(ends[other]))}
    return np.array([[(one, other) in beside for other in first] for one in first], dtype=np.bool_)


def _link_costs(names: Sequence[str], heads: FloatArray, solid: Solid) -> FloatArray:
    cost = np.linalg.norm(heads[:, None] - heads, axis=2)
    cost *= 1.0 + _OUTSIDE * solid.share_outside(heads[:, None], heads[None], _STEPS)
    apart = np.abs(np.arange(len(heads))[:, None] - np.arange(len(heads)))
    nearness = float(np.median(cost[apart == 1]) / (np.median(cost[apart > 0]) or 1.0))
    cost[apart == 1] *= np.interp(nearness, _IN_ORDER, (_NEXT_IN_LIST, 1.0))
    rows = _own_words(names)
    first = np.array([row[0] if row else "" for row in rows])
    cost[(first[:, None] == first) & ~np.char.isdigit(first) & (first != "")] *= _SAME_FIRST_WORD
    cost[_side_by_side(rows)] *= _SIDE_BY_SIDE
    return np.asarray(cost)
