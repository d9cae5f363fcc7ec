"""Colours as screens show them, and as light adds up. Source: IEC 61966-2-1 (sRGB)."""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray


def srgb(linear: FloatArray) -> FloatArray:
    """Return linear values as screens show them; what is below 0 or above 1 is cut off.

    >>> srgb(np.array((0.0, 0.21404114, 2.0))).round(6).tolist()
    [0.0, 0.5, 1.0]
    """
    linear = np.clip(linear, 0.0, 1.0)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)


def linear(shown: FloatArray) -> FloatArray:
    """Return values as screens show them as linear ones; what is below 0 or above 1 is cut off.

    >>> linear(np.array((0.0, 0.5, 2.0))).round(6).tolist()
    [0.0, 0.214041, 1.0]
    """
    shown = np.clip(shown, 0.0, 1.0)
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
