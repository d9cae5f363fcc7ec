"""Dual quaternion skinning (Kavan, Collins, Žára and O'Sullivan 2007), as Blender's Preserve Volume."""

from __future__ import annotations

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .influences import Influences
from .palette import Palette, normal_matrices, unit


def skin_dual_quaternion(palette: Palette, influences: Influences, positions: FloatArray,
                         normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Blend rigid motions instead of matrices, so that a twisted limb keeps its volume.

    Signs are aligned to the first influence, which is the strongest. A joint that scales contributes its
    rotation and the position to which it moves this very vertex (Blender does the same since 3.4).
    Arguments and results are those of skin_linear.
    """
    missing = 1.0 - influences.weights.sum(axis=1)
    real = missing[:, None] * rot.IDENTITY
    dual = np.zeros(4)
    normal = missing[:, None] * normals
    first = palette.rotations[..., influences.joints[:, 0], :]
    for joints, weights in zip(influences.joints.T, influences.weights.T, strict=True):
        q = rot.aligned(palette.rotations[..., joints, :], first)
        position = palette.positions[..., joints, :]
        turned = normals
        if palette.stretches is not None:
            stretch = palette.stretches[..., joints, :, :]
            moved = (stretch[..., :3] @ positions[..., None])[..., 0] + stretch[..., 3]
            position = position + rot.rotate(q, moved - positions)
            turned = unit((normal_matrices(stretch[..., :3]) @ normals[..., None])[..., 0])
        pure = np.concatenate((np.zeros_like(position[..., :1]), position), axis=-1)
        real = real + weights[:, None] * q
        dual = dual + weights[:, None] * 0.5 * rot.multiply(pure, q)
        normal = normal + weights[:, None] * turned
    length = np.linalg.norm(real, axis=-1, keepdims=True)
    real, dual = real / length, dual / length
    translation = 2.0 * rot.multiply(dual, rot.conjugate(real))[..., 1:]
    return rot.rotate(real, positions) + translation, unit(rot.rotate(real, normal))
