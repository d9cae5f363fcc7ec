"""Parts that a humanoid does not have: thin things beyond its hands, and limbs that are neither arm nor leg."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from ..binding.surface import connected
from ..maths.arrays import BoolArray, IntArray
from .cells import Cells
from .embedding import SHARED, Embedding
from .ends import Ends, Inside, gromov

_LONG: Final = 1.15
"""An arm that is longer than the other, or than a leg, by this factor holds an object in its hand."""

_THIGH: Final = 0.6
_SLIM: Final = 8.0
"""The share of a leg at which its radius is measured, and the least length of legs in these radii: slimmer legs are not
stumps."""

_ARM_OF_LEG: Final = 0.86
"""Ratio of the distance from the middle of the chest to the fingertips to that from the crotch to the toes, or to the
crown."""

_THICKER: Final = 2.5
"""Least ratio of the cross-section behind a thin part to its own."""

_THIN: Final = 0.07, 0.6
_BEHIND: Final = 0.04
"""Least and greatest length of a thin part, and the length measured behind it: shares of the longest path through the
body."""

_OF_ARM: Final = 0.8
"""Share of an arm from its end on; the rest is the shoulder, which is thicker in any case."""

_LONG_PART: Final = 0.15
"""Share of the longest path: shorter parts that are thin all round, such as fingers, are no swords."""

_NEAR_THICK: Final = 2
"""Layers of cells around thick parts that belong to these."""

_MOST: Final = 3
"""Thin parts that are left out in turn."""

_LIMB: Final = 0.1
"""Share of the longest path: shorter branches are no limbs."""

_FLAT: Final = 0.5
"""Roundness below which a limb is a sheet."""

_ALIKE: Final = 0.25
"""Share of their length by which limbs of a pair may differ in length, and in the height at which they leave the
trunk."""


@dataclass(frozen=True, eq=False)
class ExtraParts:
    """Parts that may be left out: their number, their cells (N,), and whether they are clearly no limb."""

    count: int
    cells: BoolArray
    is_plain: bool = False


def has_long_hand(ends: Ends, found: Embedding | None) -> bool:
    """Return whether an arm is so long that its hand may hold an object."""
    if found is None:
        return False
    one, other = _arm_lengths(ends, found)
    return max(one, other) > _LONG * min(one, other) or _are_both_long(ends, found)


def _arm_lengths(ends: Ends, found: Embedding) -> tuple[float, float]:
    (a, b), h = found.hands, found.head
    return _from_path(ends, a, b, h), _from_path(ends, b, a, h)


def _are_both_long(ends: Ends, found: Embedding) -> bool:
    """Return whether both arms are longer than the legs, though these are no stumps, and than trunk and head."""
    legs = _leg_lengths(ends, found)
    areas = [float(np.interp(_THIGH * length, ends.courses[end].at, ends.courses[end].areas))
             for end, length in zip(found.feet, legs, strict=True)]
    is_slim = min(legs) > _SLIM * float(np.sqrt(max(areas) / np.pi))
    return is_slim and min(_arm_lengths(ends, found)) > _LONG * max(*legs, _height_of_trunk(ends, found))


def _height_of_trunk(ends: Ends, found: Embedding) -> float:
    """Return the distance from the crown to the crotch."""
    return _from_path(ends, found.head, *found.feet)


def _leg_lengths(ends: Ends, found: Embedding) -> tuple[float, float]:
    (c, d), h = found.feet, found.head
    return _from_path(ends, c, d, h), _from_path(ends, d, c, h)


def thin_parts(inside: Inside, found: Embedding | None) -> list[ExtraParts]:
    """Return the parts of a body that may be left out, such as a sword.

    These are: parts that make both arms longer than legs, or one arm longer than the other; parts that are thin all
    round, wherever they touch the body; and parts beyond a hand that is much thicker.
    """
    ends, longest = inside.ends, float(inside.ends.ways.max(initial=0.0))
    parts = list[ExtraParts]()
    are_both_long = found is not None and _are_both_long(ends, found)
    if found is not None:
        (a, b), (one, other) = found.hands, _arm_lengths(ends, found)
        usual = _ARM_OF_LEG * max(min(_leg_lengths(ends, found)), _height_of_trunk(ends, found))
        if max(one, other) > _LONG * min(one, other):
            parts.append(ExtraParts(1, inside.ways[a if one > other else b] <= abs(one - other)))
        if are_both_long:
            cells = (inside.ways[a] <= one - usual) | (inside.ways[b] <= other - usual)
            parts.insert(0, ExtraParts(2, cells, is_plain=True))
    if found is not None and found.certain > 0.0:
        thin = [(end, _thin(ends, end, longest, _OF_ARM * length))
                for end, length in zip(found.hands, _arm_lengths(ends, found), strict=True)]
    else:
        thin = [(end, _thin(ends, end, longest, _THIN[1] * longest)) for end in range(len(ends.points))]
    thin = sorted([one for one in thin if one[1] > 0.0], key=lambda one: -one[1])[:_MOST]
    round_ = _thin_all_round(inside.cells, _LONG_PART * longest)
    beyond = [inside.ways[end] <= length for end, length in thin]
    parts += [ExtraParts(1, part) for part in (*round_, *beyond)]
    if len(round_) > 1:
        parts.append(ExtraParts(len(round_), np.any(round_, axis=0)))
    if len(beyond) > 1:
        parts.append(ExtraParts(len(beyond), np.any(beyond, axis=0), is_plain=are_both_long))
    return parts


def _thin_all_round(cells: Cells, longest: float) -> list[BoolArray]:
    """Return the parts (N,) of a body that are thin everywhere and at least this long, the largest first, only a few.

    A cell is thin if an opening removes it: if no cell of the second layer or deeper is near.
    """
    thick = np.append(cells.depth > 1, False)
    for _ in range(_NEAR_THICK):
        thick[:-1] |= thick[cells.neighbours].any(axis=1)
    thin = ~thick[:-1]
    first, second = cells.pairs()
    touch = thin[first] & thin[second]
    part = connected(len(cells), first[touch], second[touch])
    count = np.bincount(part[thin], minlength=int(part.max()) + 1)
    found = []
    for number in np.argsort(-count)[:_MOST]:
        own = thin & (part == number)
        if own.any() and float(np.linalg.norm(np.ptp(cells.points[own], axis=0))) > longest:
            found.append(own)
    return found


def _thin(ends: Ends, end: int, longest: float, at_most: float) -> float:
    """Return the length of the thin part beyond an end, or 0."""
    course = ends.courses[end]
    for index in np.flatnonzero((course.at > _THIN[0] * longest) & (course.at < at_most)):
        before = float(np.percentile(course.areas[1:index], 80)) if index > 2 else np.inf
        behind = (course.at >= course.at[index]) & (course.at <= course.at[index] + _BEHIND * longest)
        if float(np.median(course.areas[behind])) > _THICKER * before:
            return float(course.at[index])
    return 0.0


def other_limbs(ends: Ends, found: Embedding) -> tuple[str, ...]:
    """Return sentences about limbs that are neither arm nor leg, and so got no bones.

    Parts that grow from a hand, a foot or the head, such as fingers, horns or hair, are not counted as limbs.
    """
    longest = float(ends.ways.max())
    (a, b), (c, d), h = found.hands, found.feet, found.head
    own: list[int] = [h, a, b, c, d]
    limbs = list[tuple[float, float]]()
    is_flat = False
    for end in sorted(found.others, key=lambda one: -_from_path_of(ends, one, own)):
        branch = _from_path_of(ends, end, own)
        goes_with = any(_from_path(ends, tip, end, to) < SHARED * _from_path(ends, tip, other, to)
                        for tip, other, to in ((h, a, b), (a, b, h), (b, a, h), (c, d, h), (d, c, h)))
        if goes_with or branch < _LIMB * longest:
            continue
        own.append(end)
        course = ends.courses[end]
        along = (course.at > 0.2 * branch) & (course.at < 0.8 * branch)
        if along.any() and float(np.median(ends.roundness[end][along])) < _FLAT:
            is_flat = True
            continue
        limbs.append((branch, (_from_path(ends, h, c, end) + _from_path(ends, h, d, end)) / 2.0))
    paired = sum(any(max(abs(branch - other), abs(leaves - there)) < _ALIKE * max(branch, other)
                     for k, (other, there) in enumerate(limbs) if k != number)
                 for number, (branch, leaves) in enumerate(limbs))
    single = len(limbs) - paired
    return ((f"{paired} limbs more, as of a figure with four arms, got no bones",) if paired else ()) + (
        (f"{single} limb{'' if single == 1 else 's'} more, as a tail, got no bones",) if single else ()) + (
        ("Flat parts, as wings or a cape, got no bones",) if is_flat else ())


def _from_path(ends: Ends, end: int, one: int, other: int) -> float:
    """Return the distance from an end to the point where the paths to two others part."""
    def index(value: int) -> IntArray:
        return np.array([value])

    return float(gromov(ends.ways, index(end), index(one), index(other))[0])


def _from_path_of(ends: Ends, end: int, own: list[int]) -> float:
    """Return the distance of an end from the paths between others."""
    return min(_from_path(ends, end, one, other) for one, other in combinations(own, 2))
