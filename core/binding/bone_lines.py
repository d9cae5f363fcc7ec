"""The lines that stand for bones: imported tails point anywhere, and not every bone moves the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import children_of
from .conventions import claims, steering_names
from .eyes import eye_reach
from .hierarchy import adopted, linked, live_parents, loose_bones, parted, rejoined
from .leaf_lines import along_tails, away_from_body, into_limbs
from .partners import partner_groups
from .roles import Roles, find_roles, same_start
from .segments import Segments
from .solid import Solid

_NEAR_TAIL = (0.5, 1.2)
_ASIDE = 0.15
"""A tail leads to a child whose head lies near the bone's line, within these shares of its length."""

_STRAIGHT_AHEAD = 0.95
"""Cosine: a child in this direction of a tail that leads to no child gets a line of its own."""

_GOES_ON = 0.5
"""A bone is a leaf where no child starts beyond this share of its line: a skull that carries a jaw and eyes."""

_LEAF_LENGTH = 0.7
"""Length of a leaf bone without a trusted tail, as a share of its distance from its parent."""

_SIDE_LINK = 0.5
"""In a guessed hierarchy, links shorter than this share of a bone's longest link join limbs side by side."""

_MISS, _NOTHING = 1e-3, 1e-4
"""Shares of the body's size: a distance that counts as a hit, and a length that counts as 0."""

_Line = tuple[int, FloatArray, FloatArray, bool]


@dataclass(frozen=True, eq=False)
class BoneLines:
    """The lines of B bones, and how the bones are related.

    parents: (B,) each bone's nearest ancestor that has a line, −1 for none. parting: (B,) whether a bone's line
    continues that of a bone that does not move it, as a foot that is no child of its shin. reach: (B,) the greatest
    radius of what an eye moves, ∞ for other bones.
    """

    segments: Segments
    parents: IntArray
    parting: BoolArray
    roles: Roles
    reach: FloatArray


def bone_lines(names: Sequence[str], parents: IntArray, heads: FloatArray, tails: FloatArray, solid: Solid,
               size: float, chosen: BoolArray | None = None) -> BoneLines:
    """Find the lines of B bones: names, parents (B,), heads and tails (B, 3); `size` is the body's.

    If at least half of the parents' tails lead to a child, tails are trusted. Then a bone is the line from head to
    tail. If a parent has one child, its line ends at the child. Otherwise a bone is a fan of lines to its children's
    heads, and a leaf bone continues the direction that leads to it. If all bones have no parent, or the same one on the
    ground, `linked` finds their parents. If tails are trusted too, lines then only lead to children near their tails.
    Limbs that hang from a root on the ground go on from the body (`adopted`). Bones that only steer others, as
    `find_roles` finds them, have no line unless they are chosen (B,). The lines of leaf bones end at the skin.
    """
    rig_parents, gap = parents, _NOTHING * size
    chosen = np.zeros(len(names), dtype=np.bool_) if chosen is None else chosen
    doubled = same_start(claims(names), heads, gap) & ~chosen
    own, holder = loose_bones(parents, heads, solid)
    own = own[~doubled[own]]
    loose = len(own) > 2
    if loose:
        above = linked([names[bone] for bone in own], heads[own], tails[own], solid)
        parents = np.full(len(names), -1)
        parents[own] = np.where(above >= 0, own[above], -1)
    else:
        parents = live_parents(parents, doubled, doubled, heads, gap)
    trusted = _tails_lead(parents, heads, tails, size)
    rule = _Rule(heads, tails, size, trusted, loose)
    if loose:
        roles = Roles.by_names(names, doubled, holder).with_moving(chosen)
    else:
        if trusted:
            parents = rejoined(parents, heads, tails, (steering_names(names) & ~chosen) | doubled)
        every = rule.lines(parents, np.zeros(len(names), dtype=np.bool_))
        if not trusted:
            every = away_from_body(every, parents, solid, size)
        every = every.to_the_skin(solid, size)
        roles = find_roles(names, parents, heads, tails, every, doubled, solid).with_moving(chosen)
    parents = live_parents(parents, roles.steering, roles.doubled, heads, gap)
    segments = rule.lines(parents, roles.steering)
    if not loose:
        parents = adopted(parents, segments if trusted else _without_tails(segments, parents), solid)
    if not trusted:
        segments = rule.lines(parents, roles.steering)
        groups = partner_groups(names, roles.steering.astype(np.int64), parents, heads, size)
        segments = along_tails(segments, parents, heads, tails, groups, solid, size)
        segments = into_limbs(segments, parents, groups, solid, size)
    reach = eye_reach(names, parents, segments, heads, tails, solid)
    segments = segments.to_the_skin(solid, size)
    return BoneLines(segments, parents, parted(rig_parents, parents) & ~roles.steering, roles, reach)


