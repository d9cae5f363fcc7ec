"""A body other than a humanoid, by its symmetry: its mirror plane, the ends of head and tail, its limbs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .cells import Cells
from .ends import Inside, gromov
from .level_sets import Course, LevelSets
from .limbs import Stem, smoothed, unit
from .mirroring import Plane, Symmetry

_LIKE: Final = 0.8
"""Least share of a body that coincides with its mirror image; a body with less has no two sides."""

_NEAR: Final = 0.08
"""Share of the longest path through the body: two ends this near to each other's mirror images are a pair, and an end
this near to its own is in the middle.
"""

_FREE: Final = 0.07
_SLIM: Final = 1.7
"""Least length of a limb, as a share of the longest path, and in radii of the limb."""

_MIDDLE: Final = 1.0
"""Cells within this distance of the plane, in cells, lie in it."""

_SECTION: Final = 0.25
"""Least cross-section of a body in its plane, as a share of that of a ball with its volume: two bodies that touch hands
are no body with two sides."""

_SLENDER: Final = 6.0
_TAPERED: Final = 2.5
"""Least ratio of length to thickness of a body without limbs; of one with fins."""

_EVEN: Final = 2.2
"""Greatest cross-section of a body without limbs, in multiples of the usual one."""

_POINT: Final = 0.3
"""Limbs point down if the sum of their vectors is this long, as a share of the sum of their lengths."""

_LIES: Final = 0.6
"""Greatest cosine between a horizontal spine and up."""

_TRUNK: Final = 0.1
"""Share of the spine: between limbs nearer to each other there is no trunk."""

_LEGS_REACH: Final = 0.15
"""Share of the body's height: limbs that end this near to its lowest point are legs."""

_BY_HINT: Final = 0.3
_BY_GIRTH: Final = 0.5
_BY_HEIGHT: Final = 0.2
_BY_FEET: Final = 0.2
_BY_FEELERS: Final = 0.4
"""Weights of the evidence for the head's end: the hint, the thicker end, the higher end, feet, and thin limbs near an
end."""

_CLEARLY: Final = 0.5
_END: Final = 0.15
"""Share of the spine at each end whose girth is compared."""

NO_HEAD: Final = 0.09
"""Share of the spine: a body whose legs all leave it this near to its end has no head there."""

_THIN: Final = 0.6
"""Limbs near the head are feelers if they are thinner than the others by this factor, or if there are no others."""


@dataclass(frozen=True, eq=False)
class Branch:
    """A limb.

    end: its end's number; other: that of its mirror image, −1 if in the middle. course: from its end inwards; free:
    its length; leaves: where it leaves the spine, measured from the head's end; radius; inwards: (3,) the unit vector
    along which it continues into the trunk.
    """

    end: int
    other: int
    course: Course
    free: float
    leaves: float
    radius: float
    inwards: FloatArray


@dataclass(frozen=True, eq=False)
class Creature:
    """A body with two sides, or a long one without limbs.

    spine: from the head's end to the tail's; across: (3,) the plane's unit normal, to the left; up, front: (3,) unit
    vectors; pairs: the limbs on the left and on the right; single: limbs in the middle; is_leg: for each pair; sure: 0
    to 1, certainty of which end is the head.
    """

    spine: Course
    across: FloatArray
    middle: FloatArray
    up: FloatArray
    front: FloatArray
    pairs: tuple[tuple[Branch, Branch], ...]
    single: tuple[Branch, ...]
    is_leg: tuple[bool, ...]
    sure: float

    @property
    def lies(self) -> bool:
        """Return whether the trunk, between or behind the pairs of limbs, is horizontal."""
        places = [pair[0].leaves for pair in self.pairs]
        if not places:
            return True
        first, last = min(places), max(places)
        if last - first < _TRUNK * float(self.spine.at[-1]):
            last = float(self.spine.at[-1])
        return abs(float(unit(self.spine.point_at(first) - self.spine.point_at(last)) @ self.up)) < _LIES


