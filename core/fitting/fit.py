"""Fit a skeleton into a mesh that has none: from the solid to named joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ..binding.frame import Frame
from ..binding.settings import BindCancelledError, Progress
from ..binding.surface import Surface
from ..maths.arrays import FloatArray
from .assembly import assembled
from .bilateral import Creature, creature
from .candidate import FittingCandidate, looked_at_closely, surface_of
from .cells import parts_of
from .creature import skeleton_of_creature
from .embedding import NOT_HUMANOID, Embedding
from .ends import MOST_ENDS, Inside
from .hand import both_hands
from .joints import skeleton_of
from .left_out import AS_HIGH, SECOND_BODY, undressed, without_loose_parts, without_thin_parts
from .more_limbs import has_long_hand, other_limbs
from .problem import FitError, FittedSkeleton, FittingProblem

_LONG_HANDS: Final = 0.4
"""Greatest certainty of arms whose hands seem to hold something."""

_MOST_ENDS_OF_CREATURES: Final = 14
_MANY_LEGS: Final = 3
_SEVERAL: Final = ("the mesh has two or more large parts that are not one humanoid; if these are several bodies, "
                   "separate them, and fit each alone")
_NO_SHAPE: Final = ("the mesh has no two sides that mirror each other, and is not long and slim either; straighten it, "
                    "or add the armature by hand")
_APART: Final = 0.02
"""Share of the mesh's height: two tall parts with such a gap between them are two bodies."""


def fit_skeleton(problem: FittingProblem, progress: Progress | None = None) -> FittedSkeleton:
    """Fit a skeleton into meshes that form one body: a humanoid, or a creature with two symmetric sides.

    1. The meshes become a solid of cells (`Solid`), even if they are open, loose or doubled; its cells become a graph.
    2. The ends of the body are found as maxima of the distance from its middle (`extremities`).
    3. Head, hands and feet are assigned to them by the pattern with the least penalty (`embed`).
    4. Along the curve through each limb (`Course`) joints are found: where it leaves the trunk, where it is narrowest,
    where it bends; by proportions of anatomy if the mesh shows nothing (`humanoid`).
    5. Feet tell front from back; front and up tell left from right (`assembled`).

    Other bodies are fitted by their shape alone if two sides of them mirror each other, or if they are long without
    limbs. `creature` finds spine, neck, head, tail, and limbs.

    The result follows the mesh when that is moved, rotated or scaled, except where `up` and `front` of the problem
    decide. Raises FitError, with a description of the body, if neither is found. Raises BindCancelledError when
    `progress`, called with the share of the work done, answers False.
    """
    tell = _Meter(progress)
    frame, surface = surface_of(problem)
    up = problem.up @ frame.axes
    tell.at(0.2)
    body = looked_at_closely(surface, up)
    tell.at(0.5)
    front = problem.front @ frame.axes
    parts = _large_parts(surface)
    other = _creature(body, up, front) if _may_be_creature(problem, body) and parts is None else None
    if problem.kind == "shape" and other is None:
        raise FitError(_NO_SHAPE)
    if other is not None and (problem.kind == "shape" or _is_plain(other, body.found)):
        return _in_space(skeleton_of_creature(other), frame, ())
    notes: tuple[str, ...] = ()
    if body.is_doubtful or (body.found is not None and body.found.others):
        body, notes = without_loose_parts(surface, up, body, tell.at)
    if parts is not None and (body.is_hardly_humanoid
                              or _stand_apart(*parts, float(np.ptp(surface.points @ up)), up)):
        raise FitError(_SEVERAL)
    if body.is_doubtful or has_long_hand(body.inside.ends, body.found):
        body, thin = without_thin_parts(surface, body, up, tell.at)
        notes = (*notes, *thin)
    if body.found is None or body.penalty > NOT_HUMANOID:
        if other is not None:
            return _in_space(skeleton_of_creature(other), frame, ())
        raise FitError(_refusal(body))
    tell.at(0.7)
    found = assembled(body.inside, body.found, front)
    if found.hides_legs:
        body, found = undressed(surface, body, found, up, front)
    assert body.found is not None
    if has_long_hand(body.inside.ends, body.found):
        found = replace(found, sure_of_arms=_LONG_HANDS)
    notes = (*other_limbs(body.inside.ends, body.found), *notes)
    tell.at(0.8)
    fitted = skeleton_of(found, both_hands(surface, found.arms, found.plane))
    tell.at(1.0)
    return _in_space(fitted, frame, notes)


