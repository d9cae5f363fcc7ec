"""The joints of a humanoid, from the curves through its head, arms and legs.

Proportions were measured on the sample dancer, whose joints follow H-Anim (ISO/IEC 19774), in T, A and relaxed poses.
The comment of each says what it is a proportion of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, smoothstep
from .level_sets import Course
from .limbs import Stem, Swelling, bend, line_through, smoothed, unit

_SHOULDER_DEPTH: Final = 0.115, 0.0
"""Distance of the shoulder, inwards, from the point where the arm has merged with the trunk, as a share of the free
arm: for a hanging arm, and for a level one."""

_SHOULDER_AT_MOST: Final = 0.45
"""Greatest distance of the shoulder, inwards, from the point where the arm leaves the trunk, as a share of the distance
to the middle plane.
"""

_HIP_DEPTH: Final = 0.07
"""Height of the hip above the crotch, as a share of the distance from the crotch to the toes."""

_ELBOW: Final = 0.5
_KNEE: Final = 0.5
_WRIST: Final = 0.26
"""Position of the wrist, as a share of the way from the finger's tip to the shoulder."""

_HAND_ENDS: Final = 0.18, 0.65
_HAND_AT_MOST: Final = 0.53
"""Shares of the free arm between which the narrowest place behind the hand is searched, and the greatest share of a
hand. A swelling farther in is the forearm, as in robots.
"""

_HAND_OF_GIRTH: Final = 2.0
"""Least length of a hand, in radii of its girth."""

_FOOT: Final = 0.25
"""Greatest length of a foot, as a share of the way from toes to crotch."""

_STANDS: Final = 0.6
"""Cosine between leg and trunk from which on the shin is first assumed to continue the trunk's direction."""

_SHIN: Final = 0.08, 0.48
"""The shin's curve is taken between these shares of the way from ankle to hip."""

_BENT: Final = 0.08
"""Distance from straight at which a leg clearly bends above its foot, as a share of its length there."""

_SLIM: Final = 8.0
"""Least length of a leg's curve, in radii, for a bend to count; a shorter curve is mostly foot."""

_KNEE_FROM: Final = 0.38
"""Share of the way from the foot's end to the hip: a bend nearer to the foot is the ankle of a long foot, not a
knee."""

_BENT_SHIN: Final = 0.28, 0.5
_HEIGHT: Final = 0.95
"""The shares of the curve between which the shin of a bent leg lies, and the leg's length as a share of the curve's."""

_SHIN_TURNS: Final = 0.8
"""Cosine between the assumed shin and the way down below which it is the foot of a short leg."""

_SHIN_AREA: Final = 1.5
"""The foot ends where a slice is at most this many times as large as the shin's smallest one."""

_FOOT_IS: Final = 1.8
"""A leg's end is a foot if its length is at least this many times the shin's width."""

_ANKLE_OF_FOOT: Final = 0.33
_ANKLE_OF_LEG: Final = 0.088
_ANKLE_AT_MOST: Final = 0.35
"""Height of the ankle over the sole: as a share of the foot's length; of the hip's height if there is no foot; at
most."""

_ANKLE_ROUNDS: Final = 2
_BALL: Final = 0.63
"""Position of the ball of the foot, as a share of the way from the ankle to the tip of the toes."""

_NECK_BELOW: Final = 0.2
"""Distance of the neck's base below its narrowest place, in radii of the neck."""

_SKULL_ABOVE: Final = 0.25
"""Position of the skull's base, as a share of the way from the neck's narrowest place to the crown."""

_SKULL_OF_SHOULDER: Final = 0.36
"""Height of the skull's base above the neck's narrowest place, in halves of the shoulders' width. In a head that is
larger than this suggests, it is the geometric mean of both. Artists set it low in large heads, which hang over the
neck.
"""

_NECK_FROM: Final = 0.15
_NECK_TO: Final = 0.75
"""The neck is narrowest between these heights above the shoulders: the first in halves of their width, the second as a
share of the way up."""

_NECK_BASE: Final = 0.41
"""Height of the neck's base above the shoulders, in halves of their width."""