@dataclass(frozen=True, eq=False)
class _Rule:
    """How lines are found: heads and tails (B, 3); whether tails are trusted, and whether parents are guessed."""

    heads: FloatArray
    tails: FloatArray
    size: float
    trusted: bool
    loose: bool

    def lines(self, parents: IntArray, left_out: BoolArray) -> Segments:
        """Return the lines of the bones that are not left out; no parent (B,) of such a bone is left out (B,)."""
        heads, tails = self.heads, self.tails
        children = children_of(parents)
        lines: list[_Line] = []
        for bone in np.flatnonzero(~left_out).tolist():
            own = [k for k in children[bone] if not left_out[k]]
            if self.trusted:
                if self.loose:
                    own = [k for k in own if _meeting(heads[bone], tails[bone], heads[k], self.size) is not None]
                lines.extend(_from_tail(bone, own, heads, tails, self.size))
            else:
                far = _far_children(bone, own, heads) if self.loose else own
                lines.extend(_from_heads(bone, far, parents, heads, tails))
        return Segments(*(np.array(values) for values in zip(*lines, strict=True)))


def _tails_lead(parents: IntArray, heads: FloatArray, tails: FloatArray, size: float) -> bool:
    """Tell whether at least half of the bones that have children lead to one with their tails.

    Children that start where their parent starts say nothing of its tail.
    """
    lead = []
    for bone, children in enumerate(children_of(parents)):
        own = [k for k in children if np.linalg.norm(heads[k] - heads[bone]) > _NOTHING * size]
        if own:
            lead.append(any(_meeting(heads[bone], tails[bone], heads[k], size) is not None for k in own))
    return 2 * sum(lead) >= len(lead)


def _without_tails(segments: Segments, parents: IntArray) -> Segments:
    """Return the lines, of which those of leaf bones without a parent are shortened to a point at the bone's head."""
    alone = segments.leaf & (parents[segments.bones] < 0)
    return replace(segments, ends=np.where(alone[:, None], segments.starts, segments.ends))


def _far_children(bone: int, own: list[int], heads: FloatArray) -> list[int]:
    """Return the children that a bone's limb goes on to, where the hierarchy is guessed."""
    step = np.linalg.norm(heads[own] - heads[bone], axis=1)
    return [k for k, length in zip(own, step, strict=True) if length > _SIDE_LINK * step.max()]


def _from_tail(bone: int, own: list[int], heads: FloatArray, tails: FloatArray, size: float) -> list[_Line]:
    head, tail = heads[bone], tails[bone]
    met = [_meeting(head, tail, heads[k], size) for k in own]
    line, to_children = tail - head, heads[own] - head
    length = float(np.linalg.norm(line))
    last = bool((to_children @ line < _GOES_ON * length**2).all())
    leads_on = not last or bool((np.linalg.norm(to_children, axis=1) >= _GOES_ON * length).any())
    if len(own) == 1 and leads_on and (met[0] is None or met[0] < 1.0):
        return [(bone, head, heads[own[0]], False)]
    lines = [(bone, head, tail, last)]
    if len(own) > 1 and all(share is None for share in met):
        ahead = to_children @ line > _STRAIGHT_AHEAD * np.linalg.norm(to_children, axis=1) * length
        lines.extend((bone, head, heads[k], False) for k, there in zip(own, ahead, strict=True) if there)
    return lines


def _from_heads(bone: int, own: list[int], parents: IntArray, heads: FloatArray, tails: FloatArray) -> list[_Line]:
    if own:
        return [(bone, heads[bone], heads[k], False) for k in own]
    if parents[bone] < 0:
        return [(bone, heads[bone], tails[bone], True)]
    return [(bone, heads[bone], heads[bone] + _LEAF_LENGTH * (heads[bone] - heads[parents[bone]]), True)]


def _meeting(head: FloatArray, tail: FloatArray, child: FloatArray, size: float) -> float | None:
    """Return the share of the bone's line at which the child begins, or None if it does not begin near the line."""
    line = tail - head
    length = float(np.linalg.norm(line))
    if length < _NOTHING * size:
        return None
    share = float((child - head) @ line) / length**2
    aside = float(np.linalg.norm(head + share * line - child))
    return share if _NEAR_TAIL[0] < share < _NEAR_TAIL[1] and aside < _ASIDE * length + _MISS * size else None
