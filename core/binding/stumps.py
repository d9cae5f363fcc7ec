"""The inner ends of limbs that start beside the body but reach into it, as a crab's: the body moves them."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .loose import INSIDE, winding
from .segments import Segments
from .surface import Surface

_HELD, _WELL = 0.4, 0.8
"""Shares of a bone: a part that holds the first share encloses some of the bone; from the second on, the part belongs
to the bone."""

_LEAST, _MOST = 0.05, 0.5
"""Shares of a limb's points inside the body: with fewer the limb only touches the body, with more it lies inside."""

_BESIDE: Final = 1.5
"""The distance of an inner end from its limb's bone, in medians of the distances of the limb's points, is greater than
this."""

_ASSEMBLY: Final = 30
"""A body of more parts is a machine of hard parts, which do not bend."""

_MOST_POINTS: Final = 100


def held_stumps(segments: Segments, parents: IntArray, surface: Surface, part: IntArray,
                held: FloatArray) -> tuple[Segments, FloatArray]:
    """Return the lines, with one more for each inner end that another part encloses, and the new `held` (M, B).

    part: (P,) that of each of the surface's points; parents (B,), −1 for a root; held (M, B) as `held_bones`. A limb of
    a part of its own may start beside the part of its parent bone and reach into it. If the inner end followed the
    limb, it would leave the body as soon as the limb turns. So the parent bone gets a line there, and the limb bends
    between its inner end and its bone's start.
    """
    if not 1 < len(held) <= _ASSEMBLY:
        return segments, held
    found, more = held.copy(), []
    corners = surface.points[surface.triangles]
    own = part[surface.triangles[:, 0]]
    for line, bone in enumerate(segments.bones.tolist()):
        parent, limb = int(parents[bone]), int(held[:, bone].argmax())
        if parent < 0 or held[limb, bone] < _WELL or held[limb, parent] >= _HELD:
            continue
        body = int(held[:, parent].argmax())
        if held[body, parent] < _HELD:
            continue
        within = _inner_end(segments, line, surface.points[part == limb], corners[own == body])
        if within is not None:
            more.append((parent, *within))
            found[limb, parent] = 1.0
    if not more:
        return segments, held
    bones, starts, ends = zip(*more, strict=True)
    lines = Segments(np.array(bones), np.array(starts), np.array(ends), np.zeros(len(more), dtype=np.bool_))
    return segments.joined(lines), found


def _inner_end(segments: Segments, line: int, points: FloatArray,
               body: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the innermost and the mean, (3,) each, of a limb's points (N, 3) that are inside the body, or None.

    body: (T, 3, 3) corners of its triangles. The innermost point is the one farthest from the limb's line. The result
    is None if that line starts inside the body, or if the points inside lie around the line, or nearer to its end.
    """
    start, end = segments.starts[line], segments.ends[line]
    points = points[::-(-len(points) // _MOST_POINTS)]
    low, high = body.min(axis=(0, 1)), body.max(axis=(0, 1))
    inside: BoolArray = ((points > low) & (points < high)).all(axis=1)
    if inside.mean() < _LEAST or abs(winding(body, start[None])[0]) > INSIDE:
        return None
    inside[inside] = np.abs(winding(body, points[inside])) > INSIDE
    if not _LEAST <= inside.mean() <= _MOST:
        return None
    points = np.concatenate((points, points[inside].mean(axis=0)[None]))
    away = segments.nearest(points)[0][:, line]
    deepest = points[np.argmax(np.where(inside, away[:-1], -1.0))]
    is_beside = away[-1] > _BESIDE * float(np.median(away[:-1]))
    from_start, from_end = (np.linalg.norm(points[-1] - at) for at in (start, end))
    return (deepest, points[-1]) if is_beside and from_start < from_end else None
