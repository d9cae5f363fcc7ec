"""What bones are to each other: joined where a file left them loose, and which of them only steer others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.bone_names import words
from ..skeletons.hierarchy import children_of, path_to_root
from .segments import Segments
from .solid import Solid, dilated

_STEERING_WORDS = frozenset(("ik", "pole", "target", "control", "ctrl", "ctl", "slot", "socket", "end", "nub", "null",
                             "empty", "dummy", "helper", "locator", "tracker", "orient"))
_ENDING_WORDS = frozenset(("tip", "stub"))
_ROOT_WORDS = frozenset(("root", "master", "global", "world", "origin", "armature"))
_STEERING_ENDINGS = ("ik", "slot", "orient")
"""Words of bone names that say: this moves other bones, holds props, or marks an end, but no skin; and, of a root
outside the body, that it stands on the ground."""

_ALONG = 0.15
_DOUBLE = 0.5
"""A control lies nearer than _ALONG of its length to the body's bones, or outside, with more than half of it."""

_APART = 1.0 / 3.0
"""A root stands apart from the body where more than this share of the lines to its children lies outside."""

_COINCIDENT = 1e-3
"""Share of the skeleton's size that is no distance."""

_AT_TAIL = 0.1
"""A bone begins at another's tail if it does within this share of that one's length."""

_TINY = float(np.finfo(np.float64).tiny)
_STEPS = 16
_OUTSIDE = 4.0
_DETOUR = 0.15
_NEXT_IN_LIST = 0.4
_SAME_FIRST_WORD = 0.5
"""What joins loose bones: links inside the body, short paths to the root, bones listed one after the other, and names
that begin alike; files list bones limb by limb and name them by limb."""

_IN_ORDER = 0.5, 0.8
"""A list is in some order where the link between neighbours in it costs less than this share of any; above, it says
less, and nothing from the second share on."""


def steering_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone moves no skin.

    >>> steering_names(["kneeIK.l", "knee.l", "Head_end", "handslot.r"]).tolist()
    [True, False, True, True]
    """
    return np.array([any(word in _STEERING_WORDS or word.endswith(_STEERING_ENDINGS) for word in words(name))
                     for name in names], dtype=np.bool_)


def ending_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone only marks an end; where a hierarchy is known, some of them move skin.

    >>> ending_names(["thumb-tip", "thumb"]).tolist()
    [True, False]
    """
    return np.array([any(word in _ENDING_WORDS for word in words(name)) for name in names], dtype=np.bool_)


def steering_bones(names: Sequence[str], parents: IntArray, heads: FloatArray, tails: FloatArray,
                   solid: Solid) -> BoolArray:
    """Return which bones (B,) move no skin.

    Those are bones whose names say so; roots that start outside the body, as on the ground, and whose names say so or
    whose lines to their children lie outside it, with bones that start at the same position or end without ever
    entering the body; and limbs of controls: descendants of such a root, other than its largest limb, with a bone that
    lies mostly along that limb's bones, or outside.
    """
    children = children_of(parents)
    near = replace(solid, filled=dilated(solid.filled, 1))  # one cell of tolerance, for thin feet
    outside, ends_outside = ~near.contains(heads), ~near.contains(tails)
    size = float(np.linalg.norm(np.ptp(heads, axis=0)))
    ground = np.zeros(len(names), dtype=np.bool_)
    named = np.array([not _ROOT_WORDS.isdisjoint(words(name)) for name in names])
    limb = np.arange(len(names))
    waiting = [int(bone) for bone in np.flatnonzero(parents < 0)]
    for bone in waiting:
        parent = parents[bone]
        if parent < 0:
            ground[bone] = bool(children[bone]) and outside[bone] and (
                named[bone] or _outside(bone, children[bone], parents, heads, solid) > _APART)
        elif ground[parent]:
            same = np.linalg.norm(heads[bone] - heads[parent]) <= _COINCIDENT * size
            ground[bone] = outside[bone] and (same or (not children[bone] and ends_outside[bone]))
        else:
            limb[bone] = limb[parent]
        waiting.extend(children[bone])
    found = steering_names(names) | ground | hubs(parents, heads, size)
    return found | _control_limbs(limb, ground, found, parents, heads, tails, near)


def hubs(parents: IntArray, heads: FloatArray, size: float) -> BoolArray:
    """Return which bones (B,) only carry others: most of their children, two or more, start where they start."""
    own = np.flatnonzero(parents >= 0)
    same = np.linalg.norm(heads[own] - heads[parents[own]], axis=1) <= _COINCIDENT * size
    children, there = (np.bincount(parents[own], weights, len(parents)) for weights in (None, same))
    return np.asarray((there > 0.5 * children) & (children > 1))


