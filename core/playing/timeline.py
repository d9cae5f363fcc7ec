"""Layout of a motion's timeline: boxes and curves in its own coordinates.

x is seconds, y is rows counted upwards from 0. Row 0 holds the clips, row 1 the transitions with their weight curves.
The rows above hold the procedures, innermost lowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .motion import Motion
from .stage import Playable
from .transitions.curves import curve_named

CLIP_ROW = 0
TRANSITION_ROW = 1
PROCEDURE_ROW = 2
"""The lowest row of procedures."""
CURVE_POINTS = 33
_FRAMES_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Timeline:
    """The boxes of one span of a motion; each box is x0, y0, x1, y1.

    rows: number of rows. begin_s, end_s: the span; boxes that reach beyond it are not cut. segments: (N,), with
    clip_boxes (N, 4). seams: (M,) the segments before transitions, with transition_boxes (M, 4). weights: (M,
    CURVE_POINTS, 2) points x, y of each transition's weight curve, from the box's bottom to its top. names: P
    procedures, with procedure_boxes (P, 4), outer ones above inner ones.
    """

    begin_s: float
    end_s: float
    rows: int
    segments: IntArray
    clip_boxes: FloatArray
    seams: IntArray
    transition_boxes: FloatArray
    weights: FloatArray
    names: tuple[str, ...]
    procedure_boxes: FloatArray

    @classmethod
    def of(cls, motion: Motion, curve: str, begin_s: float = 0.0, end_s: float = np.inf, depth: int = 3) -> Timeline:
        """Lay out what plays between two instants, with at most `depth` levels of procedures.

        curve: identifier of the motion's weight curve.
        """
        layout, end_s = motion.layout, min(end_s, motion.duration_s)
        segments = np.flatnonzero((layout.begin_s <= end_s) & (layout.end_s >= begin_s))
        lasts = motion.transitions_s > 0.0
        seams = np.flatnonzero(lasts & (layout.window_begin_s <= end_s) & (layout.window_end_s >= begin_s))
        windows = _boxes(layout.window_begin_s[seams], layout.window_end_s[seams], TRANSITION_ROW)
        share = np.linspace(0.0, 1.0, CURVE_POINTS)
        shape = motion.method.shape
        height = curve_named(curve).shaped(shape)(share) if shape in ("RISE", "PULSE") else np.ones(CURVE_POINTS)
        weights = np.stack(np.broadcast_arrays(windows[:, :1] + (windows[:, 2:3] - windows[:, :1]) * share,
                                               TRANSITION_ROW + height), axis=-1)
        names, procedures = _procedures(motion, begin_s, end_s, depth)
        rows = int(procedures[:, 3].max(initial=TRANSITION_ROW + 1))
        return cls(begin_s, end_s, rows, segments, _boxes(layout.begin_s[segments], layout.end_s[segments], CLIP_ROW),
                   seams, windows, weights, names, procedures)


def _procedures(motion: Motion, begin_s: float, end_s: float, depth: int) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and boxes of the procedures played in a span of time.

    A procedure begins at a mark. It lasts until a segment outside it, or until it, or one around it, begins again.
    """
    sequence, paths = motion.sequence, motion.sequence.paths
    above, level = _ancestors(paths.parents, depth)
    starts = motion.layout.begin_s
    names: list[str] = []
    boxes = [np.zeros((0, 4))]
    deepest = min(depth, int(level[sequence.path].max(initial=0)) + 1)
    for d in range(deepest):
        path = above[d][sequence.path]
        changes = np.zeros(len(path), dtype=np.bool_)
        changes[0] = True
        changes[1:] = path[1:] != path[:-1]
        changes[motion.sequence.marks.segment[level[motion.sequence.marks.path] <= d]] = True
        first = np.flatnonzero(changes)
        x0, x1 = starts[first], np.append(starts[first[1:]], motion.duration_s)
        shown = (path[first] >= 0) & (x0 <= end_s) & (x1 >= begin_s)
        names += [paths.names[p] for p in paths.procedures[path[first[shown]]]]
        boxes.append(_boxes(x0[shown], x1[shown], PROCEDURE_ROW + deepest - 1 - d))
    return tuple(names), np.concatenate(boxes)


def _ancestors(parents: IntArray, depth: int) -> tuple[FloatArray | IntArray, IntArray]:
    """Return the ancestors of P paths, (depth, P), outermost first, −1 where a path is shorter, and depths (P,)."""
    level = np.zeros(len(parents), dtype=np.int64)
    for path, parent in enumerate(parents.tolist()):  # parents come before their children
        level[path] = 0 if parent < 0 else level[parent] + 1
    above = np.full((depth, len(parents)), -1, dtype=np.int64)
    for d in range(depth):
        own = level == d
        above[d, own] = np.flatnonzero(own)
    for path in np.argsort(level, kind="stable").tolist():
        if parents[path] >= 0:
            known = above[:, parents[path]]
            above[:, path] = np.where(known >= 0, known, above[:, path])
    return above, level


def _boxes(x0: FloatArray, x1: FloatArray, row: int) -> FloatArray:
    return np.stack(np.broadcast_arrays(x0, float(row), x1, row + 1.0), axis=-1)


def angular_speeds(motion: Playable, times_s: FloatArray) -> FloatArray:
    """Return the speed of the fastest joint between neighbouring times (F,), radians per second, (F − 1,)."""
    speeds = np.zeros(max(len(times_s) - 1, 0))
    for start in range(0, len(speeds), _FRAMES_AT_ONCE):
        times = times_s[start:start + _FRAMES_AT_ONCE + 1]
        rotations = motion.sample(times).rotations[:, motion.moved]
        angles = rot.angle_between(rotations[1:], rotations[:-1]).max(axis=1, initial=0.0)
        speeds[start:start + _FRAMES_AT_ONCE] = angles / np.diff(times)
    return speeds