_HIP_OF_SHOULDER: Final = 0.65
_ANKLE_OF_SHOULDER: Final = 0.058
_TOE_OF_SHOULDER: Final = 0.14
_HIP_BESIDE: Final = 0.51
_HIDDEN: Final = 0.3
"""For hidden legs: heights of hip and ankle, and the foot's reach, as shares of the shoulders' height; the hips'
distance from the middle, as a share of the shoulders' width; certainty of these joints."""

_WAISTED: Final = 0.12
_SURE: Final = 0.9
_LIKELY: Final = 0.7
_GUESS: Final = 0.35


@dataclass(frozen=True, eq=False)
class Limb:
    """Joints of an arm or leg from the trunk outwards, each (3,); certain: of each joint; radius; tip: its end.

    straight: whether the middle joint is placed by anatomy, since the limb does not bend.
    """

    root: FloatArray
    middle: FloatArray
    end: FloatArray
    tip: FloatArray
    radius: float
    certain: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Head:
    """The neck's base and the skull's (3,), the crown (3,), and the certainty of both joints."""

    neck: FloatArray
    skull: FloatArray
    crown: FloatArray
    certain: tuple[float, float]


def arm(course: Course, tip: FloatArray, normal: FloatArray, middle: FloatArray) -> Limb:
    """Return shoulder, elbow and wrist from the curve of an arm; normal, middle: (3,) of the body's plane."""
    stem = Stem.of(course)
    free = float(course.at[stem.index])
    level = abs(float(stem.direction @ normal))
    depth = stem.merged + (_SHOULDER_DEPTH[0] + level * (_SHOULDER_DEPTH[1] - _SHOULDER_DEPTH[0])) * free
    towards = -float((stem.foot - middle) @ normal) / _nonzero(float(stem.direction @ normal))
    if towards > 0.0:
        depth = min(depth, _SHOULDER_AT_MOST * towards)
    shoulder = stem.foot + depth * stem.direction
    hand = Swelling.of(course, *(share * free for share in _HAND_ENDS))
    share = min(max(_WRIST * (free + depth), _HAND_OF_GIRTH * hand.girth), _HAND_AT_MOST * free)
    weight = float(smoothstep(hand.waist, 0.0, _WAISTED)) if hand.half < _HAND_AT_MOST * free else 0.0
    at_wrist = weight * hand.end + (1.0 - weight) * share
    wrist = course.point_at(at_wrist)
    own = course.points[(course.at >= at_wrist) & (course.at <= free)]
    elbow, bent = bend(own, shoulder, wrist, _ELBOW)
    return Limb(shoulder, elbow, wrist, tip, stem.radius,
                (_LIKELY, _SURE if bent > 0.08 else _LIKELY, _GUESS + (_SURE - _GUESS) * weight))


def hidden_leg(ground: FloatArray, shoulders: FloatArray, side: FloatArray, front: FloatArray) -> Limb:
    """Return a leg hidden by a robe, by the proportions of anatomy.

    ground: (3,) below the middle of the shoulders, (3,); side: (3,) from there to the leg's shoulder; front: (3,) unit.
    """
    way = shoulders - ground
    height, beside = float(np.linalg.norm(way)), ground + _HIP_BESIDE * side
    hip, ankle = (beside + share * way for share in (_HIP_OF_SHOULDER, _ANKLE_OF_SHOULDER))
    toe = beside + 0.01 * way + _TOE_OF_SHOULDER * height * front
    return Limb(hip, hip + _KNEE * (ankle - hip), ankle, toe, _HIP_BESIDE * float(np.linalg.norm(side)),
                (_HIDDEN, _HIDDEN, _HIDDEN))


def hip(course: Course, crotch: float) -> tuple[Stem, FloatArray]:
    """Return the free part of a leg and its hip (3,); crotch: its distance from the foot's end."""
    stem = Stem.of(course, crotch)
    return stem, stem.foot + _HIP_DEPTH * float(course.at[stem.index]) * stem.direction


