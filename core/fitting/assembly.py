"""Assemble a body from its ends: limbs, mirror plane, up and front, left and right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray
from .cells import Cells
from .embedding import Embedding
from .ends import Inside, gromov
from .humanoid import Head, Limb, arm, head, hidden_leg, hip, leg
from .level_sets import Course
from .limbs import unit
from .mirroring import Plane, Symmetry, made_alike

_ARM_ENDS: Final = 1.2
"""Share of the way from a hand to where the ways to the other hand and to the head separate; beyond is only trunk."""

_BY_FEET: Final = 0.5
_BY_KNEES: Final = 0.25
_BY_ELBOWS: Final = 0.1
_BY_HANDS: Final = 0.1
_BY_HEAD: Final = 0.15
_BY_HINT: Final = 0.2
"""Weights of the evidence for the front: of each foot, knee, elbow and hand, of the head, and of the hint."""

_CLEARLY: Final = 0.6
"""Number of votes that leave no doubt."""

_STANDS: Final = 0.75
_ACROSS: Final = 0.65
_LEVEL: Final = 0.3
"""Limits for four legs: least cosine with the belly's side; greatest one with the trunk; greatest distance of their
ends from one plane, as a share of their length."""

_FOURS: Final = "It stands on four legs: the arms are its fore legs"
_TOES: Final = 0.08
"""Share of the foot's length: cells this near to its foremost cell are the tip of the toes."""

_TOE_IS: Final = 0.12
"""Share of the leg's length: a foot that reaches this far to the front shows the facing direction for certain."""

_LEGS_HIDDEN: Final = 0.3
"""Share of the shoulders' height: legs that separate lower are no legs, but the corners of a robe."""

_LEGS_LOW: Final = 0.55
"""Share of the shoulders' height: lower hips may be below a skirt's hem."""

_HEM: Final = 0.15
"""Share of a body's height: the lowest part of a robe, whose middle is below the head."""

_SHORT_LEGS: Final = 0.7
_LOW_HIP: Final = 0.3
"""Share of the trunk's length: if the legs down to the ankles are no longer, thighs likely touch. Also the certainty of
hips then.
"""

_ROBE: Final = ("The legs cannot be seen, as under a robe; they stand where anatomy has them",)


@dataclass(frozen=True, eq=False)
class HumanoidBody:
    """The parts of a humanoid: arms and legs, the first of each on one side; and its own axes.

    out: (3,) the unit normal of the body's plane, towards the first arm; up, front: (3,) unit vectors; plane: between
    both sides. sure_of_limbs, sure_of_sides, sure_of_arms: 0 to 1, certainty of which ends are head, hands and
    feet, of the front, and of the ends of hands.
    """

    arms: tuple[Limb, Limb]
    legs: tuple[Limb, Limb]
    head: Head
    out: FloatArray
    up: FloatArray
    front: FloatArray
    plane: Plane
    notes: tuple[str, ...] = ()
    sure_of_limbs: float = 1.0
    sure_of_sides: float = 1.0
    sure_of_arms: float = 1.0

    @property
    def hides_legs(self) -> bool:
        """Return whether legs part so low that something such as a skirt may hide them."""
        soles, hips, shoulders = (float(sum(point @ self.up for point in points)) for points in (
            [limb.tip for limb in self.legs], [limb.root for limb in self.legs], [limb.root for limb in self.arms]))
        return self.notes[-1:] == _ROBE or hips - soles < _LEGS_LOW * (shoulders - soles)


def assembled(inside: Inside, found: Embedding, front: FloatArray) -> HumanoidBody:
    """Return the humanoid with these ends, left limbs first; front: (3,) the likely front of its face.

    A head on the hips' side of the shoulders means that limbs were mistaken: then nothing is certain.
    """
    body = _unsure_of_low_hips(_symmetric(_left_first(_measured(inside, found, front))))
    shoulders = (body.arms[0].root + body.arms[1].root) / 2.0
    is_above = float((inside.ends.points[found.head] - shoulders) @ body.up) > 0.0
    return replace(body, sure_of_limbs=found.certain if is_above else 0.0)


