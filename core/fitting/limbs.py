"""Arms and legs: where a limb leaves the trunk, and its joints, from the curve through its middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .level_sets import Course

_LIMB: Final = 0.15, 0.6
"""Shares of the path to the body's middle between which a course runs along an arm."""

_UPPER: Final = 0.74
"""Share of the free limb from which on it is above elbow or knee."""

_BENT: Final = 0.06
"""Distance from straight at which a limb counts as bent, as a share of its length."""

_USUAL: Final = 75.0
_WIDER: Final = 1.5
"""An arm ends where its cross-section becomes this many times as large as this percentile of its cross-sections.
Thinner parts do not count, since a sleeve may end at the elbow."""

_TRUNK: Final = 3.3
"""Ratio of the cross-section at the shoulder to that of the arm, in T, A and relaxed poses (measured on the sample
dancer)."""

_AS_CLEAR: Final = 0.5
"""Of several waists with at least this share of the clearest one's depth, the outermost counts, such as the wrist
before the elbow.
"""

_NEARLY: Final = 0.02
"""Places whose waist is less clear by no more than this are as narrow; their middle counts."""

_FALLEN: Final = 0.2
"""A swelling ends where its excess over the waist's radius has fallen to this share."""


@dataclass(frozen=True, eq=False)
class Stem:
    """The free part of a limb.

    index: of the course's point at which the trunk begins; radius: of the limb's middle half; foot, direction: (3,) the
    axis of its upper half, where it meets the trunk, and its unit vector, inwards; merged: distance from there,
    inwards, at which the limb has merged with the trunk.
    """

    index: int
    radius: float
    foot: FloatArray
    direction: FloatArray
    merged: float

    @classmethod
    def of(cls, course: Course, free: float | None = None) -> Stem:
        """Return the free part of a limb; free: its length, if known."""
        index = _trunk_begins(course) if free is None else int(np.searchsorted(course.at, free))
        index = min(max(index, 1), len(course.at) - 1)
        at = course.at[:index + 1]
        middle = course.areas[:index + 1][(at >= 0.3 * at[-1]) & (at <= 0.8 * at[-1])]
        radius = float(np.sqrt(np.median(middle if len(middle) else course.areas[:index + 1]) / np.pi))
        upper = course.points[:index + 1][at >= max(_UPPER * at[-1], 0.0 if free else _bent_at(course, index))]
        if len(upper) < 3:
            upper = course.points[max(index - 2, 0):index + 1]
        centre, direction = line_through(upper)
        if len(upper) > 1 and direction @ (upper[-1] - upper[0]) < 0.0:
            direction = -direction
        foot = centre + direction * float((course.points[index] - centre) @ direction)
        return cls(index, radius, foot, direction, _merged(course, index))


def _bent_at(course: Course, index: int) -> float:
    """Return the distance at which the free part of a limb bends most, or 0 if it is straight."""
    at, points = course.at[:index + 1], course.points[:index + 1]
    inner = np.flatnonzero(at >= _LIMB[0] * course.at[-1])
    if len(inner) < 4:
        return 0.0
    start, end = points[inner[0]], points[-1]
    along = unit(end - start)
    away = np.linalg.norm((points[inner] - start) - ((points[inner] - start) @ along)[:, None] * along, axis=1)
    return float(at[inner[away.argmax()]]) if away.max() > _BENT * np.linalg.norm(end - start) else 0.0


