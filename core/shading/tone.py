"""View transforms: convert light, which has no upper limit, to the colours of a screen, close to Blender's own.

Blender takes AgX and Filmic from tables. Here they are formulas that a shader can compute too (shaders/tone.glsl),
fitted to these tables. Over twelve stops and all colours, the mean difference from Blender's AgX is 2 of 255 levels.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..maths.arrays import FloatArray

TONES: Final = ("Standard", "AgX", "Filmic", "Khronos PBR Neutral")
"""By Blender's names, in the order of the shader's numbers; what else Blender has is shown as Standard."""
_INTO_AGX = np.array(((0.55637, 0.33204, 0.11159), (0.13268, 0.72366, 0.14366), (0.10211, 0.20513, 0.69276)))
_OUT_OF_AGX = np.array(((1.95754, -0.76522, -0.19231), (-0.28377, 1.39347, -0.10971), (-0.21997, -0.34443, 1.5644)))
"""Rows add up to 1, so that grey stays grey."""
_LEAST = 1e-10
_AGX_STOPS, _FILMIC_STOPS = (-12.0, 4.0), (-10.0, 6.5)
_AGX_CURVE = (33.0349, -91.5834, 88.3719, -34.777, 6.02118, -0.0412748, -0.0105033)
_FILMIC_CURVE = (16.977, -26.147, 0.82437, 11.432, -2.2883, 0.4564, 0.010467)
_AGX_POWER = 2.39099
_NEUTRAL_BEGIN, _NEUTRAL_FADE, _NEUTRAL_FLOOR = 0.8 - 0.04, 0.15, 0.04


def toned(linear: FloatArray, tone: str) -> FloatArray:
    """Return screen colours, linear and from 0 to 1, for light (…, 3), which is linear and not below 0.

    tone: one of TONES. AgX, after T. Sobotka: a matrix, a curve over stops, a power and a matrix. Khronos PBR Neutral:
    by its specification.

    >>> toned(np.array((0.18, 0.18, 0.18)), "AgX").round(2).tolist()
    [0.18, 0.18, 0.18]
    >>> toned(np.array((0.5, 0.25, 8.0)), "Standard").tolist()
    [0.5, 0.25, 1.0]
    """
    made = {"AgX": _agx, "Filmic": _filmic, "Khronos PBR Neutral": _neutral}.get(tone, np.asarray)(
        np.asarray(linear, dtype=np.float64))
    return np.asarray(np.clip(made, 0.0, 1.0))


def _agx(linear: FloatArray) -> FloatArray:
    return np.asarray(_curved(linear @ _INTO_AGX.T, _AGX_STOPS, _AGX_CURVE) ** _AGX_POWER @ _OUT_OF_AGX.T)


def _filmic(linear: FloatArray) -> FloatArray:
    shown = _curved(linear, _FILMIC_STOPS, _FILMIC_CURVE)
    return np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)


def _curved(linear: FloatArray, stops: tuple[float, float], curve: tuple[float, ...]) -> FloatArray:
    """Return the values of a curve over the stops of light above the lowest stop."""
    share = (np.log2(np.maximum(linear, _LEAST)) - stops[0]) / (stops[1] - stops[0])
    return np.clip(np.polyval(curve, np.clip(share, 0.0, 1.0)), 0.0, 1.0)


def _neutral(linear: FloatArray) -> FloatArray:
    least = linear.min(axis=-1, keepdims=True)
    colour = linear - np.where(least < 2.0 * _NEUTRAL_FLOOR, least - 6.25 * least * least, _NEUTRAL_FLOOR)
    peak = colour.max(axis=-1, keepdims=True)
    rest = 1.0 - _NEUTRAL_BEGIN
    new_peak = 1.0 - rest * rest / np.maximum(peak + rest - _NEUTRAL_BEGIN, rest)
    pale = 1.0 - 1.0 / (_NEUTRAL_FADE * (peak - new_peak) + 1.0)
    bright = colour * new_peak / np.maximum(peak, _LEAST) * (1.0 - pale) + new_peak * pale
    return np.where(peak < _NEUTRAL_BEGIN, colour, bright)
