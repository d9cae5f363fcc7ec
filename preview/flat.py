"""Flat shapes in pixels."""

from typing import Any

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..core.maths.arrays import FloatArray

_CORNERS = np.array(((0, 1), (2, 1), (2, 3), (0, 1), (2, 3), (0, 3)))
"""Indices of a box x0, y0, x1, y1 as two triangles."""


def draw_boxes(boxes: FloatArray, colours: FloatArray) -> None:
    """Fill boxes (N, 4) with colours (N, 4)."""
    if len(boxes):
        program = gpu.shader.from_builtin("FLAT_COLOR")
        positions: Any = np.ascontiguousarray(boxes[:, _CORNERS].reshape(-1, 2), dtype=np.float32)
        shades: Any = np.ascontiguousarray(np.repeat(colours, len(_CORNERS), axis=0), dtype=np.float32)
        batch_for_shader(program, "TRIS", {"pos": positions, "color": shades}).draw(program)
