"""A skeleton for a mesh that has none: from the solid to named joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..binding.decimation import decimated
from ..binding.frame import Frame
from ..binding.settings import BindCancelledError, Progress
from ..binding.solid import SAMPLE_STEP, Solid
from ..binding.surface import Surface, triangulate, with_centres
from ..binding.welding import COINCIDENT, weld
from ..maths.arrays import FloatArray
from .assembly import assembled
from .carving import carved
from .cells import Cells
from .embedding import Ends, embed
from .level_sets import LevelSets, extremities
from .problem import FitError, FittedSkeleton, FittingProblem

_MOST_POINTS: Final = 20000
_ALONG: Final = 128
"""Cells along the longest side of the body's box."""

_ACROSS: Final = 60
"""The cube of this is the number of cells in the box at most: thick bodies have enough of them with larger ones."""

_FAR_POINTS: Final = 8
_SHORTEST: Final = 0.04
"""Of the longest way through the body: what reaches out less is no end."""

_BALL: Final = 0.09
"""Of the longest way: radius of the surroundings of an end whose volume is compared."""

_NOT_HUMANOID: Final = 1.3
_FLAT: Final = 0.02


def fit_skeleton(problem: FittingProblem, progress: Progress | None = None) -> FittedSkeleton:
    """Fit the skeleton of a humanoid into meshes that form one body.

    1. The meshes become a solid of cells (`Solid`), whatever is open, loose or doubled, and its cells a graph.
    2. The ends of the body are found as maxima of the way from its middle (`extremities`).
    3. Which of them are head, hands and feet is decided by the pattern with the least penalty (`embed`).
    4. Along the curve through each limb (`Course`) joints are found: where it leaves the trunk, where it is narrowest,
       where it bends; by anatomy's shares where the mesh shows nothing (`humanoid`).
    5. Feet tell front from back, front and up tell left from right (`assembled`).

    The result follows the mesh when that is moved, turned or scaled, but for what `up` and `front` of the problem
    decide. Raises FitError where no humanoid is found, with what there is instead, and BindCancelledError when
    `progress`, called with the share of the work done, answers False.
    """
    tell = _Meter(progress)
    frame, cells = _cells(problem)
    tell.at(0.4)
    body = _ends(cells, tell)
    up = problem.up @ frame.axes
    found = embed(body.ends, up)
    if found is None:
        raise FitError(f"the mesh has {len(body.tips)} ends that reach out; a humanoid has five, a head, two hands and "
                       "two feet; choose a mesh with limbs that can be told apart")
    if found.penalty > _NOT_HUMANOID:
        raise FitError("the mesh has no head, two arms and two legs that mirror each other; a skeleton can be "
                       "fitted into humanoids only")
    tell.at(0.7)
    fitted = assembled(cells, body.tips, found, body.middle, problem.front @ frame.axes)
    tell.at(1.0)
    return _in_space(fitted, frame)


def _right_handed(frame: Frame) -> Frame:
    """Return a frame whose axes are no mirror image."""
    flip = np.array((1.0, 1.0, np.sign(np.linalg.det(frame.axes))))
    return Frame(frame.origin, frame.axes * flip, frame.unit)


@dataclass(frozen=True, eq=False)
class _Body:
    ends: Ends
    tips: list[int]
    middle: int


def _cells(problem: FittingProblem) -> tuple[Frame, Cells]:
    """Return the body's frame, and its inside as cells in it."""
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
    frame = _right_handed(Frame.of_points(points[np.unique(corners)]))
    mesh = decimated(frame.to_local(points), corners, problem.face_sizes, _MOST_POINTS)
    whole = with_centres(mesh.points, mesh.face_vertices, mesh.face_sizes)
    surface = Surface.build(whole[0], triangulate(*whole))
    shown = surface.points[np.unique(surface.triangles)] if len(surface.triangles) else surface.points[:0]
    extent = np.ptp(shown, axis=0) if len(shown) else np.zeros(3)
    if extent.max() == 0.0 or np.sort(extent)[0] < _FLAT * extent.max():
        raise FitError("the mesh is flat, and so has no inside; choose a mesh with volume")
    cell = max(float(extent.max()) / _ALONG, float(np.prod(extent)) ** (1.0 / 3.0) / _ACROSS)
    samples, areas = surface.samples(SAMPLE_STEP * cell)
    return frame, Cells.of(carved(Solid.build(shown, samples, areas, cell), samples, areas))


def _ends(cells: Cells, tell: _Meter) -> _Body:
    """Find the ends of the body, and the ways between them."""
    far = [int(cells.distances([cells.nearest(np.zeros(3))]).argmax())]
    fields = [cells.distances([far[0]])]
    while len(fields) < _FAR_POINTS:
        far.append(int(np.min(fields, axis=0).argmax()))
        fields.append(cells.distances([far[-1]]))
        tell.at(0.4 + 0.2 * len(fields) / _FAR_POINTS)
    middle = int(np.mean(fields[:5], axis=0).argmin())
    distances = cells.distances([middle])
    longest = float(np.max(fields[0]))
    found = extremities(LevelSets.of(cells, distances), distances, _SHORTEST * longest)
    tips = [end.cell for end in found]
    ways = np.array([cells.distances([tip]) for tip in tips])
    near = ways < _BALL * longest
    depths = np.array([float(cells.depth[some].max()) for some in near])
    ends = Ends(cells.points[tips], ways[:, tips], np.array([end.length for end in found]),
                near.sum(axis=1).astype(np.float64), depths)
    return _Body(ends, tips, middle)


def _in_space(fitted: FittedSkeleton, frame: Frame) -> FittedSkeleton:
    """Return what was fitted in the body's frame, in the mesh's space."""
    def turned(vectors: FloatArray) -> FloatArray:
        return np.asarray(vectors @ frame.axes.T)

    return FittedSkeleton(fitted.names, fitted.parents, frame.to_world(fitted.positions), frame.to_world(fitted.ends),
                          turned(fitted.bend_axes), fitted.certainty, turned(fitted.up), turned(fitted.front),
                          fitted.notes)


class _Meter:
    """Reports the share of the work done, and raises when whoever listens wants it to end."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def at(self, done: float) -> None:
        """Report it."""
        if self._progress is not None and not self._progress(done):
            raise BindCancelledError("the fitting was cancelled")
