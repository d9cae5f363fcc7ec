"""Linear blend skinning: v' = Σ wⱼ Mⱼ v (Zahradník 2024, eq. 1; Fecko 2010)."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray
from .influences import Influences
from .palette import Palette, normal_matrices, unit


def skin_linear(palette: Palette, influences: Influences, positions: FloatArray,
                normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Blend the joints' matrices by weight and move rest positions and normals (V, 3) with them.

    Returns (..., V, 3) positions and unit normals in model space, batched as the palette is. A vertex
    without weights stays. Normals rotate (by the inverse transpose where a joint scales), they do not
    translate.
    """
    matrices = palette.matrices
    blended = _blend(matrices, influences)
    moved = (blended[..., :3] @ positions[..., None])[..., 0] + blended[..., 3]
    turns = _blend(np.pad(normal_matrices(matrices[..., :3]), [(0, 0)] * (matrices.ndim - 1) + [(0, 1)]), influences)
    return moved, unit((turns[..., :3] @ normals[..., None])[..., 0])


def _blend(matrices: FloatArray, influences: Influences) -> FloatArray:
    """Sum matrices (..., J, 3, 4) by weight to (..., V, 3, 4); the identity where a vertex has no weight."""
    missing = 1.0 - influences.weights.sum(axis=1)
    total = missing[:, None, None] * np.eye(3, 4)
    for joints, weights in zip(influences.joints.T, influences.weights.T, strict=True):
        total = total + weights[:, None, None] * matrices[..., joints, :, :]
    return np.asarray(total)