def leg(own: FloatArray, away: FloatArray, cell: float, course: Course, tip: FloatArray,
        start: tuple[Stem, FloatArray], up: FloatArray) -> Limb:
    """Return hip, knee and ankle from the curve of a leg.

    own: (N, 3) the cells of the free leg, away: (N,) their distances from its tip, cell: their edge length; start: from
    `hip`; up: (3,) along the trunk.
    """
    stem, hip = start
    curve, free = course.points[:stem.index + 1], float(course.at[stem.index])
    down = unit(course.point_at(_FOOT * free) - stem.foot)
    height = None
    if down @ -up > _STANDS:
        down = -up  # a short leg's foot is most of its curve
    above_foot = course.at[:stem.index + 1] > _BENT_SHIN[0] * free
    if free > _SLIM * stem.radius and _has_bent_knee(curve[above_foot], course.point_at(_BENT_SHIN[0] * free), hip):
        down = unit(course.point_at(_BENT_SHIN[0] * free) - course.point_at(_BENT_SHIN[1] * free))
        own, height = own[away < _BENT_SHIN[1] * free], _HEIGHT * free
    ankle, certain = _ankle(own, cell, hip, down, height)
    for _ in range(_ANKLE_ROUNDS):
        tall = float((ankle - hip) @ down) if height is None else height
        above = (ankle - own) @ down
        shin = own[(above > _SHIN[0] * tall) & (above < _SHIN[1] * tall)]
        along = (shin - ankle) @ down
        if not len(shin) or np.ptp(along) < 3.0 * cell:
            break
        refined = unit((along - along.mean()) @ shin)  # the regression of places on heights
        if refined @ down < _SHIN_TURNS:
            break
        centre, down = shin.mean(axis=0), refined
        ankle, certain = _ankle(own, cell, hip, down, height)
        ankle = centre + float((ankle - centre) @ down) * down
    beyond = (ankle - curve) @ down > _SHIN[0] * float((ankle - hip) @ down)
    if height is not None:
        beyond = above_foot
    knee, bent = bend(curve[beyond], hip, ankle, _KNEE)
    return Limb(hip, knee, ankle, tip, stem.radius, (_LIKELY, _SURE if bent > 0.08 else _LIKELY, certain))


def _has_bent_knee(curve: FloatArray, start: FloatArray, hip: FloatArray) -> bool:
    """Return whether a leg's curve (N, 3) from above its foot to its hip, both (3,), clearly bends at the knee."""
    knee, bent = bend(curve, start, hip, _KNEE)
    way = hip - start
    return bent > _BENT and float((knee - start) @ way) > _KNEE_FROM * float(way @ way)


def _ankle(own: FloatArray, cell: float, hip: FloatArray, down: FloatArray,
           tall: float | None) -> tuple[FloatArray, float]:
    """Return the ankle (3,) and its certainty: where slices of the leg become as small as those of the shin.

    own: (N, 3) the leg's cells; down: (3,) along the shin; tall: the leg's length, None if it is nearly
    straight. The ankle is at a height of about a third of the foot's length; a boot that is wide far above that shows
    no ankle.
    """
    sole = float((own @ down).max())
    heights, height = sole - own @ down, sole - float(hip @ down) if tall is None else tall
    areas = smoothed(np.bincount((heights / cell).astype(np.int64)).astype(np.float64)) * cell**2
    shin = areas[int(0.12 * height / cell):int(0.55 * height / cell) + 1]
    if not len(shin) or shin.min() <= 0.0:
        return _by_share(own, hip, down, height, tall is not None), _GUESS
    slim = np.flatnonzero(areas <= _SHIN_AREA * float(shin.min()))
    top = (float(slim[slim > 0][0]) if (slim > 0).any() else 0.0) * cell
    lowest = own[heights < max(2.0 * cell, 0.3 * top)]
    flat = lowest - (lowest @ down)[:, None] * down
    _, forward = line_through(flat)
    length = float(np.ptp(flat @ forward)) + cell
    usual = _ANKLE_OF_FOOT * length
    if length < _FOOT_IS * float(np.sqrt(shin.min())):
        return _by_share(own, hip, down, height, tall is not None), _GUESS
    above = float(np.clip(top, 0.6 * usual, 1.4 * usual))
    above = min(above, _ANKLE_AT_MOST * height)
    around = own[np.abs(heights - max(top, above)) <= 1.5 * cell]
    middle = around.mean(axis=0) if len(around) else hip
    return middle + (sole - above - float(middle @ down)) * down, _SURE if above == top else _LIKELY


