"""The joints of a humanoid, from the curves through its head, arms and legs.

Shares and multiples were measured on the sample dancer, whose joints follow H-Anim (ISO/IEC 19774), in T, A and
relaxed poses; each says what of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, smoothstep
from .cells import Cells
from .level_sets import Course, LevelSets
from .limbs import Stem, bend, line_through, narrowest, smoothed, unit

_SHOULDER_DEPTH: Final = 3.4
"""How far inwards of where an arm leaves the trunk the shoulder is, in radii of the arm."""

_SHOULDER_AT_MOST: Final = 0.44
"""The same as a share of the way to the body's middle plane."""

_HIP_DEPTH: Final = 0.097
"""How far above the crotch the hip is, as a share of the way from there to the toes."""

_ELBOW: Final = 0.5
_KNEE: Final = 0.5
_WRIST: Final = 0.26
"""Of the way from the finger's tip to the shoulder."""

_ANKLE_OF_LEG: Final = 0.088
_ANKLE_OF_NARROWEST: Final = 0.57
"""Its height over the sole as a share of the hip's, and of the narrowest place's above it."""

_HEEL: Final = 0.08, 0.33
"""Between these shares of the way from the toes to the crotch."""

_ANKLE_RANGE: Final = 0.05, 0.15
_BALL: Final = 0.63
"""Where the toes begin, on the way from ankle to their tip."""

_POINTED: Final = 0.75
"""Cosine between shin and foot from which on the foot is stretched."""

_NECK_BELOW: Final = 0.2
"""The neck's base is so many of its radii below where it is narrowest."""

_SKULL_ABOVE: Final = 0.25
"""Of the way from there to the crown, the skull's base."""

_NECK_FROM: Final = 0.15
_NECK_TO: Final = 0.75
"""The neck is narrowest between so many halves of the shoulders' width above them, and this share of the way up."""

_NECK_BASE: Final = 0.41
"""Height of the neck's base above the shoulders, in halves of their width."""

_WAISTED: Final = 0.12
_SURE: Final = 0.9
_LIKELY: Final = 0.7
_GUESS: Final = 0.35


@dataclass(frozen=True, eq=False)
class Limb:
    """Joints of an arm or leg from the trunk outwards, each (3,); certain: how sure each is; radius; where its tip is.

    straight: whether the middle joint stands where anatomy has it, since the limb does not bend.
    """

    root: FloatArray
    middle: FloatArray
    end: FloatArray
    tip: FloatArray
    radius: float
    certain: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Head:
    """The neck's base and the skull's (3,), the crown (3,), and how sure both joints are."""

    neck: FloatArray
    skull: FloatArray
    crown: FloatArray
    certain: tuple[float, float]


def course_of(cells: Cells, tip: int, target: int) -> Course:
    """Return the curve from an end of the body to a target cell."""
    distances = cells.distances([tip])
    return Course.of(cells, LevelSets.of(cells, distances), distances, target)


def arm(course: Course, tip: FloatArray, normal: FloatArray, middle: FloatArray) -> Limb:
    """Return shoulder, elbow and wrist from the curve of an arm; normal, middle: (3,) those of the body's plane."""
    stem = Stem.of(course)
    free = float(course.at[stem.index])
    depth = _SHOULDER_DEPTH * stem.radius
    towards = -float((stem.foot - middle) @ normal) / _nonzero(float(stem.direction @ normal))
    if towards > 0.0:
        depth = min(depth, _SHOULDER_AT_MOST * towards)
    shoulder = stem.foot + depth * stem.direction
    narrow, waist = narrowest(course, 0.18 * free, 0.55 * free)
    share = _WRIST * (free + depth)
    weight = float(smoothstep(waist, 0.0, _WAISTED))
    at_wrist = weight * narrow + (1.0 - weight) * share
    wrist = course.point_at(at_wrist)
    own = course.points[(course.at >= at_wrist) & (course.at <= free)]
    elbow, bent = bend(own, shoulder, wrist, _ELBOW)
    return Limb(shoulder, elbow, wrist, tip, stem.radius,
                (_LIKELY, _SURE if bent > 0.08 else _LIKELY, _GUESS + (_SURE - _GUESS) * weight))


