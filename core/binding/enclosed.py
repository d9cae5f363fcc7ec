"""Parts that close round the head of one bone, such as eyeballs: they belong to it, and its line ends in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .loose import INSIDE, winding
from .segments import Segments
from .surface import Surface

_ROUND: Final = 0.7
"""Compactness from which on a part may close round a bone."""

_NEAR_CENTRE: Final = 0.5
"""A bone is in the middle of a part if the part's centre is near its head. This is the greatest distance, as a share of
the radius of a ball with the same area."""

_SMALL: Final = 0.1
"""A part with more than this share of the surface is a limb or a trunk."""

_HELD: Final = 0.4
"""A part that holds this share of another bone belongs to that one."""

_SHARED: Final = 0.6
"""A part through which so much of another bone runs is a limb that bends there."""

_STEPS: Final = 24


def enclosing_parts(segments: Segments, surface: Surface, part: IntArray, compact: FloatArray,
                    held: FloatArray) -> tuple[IntArray, Segments]:
    """Return the bone round whose head each part closes, (M,), −1 for none; and the lines, which end in such parts.

    part: (P,) that of each of the surface's points; compact (M,) as `compactness`; held (M, B) as `held_bones`. Such a
    part is small and compact, and only this bone has its head in the part's middle. The bone holds no other part alone,
    as the bone of a head may do when its own head lies in the neck.
    """
    owner, ends = np.full(len(compact), -1), segments.ends.copy()
    own = part[surface.triangles[:, 0]]
    area = np.bincount(own, surface.face_areas, len(compact))
    middles = surface.points[surface.triangles].mean(axis=1)
    for k in np.flatnonzero((compact >= _ROUND) & (area > 0.0) & (area <= _SMALL * area.sum())).tolist():
        faces = own == k
        centre = np.average(middles[faces], axis=0, weights=surface.face_areas[faces])
        radius = np.sqrt(area[k] / (4.0 * np.pi))
        away = np.linalg.norm(segments.starts - centre, axis=1)
        line = int(away.argmin())
        bone = segments.bones[line]
        is_alone = (away[segments.bones != bone] > radius).all() and np.count_nonzero(segments.bones == bone) == 1 \
            and (np.delete(held[k], bone) < _SHARED).all()
        if away[line] <= _NEAR_CENTRE * radius and segments.leaf[line] and is_alone \
                and not _goes_on(held, k, int(bone)):
            owner[k] = bone
            corners = surface.points[surface.triangles[faces]]
            ends[line] = segments.starts[line] + _share_within(corners, segments, line) * segments.along[line]
    return owner, replace(segments, ends=ends)


def _goes_on(held: FloatArray, part: int, bone: int) -> bool:
    """Tell whether some other part holds this bone alone."""
    others: BoolArray = held[:, bone] > 0.0
    others[part] = False
    rest = np.delete(held, bone, axis=1)
    return bool((others & ~(rest >= _HELD).any(axis=1)).any())


def _share_within(corners: FloatArray, segments: Segments, line: int) -> float:
    """Return the share of a line that runs inside triangles, corners (T, 3, 3), before it first leaves them."""
    shares = (np.arange(_STEPS) + 0.5) / _STEPS
    points = segments.starts[line] + shares[:, None] * segments.along[line]
    inside = np.abs(winding(corners, points)) > INSIDE
    return 1.0 if inside.all() else float(np.argmin(inside)) / _STEPS


def owned_alone(weights: FloatArray, owner: IntArray) -> FloatArray:
    """Return weights (C, B) in which the owner (C,) of a point is the only bone that moves it; −1 for no owner.

    >>> owned_alone(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([1, -1])).tolist()
    [[0.0, 1.0], [0.5, 0.5]]
    """
    result = weights.copy()
    own = np.flatnonzero(owner >= 0)
    result[own] = 0.0
    result[own, owner[own]] = 1.0
    return result
