"""Which bones move skin and which only steer others: points of evidence for each bone, and the reason for its role.

Files bring bones of all kinds marked as deforming. One kind of evidence alone is often wrong: imported tails poke out
of the mesh, artists weight bones named "end", and controls lie inside. A bone of 1 point or more steers:

- 1 for a name of a control, a target, a socket or an end, unless it also says that the bone deforms;
- 1 for a root on the ground, and for its children without children that never enter the body;
- 1 for a bone that only carries others: most of its children, two or more, start where it starts, and it does not
  continue alone through the body; or its name says that it is a root, and all its children start where it does;
- 0.8 times the share of its line along which a bone with a better claim by its name (DEF- before others before ORG-
  before MCH-) runs nearer than the skin; 0.8 if that bone starts where it starts; 0.2 more for a name such as ORG-,
  MCH- or fk. if DEF- bones run through most of the body, other bones get 0.5 more, and 0.8 times the share of their
  line in the air;
- up to 1 for a limb under a bone on the ground, if nearly all of it runs beside larger limbs, or in the air; 1 for a
  tree that is a copy of another one;
- 0.6 less for a bone with no evidence but its name, if it is the only bone in a stretch of a limb.

Then three rules hold. Partners on both sides of the body share one role, by the mean of their points, unless a better
bone starts at only one of them. Chains inside the body move skin in spite of one kind of evidence, if no other bone
that moves skin runs along them. If more than half of the bones steer, that also holds for single bones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import children_of, parents_first
from .conventions import (
    DEFORM,
    UNMARKED,
    carrier_names,
    claims,
    ending_names,
    marker_names,
    root_names,
    steering_names,
)
from .courses import Courses
from .partners import copied_trees, partner_groups
from .segments import Segments
from .solid import Solid, dilated

_ENOUGH: Final = 1.0 - 1e-9
_OWNED, _MECHANISM, _NOT_DEFORM, _ALONE = 0.8, 0.2, 0.5, 0.6
"""Points for a bone beside one with a better claim, for a mechanism's name, and for a name that is not DEF-; and points
subtracted for a bone that has its place alone."""

_FAMILY: Final = 0.5
"""If DEF- bones run through at least this share of the body, the names of all bones count."""

_ALONG: Final = 0.15
"""A limb runs beside another one if its distance is less than this share of its bones' length."""

_NEARLY_ALL: Final = 0.75
"""A limb of which this share runs beside others is a control limb."""

_ON_ITS_OWN: Final = 0.6
"""A line runs inside the body if at least this share of it does, and beside another line if at least the rest does."""

_APART: Final = 1.0 / 3.0
"""A root stands apart from the body where more than this share of the lines to its children lies outside."""

_COINCIDENT: Final = 1e-3
"""Share of the skeleton's size; smaller distances count as 0."""

_STEPS: Final = 16
_TINY: Final = float(np.finfo(np.float64).tiny)


class Role(Enum):
    """Whether a bone moves the skin, or else the strongest evidence that it only controls other bones.

    The values are texts for the user that say why such bones have no vertices.
    """

    DEFORMS = "others are nearer to all vertices"
    NAMED = "named as controls or ends"
    GROUND = "outside the mesh, as a root on the ground"
    CARRIES = "only carry bones that start where they start"
    OWNED = "beside bones named as deforming"
    CONTROLS = "run along other limbs, as controls do"


_EVIDENCE: Final = tuple(Role)[1:]
_NAMED, _GROUND, _CARRIES, _OWNED_BY, _CONTROLS = range(len(_EVIDENCE))


