"""Flat shapes in pixels."""

from typing import Any

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..core.maths.arrays import FloatArray

_CORNERS = np.array(((0, 1), (2, 1), (2, 3), (0, 1), (2, 3), (0, 3)))
"""Of a box x0, y0, x1, y1, as two triangles."""


def box_corners(boxes: FloatArray) -> FloatArray:
    """Return the corners of boxes (N, 4) as triangles, (6 N, 2)."""
    return np.asarray(boxes[:, _CORNERS].reshape(-1, 2))


def draw_boxes(boxes: FloatArray, colours: FloatArray) -> None:
    """Fill boxes (N, 4) with colours (N, 4)."""
    if len(boxes):
        draw_batch(triangles(box_corners(boxes), np.repeat(colours, len(_CORNERS), axis=0)))


def triangles(corners: FloatArray, colours: FloatArray) -> gpu.types.GPUBatch:
    """Upload triangles, (N, 2) and (N, 4)."""
    positions: Any = np.ascontiguousarray(corners, dtype=np.float32)
    shades: Any = np.ascontiguousarray(colours, dtype=np.float32)
    return batch_for_shader(_program(), "TRIS", {"pos": positions, "color": shades})


def draw_batch(batch: gpu.types.GPUBatch) -> None:
    """Draw what was uploaded."""
    batch.draw(_program())


def _program() -> gpu.types.GPUShader:
    return gpu.shader.from_builtin("FLAT_COLOR")
