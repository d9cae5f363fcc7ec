"""A skeleton for a mesh that has none: from the solid to named joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..binding.decimation import decimated
from ..binding.frame import Frame
from ..binding.settings import BindCancelledError, Progress
from ..binding.solid import SAMPLE_STEP, Solid, dilated
from ..binding.surface import Surface, triangulate, with_centres
from ..binding.welding import COINCIDENT, weld
from ..maths.arrays import BoolArray, FloatArray
from .assembly import assembled, skeleton_of
from .bilateral import Creature, creature
from .carving import carved
from .cells import Cells, parts_of
from .creature import skeleton_of_creature
from .embedding import NOT_HUMANOID, Embedding, embed
from .ends import MOST_ENDS, Inside
from .hand import both_hands
from .more_limbs import Part, has_long_hand, other_limbs, thin_parts
from .problem import FitError, FittedSkeleton, FittingProblem

_MOST_POINTS: Final = 20000
_ALONG: Final = 128
"""Cells along the longest side of the body's box."""

_ACROSS: Final = 60
"""The cube of this is the number of cells in the box at most: thick bodies have enough of them with larger ones."""

_NO_TRUNK: Final = 0.08
_FINER: Final = 1.6
"""Where hands and feet are nearer through the body than by such a trunk, or too few ends are found, limbs touch: they
are looked at again with cells so many times as fine."""

_GAP: Final = 12
"""So many cells deep narrow gaps between them are opened then."""

_LOOSE: Final = 0.3
_MOST_LOOSE: Final = 5
"""So many of the largest loose parts, none with more than this share of the surface, are left out in turn."""

_MOST_KEPT: Final = 0.7
"""Of the body's cells: without thin parts so many are left."""

_LONG_HANDS: Final = 0.4
"""How sure arms are whose hands seem to hold something."""

_DOUBTFUL: Final = 0.5
_BETTER: Final = 0.1
"""Below such a certainty parts are left out in turn; what is left has to be so much more a humanoid."""

_HARDLY: Final = 0.8, 0.1
"""What costs more, and is so little certain: limbs of two bodies, of which one hand touches the other's."""

_NO_WORSE: Final = 0.2
"""Where it is plain that parts are no limbs, what is left needs to be no less a humanoid but for this."""

_SEVERAL: Final = ("the mesh has two or more large parts that are not one humanoid; if these are several bodies, "
                   "separate them, and fit each alone")
_MOST_ENDS_OF_CREATURES: Final = 14
_MANY_LEGS: Final = 3
_NO_SHAPE: Final = ("the mesh has no two sides that mirror each other, and is not long and slim either; straighten it, "
                    "or add the armature by hand")
_SECOND_BODY: Final = 0.6
_AS_HIGH, _APART = 0.6, 0.02
"""Of the mesh's height: two parts that are each so high, with such a gap between them, are two bodies."""
_FLAT: Final = 0.02