def leg(cells: Cells, course: Course, tip: FloatArray, crotch: float) -> Limb:
    """Return hip, knee and ankle from the curve of a leg; crotch: how far it is from the foot's end."""
    stem = Stem.of(course, crotch)
    free = float(course.at[stem.index])
    hip = stem.foot + _HIP_DEPTH * free * stem.direction
    narrow, waist = narrowest(course, _heel(course, free), 0.5 * free)
    shin = course.points[(course.at >= narrow) & (course.at <= max(0.5 * free, narrow + 0.15 * free))]
    centre, down = line_through(shin if len(shin) > 1 else course.points[:stem.index + 1])
    down = -down if down @ (hip - centre) > 0.0 else down
    place = course.point_at(narrow)
    near = cells.points[((cells.points - place) ** 2).sum(axis=1) < (1.2 * narrow) ** 2]
    sole = float(((near if len(near) else place[None]) @ down).max())
    height = sole - float(hip @ down)
    weight = float(smoothstep(waist, 0.0, _WAISTED))
    above = weight * _ANKLE_OF_NARROWEST * (sole - float(place @ down)) + (1.0 - weight) * _ANKLE_OF_LEG * height
    above = float(np.clip(above, _ANKLE_RANGE[0] * height, _ANKLE_RANGE[1] * height))
    ankle = centre + down * (sole - above - float(centre @ down))
    if unit(tip - place) @ down > _POINTED and weight > 0.5:
        ankle = place
    own = course.points[(course.at >= narrow) & (course.at <= free)]
    knee, bent = bend(own, hip, ankle, _KNEE)
    return Limb(hip, knee, ankle, tip, stem.radius,
                (_LIKELY, _SURE if bent > 0.08 else _LIKELY, _GUESS + (_SURE - _GUESS) * weight))


def _heel(course: Course, free: float) -> float:
    """Return how far from its end a leg's foot is thickest."""
    foot = np.flatnonzero((course.at >= _HEEL[0] * free) & (course.at <= _HEEL[1] * free))
    return float(course.at[foot[smoothed(course.areas)[foot].argmax()]]) if len(foot) else _HEEL[1] * free


def head(points: FloatArray, cell: float, crown: FloatArray, shoulders: FloatArray, up: FloatArray,
         half_width: float) -> Head:
    """Return the neck's base and the skull's from slices of the head.

    points: (N, 3) the cells of it that lie above the shoulders, and the edge length of these; shoulders: (3,) their
    middle; up: (3,) along the trunk; half_width: of the shoulders.
    """
    heights = (points - shoulders) @ up
    top = float(heights.max(initial=0.0))
    by_share = _NECK_BASE * half_width
    slices = np.maximum((heights / cell).astype(np.int64), 0)
    count = np.bincount(slices, minlength=1).astype(np.float64)
    areas = smoothed(count) * cell**2
    low, high = int(_NECK_FROM * half_width / cell), int(_NECK_TO * top / cell)
    if high - low < 2 or top < by_share:
        neck, skull = shoulders + min(by_share, 0.3 * top) * up, shoulders + min(2.5 * by_share, 0.5 * top) * up
        return Head(neck, skull, crown, (_GUESS, _GUESS))
    narrow = low + int(areas[low:high].argmin())
    beyond, under = float(areas[narrow:].max()), float(areas[:narrow + 1].max())
    weight = float(smoothstep(1.0 - areas[narrow] / min(beyond, under), 0.0, _WAISTED))
    radius, place = float(np.sqrt(areas[narrow] / np.pi)), (narrow + 0.5) * cell
    neck_at = weight * min(place - _NECK_BELOW * radius, 1.8 * by_share) + (1.0 - weight) * by_share
    neck_at = max(neck_at, 0.3 * by_share)
    skull_at = weight * (place + _SKULL_ABOVE * (top - place)) + (1.0 - weight) * (2.5 * by_share)
    skull_at = max(skull_at, neck_at + 0.1 * (top - neck_at))
    neck, skull = (_slice_middle(points, heights, at, cell, shoulders, up) for at in (neck_at, skull_at))
    skull = neck + 0.5 * (skull - neck) + 0.5 * float((skull - neck) @ up) * up  # the face is no part of the neck
    return Head(neck, skull, crown, (_GUESS + (_SURE - _GUESS) * weight, _GUESS + (_LIKELY - _GUESS) * weight))


def _slice_middle(points: FloatArray, heights: FloatArray, at: float, cell: float, base: FloatArray,
                  up: FloatArray) -> FloatArray:
    """Return the middle (3,) of the cells at a height, (N,) above a base (3,) along a unit vector (3,)."""
    own = np.abs(heights - at) <= 1.5 * cell
    middle = points[own].mean(axis=0) if own.any() else base
    return np.asarray(middle + (at - float((middle - base) @ up)) * up)


def ball_of_foot(ankle: FloatArray, toe: FloatArray, shin: FloatArray) -> FloatArray:
    """Return where the toes begin, (3,), above the sole; shin: (3,) the unit vector down along it."""
    way = toe - ankle
    down = float(way @ shin)
    return np.asarray(ankle + _BALL * (way - down * shin) + 0.7 * max(down, 0.0) * shin)


def _nonzero(value: float) -> float:
    return value if abs(value) > 1e-9 else 1e-9