def creature(inside: Inside, up: FloatArray, front: FloatArray) -> Creature | None:
    """Return the creature that a body is, or None if that cannot be found.

    up, front: (3,) likely directions.
    Of all planes between two ends, and of those across the body's main axes, the one that mirrors it best gives the
    pairs of ends. The spine is the longest path in the plane. All other ends are limbs.
    """
    cells, ends = inside.cells, inside.ends
    plane = _best_plane(inside)
    longest = float(ends.ways.max(initial=0.0))
    if longest == 0.0:
        return None
    if len(ends.points) <= 2:
        return _slender(inside, up, front)
    if plane.like < _LIKE or not _cuts_much(cells, plane):
        return None
    found = _pairs(ends.points, plane, _NEAR * longest)
    return None if found is None else _put_together(inside, plane, found, up, front)


def _put_together(inside: Inside, plane: Plane, found: tuple[list[tuple[int, int]], list[int]], up: FloatArray,
                  front: FloatArray) -> Creature | None:
    """Return the creature with its head first, or None if it has too few limbs for its shape. found: see _pairs."""
    pairs, middle = found
    tips = _spine_tips(inside, plane, middle)
    fields = np.array([_ways_from(inside, tip) for tip in tips])
    cells, longest = inside.cells, float(inside.ends.ways.max())
    used = {end for end in middle if inside.tips[end] in tips}
    limbs = [(branch(inside, one, other, tips, fields), branch(inside, other, one, tips, fields))
             for one, other in pairs]
    limbs = [_level(*pair) for pair in limbs if all(_is_limb(limb, longest) for limb in pair)]
    single = [limb for end in middle if end not in used
              and _is_limb(limb := branch(inside, end, -1, tips, fields), longest)]
    spine = Course.of(cells, LevelSets.of(cells, fields[0]), fields[0], tips[1])
    spine = Course(plane.onto(spine.points), spine.areas, spine.at)
    length, thick = float(spine.at[-1]), 2.0 * float(np.sqrt(np.median(spine.areas) / np.pi))
    if len(limbs) < 2 and length < (_TAPERED if limbs or single else _SLENDER) * thick:
        return None
    if len(limbs) == 1 and length < longest * 0.9:
        return None  # a bust: its arms are longer than the rest
    along = unit(spine.points[0] - spine.points[-1])
    up = _up(limbs, plane, along, up)
    lowest, tall = float((cells.points @ up).min()), float(np.ptp(cells.points @ up))
    is_leg = [all(float(inside.ends.points[limb.end] @ up) - lowest < _LEGS_REACH * tall for limb in pair)
              and float((limb_root(pair[0]) - inside.ends.points[pair[0].end]) @ up) > 0.3 * pair[0].free
              for pair in limbs]
    votes = _votes(inside, spine, limbs, is_leg, along, up, front)
    if votes < 0.0:
        spine = Course(spine.points[::-1], spine.areas[::-1], length - spine.at[::-1])
        limbs = [(_turned(one, length), _turned(other, length)) for one, other in limbs]
        single = [_turned(limb, length) for limb in single]
    if any(is_leg) and max(pair[0].leaves for pair, leg in zip(limbs, is_leg, strict=True) if leg) < NO_HEAD * length:
        return None  # half a body: nothing lies ahead of the legs
    head = unit(spine.points[0] - spine.points[-1])
    head = unit(head - head @ up * up)
    across = plane.normal if np.cross(up, head) @ plane.normal >= 0.0 else -plane.normal
    ordered = sorted(zip(limbs, is_leg, strict=True), key=lambda one: one[0][0].leaves)
    sided = tuple(pair if limb_root(pair[0]) @ across >= limb_root(pair[1]) @ across else pair[::-1]
                  for pair, _ in ordered)
    return Creature(spine, across, plane.point, up, head, sided, tuple(sorted(single, key=lambda one: one.leaves)),
                    tuple(leg for _, leg in ordered), min(abs(votes) / _CLEARLY, 1.0))


