"""Which lines the bones really are: imported tails point anywhere, and not every bone moves the mesh."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .solid import Solid, ray_fan

_HELPER_WORDS = frozenset(("ik", "pole", "target", "control", "ctrl", "ctl", "slot", "end", "nub"))
_HELPER_ENDINGS = ("ik", "slot")
"""Words of bone names that say: this moves other bones, holds props, or marks an end, but no skin."""

_NEAR_TAIL = (0.5, 1.2)
_ASIDE = 0.15
"""A tail leads to a child whose head lies near the bone's line, within these shares of its length."""

_LEAF_LENGTH = 0.7
"""A last bone whose tail means nothing goes on as long as this share of the step that leads to it."""

_ONWARD_RAD, _ONWARD_POWER = np.radians(75.0), 3.0
_GROW = 1
_TOLERANCE = 1e-3
_SHORTEST = 1e-4
"""Shares of the body's size: a miss that is none, and a length that is none."""

_LINK_STEPS = 16
_SIDE_LINK = 0.5
_OUTSIDE_LINK = 4.0
_NEXT_IN_LIST = 0.4
_SAME_FIRST_WORD = 0.5
"""What joins bones without hierarchy: short ways, inside the body, bones listed one after the other, and names
that begin alike; files list bones limb by limb and name them by limb."""