def fit_skeleton(problem: FittingProblem, progress: Progress | None = None) -> FittedSkeleton:
    """Fit a skeleton into meshes that form one body: a humanoid's, or that of a creature with two like sides.

    1. The meshes become a solid of cells (`Solid`), whatever is open, loose or doubled, and its cells a graph.
    2. The ends of the body are found as maxima of the way from its middle (`extremities`).
    3. Which of them are head, hands and feet is decided by the pattern with the least penalty (`embed`).
    4. Along the curve through each limb (`Course`) joints are found: where it leaves the trunk, where it is narrowest,
       where it bends; by anatomy's shares where the mesh shows nothing (`humanoid`).
    5. Feet tell front from back, front and up tell left from right (`assembled`).

    What is no humanoid is fitted by its shape alone if two sides of it mirror each other, or if it is long and has no
    limbs (`creature`): spine, neck, head, tail, and its limbs.

    The result follows the mesh when that is moved, turned or scaled, but for what `up` and `front` of the problem
    decide. Raises FitError where neither is found, with what there is instead, and BindCancelledError when
    `progress`, called with the share of the work done, answers False.
    """
    tell = _Meter(progress)
    frame, surface = _surface(problem)
    up = problem.up @ frame.axes
    tell.at(0.2)
    body = _looked_at_closely(surface, up)
    tell.at(0.5)
    front = problem.front @ frame.axes
    parts = _large_parts(surface)
    other = _creature(body, up, front) if _may_be_creature(problem, body) and parts is None else None
    if problem.kind == "shape" and other is None:
        raise FitError(_NO_SHAPE)
    if other is not None and (problem.kind == "shape" or _is_plain(other, body.found)):
        return _in_space(skeleton_of_creature(other), frame, ())
    notes: tuple[str, ...] = ()
    if body.is_doubtful:
        body, notes = _without_loose_parts(surface, up, body, tell)
    if parts is not None and (body.is_hardly_humanoid
                              or _stand_apart(*parts, float(np.ptp(surface.points @ up)), up)):
        raise FitError(_SEVERAL)
    if body.is_doubtful or has_long_hand(body.inside.ends, body.found):
        body, thin = _without_thin_parts(surface, body, up, tell)
        notes = (*notes, *thin)
    if body.found is None or body.penalty > NOT_HUMANOID:
        if other is not None:
            return _in_space(skeleton_of_creature(other), frame, ())
        raise FitError(_refusal(body))
    tell.at(0.7)
    inside = body.inside
    found = assembled(inside, body.found, front)
    if has_long_hand(inside.ends, body.found):
        found = replace(found, sure_of_arms=_LONG_HANDS)
    notes = (*other_limbs(inside.ends, body.found), *notes)
    tell.at(0.8)
    fitted = skeleton_of(found, both_hands(surface, found.arms, found.plane))
    tell.at(1.0)
    return _in_space(fitted, frame, notes)


def _right_handed(frame: Frame) -> Frame:
    """Return a frame whose axes are no mirror image."""
    flip = np.array((1.0, 1.0, np.sign(np.linalg.det(frame.axes))))
    return Frame(frame.origin, frame.axes * flip, frame.unit)


@dataclass(frozen=True, eq=False)
class _Body:
    """The inside of a body, and what its ends are."""

    inside: Inside
    found: Embedding | None

    @classmethod
    def of(cls, cells: Cells, up: FloatArray) -> _Body:
        inside = Inside.of(cells)
        return cls(inside, embed(inside.ends, up))

    @property
    def penalty(self) -> float:
        """How much the ends differ from a humanoid's."""
        return np.inf if self.found is None else self.found.penalty

    @property
    def touches(self) -> bool:
        """Tell whether limbs touch each other or the trunk."""
        return len(self.inside.tips) > 1 if self.found is None else self.found.trunk < _NO_TRUNK

    @property
    def is_hardly_humanoid(self) -> bool:
        """Tell whether what was found is no humanoid, or hardly one, among others that are as good."""
        return self.found is None or self.penalty > NOT_HUMANOID or (
            self.penalty > _HARDLY[0] and self.found.certain < _HARDLY[1])

    @property
    def is_doubtful(self) -> bool:
        """Tell whether something may be among the limbs that is none."""
        return self.found is None or self.found.certain < _DOUBTFUL


def _looked_at_closely(surface: Surface, up: FloatArray) -> _Body:
    """Return the inside of a surface and its ends, with finer cells where limbs touch."""
    body = _Body.of(_cells(surface), up)
    if body.touches:
        finer = _Body.of(_cells(surface, _FINER, _GAP), up)
        body = finer if finer.penalty < body.penalty else body
    return body


def _without_thin_parts(surface: Surface, body: _Body, up: FloatArray, tell: _Meter) -> tuple[_Body, tuple[str, ...]]:
    """Return the body without the thin part, as a sword, that makes it less a humanoid; and a note of it."""
    parts = thin_parts(body.inside, body.found)
    for are_plain, most in ((True, body.penalty + _NO_WORSE), (False, body.penalty - _BETTER)):
        found = _least_without(body, [part for part in parts if part.is_plain == are_plain], up, tell)
        if found is None or found[0].penalty >= most:
            continue
        best, part = found
        # what is left is smaller, and can have smaller cells
        finer = _looked_at_closely(_outside(surface, body.inside.cells, part.cells), up)
        note = ("A thin part, as a sword, was left out" if part.count == 1 else
                f"{part.count} thin parts, as swords, were left out")
        return finer if finer.penalty < best.penalty + _BETTER else best, (note,)
    return body, ()