def _slender(inside: Inside, up: FloatArray, front: FloatArray) -> Creature | None:
    """Return a body without limbs, like a snake, or None if it is not long enough for its girth."""
    cells = inside.cells
    first = int(np.asarray(inside.ways[0]).argmax())
    field = cells.distances([first])
    last = int(field.argmax())
    spine = Course.of(cells, LevelSets.of(cells, field), field, last)
    length, thick = float(spine.at[-1]), 2.0 * float(np.sqrt(np.median(spine.areas) / np.pi))
    if length < _SLENDER * thick or float(smoothed(spine.areas).max()) > _EVEN * float(np.median(spine.areas)):
        return None  # or two limbs are joined there, like the legs of half a body
    ahead = spine.points[0] - spine.points[-1]
    votes = _BY_HINT * float(np.sign(ahead @ front)) + _BY_GIRTH * _girth(spine)
    if votes < 0.0:
        spine, ahead = Course(spine.points[::-1], spine.areas[::-1], length - spine.at[::-1]), -ahead
    head = unit(ahead - ahead @ up * up)
    if not head.any():  # the body stands on its tail
        head = unit(front - front @ up * up)
    return Creature(spine, np.cross(up, head), spine.points.mean(axis=0), up, head, (), (), (),
                    min(abs(votes) / _CLEARLY, 1.0))


def _best_plane(inside: Inside) -> Plane:
    """Return the plane that mirrors a body best, of those between two ends and across the main axes."""
    mirror, tips = Symmetry(inside.cells), inside.ends.points
    candidates = [(axis, mirror.centre) for axis in mirror.axes]
    candidates += [(unit(tips[one] - tips[other]), (tips[one] + tips[other]) / 2.0)
                   for one, other in combinations(range(len(tips)), 2)]
    return max((mirror.plane(*each) for each in candidates if each[0].any()), key=lambda plane: plane.like)


def _cuts_much(cells: Cells, plane: Plane) -> bool:
    """Return whether a plane cuts a body where it is thick."""
    cut = float((np.abs(plane.away(cells.points)) < _MIDDLE * cells.cell).sum()) / (2.0 * _MIDDLE)
    ball = np.pi * (3.0 * len(cells) / (4.0 * np.pi)) ** (2.0 / 3.0)
    return bool(cut > _SECTION * ball)


def _pairs(points: FloatArray, plane: Plane, near: float) -> tuple[list[tuple[int, int]], list[int]] | None:
    """Return which ends (T, 3) mirror each other, and which lie in the middle, or None if one is neither."""
    gaps = np.linalg.norm(points[:, None] - plane.mirrored(points)[None], axis=-1)
    nearest = gaps.argmin(axis=1)
    if (gaps[np.arange(len(points)), nearest] > near).any() or (nearest[nearest] != np.arange(len(points))).any():
        return None
    pairs = [(end, int(other)) for end, other in enumerate(nearest) if end < other]
    return pairs, [end for end, other in enumerate(nearest) if end == other]


def _spine_tips(inside: Inside, plane: Plane, middle: list[int]) -> tuple[int, int]:
    """Return the cells at both ends of the spine: the two most distant ends in the middle, or cells there."""
    cells, ways = inside.cells, inside.ends.ways
    if len(middle) >= 2:
        one, other = max(combinations(middle, 2), key=lambda two: float(ways[two]))
        return inside.tips[one], inside.tips[other]
    in_plane = np.flatnonzero(np.abs(plane.away(cells.points)) < _MIDDLE * cells.cell)
    if middle:
        field = inside.ways[middle[0]]
        return inside.tips[middle[0]], int(in_plane[field[in_plane].argmax()])
    first = int(in_plane[cells.distances([inside.middle])[in_plane].argmax()])
    field = cells.distances([first])
    return first, int(in_plane[field[in_plane].argmax()])


def _ways_from(inside: Inside, cell: int) -> FloatArray:
    return np.asarray(inside.ways[inside.tips.index(cell)] if cell in inside.tips else inside.cells.distances([cell]))