@dataclass(frozen=True, eq=False)
class Segments:
    """S lines that stand for bones; a bone may have several, or, as a helper, none.

    bones: (S,) whose line it is. starts, ends: (S, 3). leaf: (S,) whether nothing goes on after it.
    """

    bones: IntArray
    starts: FloatArray
    ends: FloatArray
    leaf: BoolArray

    def nearest(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return distances (N, S) from points (N, 3) and where along each line the nearest place is, 0 to 1."""
        along = self.ends - self.starts
        squared = (along * along).sum(axis=1)
        offset = self.starts @ points.T
        reach = (points @ along.T) - (self.starts * along).sum(axis=1)
        share = np.clip(reach / np.where(squared > 0.0, squared, 1.0), 0.0, 1.0) * (squared > 0.0)
        gap = (points * points).sum(axis=1)[:, None] - 2.0 * offset.T + (self.starts * self.starts).sum(axis=1)
        return np.sqrt(np.maximum(gap + share * (share * squared - 2.0 * reach), 0.0)), share

    def to_the_skin(self, solid: Solid) -> Segments:
        """Let last lines end where they leave the solid, or go on until there while their own end is the nearest bone.

        Lines that start outside stay as they are.
        """
        along = self.ends - self.starts
        length = np.linalg.norm(along, axis=1)
        leaves = np.flatnonzero(self.leaf & (length > 0.0) & solid.contains(self.starts))
        if not len(leaves):
            return self
        way = along[leaves] / length[leaves, None]
        depth = solid.depths(self.starts[leaves], way, 1e3)
        ends = self.ends.copy()
        ends[leaves] = self.starts[leaves] + way * np.minimum(depth, length[leaves])[:, None]
        if _GROW:
            steps = np.linspace(0,1,33)[1:]
            for i, b in enumerate(leaves):
                if depth[i] <= length[b]: continue
                extra = (depth[i]-length[b]) * steps
                x = self.ends[b] + extra[:, None]*way[i]
                d, _ = self.nearest(x)
                d[:, self.bones==self.bones[b]] = np.inf
                okk = d.min(axis=1) > extra
                n = int(np.argmin(okk)) if not okk.all() else len(okk)
                if n: ends[b] = x[n-1]
        return Segments(self.bones, self.starts, ends, self.leaf)

    def places(self, share: FloatArray) -> FloatArray:
        """Return the points (N, S, 3) at shares (N, S) of the lines."""
        return self.starts + share[..., None] * (self.ends - self.starts)


def bone_segments(names: Sequence[str], parents: IntArray, heads: FloatArray, tails: FloatArray,
                  solid: Solid, size: float) -> Segments:
    """Find the lines of B bones: names, parents (B,), heads and tails (B, 3); `size` is the body's.

    Where most tails lead to a child, a bone is the line from head to tail; that of an only child's parent
    ends at the child. Where they do not, tails mean nothing: a bone is a fan of lines to its children's
    heads, and a last bone goes on in its parent's direction. Bones that all have no parent are joined by
    `linked`. Helpers have no line, unless all bones are helpers.
    """
    loose = len(names) > 2 and bool((parents < 0).all())
    if loose:
        parents = linked(names, heads, solid)
    children: list[list[int]] = [[] for _ in names]
    for bone, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(bone)
    helper = helpers(names, parents, heads, solid) if not loose else _named_helpers(names)
    if helper.all():
        helper[:] = False
    fits = [[_leads_to(heads[b], tails[b], heads[k], size) for k in children[b]] for b in range(len(names))]
    told = [any(f) for f in fits if f]
    fan = loose or (len(told) > 0 and sum(told) < 0.5 * len(told))
    lines: list[tuple[int, FloatArray, FloatArray, bool]] = []
    for bone in np.flatnonzero(~helper):
        own = [k for k in children[bone] if not helper[k]]
        if loose and own:
            step = np.linalg.norm(heads[own] - heads[bone], axis=1)
            own = [k for k, length in zip(own, step, strict=True) if length > _SIDE_LINK * step.max()]
        if not fan:
            end = heads[own[0]] if len(own) == 1 and not _stops_short(heads[bone], tails[bone], heads[own[0]], size) \
                else tails[bone]
            lines.append((bone, heads[bone], end, not own))
        elif own:
            lines.extend((bone, heads[bone], heads[k], False) for k in own)
        else:
            onward = tails[bone] - heads[bone] if parents[bone] < 0 else \
                _onward(heads[bone], heads[bone] - heads[parents[bone]], solid)
            lines.append((bone, heads[bone], heads[bone] + onward, True))
    return Segments(np.array([line[0] for line in lines]), np.array([line[1] for line in lines]),
                    np.array([line[2] for line in lines]), np.array([line[3] for line in lines])).to_the_skin(solid)


def _onward(head: FloatArray, step: FloatArray, solid: Solid) -> FloatArray:
    """Return the line of a last bone that starts at `head`, reached by `step`: onward where most of the body is."""
    length = float(np.linalg.norm(step))
    if length == 0.0:
        return step
    fan = ray_fan(step[None] / length, _ONWARD_RAD)[0]
    depth = solid.depths(np.broadcast_to(head, fan.shape), fan, length)
    way = (fan * depth[:, None] ** _ONWARD_POWER).sum(axis=0)
    return np.asarray(_LEAF_LENGTH * length * way / np.linalg.norm(way))


def helpers(names: Sequence[str], parents: IntArray, heads: FloatArray, solid: Solid) -> BoolArray:
    """Return which bones (B,) move no skin: by name, and roots with children that start outside the body."""
    has_children = np.zeros(len(names), dtype=np.bool_)
    has_children[parents[parents >= 0]] = True
    outside_roots = (parents < 0) & has_children & ~solid.contains(heads)
    return np.asarray(_named_helpers(names) | outside_roots)


def linked(names: Sequence[str], heads: FloatArray, solid: Solid) -> IntArray:
    """Return parents (B,) for bones without any: the cheapest tree over their heads (B, 3), from its middle.

    A link costs its length, more where it leaves the body, less between neighbours in the list and between
    names that begin with the same word (Prim 1957).
    """
    cost = np.linalg.norm(heads[:, None] - heads, axis=2)
    cost = cost * (1.0 + _OUTSIDE_LINK * solid.share_outside(heads[:, None], heads[None], _LINK_STEPS))
    index = np.arange(len(heads))
    cost = np.where(np.abs(index[:, None] - index) == 1, cost * _NEXT_IN_LIST, cost)
    first = np.array([(words(name) or [""])[0] for name in names])
    alike = (first[:, None] == first) & ~np.char.isdigit(first) & (first != "")
    cost = np.where(alike, cost * _SAME_FIRST_WORD, cost)
    ways = np.full(cost.shape, np.inf)
    ways[0, 0] = 0.0
    known, offer, via = [0], cost[0].copy(), np.zeros(len(heads), dtype=np.int64)
    links: list[list[int]] = [[] for _ in heads]
    offer[0] = np.inf
    while len(known) < len(heads):
        new = int(np.argmin(offer))
        old = int(via[new])
        ways[new, known] = ways[known, new] = ways[old, known] + cost[old, new]
        ways[new, new] = 0.0
        links[new].append(old)
        links[old].append(new)
        known.append(new)
        offer[new] = np.inf
        better = cost[new] < offer
        better[known] = False
        via[better], offer = new, np.where(better, cost[new], offer)
    return _rooted(links, int(np.argmin(ways.sum(axis=1))))


def words(name: str) -> list[str]:
    """Split a bone's name into lower-case words and numbers.

    >>> words("IK-toe.L"), words("LeftHandFinger1"), words("b_Tail02_013")
    (['ik', 'toe', 'l'], ['left', 'hand', 'finger', '1'], ['b', 'tail', '02', '013'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)]


def _named_helpers(names: Sequence[str]) -> BoolArray:
    return np.array([any(w in _HELPER_WORDS or w.endswith(_HELPER_ENDINGS) for w in words(n)) for n in names])


def _along(head: FloatArray, tail: FloatArray, child: FloatArray, size: float) -> float | None:
    """Return at which share of the bone's line the child begins, None where it does not begin near its tail."""
    line = tail - head
    length = float(np.linalg.norm(line))
    if length < _SHORTEST * size:
        return None
    share = float((child - head) @ line) / length**2
    aside = float(np.linalg.norm(head + share * line - child))
    near = _NEAR_TAIL[0] < share < _NEAR_TAIL[1] and aside < _ASIDE * length + _TOLERANCE * size
    return share if near else None


def _leads_to(head: FloatArray, tail: FloatArray, child: FloatArray, size: float) -> bool:
    return _along(head, tail, child, size) is not None


def _stops_short(head: FloatArray, tail: FloatArray, child: FloatArray, size: float) -> bool:
    share = _along(head, tail, child, size)
    return share is not None and share >= 1.0


def _reach(bone: int, children: list[list[int]], heads: FloatArray) -> float:
    return max((float(np.linalg.norm(heads[k] - heads[bone])) + _reach(k, children, heads) for k in children[bone]),
               default=0.0)


def _rooted(links: list[list[int]], root: int) -> IntArray:
    parents = np.full(len(links), -1)
    open_ends = [root]
    while open_ends:
        bone = open_ends.pop()
        for other in links[bone]:
            if other != parents[bone]:
                parents[other] = bone
                open_ends.append(other)
    return parents