def rejoined(parents: IntArray, heads: FloatArray, tails: FloatArray, left_out: BoolArray) -> IntArray:
    """Return parents (B,) where bones that only an animator's control holds are children of the limb they go on.

    A foot or a jaw may be a child of a bone on the ground, so that it can be moved there, though it begins where a shin
    or a skull ends. Such a bone becomes the child of the bone whose tail is its head, unless that one has a child there
    already, or it only runs along other bones, as controls do. left_out: (B,) bones that count as neither.
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
        before = int(np.argmin(np.where(near, gap / np.maximum(length, _TINY), np.inf)))
        there = np.linalg.norm(heads - tails[before], axis=1) <= _AT_TAIL * length[before]
        if bone not in path_to_root(found, before) and not (there & (found == before) & ~left_out).any():
            found[bone] = before
    return found


def parted(rig_parents: IntArray, parents: IntArray) -> BoolArray:
    """Return which bones (B,) go on from one that does not carry them: a foot whose shin moves without it.

    rig_parents: (B,) as in the file. parents: (B,) those whose lines lead on to the bones, as `bone_lines` finds them.

    >>> parted(np.array([-1, 0, 1, 0]), np.array([-1, 0, 1, 2])).tolist()  # root, thigh, shin; a foot held by the root
    [False, False, False, True]
    """
    return np.array([rig_parents[bone] >= 0 and above >= 0 and above not in path_to_root(rig_parents, bone)
                     for bone, above in enumerate(parents.tolist())], dtype=np.bool_)


def _outside(root: int, children: Sequence[int], parents: IntArray, heads: FloatArray, solid: Solid) -> float:
    """Return which share of the lines from a root to its children lies outside the body.

    Where most bones run through the air, as in a pipe or beside a cloth, it is the share of the lines that lies
    before or after the body, seen along them.
    """
    own = np.flatnonzero(parents >= 0)
    length = np.linalg.norm(heads[own] - heads[parents[own]], axis=1) + _TINY
    if np.average(solid.share_outside(heads[parents[own]], heads[own], _STEPS), weights=length) <= 0.5:
        return float(solid.share_outside(heads[root], heads[children], _STEPS).mean())
    lines = heads[children] - heads[root]
    along = lines / np.maximum(np.linalg.norm(lines, axis=1, keepdims=True), _TINY)
    body = solid.centres() @ along.T
    begin, end = heads[root] @ along.T, (heads[children] * along).sum(axis=1)
    covered = np.minimum(end, body.max(axis=0)) - np.maximum(begin, body.min(axis=0))
    return float(1.0 - np.mean(np.maximum(covered, 0.0) / np.maximum(end - begin, _TINY)))


def _control_limbs(limb: IntArray, ground: BoolArray, found: BoolArray, parents: IntArray, heads: FloatArray,
                   tails: FloatArray, near: Solid) -> BoolArray:
    """Return which bones (B,) belong to limbs that start at a ground bone and double the largest limb."""
    if found.all():
        return found
    largest = int(np.argmax(np.bincount(limb[~found])))
    from_ground = (parents[limb] >= 0) & ground[parents[limb]]
    body = np.flatnonzero((limb == largest) & ~found)
    others = np.flatnonzero((limb != largest) & ~found & from_ground)
    lines = Segments(body, heads[body], tails[body], np.zeros(len(body), dtype=np.bool_))
    points = heads[others] + np.linspace(0.0, 1.0, _STEPS)[:, None, None] * (tails - heads)[others]
    away = lines.nearest(points.reshape(-1, 3))[0].min(axis=1).reshape(points.shape[:2])
    length = np.linalg.norm((tails - heads)[others], axis=1)
    double = ((away <= _ALONG * length) | ~near.contains(points)).mean(axis=0) > _DOUBLE
    return np.isin(limb, limb[others[double]])


def linked(names: Sequence[str], heads: FloatArray, tails: FloatArray, solid: Solid) -> IntArray:
    """Return parents (B,) for bones without any: a tree over their heads (B, 3), from the middle of the body.

    A bone that begins where the tail of another ends, of tails (B, 3), is its child. A link costs its length, more
    where it leaves the body, less between neighbours in the list and between names that begin with the same word.
    First the cheapest tree is grown bone by bone (Prim 1957); its middle, the bone with the shortest paths to all
    others, or where its chain begins, is the root, from which bones are joined again, now counting part of the path to
    the root as well, so that limbs lead outward (Alpert, Hu, Huang, Kahng and Karger 1995).
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
    """Return for each bone the one whose tail ends at its head, (B,), −1 where none does; there are no cycles."""
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

    The next link is the one that costs least, with `detour` of the path from its near end to the root.
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


def _first_words(names: Sequence[str]) -> list[str]:
    """Return the word that each name begins with, after those that all begin with, as a file's prefix: "" for none."""
    rows = [words(name) for name in names]
    shared = 0
    while len({row[shared] if len(row) > shared else "" for row in rows}) == 1 and len(rows[0]) > shared:
        shared += 1
    return [row[shared] if len(row) > shared else "" for row in rows]


def _link_costs(names: Sequence[str], heads: FloatArray, solid: Solid) -> FloatArray:
    cost = np.linalg.norm(heads[:, None] - heads, axis=2)
    cost *= 1.0 + _OUTSIDE * solid.share_outside(heads[:, None], heads[None], _STEPS)
    apart = np.abs(np.arange(len(heads))[:, None] - np.arange(len(heads)))
    nearness = float(np.median(cost[apart == 1]) / (np.median(cost[apart > 0]) or 1.0))
    cost[apart == 1] *= np.interp(nearness, _IN_ORDER, (_NEXT_IN_LIST, 1.0))
    first = np.array(_first_words(names))
    cost[(first[:, None] == first) & ~np.char.isdigit(first) & (first != "")] *= _SAME_FIRST_WORD
    return np.asarray(cost)