@dataclass(frozen=True, eq=False)
class Roles:
    """The roles of B bones.

    points: (B, 5) for each kind of evidence, in the order of `Role`. steering: (B,) which bones move no skin.
    """

    points: FloatArray
    steering: BoolArray

    @classmethod
    def by_names(cls, names: Sequence[str], doubled: BoolArray, holder: int) -> Roles:
        """Return the roles of bones whose hierarchy is unknown.

        doubled: (B,) as `same_start`; holder: the bone on the ground that holds all others, −1 for none.
        """
        points = np.zeros((len(names), len(_EVIDENCE)))
        points[:, _NAMED] = steering_names(names) | ending_names(names)
        points[:, _OWNED_BY] = doubled
        if holder >= 0:
            points[holder, _GROUND] = 1.0
        return cls(points, _unless_all(points.sum(axis=1) >= _ENOUGH))

    def with_moving(self, chosen: BoolArray) -> Roles:
        """Return the roles in which chosen bones (B,) also move skin."""
        return Roles(self.points, self.steering & ~chosen)

    @property
    def doubled(self) -> BoolArray:
        """Which bones (B,) steer since a bone with a better claim by its name is beside them."""
        return np.asarray(self.steering & (self.points[:, _OWNED_BY] >= _OWNED))

    def of(self, bone: int) -> Role:
        """Return the role of a bone."""
        return _EVIDENCE[int(self.points[bone].argmax())] if self.steering[bone] else Role.DEFORMS


def find_roles(names: Sequence[str], parents: IntArray, heads: FloatArray, tails: FloatArray, lines: Segments,
               doubled: BoolArray, solid: Solid) -> Roles:
    """Find the roles of B bones; where evidence speaks against all of them, all move skin.

    names, parents (B,), heads and tails (B, 3); lines: those of bones if all moved skin; doubled: (B,) as `same_start`.
    """
    size = float(np.linalg.norm(np.ptp(heads, axis=0)))
    courses, claim, children = Courses.of(lines, len(names), solid), claims(names), children_of(parents)
    ground = _ground_bones(names, parents, heads, tails, solid)
    points = np.zeros((len(names), len(_EVIDENCE)))
    points[:, _NAMED] = steering_names(names) & (claim < DEFORM)
    points[:, _GROUND] = ground
    points[:, _CARRIES] = ((hubs(parents, heads, size, claim) & ~_run_on_alone(heads, tails, courses))
                           | _roots_of_joints(names, heads, children, size))
    points[:, _OWNED_BY] = _owned(claim, doubled, courses)
    points[:, _CONTROLS] = np.maximum(_control_limbs(parents, ground, points.sum(axis=1) >= _ENOUGH, courses),
                                      copied_trees(claim, parents, heads, tails, size))
    moving = points.sum(axis=1) < _ENOUGH
    goes_on = _goes_on(names, parents, children, moving, courses) & ~points[:, _NAMED + 1:].any(axis=1)
    score = points.sum(axis=1) - _ALONE * goes_on
    for group in partner_groups(names, claim, parents, heads, size):
        for alike in (group[doubled[group]], group[~doubled[group]]):
            score[alike] = score[alike].sum() / max(1, len(alike))
    return Roles(points, _unless_all(_kept(score >= _ENOUGH, points, parents, courses, names)))


def _unless_all(steering: BoolArray) -> BoolArray:
    return np.zeros_like(steering) if steering.all() else steering


def _have_their_place_alone(courses: Courses, moving: BoolArray) -> BoolArray:
    """Return which bones (B,) run inside the body where no other bone that moves skin runs along them."""
    others = np.tile(moving, (len(moving), 1)) & ~np.eye(len(moving), dtype=np.bool_)
    return np.asarray((courses.inside >= _ON_ITS_OWN)
                      & (courses.along(others, courses.depths) < 1.0 - _ON_ITS_OWN))


def _run_on_alone(heads: FloatArray, tails: FloatArray, courses: Courses) -> BoolArray:
    """Return which bones (B,) have their place alone, and are longer than the greatest depth of skin around them."""
    deepest = np.zeros(len(heads))
    np.maximum.at(deepest, courses.lines.bones, courses.depths.max(axis=0, initial=0.0))
    every = np.ones(len(heads), dtype=np.bool_)
    return np.asarray(_have_their_place_alone(courses, every) & (np.linalg.norm(tails - heads, axis=1) > deepest))