def _by_share(own: FloatArray, hip: FloatArray, down: FloatArray, height: float, bent: bool) -> FloatArray:
    """Return the ankle (3,) by its share of a leg's height; in a bent leg, above the cells (N, 3) of its sole."""
    if not bent:
        return hip + (1.0 - _ANKLE_OF_LEG) * height * down
    above = float((own @ down).max()) - own @ down
    around = own[np.abs(above - _ANKLE_OF_LEG * height) < 0.5 * _ANKLE_OF_LEG * height]
    return np.asarray(around.mean(axis=0) if len(around) else own.mean(axis=0))


def head(points: FloatArray, cell: float, tip: FloatArray, shoulders: FloatArray, up: FloatArray,
         half_width: float) -> Head:
    """Return the neck's base and the skull's from slices of the head, with its crown.

    points: (N, 3) its cells above the shoulders, cell: their edge length; shoulders: (3,) their
    midpoint; up: (3,) along the trunk; half_width: of the shoulders.
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
        return Head(neck, skull, _crown(points, tip, skull, up), (_GUESS, _GUESS))
    narrow = low + int(areas[low:high].argmin())
    beyond, under = float(areas[narrow:].max()), float(areas[:narrow + 1].max())
    weight = float(smoothstep(1.0 - areas[narrow] / max(min(beyond, under), cell**2), 0.0, _WAISTED))
    radius, place = float(np.sqrt(areas[narrow] / np.pi)), (narrow + 0.5) * cell
    neck_at = weight * min(place - _NECK_BELOW * radius, 1.8 * by_share) + (1.0 - weight) * by_share
    neck_at = max(neck_at, 0.3 * by_share)
    above = _SKULL_ABOVE * (top - place)
    above = float(np.sqrt(above * min(above, _SKULL_OF_SHOULDER * half_width)))
    skull_at = weight * (place + above) + (1.0 - weight) * (2.5 * by_share)
    skull_at = max(skull_at, neck_at + 0.1 * (top - neck_at))
    neck, skull = (_slice_middle(points, heights, at, cell, shoulders, up) for at in (neck_at, skull_at))
    skull = neck + 0.5 * (skull - neck) + 0.5 * float((skull - neck) @ up) * up  # the face does not belong to the neck
    return Head(neck, skull, _crown(points, tip, skull, up),
                (_GUESS + (_SURE - _GUESS) * weight, _GUESS + (_LIKELY - _GUESS) * weight))


def _crown(points: FloatArray, tip: FloatArray, skull: FloatArray, up: FloatArray) -> FloatArray:
    """Return the top of a head, straight above its skull's base, both (3,); points: (N, 3) of its cells.

    The tip, (3,), is farthest from the body's middle: it may be a lower jaw, a horn, or a lock of hair.
    """
    above = (points - skull) @ up
    return skull + float(above.max()) * up if len(above) and above.max() > 0.0 else tip


def _slice_middle(points: FloatArray, heights: FloatArray, at: float, cell: float, base: FloatArray,
                  up: FloatArray) -> FloatArray:
    """Return the middle (3,) of the cells at a height, (N,) above a base (3,) along a unit vector (3,)."""
    own = np.abs(heights - at) <= 1.5 * cell
    middle = points[own].mean(axis=0) if own.any() else base
    return np.asarray(middle + (at - float((middle - base) @ up)) * up)


def ball_of_foot(ankle: FloatArray, toe: FloatArray, shin: FloatArray) -> FloatArray:
    """Return the ball of the foot, (3,), above the sole; shin: (3,) the unit vector down along it."""
    way = toe - ankle
    down = float(way @ shin)
    return np.asarray(ankle + _BALL * (way - down * shin) + 0.7 * max(down, 0.0) * shin)


def _nonzero(value: float) -> float:
    return value if abs(value) > 1e-9 else 1e-9