def _unsure_of_low_hips(body: HumanoidBody) -> HumanoidBody:
    """Return a body with uncertain hips and knees if its legs seem very short: touching thighs part low."""
    arms, legs = ((one.root + other.root) / 2.0 for one, other in (body.arms, body.legs))
    lengths = [float(np.linalg.norm(limb.root - limb.middle) + np.linalg.norm(limb.middle - limb.end))
               for limb in body.legs]
    if sum(lengths) / 2.0 > _SHORT_LEGS * float(np.linalg.norm(arms - legs)):
        return body
    left, right = (replace(limb, certain=(_LOW_HIP, min(limb.certain[1], _LOW_HIP), limb.certain[2]))
                   for limb in body.legs)
    return replace(body, legs=(left, right))


def _measured(inside: Inside, found: Embedding, likely_front: FloatArray) -> HumanoidBody:
    cells, tips, ways, courses = inside.cells, inside.tips, inside.ways, inside.ends.courses
    points, roots = inside.ends.points, inside.ends.roots
    (hand, other_hand), (foot, other_foot) = found.hands, found.feet
    normal = unit(unit(roots[hand, other_hand] - roots[other_hand, hand])
                  + unit(roots[foot, other_foot] - roots[other_foot, foot]))
    plane = Symmetry(cells).main_plane(normal)
    if not plane.mirrors:
        plane = replace(plane, normal=normal, point=(roots[hand, other_hand] + roots[other_hand, hand]
                                                     + roots[foot, other_foot] + roots[other_foot, foot]) / 4.0)
    arms = [arm(_arm_course(inside, end, other, found.head), points[end], plane.normal, plane.point)
            for end, other in (found.hands, found.hands[::-1])]
    crotch = float(ways[found.feet[0]][tips[found.feet[1]]]) / 2.0
    stems = [hip(courses[end], crotch) for end in found.feet]
    shoulders, hips = (arms[0].root + arms[1].root) / 2.0, (stems[0][1] + stems[1][1]) / 2.0
    if not plane.mirrors:
        plane = replace(plane, normal=unit((arms[0].root - arms[1].root) + (stems[0][1] - stems[1][1])),
                        point=(shoulders + hips) / 2.0)
    out = plane.normal
    up = unit((shoulders - hips) - (shoulders - hips) @ out * out)
    ground = float((cells.points @ up).min())
    tall = float(shoulders @ up) - ground
    starts = np.array([*(limb.root for limb in arms), *(stem[1] for stem in stems)])
    stands = _on_all_fours(starts, points[[*found.hands, *found.feet]], np.cross(out, up)) == 0.0
    if stands and float(hips @ up) - ground < _LEGS_HIDDEN * tall:
        return _without_legs(inside, found, arms, plane, likely_front)
    legs = []
    for end, other, stem in zip(found.feet, found.feet[::-1], stems, strict=True):
        free = (ways[end] <= crotch) & (ways[end] <= ways[other])
        legs.append(leg(cells.points[free], ways[end][free], cells.cell, courses[end], points[end], stem, up))
    above, top = _head(cells, ways, found, points, arms, up)
    body = HumanoidBody((arms[0], arms[1]), (legs[0], legs[1]), top, out, up, np.cross(out, up), plane)
    palms = _palms(cells, ways, found, arms)
    skull = cells.points[above & ((cells.points - top.skull) @ up > 0.0)]
    feet_cells = [cells.points[(ways[end] <= crotch) & (ways[end] <= ways[other]) & (
        (cells.points - limb.end) @ unit(limb.end - limb.middle) > 0.0)]
        for end, other, limb in zip(found.feet, found.feet[::-1], legs, strict=True)]
    body = _facing(body, feet_cells, palms, skull, likely_front)
    toed = [_with_toe(limb, foot, body.front) for limb, foot in zip(legs, feet_cells, strict=True)]
    return replace(body, legs=(toed[0], toed[1]))


def _arm_course(inside: Inside, hand: int, other: int, head: int) -> Course:
    """Return the curve of an arm, with no more of the trunk than about the shoulder.

    A slim trunk may be as thin as the arm. So the arm ends where the paths to head and other hand part.
    """
    parts = gromov(inside.ends.ways, *(np.array([end]) for end in (hand, other, head)))
    return inside.ends.courses[hand].until(_ARM_ENDS * float(parts[0]))