def _goes_on(names: Sequence[str], parents: IntArray, children: Sequence[Sequence[int]], moving: BoolArray,
             courses: Courses) -> BoolArray:
    """Return which bones (B,) are alone in a stretch of a limb, between bones or as the only continuation."""
    above = (parents >= 0) & moving[parents]
    inner = courses.inside >= _ON_ITS_OWN
    only = np.array([sum(inner[k] for k in children[parent]) == 1 for parent in parents.tolist()])
    between = np.array([any(moving[k] for k in own) for own in children])
    is_marker = marker_names(names)
    return np.asarray(_have_their_place_alone(courses, moving) & above
                      & np.where(is_marker, between, only))


def _kept(steering: BoolArray, points: FloatArray, parents: IntArray, courses: Courses,
          names: Sequence[str]) -> BoolArray:
    """Return which bones (B,) still steer, once chains and most bones no longer do so by one kind of evidence."""
    weak = steering & ~marker_names(names) & ~points[:, [_GROUND, _CARRIES, _OWNED_BY]].any(axis=1)
    weak &= (np.count_nonzero(points, axis=1) == 1) & _have_their_place_alone(courses, ~steering)
    own = np.flatnonzero(weak & (parents >= 0))
    kept = np.zeros_like(weak)
    linked = own[weak[parents[own]]]
    kept[linked] = kept[parents[linked]] = True
    if 2 * np.count_nonzero(steering) > len(steering):
        kept |= weak & ((parents < 0) | ~steering[parents])
    return np.asarray(steering & ~kept)


def same_start(claim: IntArray, heads: FloatArray, gap: float) -> BoolArray:
    """Return which bones (B,) start within `gap` of the head (B, 3) of one with a better claim (B,).

    >>> same_start(np.array([1, 2, 1]), np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1.0]]), 1e-4).tolist()
    [True, False, False]
    """
    worse = np.flatnonzero(claim < claim.max())
    found = np.zeros(len(claim), dtype=np.bool_)
    for bone in worse.tolist():
        near = np.linalg.norm(heads - heads[bone], axis=1) <= gap
        found[bone] = (near & (claim > claim[bone])).any()
    return found


def _owned(claim: IntArray, doubled: BoolArray, courses: Courses) -> FloatArray:
    """Return the points (B,) for bones beside a bone with a better claim, or not named DEF- when others are."""
    if (claim == claim[0]).all():
        return np.zeros(len(claim))
    by_deform = np.maximum(courses.along(np.outer(claim < DEFORM, claim == DEFORM), courses.depths), doubled)
    inside = courses.lengths * courses.inside
    covered = inside @ np.maximum(claim == DEFORM, by_deform)
    mechanism = _MECHANISM * (claim < UNMARKED)
    if (claim == DEFORM).any() and covered >= _FAMILY * inside.sum():
        air = np.where(courses.lengths > 0.0, 1.0 - courses.inside, 0.0)
        return np.where(claim < DEFORM, _NOT_DEFORM + mechanism + _OWNED * np.minimum(by_deform + air, 1.0), 0.0)
    by_better = np.maximum(courses.along(claim[:, None] < claim, courses.depths), doubled)
    return np.asarray(np.where(by_better > 0.0, mechanism, 0.0) + _OWNED * by_better)


def _ground_bones(names: Sequence[str], parents: IntArray, heads: FloatArray, tails: FloatArray,
                  solid: Solid) -> BoolArray:
    """Return which bones (B,) stand on the ground.

    Those are roots with children that start outside the body, if their names say so or their lines to children lie
    outside it. Their children outside the body count too, if these start at the same position, or have no children and
    end outside. A root within the skin counts if its name says so and its lines lie outside: a snake lies on its root,
    a hip lies inside the body.
    """
    near = replace(solid, filled=dilated(solid.filled, 1))  # one cell of tolerance, for thin feet
    in_skin = ~replace(solid, filled=~dilated(~solid.filled, 1)).contains(heads)
    outside, ends_outside = ~near.contains(heads), ~near.contains(tails)
    size = float(np.linalg.norm(np.ptp(heads, axis=0)))
    children, named = children_of(parents), root_names(names)
    ground = np.zeros(len(names), dtype=np.bool_)
    for bone in parents_first(parents):
        parent = parents[bone]
        if parent < 0:
            alone = bool(children[bone]) and (outside[bone] or (in_skin[bone] and named[bone]))
            ground[bone] = alone and ((outside[bone] and named[bone])
                                      or _outside(bone, children[bone], parents, heads, solid) > _APART)
        elif ground[parent]:
            same = np.linalg.norm(heads[bone] - heads[parent]) <= _COINCIDENT * size
            ground[bone] = outside[bone] and (same or (not children[bone] and ends_outside[bone]))
    return ground


