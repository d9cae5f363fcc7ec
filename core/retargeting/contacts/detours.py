"""Detours of arms that are moved out of a trunk, or onto what they touch, as the trunk sees them.

So they can be smoothed over time (../ground/fitted_curves.py) whatever the trunk does meanwhile.
"""

from __future__ import annotations

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ..limbs import LimbPoses


def detours(plain: LimbPoses, moved: LimbPoses, carriers: FloatArray) -> FloatArray:
    """Return how far wrists were moved as the trunk sees it, and by what angle elbows were swung, (..., 4).

    carriers: (..., 3, 3) the axes of the trunk that carries each arm.
    """
    offset, line = moved.last - plain.last, moved.line
    elbows = [arm.middle - arm.first for arm in (plain.reaching(offset), moved)]
    one, other = (elbow - line * np.sum(elbow * line, axis=-1, keepdims=True) for elbow in elbows)
    angle = np.arctan2(np.sum(rot.cross(one, other) * line, axis=-1), np.sum(one * other, axis=-1))
    return np.concatenate((np.linalg.solve(carriers, offset[..., None])[..., 0], angle[..., None]), axis=-1)


def with_detours(plain: LimbPoses, carriers: FloatArray, made: FloatArray) -> LimbPoses:
    """Return arms (...) whose wrists are moved and whose elbows are swung by detours (..., 4)."""
    moved = plain.reaching((carriers @ made[..., :3, None])[..., 0])
    return moved.turned(rot.from_axis_angle(moved.line, made[..., 3]))
