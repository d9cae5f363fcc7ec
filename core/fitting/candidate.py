"""Candidates for fitting: the surface of meshes, its inside as cells, and the likely meaning of its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..binding.decimation import decimated
from ..binding.frame import Frame
from ..binding.solid import SAMPLE_STEP, Solid
from ..binding.surface import Surface, triangulate, with_centres
from ..binding.welding import COINCIDENT, weld
from ..maths.arrays import FloatArray
from .carving import carved
from .cells import Cells
from .embedding import NOT_HUMANOID, Embedding, embed
from .ends import Inside
from .problem import FitError, FittingProblem

_MOST_POINTS: Final = 20000
_ALONG: Final = 128
"""Cells along the longest side of the body's box."""

_ACROSS: Final = 60
"""The cube of this is the greatest number of cells in the box: for thick bodies, larger cells are enough."""

_NO_TRUNK: Final = 0.08
_FINER: Final = 1.6
"""If the trunk between hands and feet is shorter than the first share, or if too few ends are found, limbs touch. Then
cells are finer by the second factor."""

_GAP: Final = 12
"""Depth in cells to which narrow gaps between touching limbs are then opened."""

_DOUBTFUL: Final = 0.5
"""Below this certainty, parts are left out in turn."""

_HARDLY: Final = 0.8, 0.1
"""A higher penalty with less certainty means that limbs belong to two bodies whose hands touch."""

_FLAT: Final = 0.02


@dataclass(frozen=True, eq=False)
class FittingCandidate:
    """The inside of a body, and the meaning of its ends."""

    inside: Inside
    found: Embedding | None

    @classmethod
    def of(cls, cells: Cells, up: FloatArray) -> FittingCandidate:
        """Return the inside of cells, with the ends that may be head, hands and feet; up: (3,) the head's side."""
        inside = Inside.of(cells)
        return cls(inside, embed(inside.ends, up))

    @property
    def penalty(self) -> float:
        """How far the ends differ from a humanoid's."""
        return np.inf if self.found is None else self.found.penalty

    @property
    def touches(self) -> bool:
        """Return whether limbs touch each other or the trunk."""
        return len(self.inside.tips) > 1 if self.found is None else self.found.trunk < _NO_TRUNK

    @property
    def is_hardly_humanoid(self) -> bool:
        """Return whether the ends form no humanoid, or hardly one, or several are equally likely."""
        return self.found is None or self.penalty > NOT_HUMANOID or (
            self.penalty > _HARDLY[0] and self.found.certain < _HARDLY[1])

    @property
    def is_doubtful(self) -> bool:
        """Return whether some limbs may not be limbs."""
        return self.found is None or self.found.certain < _DOUBTFUL


def looked_at_closely(surface: Surface, up: FloatArray) -> FittingCandidate:
    """Return the inside of a surface and its ends, with finer cells where limbs touch."""
    body = FittingCandidate.of(cells_of(surface), up)
    if body.touches:
        finer = FittingCandidate.of(cells_of(surface, _FINER, _GAP), up)
        body = finer if finer.penalty < body.penalty else body
    return body


def surface_of(problem: FittingProblem) -> tuple[Frame, Surface]:
    """Return the body's frame, and its surface in that frame."""
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
    is_shown = np.zeros(len(points), dtype=np.bool_)
    is_shown[corners] = True
    frame = _right_handed(Frame.of_points(points[is_shown]))
    mesh = decimated(frame.to_local(points), corners, problem.face_sizes, _MOST_POINTS)
    whole = with_centres(mesh.points, mesh.face_vertices, mesh.face_sizes)
    surface = Surface.build(whole[0], triangulate(*whole))
    extent = np.ptp(shown(surface), axis=0) if len(surface.triangles) else np.zeros(3)
    if extent.max() == 0.0 or extent.min() < _FLAT * extent.max():
        raise FitError("the mesh is flat, and so has no inside; choose a mesh with volume")
    return frame, surface


def shown(surface: Surface) -> FloatArray:
    """Return the points (N, 3) that are corners of triangles."""
    return surface.points[np.unique(surface.triangles)]


def cells_of(surface: Surface, finer: float = 1.0, deepest: int = 1) -> Cells:
    """Return the inside as cells; finer: factor for the number of cells along each edge; deepest: see carved."""
    points = shown(surface)
    extent = np.ptp(points, axis=0)
    cell = max(float(extent.max()) / _ALONG, float(np.prod(extent)) ** (1.0 / 3.0) / _ACROSS) / finer
    samples, areas = surface.samples(SAMPLE_STEP * cell)
    return Cells.of(carved(Solid.build(points, samples, areas, cell), samples, areas, deepest))


def _right_handed(frame: Frame) -> Frame:
    """Return a frame whose axes are right-handed."""
    flip = np.array((1.0, 1.0, np.sign(np.linalg.det(frame.axes))))
    return Frame(frame.origin, frame.axes * flip, frame.unit)
