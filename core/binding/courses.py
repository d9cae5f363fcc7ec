"""Where the lines of bones run: inside the body or in the air, and along which other bones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .segments import Segments
from .solid import Solid, dilated

_SHARES = (np.arange(9) + 0.5) / 9
_AT_ONCE = 1 << 20
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Courses:
    """Nine points on each of the S lines of B bones, and how far each is from the skin.

    points: (9, S, 3). depths: (9, S) to the nearest cell that is not in the solid, 0 outside. inside: (B,) the share of
    a bone's points that lie in the solid or one cell beside it, 0 for bones without a line. lengths: (B,) of all its
    lines.
    """

    lines: Segments
    points: FloatArray
    depths: FloatArray
    inside: FloatArray
    lengths: FloatArray

    @classmethod
    def of(cls, lines: Segments, bones: int, solid: Solid) -> Courses:
        """Look the lines of B bones up in the solid."""
        points = lines.points_at(np.repeat(_SHARES[:, None], len(lines.bones), axis=1))
        near = replace(solid, filled=dilated(solid.filled, 1))
        depths = np.zeros(points.shape[:2])
        within = solid.contains(points)
        depths[within] = _depths(points[within], near, solid)
        return cls(lines, points, depths, _mean(near.contains(points).mean(axis=0), lines.bones, bones),
                   np.bincount(lines.bones, lines.lengths, bones).astype(np.float64))

    def along(self, owners: BoolArray, reach: FloatArray) -> FloatArray:
        """Return the share of each bone's points, (B,), along which a line of one of its owners runs within reach.

        owners: (B, B) whether the bone of a column may own the place of the bone of a row. reach: (9, S) how near an
        owner's line must come to each point. A line that only ends near a point does not run along it, unless the
        point is of a bone without length.
        """
        flat, least, bone = self.points.reshape(-1, 3), reach.reshape(-1), np.tile(self.lines.bones, len(_SHARES))
        found = np.zeros(len(flat), dtype=np.bool_)
        has_owner: BoolArray = np.asarray(owners.any(axis=1))
        asked = np.flatnonzero(has_owner[bone])
        still = np.tile(self.lines.lengths <= 0.0, len(_SHARES))
        step = max(1, _AT_ONCE // max(1, len(self.lines.bones)))
        for begin in range(0, len(asked), step):
            some = asked[begin:begin + step]
            away, share = self.lines.nearest(flat[some])
            beside = ((share > 0.0) & (share < 1.0)) | still[some, None]
            found[some] = (beside & (away <= least[some, None]) & owners[bone[some]][:, self.lines.bones]).any(axis=1)
        return _mean(found.reshape(self.points.shape[:2]).mean(axis=0), self.lines.bones, len(self.inside))


def _mean(values: FloatArray, bones: IntArray, count: int) -> FloatArray:
    """Return the mean (B,) of the values (S,) of each bone's lines; 0 for bones without a line."""
    return np.asarray(np.bincount(bones, values, count) / np.maximum(np.bincount(bones, minlength=count), 1))


def _depths(points: FloatArray, near: Solid, solid: Solid) -> FloatArray:
    """Return the distance (N,) of points (N, 3) in a solid from the cells around it, which `near` also contains."""
    shell = (np.argwhere(near.filled & ~solid.filled) - np.array(solid.filled.shape) // 2) * solid.cell
    found = np.empty(len(points))
    step = max(1, _AT_ONCE // max(1, len(shell)))
    for begin in range(0, len(points), step):
        some = points[begin:begin + step]
        squared = (some * some).sum(axis=1)[:, None] + (shell * shell).sum(axis=1) - 2.0 * some @ shell.T
        found[begin:begin + step] = np.sqrt(np.maximum(squared.min(axis=1, initial=np.inf), 0.0))
    return found
