"""Find the fingers of a hand, with cells that are finer than those of the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..binding.solid import SAMPLE_STEP, Solid
from ..binding.surface import Surface
from ..maths.arrays import BoolArray, FloatArray, IntArray
from .carving import carved
from .cells import Cells, parts_of
from .humanoid import Limb
from .level_sets import Course, LevelSets, extremities
from .limbs import line_through, unit
from .mirroring import Plane

FINGERS: Final = ("thumb", "index", "middle", "ring", "pinky")

_REACH: Final = 1.3
"""A hand lies within this many times the distance from wrist to fingertip."""

_ALONG: Final = 48
_ACROSS: Final = 40
_SHORTEST: Final = 0.16
"""Cells along a hand; the cube root of the greatest number of cells in its box; and the least length of a finger, as a
share of the hand's."""

_FREE: Final = 0.86
"""Share of the way from knuckle to fingertip beyond the web; the rest is in the palm."""

_PHALANGES: Final = 0.0, 0.48, 0.76
_THUMB: Final = 0.0, 0.55
"""Positions of joints from the knuckle to the tip, as shares of that length, after H-Anim."""

_THUMB_ROOT: Final = 0.33
"""Share of the way from the wrist to the thumb's knuckle at which its first joint is."""

_FEWEST: Final = 5
"""The number of fingers: with fewer, a hand is a mitten, since nothing tells which fingers they are."""

_OTHER_WRISTS: Final = 0.85, 1.2
_CLEAR: Final = 1.3
"""Factor on the wrist's greatest distance from the fingertip if fingers are unclear, or not found."""


@dataclass(frozen=True, eq=False)
class Hand:
    """Joints (3, 3) and tip (3,) of each finger; palm: (3,) the unit vector in which the palm faces.

    clear: length of the shortest finger, as a multiple of the least length.
    """

    joints: Mapping[str, FloatArray]
    tips: Mapping[str, FloatArray]
    palm: FloatArray
    clear: float

    def mirrored(self, plane: Plane) -> Hand:
        """Return the hand of the other side; plane: between both hands."""
        palm = self.palm - 2.0 * float(self.palm @ plane.normal) * plane.normal
        return Hand({name: plane.mirrored(points) for name, points in self.joints.items()},
                    {name: plane.mirrored(point) for name, point in self.tips.items()}, palm, self.clear)

    def is_reverse_of(self, other: Hand) -> bool:
        """Return whether the thumb is at the other hand's little finger."""
        away = [float(np.linalg.norm(self.tips["thumb"] - other.tips[name])) for name in ("pinky", "thumb")]
        return away[0] < away[1]


def find_hand(surface: Surface, arm: Limb, is_left: bool) -> Hand | None:
    """Return the five fingers of a hand, or None if fewer can be told apart.

    surface: of the body. The hand's part of it, open at the wrist, becomes a solid; its ends, as seen from the wrist,
    are the fingers. The thumb is the outermost one that is farther from its neighbour, and nearer to the wrist.
    """
    cells = _cells_of_hand(surface, arm)
    if cells is None:
        return None
    forearm = unit(arm.end - arm.middle)
    along = (cells.points - arm.end) @ forearm
    sources = np.flatnonzero(along <= max(float(along.min()) + 3.0 * cells.cell, 0.0))
    away = cells.distances(sources)
    sets = LevelSets.of(cells, away)
    length = float(np.linalg.norm(arm.tip - arm.end))
    ends = [end for end in extremities(sets, away, _SHORTEST * length) if along[end.cell] > 0.2 * length]
    if len(ends) != _FEWEST:
        return None
    tips = cells.points[[end.cell for end in ends]]
    webs = np.array([(sets.level[end.saddle] + 0.5) * sets.width for end in ends])
    webs[0] = webs[1:].max()  # the longest finger has no longer neighbour
    order = _from_thumb(tips, arm.end, forearm)
    joints = {name: _finger(cells, ends[k].cell, float(away[ends[k].cell] - webs[k]), sources, name == "thumb", arm.end)
              for name, k in zip(FINGERS, order, strict=True)}
    across = tips[order[0]] - tips[order[2]]
    fingers = unit(tips[order[1:]].mean(axis=0) - arm.end)
    palm = unit(np.cross(fingers, across) * (1.0 if is_left else -1.0))
    return Hand(joints, {name: tips[k] for name, k in zip(FINGERS, order, strict=True)}, palm,
                ends[-1].length / (_SHORTEST * length))


def _cells_of_hand(surface: Surface, arm: Limb) -> Cells | None:
    """Return the inside of a hand, in the body's space, or None if there is no surface."""
    length = float(np.linalg.norm(arm.tip - arm.end))
    offsets = surface.points - arm.end
    near = (np.linalg.norm(offsets, axis=1) < _REACH * length) & (offsets @ unit(arm.end - arm.middle) > -0.15 * length)
    triangles = surface.triangles[near[surface.triangles].all(axis=1)]
    if len(triangles):
        triangles = triangles[_of_hand(surface, triangles, near, arm.tip)]
    if len(triangles) < _ALONG or length == 0.0:
        return None
    used, corners = np.unique(triangles, return_inverse=True)
    own = Surface.build(offsets[used], corners.reshape(-1, 3))
    cell = max(length / _ALONG, float(np.prod(np.ptp(own.points, axis=0))) ** (1.0 / 3.0) / _ACROSS)
    samples, areas = own.samples(SAMPLE_STEP * cell)
    cells = Cells.of(carved(Solid.build(own.points, samples, areas, cell), samples, areas))
    return Cells(cells.points + arm.end, cells.neighbours, cells.lengths, cells.bridges, cells.bridge_lengths,
                 cells.depth, cells.cell)