def _least_without(body: _Body, parts: Sequence[Part], up: FloatArray, tell: _Meter) -> tuple[_Body, Part] | None:
    """Return which part it is whose lack makes a body most a humanoid, and what is left; None where there is none."""
    left = list[tuple[_Body, Part]]()
    for part in parts:
        tell.at(0.5)
        if (~part.cells).mean() > _MOST_KEPT:
            left.append((_Body.of(body.inside.cells.some(~part.cells), up), part))
    return min(left, key=lambda one: one[0].penalty, default=None)


def _outside(surface: Surface, cells: Cells, part: BoolArray) -> Surface:
    """Return a surface without the triangles whose middles lie in some cells, (N,), or beside these."""
    middles = surface.points[surface.triangles].mean(axis=1)
    place = np.rint(np.concatenate((cells.points[part], middles)) / cells.cell).astype(np.int64)
    place -= place.min(axis=0) - 1
    near = np.zeros(tuple(place.max(axis=0) + 2), dtype=np.bool_)
    near[tuple(place[:int(part.sum())].T)] = True
    return Surface.build(surface.points, surface.triangles[~dilated(near, 1)[tuple(place[int(part.sum()):].T)]])


def _without_loose_parts(surface: Surface, up: FloatArray, whole: _Body,
                         tell: _Meter) -> tuple[_Body, tuple[str, ...]]:
    """Return the body without the loose part that keeps it most from being a humanoid, as a sword, and a note of it."""
    part = parts_of(len(surface.points), surface.triangles)
    area = np.bincount(part[surface.triangles[:, 0]], surface.face_areas)
    small = [k for k in np.argsort(-area).tolist() if 0.0 < area[k] < _LOOSE * area.sum()][:_MOST_LOOSE]
    best: _Body = whole
    notes: tuple[str, ...] = ()
    for left_out in [[k] for k in small] + ([small] if len(small) > 1 else []):
        tell.at(0.5)
        kept = surface.triangles[~np.isin(part[surface.triangles[:, 0]], left_out)]
        body = _Body.of(_cells(Surface.build(surface.points, kept)), up)
        if body.penalty < best.penalty - _BETTER:
            one = len(left_out) == 1
            best, notes = body, (f"{len(left_out)} loose part{'' if one else 's'} of the mesh, as a sword, "
                                 f"{'was' if one else 'were'} left out",)
    return best, notes


def _may_be_creature(problem: FittingProblem, body: _Body) -> bool:
    """Tell whether a body may be something else than a humanoid: its shape leaves it open, or has more limbs."""
    return problem.kind == "shape" or (problem.kind == "auto" and (
        body.found is None or body.penalty > NOT_HUMANOID or bool(body.found.others)))


def _creature(body: _Body, up: FloatArray, front: FloatArray) -> Creature | None:
    """Return what a body is by its shape; one with many ends, as an insect, is asked for all of them."""
    inside = body.inside
    if len(inside.tips) == MOST_ENDS:
        inside = Inside.of(inside.cells, _MOST_ENDS_OF_CREATURES)
    return creature(inside, up, front)


def _is_plain(other: Creature, found: Embedding | None) -> bool:
    """Tell whether a body is plainly no humanoid, though it may be taken for one.

    It has three pairs of legs or more; or its spine lies across its legs, and goes on into a tail.
    """
    return sum(other.is_leg) >= _MANY_LEGS or (any(other.is_leg) and other.lies and bool(found and found.others))


def _large_parts(surface: Surface) -> tuple[FloatArray, FloatArray] | None:
    """Return the points (N, 3) of the two largest parts that are not joined; None if only one of them is large."""
    part = parts_of(len(surface.points), surface.triangles)
    area = np.bincount(part[surface.triangles[:, 0]], surface.face_areas)
    largest = area.argsort()[-2:]
    if len(largest) < 2 or area[largest[0]] <= _SECOND_BODY * area[largest[1]]:
        return None
    one, other = (surface.points[part == each] for each in largest)
    return one, other


