"""Figures of clips as pixels, for places that draw no triangles, such as Blender's Asset Browser."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import Float32Array, FloatArray
from .figures import Figure, placed

_NEAR, _FAR = 0.92, 0.58
"""Brightness of the nearer and of the farther limbs."""


def figure_image(figure: Figure, size: int) -> Float32Array:
    """Return a figure at its telling instant, (size, size, 4), RGBA with straight alpha, from the lowest row up."""
    ends, scale = placed(figure, figure.telling, np.array((0.0, 0.0, size, size)))
    radius = np.asarray(figure.wide, dtype=np.float64) * scale / 2.0
    bright, alpha = np.zeros((size, size)), np.zeros((size, size))
    at = np.arange(size) + 0.5
    pixels = np.stack(np.meshgrid(at, at), axis=-1)
    for stroke in range(len(ends)):  # about twenty, each in front of the next
        cover = np.clip(radius[stroke] + 0.5 - _distances(pixels, ends[stroke]), 0.0, 1.0)
        bright = bright * (1.0 - cover) + (_FAR if figure.is_far[stroke] else _NEAR) * cover
        alpha = alpha + cover * (1.0 - alpha)
    bright = np.divide(bright, alpha, out=np.zeros_like(bright), where=alpha > 0.0)
    return np.stack((bright, bright, bright, alpha), axis=-1).astype(np.float32)


def _distances(pixels: FloatArray, stroke: FloatArray) -> FloatArray:
    """Return the distances of pixels (..., 2) from a stroke (2, 2)."""
    along = stroke[1] - stroke[0]
    share = np.clip((pixels - stroke[0]) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
    return np.asarray(np.linalg.norm(pixels - stroke[0] - share[..., None] * along, axis=-1))