def _of_hand(surface: Surface, triangles: IntArray, near: BoolArray, tip: FloatArray) -> BoolArray:
    """Return which triangles near a hand, (T,), belong to it, and not to the thigh beside it.

    They are connected there with its tip (3,), or belong to parts that lie near it, (P,), as a whole.
    """
    part = parts_of(len(near), triangles)
    whole = parts_of(len(near), surface.triangles)
    reaches_beyond = np.zeros(len(near), dtype=np.bool_)
    reaches_beyond[whole[~near]] = True
    used = np.unique(triangles)
    nearest = used[((surface.points[used] - tip) ** 2).sum(axis=1).argmin()]
    corner = triangles[:, 0]
    return np.asarray((part[corner] == part[nearest]) | ~reaches_beyond[whole[corner]])


def _from_thumb(tips: FloatArray, wrist: FloatArray, forearm: FloatArray) -> list[int]:
    """Return the numbers of fingertips (5, 3) from thumb to little finger."""
    reach = tips - wrist
    flat = reach - (reach @ forearm)[:, None] * forearm
    _, across = line_through(flat)
    angles = np.arctan2(reach @ across, reach @ forearm)
    order: list[int] = np.argsort(angles).tolist()
    gaps, lengths = np.diff(angles[order]), np.linalg.norm(reach, axis=1)[order]
    usual = float(np.median(gaps)) or 1.0
    first = gaps[0] / usual + 4.0 * (1.0 - lengths[0] / lengths.max())
    last = gaps[-1] / usual + 4.0 * (1.0 - lengths[-1] / lengths.max())
    return order if first >= last else order[::-1]


def _finger(cells: Cells, tip: int, free: float, sources: IntArray, is_thumb: bool, wrist: FloatArray) -> FloatArray:
    """Return the joints (3, 3) of a finger, from the palm outwards; free: its length beyond the web."""
    away = cells.distances([tip])
    course = Course.of(cells, LevelSets.of(cells, away), away, int(sources[away[sources].argmin()]))
    own = course.points[(course.at > 0.15 * free) & (course.at < 0.9 * free)]
    end = cells.points[tip]
    inwards = line_through(own)[1] if len(own) > 2 else unit(wrist - end)
    inwards = inwards if inwards @ (wrist - end) > 0.0 else -inwards
    whole = free / (1.0 if is_thumb else _FREE)
    places = []
    for share in (_THUMB if is_thumb else _PHALANGES):
        distance = whole * (1.0 - share)
        inside = course.point_at(min(distance, 0.9 * free))
        places.append(inside + max(distance - 0.9 * free, 0.0) * inwards)
    if is_thumb:
        places.insert(0, wrist + _THUMB_ROOT * (places[0] - wrist))
    return np.array(places)


def _clearest(surface: Surface, arm: Limb, is_left: bool, found: Hand | None) -> Hand | None:
    """Return the hand as found, or as found more clearly with another position of the wrist."""
    for share in _OTHER_WRISTS:
        other = find_hand(surface, replace(arm, end=arm.tip + share * (arm.end - arm.tip)), is_left)
        if other is not None and (found is None or other.clear * share > found.clear):
            found = replace(other, clear=other.clear * share)
    return found


def both_hands(surface: Surface, arms: tuple[Limb, Limb], plane: Plane) -> tuple[Hand | None, Hand | None]:
    """Return the fingers of the left and the right hand, of both or of none; plane: between both.

    If only one hand's are found, the other's mirror them, provided that its tip is at the mirror image of a tip.
    Unclear and missing hands are searched with other wrists too. If the plane mirrors the body, but thumb and little
    finger of one hand are exchanged, the clearer hand is mirrored.
    """
    hands = [find_hand(surface, arm, is_left) for arm, is_left in zip(arms, (True, False), strict=True)]
    hands = [hand if hand is not None and hand.clear > _CLEAR else _clearest(surface, arm, is_left, hand)
             for hand, arm, is_left in zip(hands, arms, (True, False), strict=True)]
    left, right = hands
    if left is not None and right is not None:
        if not plane.mirrors or not left.is_reverse_of(right.mirrored(plane)):
            return left, right
        return (left, left.mirrored(plane)) if left.clear > right.clear else (right.mirrored(plane), right)
    if left is None and right is None:
        return None, None
    found = left or right
    assert found is not None
    image = found.mirrored(plane)
    other = arms[1] if right is None else arms[0]
    tips = np.array(list(image.tips.values()))
    if float(np.linalg.norm(tips - other.tip, axis=1).min()) > 0.2 * float(np.linalg.norm(other.tip - other.end)):
        return None, None
    return (left, image) if right is None else (image, right)
