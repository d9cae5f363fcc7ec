"""Convert between sRGB and linear colours. Source: IEC 61966-2-1 (sRGB)."""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray


def srgb(linear: FloatArray) -> FloatArray:
    """Return the sRGB values of linear values, clipped to the range from 0 to 1.

    >>> srgb(np.array((0.0, 0.21404114, 2.0))).round(6).tolist()
    [0.0, 0.5, 1.0]
    """
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)


def linear(shown: FloatArray) -> FloatArray:
    """Return the linear values of sRGB values, clipped to the range from 0 to 1.

    >>> linear(np.array((0.0, 0.5, 2.0))).round(6).tolist()
    [0.0, 0.214041, 1.0]
    """
    shown = np.clip(shown, 0.0, 1.0)
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