def line_through(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean (3,) of points (N, 3), and the unit vector along which they spread most (3,)."""
    centre = points.mean(axis=0)
    return centre, np.linalg.svd(points - centre, full_matrices=False)[2][0] if len(points) > 1 else np.eye(3)[0]


def smoothed(areas: FloatArray) -> FloatArray:
    """Return the medians of three neighbours (S,)."""
    padded = np.concatenate((areas[:1], areas, areas[-1:]))
    return np.asarray(np.median(np.stack((padded[:-2], padded[1:-1], padded[2:])), axis=0))


def _trunk_begins(course: Course) -> int:
    """Return the index of the last point at which the cross-section is still that of the limb."""
    slim = np.flatnonzero(smoothed(course.areas) < _WIDER * _usual_area(course))
    return int(slim[-1]) if len(slim) else 1


def _merged(course: Course, index: int) -> float:
    """Return the distance behind a point at which the cross-section has grown by a factor."""
    areas, at, least = smoothed(course.areas)[index:], course.at[index:], _TRUNK * _usual_area(course)
    wide = np.flatnonzero(areas >= least)
    if not len(wide) or wide[0] == 0:
        return 0.0
    after = int(wide[0])
    share = float((least - areas[after - 1]) / max(areas[after] - areas[after - 1], 1e-12))
    return float(at[after - 1] + min(max(share, 0.0), 1.0) * (at[after] - at[after - 1]) - at[0])


def _usual_area(course: Course) -> float:
    """Return the cross-section of an arm along most of its length."""
    areas, at = smoothed(course.areas), course.at
    along = (at >= _LIMB[0] * at[-1]) & (at <= _LIMB[1] * at[-1])
    return float(np.percentile(areas[along] if along.any() else areas, _USUAL))


@dataclass(frozen=True)
class Swelling:
    """The swelling at the end of a limb, such as a hand: where it has shrunk by half, where it ends, its size.

    half, end: distances from the limb's end; girth: the largest radius. waist: how much narrower the limb is behind
    it than on both sides, as a share of the smaller of their cross-sections; 0 if it only grows or shrinks.
    """

    half: float
    end: float
    girth: float
    waist: float

    @classmethod
    def of(cls, course: Course, low: float, high: float) -> Swelling:
        """Return the swelling; low, high: distances between which the waist is searched."""
        at, areas = course.at, smoothed(course.areas)
        radii = np.sqrt(areas / np.pi)
        girth = float(radii[at <= (low + high) / 2.0].max(initial=0.0))
        inside = np.flatnonzero((at >= low) & (at <= high))
        if not len(inside):
            return cls((low + high) / 2.0, (low + high) / 2.0, girth, 0.0)
        near = areas[at <= high + 0.5 * (high - low)]
        before, after = np.maximum.accumulate(areas), np.maximum.accumulate(near[::-1])[::-1]
        waists = 1.0 - areas[inside] / np.minimum(before[inside], after[inside])
        clear = np.flatnonzero(waists >= _AS_CLEAR * waists.max())
        first = clear[:1 + int(np.argmin(np.append(np.diff(clear) == 1, False)))]
        chosen = int(np.median(first[waists[first] >= waists[first].max() - _NEARLY]))
        waist = int(inside[chosen])
        largest = int(areas[:waist + 1].argmax())
        fallen = np.arange(largest, waist + 1)
        levels = radii[waist] + np.array((0.5, _FALLEN)) * (radii[largest] - radii[waist])
        half, end = np.interp(-levels, -np.minimum.accumulate(radii[fallen]), at[fallen])
        return cls(float(half), float(end), girth, float(waists[chosen]))


def bend(points: FloatArray, start: FloatArray, end: FloatArray, share: float) -> tuple[FloatArray, float]:
    """Return the point (3,) at which a limb between two joints bends, and its distance from straight, as a share.

    points: (N, 3) of its middle curve. In a straight limb the point is at a share of the length. The more the limb
    bends, the closer it is to the point farthest from the line.
    """
    along = end - start
    length = float(np.linalg.norm(along))
    if length == 0.0 or len(points) < 3:
        return start + share * along, 0.0
    shares = (points - start) @ along / length**2
    away = points - (start + shares[:, None] * along)
    distances = np.linalg.norm(away, axis=1) / length
    inner = (shares > 0.15) & (shares < 0.85)
    if not inner.any():
        return start + share * along, 0.0
    distances = np.where(inner, distances, 0.0)
    farthest = int(distances.argmax())
    weight = float(np.clip((distances[farthest] - 0.04) / 0.08, 0.0, 1.0))
    where = share + weight * (float(shares[farthest]) - share)
    order = np.argsort(shares)
    middle = np.array([np.interp(where, shares[order], column[order]) for column in points.T])
    return middle, float(distances[farthest])


def unit(vector: FloatArray) -> FloatArray:
    """Return a vector (3,) scaled to length 1; 0 stays 0."""
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length > 0.0 else vector)