def branch(inside: Inside, end: int, other: int, tips: tuple[int, int], fields: FloatArray) -> Branch:
    """Return the limb that leads to an end, beside a spine between two cells; fields: distances (2, N) from these."""
    tip = inside.tips[end]
    ways = np.array(((0.0, fields[0, tip], fields[1, tip]), (fields[0, tip], 0.0, fields[0, tips[1]]),
                     (fields[1, tip], fields[0, tips[1]], 0.0)))

    def index(value: int) -> IntArray:
        return np.array([value])

    meets = float(gromov(ways, index(0), index(1), index(2))[0])
    leaves = float(gromov(ways, index(1), index(0), index(2))[0])
    course = inside.ends.courses[end]
    stem = Stem.of(course)
    free = min(float(course.at[stem.index]), meets)
    return Branch(end, other, course, free, leaves, stem.radius, stem.direction)


def limb_root(limb: Branch) -> FloatArray:
    """Return where a limb leaves the trunk, (3,)."""
    return limb.course.point_at(limb.free)


def _is_limb(limb: Branch, longest: float) -> bool:
    return limb.free > max(_FREE * longest, _SLIM * limb.radius)


def _level(one: Branch, other: Branch) -> tuple[Branch, Branch]:
    """Return a pair of limbs that leave the spine at one place."""
    leaves = (one.leaves + other.leaves) / 2.0
    return replace(one, leaves=leaves), replace(other, leaves=leaves)


def _turned(limb: Branch, length: float) -> Branch:
    return replace(limb, leaves=length - limb.leaves)


def _up(limbs: list[tuple[Branch, Branch]], plane: Plane, along: FloatArray, likely: FloatArray) -> FloatArray:
    """Return up, (3,) in the plane: opposite to the pairs of limbs, and near the likely direction."""
    hint = unit(likely - likely @ plane.normal * plane.normal)
    down = np.zeros(3)
    for pair in limbs:
        for limb in pair:
            down += limb.course.points[0] - limb_root(limb)
    size = sum(limb.free for pair in limbs for limb in pair)
    down = down - down @ plane.normal * plane.normal
    if len(limbs) > 1 and float(np.linalg.norm(down)) > _POINT * size:
        return unit(-down)
    return hint if hint.any() else unit(np.cross(plane.normal, along))


def _votes(inside: Inside, spine: Course, limbs: list[tuple[Branch, Branch]], is_leg: list[bool], along: FloatArray,
           up: FloatArray, front: FloatArray) -> float:
    """Return the evidence that the spine begins at the head; less than 0 if it ends there."""
    ahead = unit(along - along @ up * up)
    votes = _BY_HINT * float(np.sign(ahead @ front)) + _BY_GIRTH * _girth(spine)
    rise = float((spine.points[0] - spine.points[-1]) @ up) / float(spine.at[-1])
    votes += _BY_HEIGHT * float(np.clip(rise / 0.3, -1.0, 1.0))
    length = float(spine.at[-1])
    usual = np.median([limb.radius for pair in limbs for limb in pair]) if limbs else 0.0
    for pair, leg in zip(limbs, is_leg, strict=True):
        limb = pair[0]
        if leg:
            foot = limb.course.points[0] - limb.course.point_at(0.2 * limb.free)
            votes += _BY_FEET * float(np.clip(foot @ ahead / (0.1 * limb.free), -1.0, 1.0)) / len(limbs)
        elif limb.radius < _THIN * float(usual) or any(is_leg):
            votes += _BY_FEELERS * float(np.clip((0.5 * length - limb.leaves) / (0.25 * length), -1.0, 1.0))
    return votes


def _girth(spine: Course) -> float:
    """Return −1 to 1: how much thicker the spine is at its begin than at its end."""
    length = float(spine.at[-1])
    near: BoolArray = (spine.at > 0.02 * length) & (spine.at < _END * length)
    far: BoolArray = (spine.at < 0.98 * length) & (spine.at > (1.0 - _END) * length)
    if not near.any() or not far.any():
        return 0.0
    return float(np.clip(np.log(np.mean(spine.areas[near]) / np.mean(spine.areas[far])), -1.0, 1.0))