def _may_be_creature(problem: FittingProblem, body: FittingCandidate) -> bool:
    """Return whether a body may be a creature: its shape allows it, or has more limbs than a humanoid."""
    return problem.kind == "shape" or (problem.kind == "auto" and (
        body.found is None or body.penalty > NOT_HUMANOID or bool(body.found.others)))


def _creature(body: FittingCandidate, up: FloatArray, front: FloatArray) -> Creature | None:
    """Return the creature that a body is by its shape; if it has many ends, like an insect, all are searched."""
    inside = body.inside
    if len(inside.tips) == MOST_ENDS:
        inside = Inside.of(inside.cells, _MOST_ENDS_OF_CREATURES)
    return creature(inside, up, front)


def _is_plain(other: Creature, found: Embedding | None) -> bool:
    """Return whether a body is clearly no humanoid, though its ends may look like one's.

    It has three pairs of legs or more; or its spine is horizontal above its legs, and continues into a tail.
    """
    return sum(other.is_leg) >= _MANY_LEGS or (any(other.is_leg) and other.lies and bool(found and found.others))


def _large_parts(surface: Surface) -> tuple[FloatArray, FloatArray] | None:
    """Return the points (N, 3) of the two largest separate parts, or None if only one of them is large."""
    part = parts_of(len(surface.points), surface.triangles)
    area = np.bincount(part[surface.triangles[:, 0]], surface.face_areas)
    largest = area.argsort()[-2:]
    if len(largest) < 2 or area[largest[0]] <= SECOND_BODY * area[largest[1]]:
        return None
    one, other = (surface.points[part == each] for each in largest)
    return one, other


def _stand_apart(one: FloatArray, other: FloatArray, height: float, up: FloatArray) -> bool:
    """Return whether two parts both have about the height of the mesh, and stand side by side with a gap between."""
    way = other.mean(axis=0) - one.mean(axis=0)
    way = way - way @ up * up
    length = float(np.linalg.norm(way))
    if length == 0.0 or min(np.ptp(one @ up), np.ptp(other @ up)) < AS_HIGH * height:
        return False
    return float((other @ way).min() - (one @ way).max()) / length > _APART * height


def _refusal(body: FittingCandidate) -> str:
    """Return why a body is no humanoid, and what was found instead."""
    if body.found is None:
        return (f"{len(body.inside.tips)} parts of the mesh reach out, but a humanoid has five: head, two hands and "
                "two feet; choose a mesh with separate limbs")
    return ("the mesh has neither a head, two arms and two legs, nor other limbs that mirror each other; choose a "
            "whole body with separate limbs")


def _in_space(fitted: FittedSkeleton, frame: Frame, notes: tuple[str, ...]) -> FittedSkeleton:
    """Return a fitted skeleton, given in the body's frame, in the mesh's space."""
    def turned(vectors: FloatArray) -> FloatArray:
        return np.asarray(vectors @ frame.axes.T)

    return replace(fitted, positions=frame.to_world(fitted.positions), ends=frame.to_world(fitted.ends),
                   bend_axes=turned(fitted.bend_axes), up=turned(fitted.up), front=turned(fitted.front),
                   notes=(*fitted.notes, *notes))


class _Meter:
    """Reports the share of the work done, and raises BindCancelledError if the listener wants to stop."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def at(self, done: float) -> None:
        """Report the share of the work done."""
        if self._progress is not None and not self._progress(done):
            raise BindCancelledError("the fitting was cancelled")
