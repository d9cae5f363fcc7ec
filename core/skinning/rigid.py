"""Rigid ("simple") skinning: each vertex follows its strongest joint alone. For comparison."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray
from .influences import Influences
from .linear import skin_linear
from .palette import Palette


def skin_rigid(palette: Palette, influences: Influences, positions: FloatArray,
               normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move positions and normals (V, 3) by the first, strongest influence; as skin_linear otherwise."""
    weights = np.where(influences.weights[:, :1] > 0.0, 1.0, 0.0)
    return skin_linear(palette, Influences(influences.joints[:, :1], weights), positions, normals)