def _head(cells: Cells, ways: FloatArray, found: Embedding, points: FloatArray, arms: Sequence[Limb],
          up: FloatArray) -> tuple[BoolArray, Head]:
    """Return which cells, (N,), lie above the shoulders and belong to no hand, and the head that they form."""
    shoulders = (arms[0].root + arms[1].root) / 2.0
    half = float(np.linalg.norm(arms[0].root - arms[1].root)) / 2.0
    nearer = ways[found.head] < np.minimum(ways[found.hands[0]], ways[found.hands[1]])
    above = (nearer | ~_in_arms(cells, ways, found, arms)) & ((cells.points - shoulders) @ up > 0.0)
    return above, head(cells.points[above], cells.cell, points[found.head], shoulders, up, half)


def _in_arms(cells: Cells, ways: FloatArray, found: Embedding, arms: Sequence[Limb]) -> BoolArray:
    """Return which cells lie beyond a shoulder, (N,)."""
    lengths = [ways[end][np.argmin(((cells.points - limb.root) ** 2).sum(axis=1))]
               for end, limb in zip(found.hands, arms, strict=True)]
    return np.asarray((ways[found.hands[0]] < lengths[0]) | (ways[found.hands[1]] < lengths[1]))


def _palms(cells: Cells, ways: FloatArray, found: Embedding, arms: Sequence[Limb]) -> list[FloatArray]:
    """Return the cells (N, 3) of each hand."""
    return [cells.points[ways[end] <= float(np.linalg.norm(limb.tip - limb.end))]
            for end, limb in zip(found.hands, arms, strict=True)]


def _without_legs(inside: Inside, found: Embedding, arms: Sequence[Limb], plane: Plane,
                  likely_front: FloatArray) -> HumanoidBody:
    """Return a body with legs hidden by a robe: they are placed by the proportions of anatomy."""
    cells, ways, points = inside.cells, inside.ways, inside.ends.points
    shoulders = (arms[0].root + arms[1].root) / 2.0
    if not plane.mirrors:
        plane = replace(plane, normal=unit(arms[0].root - arms[1].root), point=shoulders)
    out = plane.normal
    way = points[found.head] - points[list(found.feet)].mean(axis=0)
    heights = cells.points @ way
    hem = cells.points[heights < heights.min() + _HEM * np.ptp(heights)]
    way = points[found.head] - hem.mean(axis=0)
    up = unit(way - way @ out * out)
    above, top = _head(cells, ways, found, points, arms, up)
    ground = shoulders - (float(shoulders @ up) - float((cells.points @ up).min())) * up
    side = arms[0].root - shoulders

    def legs(front: FloatArray) -> tuple[Limb, Limb]:
        return hidden_leg(ground, shoulders, side, front), hidden_leg(ground, shoulders, -side, front)

    ahead = np.cross(out, up)
    body = HumanoidBody((arms[0], arms[1]), legs(ahead), top, out, up, ahead, plane, _ROBE)
    skull = cells.points[above & ((cells.points - top.skull) @ up > 0.0)]
    body = _facing(body, (np.zeros((0, 3)),) * 2, _palms(cells, ways, found, arms), skull, likely_front)
    return replace(body, legs=legs(body.front))


def _with_toe(limb: Limb, foot: FloatArray, front: FloatArray) -> Limb:
    """Return a leg with its tip at the foremost of the foot's cells (N, 3); its heel may be as far from the body."""
    if not len(foot):
        return limb
    reach = (foot - limb.end) @ front
    return replace(limb, tip=foot[reach >= reach.max() - _TOES * np.ptp(reach)].mean(axis=0))


def _on_all_fours(roots: FloatArray, tips: FloatArray, ahead: FloatArray) -> float:
    """Return whether all limbs point away from the trunk to one side, like those of a quadruped.

    roots, tips: (4, 3) of arms and legs. 1 if they point ahead, (3,), −1 if to the other side, 0 if they
    do not point to one side.
    """
    trunk = unit(roots[:2].sum(axis=0) - roots[2:].sum(axis=0))
    ways = tips - roots
    lengths = np.linalg.norm(ways, axis=1)
    arms, legs = (ways / lengths[:, None]).reshape(2, 2, 3).mean(axis=1)
    is_level = float(np.ptp(tips @ ahead)) < _LEVEL * float(lengths.max())
    is_across = max(abs(float(arms @ trunk)), abs(float(legs @ trunk))) < _ACROSS
    forward = float(arms @ ahead), float(legs @ ahead)
    if not is_level or not is_across or min(np.abs(forward)) < _STANDS or forward[0] * forward[1] < 0.0:
        return 0.0
    return float(np.sign(forward[0]))


