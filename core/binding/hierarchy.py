"""What bones are to each other: joined where a file left them loose, and which of them only steer others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import children_of
from .segments import Segments
from .solid import Solid, grown

_STEERING_WORDS = frozenset(("ik", "pole", "target", "control", "ctrl", "ctl", "slot", "end", "nub"))
_STEERING_ENDINGS = ("ik", "slot")
"""Words of bone names that say: this moves other bones, holds props, or marks an end, but no skin."""

_ALONG = 0.15
_DOUBLE = 0.5
"""A control lies nearer than _ALONG of its length to the body's bones, or outside, with more than half of it."""

_APART = 1.0 / 3.0
"""A root stands apart from the body where more than this share of the ways to its children lies outside."""

_SAME_PLACE = 1e-3
"""Share of the skeleton's size that is no distance."""

_TINY = float(np.finfo(np.float64).tiny)
_STEPS = 16
_OUTSIDE = 4.0
_NEXT_IN_LIST = 0.4
_SAME_FIRST_WORD = 0.5
"""What joins loose bones: short ways, inside the body, bones listed one after the other, and names that begin
alike; files list bones limb by limb and name them by limb."""


def words(name: str) -> list[str]:
    """Split a bone's name into lower-case words and numbers.

    >>> words("IK-toe.L"), words("LeftHandFinger1"), words("b_Tail02_013")
    (['ik', 'toe', 'l'], ['left', 'hand', 'finger', '1'], ['b', 'tail', '02', '013'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def steering_names(names: Sequence[str]) -> BoolArray:
    """Return which names (B,) say that the bone moves no skin.

    >>> steering_names(["kneeIK.l", "knee.l", "Head_end", "handslot.r"]).tolist()
    [True, False, True, True]
    """
    return np.array([any(word in _STEERING_WORDS or word.endswith(_STEERING_ENDINGS) for word in words(name))
                     for name in names], dtype=np.bool_)


def steering_bones(names: Sequence[str], parents: IntArray, heads: FloatArray, tails: FloatArray,
                   solid: Solid) -> BoolArray:
    """Return which bones (B,) move no skin.

    Those are bones whose names say so; roots that start outside the body, as on the ground, and lead to their
    children by ways that lie outside it, with bones that start at the same place or end without ever entering the
    body; and limbs of controls: what hangs from such a root apart from its largest limb, and holds a bone that lies
    mostly along that limb's bones, or outside.
    """
    children = children_of(parents)
    near = replace(solid, filled=grown(solid.filled, 1))  # a thin foot's cells must not decide
    outside, ends_outside = ~near.contains(heads), ~near.contains(tails)
    size = float(np.linalg.norm(np.ptp(heads, axis=0)))
    ground = np.zeros(len(names), dtype=np.bool_)
    limb = np.arange(len(names))
    waiting = [int(bone) for bone in np.flatnonzero(parents < 0)]
    for bone in waiting:
        parent = parents[bone]
        if parent < 0:
            ground[bone] = (bool(children[bone]) and not solid.contains(heads[bone])
                            and _outside(bone, children[bone], parents, heads, solid) > _APART)
        elif ground[parent]:
            same = np.linalg.norm(heads[bone] - heads[parent]) <= _SAME_PLACE * size
            ground[bone] = outside[bone] and (same or (not children[bone] and ends_outside[bone]))
        else:
            limb[bone] = limb[parent]
        waiting.extend(children[bone])
    found = steering_names(names) | ground
    return found | _control_limbs(limb, ground, found, parents, heads, tails, near)


def _outside(root: int, children: Sequence[int], parents: IntArray, heads: FloatArray, solid: Solid) -> float:
    """Return which share of the ways from a root to its children lies outside the body.

    Where most bones run through the air, as in a pipe or beside a cloth, it is the share of the ways that lies
    before or after the body, seen along them.
    """
    own = np.flatnonzero(parents >= 0)
    length = np.linalg.norm(heads[own] - heads[parents[own]], axis=1) + _TINY
    if np.average(solid.share_outside(heads[parents[own]], heads[own], _STEPS), weights=length) <= 0.5:
        return float(solid.share_outside(heads[root], heads[children], _STEPS).mean())
    ways = heads[children] - heads[root]
    along = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), _TINY)
    body = solid.centres() @ along.T
    begin, end = heads[root] @ along.T, (heads[children] * along).sum(axis=1)
    covered = np.minimum(end, body.max(axis=0)) - np.maximum(begin, body.min(axis=0))
    return float(1.0 - np.mean(np.maximum(covered, 0.0) / np.maximum(end - begin, _TINY)))


def _control_limbs(limb: IntArray, ground: BoolArray, found: BoolArray, parents: IntArray, heads: FloatArray,
                   tails: FloatArray, near: Solid) -> BoolArray:
    """Return the bones of limbs (B,) that hang from ground bones and double the largest limb."""
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


def linked(names: Sequence[str], heads: FloatArray, solid: Solid) -> IntArray:
    """Return parents (B,) for bones without any: the cheapest tree over their heads (B, 3), from its middle.

    A link costs its length, more where it leaves the body, less between neighbours in the list and between
    names that begin with the same word. The tree is grown bone by bone (Prim 1957); its root is the bone
    with the shortest ways to all others.
    """
    cost = _link_costs(names, heads, solid)
    ways = np.full(cost.shape, np.inf)
    np.fill_diagonal(ways, 0.0)
    links: list[list[int]] = [[] for _ in heads]
    known, offer, via = [0], cost[0].copy(), np.zeros(len(heads), dtype=np.int64)
    offer[0] = np.inf
    while len(known) < len(heads):
        new = int(np.argmin(offer))
        old = int(via[new])
        ways[new, known] = ways[known, new] = ways[old, known] + cost[old, new]
        links[new].append(old)
        links[old].append(new)
        known.append(new)
        better = cost[new] < offer
        via[better], offer = new, np.minimum(offer, cost[new])
        offer[known] = np.inf
    parents = np.full(len(heads), -1)
    waiting = [int(np.argmin(ways.sum(axis=1)))]
    for bone in waiting:
        onward = [other for other in links[bone] if other != parents[bone]]
        parents[onward] = bone
        waiting.extend(onward)
    return parents


def _link_costs(names: Sequence[str], heads: FloatArray, solid: Solid) -> FloatArray:
    cost = np.linalg.norm(heads[:, None] - heads, axis=2)
    cost *= 1.0 + _OUTSIDE * solid.share_outside(heads[:, None], heads[None], _STEPS)
    index = np.arange(len(heads))
    cost[np.abs(index[:, None] - index) == 1] *= _NEXT_IN_LIST
    first = np.array([(words(name) or [""])[0] for name in names])
    cost[(first[:, None] == first) & ~np.char.isdigit(first) & (first != "")] *= _SAME_FIRST_WORD
    return np.asarray(cost)