def _stand_apart(one: FloatArray, other: FloatArray, height: float, up: FloatArray) -> bool:
    """Tell whether two parts are both about as high as the mesh, beside each other with a gap between."""
    way = other.mean(axis=0) - one.mean(axis=0)
    way = way - way @ up * up
    length = float(np.linalg.norm(way))
    if length == 0.0 or min(np.ptp(one @ up), np.ptp(other @ up)) < _AS_HIGH * height:
        return False
    return float((other @ way).min() - (one @ way).max()) / length > _APART * height


def _refusal(body: _Body) -> str:
    """Return why there is no humanoid in a body, and what there is."""
    if body.found is None:
        return (f"{len(body.inside.tips)} parts of the mesh reach out, but a humanoid has five: head, two hands and "
                "two feet; choose a mesh with separate limbs")
    return ("the mesh has neither a head, two arms and two legs, nor other limbs that mirror each other; choose a "
            "whole body with separate limbs")


def _surface(problem: FittingProblem) -> tuple[Frame, Surface]:
    """Return the body's frame, and its surface in it."""
    vertices = problem.vertices
    used = np.zeros(len(vertices), dtype=np.bool_)
    used[problem.face_vertices] = True
    size = float(np.linalg.norm(np.ptp(vertices[used], axis=0)))
    if size == 0.0:
        raise FitError("all vertices of the mesh are in one place; choose a mesh with a shape")
    point_of = weld(vertices, COINCIDENT * size)
    points = np.empty((int(point_of.max()) + 1, 3))
    points[point_of] = vertices
    corners = point_of[problem.face_vertices]
    shown = np.zeros(len(points), dtype=np.bool_)
    shown[corners] = True
    frame = _right_handed(Frame.of_points(points[shown]))
    mesh = decimated(frame.to_local(points), corners, problem.face_sizes, _MOST_POINTS)
    whole = with_centres(mesh.points, mesh.face_vertices, mesh.face_sizes)
    surface = Surface.build(whole[0], triangulate(*whole))
    extent = np.ptp(_shown(surface), axis=0) if len(surface.triangles) else np.zeros(3)
    if extent.max() == 0.0 or extent.min() < _FLAT * extent.max():
        raise FitError("the mesh is flat, and so has no inside; choose a mesh with volume")
    return frame, surface


def _shown(surface: Surface) -> FloatArray:
    return surface.points[np.unique(surface.triangles)]


def _cells(surface: Surface, finer: float = 1.0, deepest: int = 1) -> Cells:
    """Return the inside as cells, of which so many times as many as usual lie along each edge; deepest: see carved."""
    points = _shown(surface)
    extent = np.ptp(points, axis=0)
    cell = max(float(extent.max()) / _ALONG, float(np.prod(extent)) ** (1.0 / 3.0) / _ACROSS) / finer
    samples, areas = surface.samples(SAMPLE_STEP * cell)
    return Cells.of(carved(Solid.build(points, samples, areas, cell), samples, areas, deepest))


def _in_space(fitted: FittedSkeleton, frame: Frame, notes: tuple[str, ...]) -> FittedSkeleton:
    """Return what was fitted in the body's frame, in the mesh's space."""
    def turned(vectors: FloatArray) -> FloatArray:
        return np.asarray(vectors @ frame.axes.T)

    return FittedSkeleton(fitted.names, fitted.parents, frame.to_world(fitted.positions), frame.to_world(fitted.ends),
                          turned(fitted.bend_axes), fitted.certainty, turned(fitted.up), turned(fitted.front),
                          (*fitted.notes, *notes))


class _Meter:
    """Reports the share of the work done, and raises when whoever listens wants it to end."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def at(self, done: float) -> None:
        """Report it."""
        if self._progress is not None and not self._progress(done):
            raise BindCancelledError("the fitting was cancelled")