def _facing(body: HumanoidBody, feet: Sequence[FloatArray], hands: Sequence[FloatArray], skull: FloatArray,
            likely: FloatArray) -> HumanoidBody:
    """Return a body with its front, by the shapes that usually lie in front, and by the likely front, (3,).

    feet, hands, skull: the cells (N, 3) below each ankle, of each hand, and of the head above the skull's base. A foot
    reaches farther forward from its ankle than backward. A quadruped has its belly in front.
    """
    ahead = np.cross(body.out, body.up)
    limbs = (*body.arms, *body.legs)
    fours = _on_all_fours(np.array([limb.root for limb in limbs]), np.array([limb.tip for limb in limbs]), ahead)
    if fours != 0.0:
        return replace(body, front=fours * ahead, notes=(*body.notes, _FOURS))
    votes = _votes(body, feet, hands, skull, likely)
    sure = min(abs(votes) / _CLEARLY, 1.0)
    return replace(body, front=ahead if votes >= 0.0 else -ahead, sure_of_sides=sure)


def _votes(body: HumanoidBody, feet: Sequence[FloatArray], hands: Sequence[FloatArray], skull: FloatArray,
           likely: FloatArray) -> float:
    """Return the evidence for the body's front; less than 0 if it points backwards."""
    ahead = np.cross(body.out, body.up)
    votes = _BY_HINT * float(np.sign(ahead @ likely))
    for limb, foot in zip(body.legs, feet, strict=True):
        length = float(np.linalg.norm(limb.root - limb.end))
        if len(foot):
            reach = (foot - limb.end) @ ahead
            votes += _BY_FEET * _vote(reach.max() + reach.min(), _TOE_IS * length)
        votes += _BY_KNEES * _vote((limb.middle - (limb.root + limb.end) / 2.0) @ ahead, 0.1 * length)
    for limb, cells in zip(body.arms, hands, strict=True):
        length = float(np.linalg.norm(limb.root - limb.end))
        votes += _BY_ELBOWS * _vote(((limb.root + limb.end) / 2.0 - limb.middle) @ ahead, 0.1 * length)
        if len(cells):
            along = unit(limb.end - limb.middle)
            beside = cells.mean(axis=0) - limb.end
            votes += _BY_HANDS * _vote((beside - beside @ along * along) @ ahead, 0.05 * length)
    if len(skull):
        size = float(np.linalg.norm(body.head.crown - body.head.skull))
        votes += _BY_HEAD * _vote((skull.mean(axis=0) - body.head.neck) @ ahead, 0.3 * size)
    return votes


def _vote(distance: np.floating[Any] | FloatArray, full: float) -> float:
    """Return −1 to 1: how clearly something lies in front by its distance; full: the distance at which it is clear."""
    return float(np.clip(float(distance) / full, -1.0, 1.0)) if full > 0.0 else 0.0


def _left_first(body: HumanoidBody) -> HumanoidBody:
    """Return the body with its left arm and leg first."""
    if np.cross(body.up, body.front) @ body.out >= 0.0:
        return body
    return replace(body, arms=body.arms[::-1], legs=body.legs[::-1], out=-body.out)


def _symmetric(body: HumanoidBody) -> HumanoidBody:
    """Return the body with its two sides made equal, if they are so, or nearly."""
    height = float(abs((body.head.crown - body.legs[0].tip) @ body.up))
    (arms, plane), (legs, _) = (_pair_made_alike(body, limbs, height) for limbs in (body.arms, body.legs))
    if arms[0] is body.arms[0] or legs[0] is body.legs[0]:
        return replace(body, arms=arms, legs=legs)
    top = replace(body.head, neck=plane.onto(body.head.neck), skull=plane.onto(body.head.skull),
                  crown=plane.onto(body.head.crown))
    return replace(body, arms=arms, legs=legs, head=top)


def _pair_made_alike(body: HumanoidBody, limbs: tuple[Limb, Limb], height: float) -> tuple[tuple[Limb, Limb], Plane]:
    """Return a pair of limbs made equal, and the plane between them.

    If the body's plane does not mirror them, it is their own middle plane: a leg that stands aside moves no arm.
    """
    plane = body.plane
    if not plane.mirrors:
        joints = [getattr(limb, name) for name in ("root", "middle", "end", "tip") for limb in limbs]
        plane = Plane(body.out, np.mean(joints, axis=0), 0.0)
    return made_alike(*limbs, plane, height), plane