def hubs(parents: IntArray, heads: FloatArray, size: float, claim: IntArray) -> BoolArray:
    """Return which bones (B,) may only carry others: most of their children, two or more, start where they start.

    Children with a lesser claim (B,) to skin than their parent are controls and do not count.
    """
    own = np.flatnonzero((parents >= 0) & (claim >= claim[parents]))
    same = np.linalg.norm(heads[own] - heads[parents[own]], axis=1) <= _COINCIDENT * size
    children, there = (np.bincount(parents[own], weights, len(parents)) for weights in (None, same))
    return np.asarray((there > 0.5 * children) & (children > 1))


def _roots_of_joints(names: Sequence[str], heads: FloatArray, children: Sequence[Sequence[int]],
                     size: float) -> BoolArray:
    """Return which bones (B,) are roots by name, as "neckroot" or "root", and have all children at their head."""
    named = carrier_names(names)
    return np.array([named[bone] and len(own) > 0
                     and (np.linalg.norm(heads[own] - heads[bone], axis=1) <= _COINCIDENT * size).all()
                     for bone, own in enumerate(children)], dtype=np.bool_)


def _outside(root: int, children: Sequence[int], parents: IntArray, heads: FloatArray, solid: Solid) -> float:
    """Return the share of the lines from a root to its children that lies outside the body.

    Most other bones may run through the air, as in a pipe or beside a cloth. Then it is the share of the lines before
    or after the body, in the lines' directions.
    """
    own = np.flatnonzero((parents >= 0) & (parents != root))
    if not len(own):
        own = np.asarray(children)
    length = np.linalg.norm(heads[own] - heads[parents[own]], axis=1) + _TINY
    if np.average(solid.share_outside(heads[parents[own]], heads[own], _STEPS), weights=length) <= 0.5:
        return float(solid.share_outside(heads[root], heads[children], _STEPS).mean())
    lines = heads[children] - heads[root]
    along = lines / np.maximum(np.linalg.norm(lines, axis=1, keepdims=True), _TINY)
    body = solid.centres() @ along.T
    begin, end = heads[root] @ along.T, (heads[children] * along).sum(axis=1)
    covered = np.minimum(end, body.max(axis=0)) - np.maximum(begin, body.min(axis=0))
    return float(1.0 - np.mean(np.maximum(covered, 0.0) / np.maximum(end - begin, _TINY)))


def _control_limbs(parents: IntArray, ground: BoolArray, found: BoolArray, courses: Courses) -> FloatArray:
    """Return the points (B,) of limbs of which nearly all runs beside larger limbs, or through the air.

    A limb is a bone whose parent stands on the ground, with its descendants. The body is the largest limb, and each
    next limb that does not run beside limbs of the body: of two legs, neither runs beside the other.
    """
    share = np.zeros(len(parents))
    limb = np.arange(len(parents))
    for bone in parents_first(parents):
        if parents[bone] >= 0 and not ground[parents[bone]]:
            limb[bone] = limb[parents[bone]]
    from_ground = (parents[limb] >= 0) & ground[parents[limb]]
    sizes = np.bincount(limb[~found], minlength=len(parents))
    body = np.zeros(len(parents), dtype=np.bool_)
    reach = np.broadcast_to(_ALONG * courses.lines.lengths, courses.points.shape[:2])
    for first in np.argsort(-sizes, kind="stable")[:np.count_nonzero(sizes)]:
        own = (limb == first) & ~found
        if body.any() and from_ground[first]:
            double = courses.along(np.outer(own, body), reach)
            length = np.where(own, courses.lengths, 0.0)
            away = np.minimum(double + 1.0 - courses.inside, 1.0)
            share[limb == first] = min(float(length @ away) / max(float(length.sum()), _TINY) / _NEARLY_ALL, 1.0)
        body |= own & (share < _ENOUGH)
    return share
