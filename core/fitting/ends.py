"""The ends of a body, the distances between them, and the shapes of their limbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from .cells import Cells
from .level_sets import Course, LevelSets, extremities

_FAR_POINTS: Final = 5
MOST_ENDS: Final = 9
_SHORTEST: Final = 0.04
"""Share of the longest path through the body: shorter branches are no ends."""

SAMPLES: Final = 64
"""Number of steps in which the longest path through a body is measured."""

_DEEP: Final = 4
"""Greatest depth in layers; deeper cells count as this deep."""

_BESIDE: Final = 0.75
"""Share of the path from an end to the middle between two ends; up to it, limbs are on their own side in any pose."""


@dataclass(frozen=True, eq=False)
class Ends:
    """T ends of a body.

    points: (T, 3); ways: (T, T) distances between them through the inside; masses: (T, SAMPLES) share of the body that
    is nearer to each than k + 1 SAMPLES of the longest path, sheets counting little; courses: T curves from each to the
    middle of the body; roundness: T arrays (S,), one for each course: 1 for a round cross-section, near 0
    for that of a sheet. roots: (T, T, 3) the limb to one end shortly before it meets the limb to another.
    """

    points: FloatArray
    ways: FloatArray
    masses: FloatArray
    courses: tuple[Course, ...]
    roundness: tuple[FloatArray, ...]
    roots: FloatArray

    def areas_at(self, shares: FloatArray) -> FloatArray:
        """Return the cross-sections (T, X) at distances (X,) from each end, as shares of the longest way."""
        at = shares * float(self.ways.max(initial=0.0))
        return np.array([np.interp(at, course.at, course.areas) for course in self.courses])

    def roundness_at(self, shares: FloatArray) -> FloatArray:
        """Return the roundness (T, X) of sections at distances (X,) from each end, as shares of the longest way."""
        at = shares * float(self.ways.max(initial=0.0))
        return np.array([np.interp(at, course.at, own) for course, own in
                         zip(self.courses, self.roundness, strict=True)])

    def points_at(self, shares: FloatArray) -> FloatArray:
        """Return the points (T, X, 3) at distances (X,) from each end, as shares of the longest way."""
        at = shares * float(self.ways.max(initial=0.0))
        return np.array([np.stack([np.interp(at, course.at, column) for column in course.points.T], axis=1)
                         for course in self.courses])


@dataclass(frozen=True, eq=False)
class Inside:
    """The inside of a body.

    tips: cells of its T ends; ways: (T, N) distances of all cells from them; middle: the cell in its middle.
    """

    cells: Cells
    tips: list[int]
    ways: FloatArray
    middle: int
    ends: Ends

    @classmethod
    def of(cls, cells: Cells, most: int = MOST_ENDS) -> Inside:
        """Return the inside with its ends, at most so many: the maxima of the distance from its middle."""
        far = [int(cells.distances([cells.nearest(np.zeros(3))]).argmax())]
        fields = [cells.distances([far[0]])]
        while len(fields) < _FAR_POINTS:
            far.append(int(np.min(fields, axis=0).argmax()))
            fields.append(cells.distances([far[-1]]))
        middle = int(np.mean(fields, axis=0).argmin())
        distances = cells.distances([middle])
        longest = float(np.max(fields[0]))
        found = extremities(LevelSets.of(cells, distances), distances, _SHORTEST * longest)[:most]
        tips = [end.cell for end in found]
        known = dict(zip(far, fields, strict=True))
        ways = np.array([known[tip] if tip in known else cells.distances([tip]) for tip in tips])
        courses, roundness = zip(*(_course(cells, own, middle) for own in ways), strict=True)
        between = ways[:, tips]
        mass = np.minimum(cells.depth, _DEEP) ** 2.0
        steps = np.minimum(ways / max(float(between.max()), cells.cell) * SAMPLES, SAMPLES - 1).astype(np.int64)
        within = np.array([np.bincount(own, mass, SAMPLES) for own in steps]).cumsum(axis=1) / mass.sum()
        roots = np.array([[course.point_at(_BESIDE * way / 2.0) for way in row]
                          for course, row in zip(courses, between, strict=True)])
        return cls(cells, tips, ways, middle, Ends(cells.points[tips], between, within, courses, roundness, roots))


def _course(cells: Cells, ways: FloatArray, middle: int) -> tuple[Course, FloatArray]:
    """Return the curve from the source of distances (N,) to a cell, and the roundness of its cross-sections, (S,)."""
    sets = LevelSets.of(cells, ways)
    pieces = Course.pieces(cells, sets, ways, middle)
    row = np.full(len(sets.level), -1)
    row[pieces] = np.arange(len(pieces))
    own = np.flatnonzero(row[sets.node] >= 0)
    rows = row[sets.node[own]]
    away = cells.points[own] - sets.middle[pieces][rows]
    spread = np.stack([np.bincount(rows, away[:, i] * away[:, j], len(pieces)) for i in range(3) for j in range(3)],
                      axis=1) / np.bincount(rows, minlength=len(pieces))[:, None]
    _, across, most = np.sqrt(np.linalg.eigvalsh(spread.reshape(-1, 3, 3) + cells.cell**2 / 12.0 * np.eye(3))).T
    return Course.along(sets, pieces, cells.cell), across / most


def gromov(ways: FloatArray, one: IntArray, other: IntArray, third: IntArray) -> FloatArray:
    """Return the distance (C,) from one end at which its paths to two others part, from distances (T, T)."""
    return np.asarray((ways[one, other] + ways[one, third] - ways[other, third]) / 2.0)
