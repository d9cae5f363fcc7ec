"""The dancer's shape as a distance field: tables of cross-sections and muscles, and how they are joined.

H-Anim axes, metres, rest position. Only the left half stands in the tables: the field is that of |x|.
"""

from __future__ import annotations

import numpy as np

from ..core.maths.arrays import FloatArray

Stack = tuple[tuple[float, ...], ...]

# Cross-sections: height, centre x, centre z, reach outwards, inwards, to the front, to the back.
TORSO: Stack = (
    (0.800, 0, -0.015, 0.090, 0.090, 0.045, 0.060),
    (0.840, 0, -0.015, 0.132, 0.132, 0.078, 0.088),
    (0.880, 0, -0.015, 0.152, 0.152, 0.098, 0.098),
    (0.920, 0, -0.015, 0.156, 0.156, 0.104, 0.098),
    (0.960, 0, -0.012, 0.151, 0.151, 0.104, 0.090),
    (1.000, 0, -0.008, 0.142, 0.142, 0.101, 0.080),
    (1.050, 0, -0.003, 0.125, 0.125, 0.093, 0.076),
    (1.090, 0, -0.002, 0.118, 0.118, 0.090, 0.077),
    (1.140, 0, -0.005, 0.119, 0.119, 0.095, 0.082),
    (1.200, 0, -0.010, 0.128, 0.128, 0.106, 0.090),
    (1.270, 0, -0.015, 0.138, 0.138, 0.114, 0.096),
    (1.330, 0, -0.018, 0.143, 0.143, 0.110, 0.098),
    (1.380, 0, -0.022, 0.144, 0.144, 0.096, 0.092),
    (1.415, 0, -0.024, 0.144, 0.144, 0.076, 0.080),
    (1.442, 0, -0.025, 0.122, 0.122, 0.056, 0.066),
    (1.466, 0, -0.023, 0.084, 0.084, 0.048, 0.056),
    (1.488, 0, -0.017, 0.060, 0.060, 0.048, 0.053),
    (1.520, 0, -0.009, 0.050, 0.050, 0.048, 0.052),
    (1.550, 0, 0.000, 0.050, 0.050, 0.048, 0.056),
    (1.600, 0, 0.004, 0.050, 0.050, 0.045, 0.056),
)
FACE: Stack = (
    (1.516, 0, 0.060, 0.012, 0.012, 0.018, 0.020),
    (1.524, 0, 0.055, 0.028, 0.028, 0.033, 0.040),
    (1.540, 0, 0.042, 0.043, 0.043, 0.050, 0.060),
    (1.560, 0, 0.031, 0.055, 0.055, 0.060, 0.070),
    (1.590, 0, 0.020, 0.064, 0.064, 0.071, 0.085),
    (1.625, 0, 0.012, 0.069, 0.069, 0.082, 0.092),
    (1.660, 0, 0.008, 0.074, 0.074, 0.090, 0.096),
    (1.690, 0, 0.006, 0.074, 0.074, 0.088, 0.094),
    (1.710, 0, 0.004, 0.066, 0.066, 0.078, 0.085),
)
LEG: Stack = (
    (1.010, 0.080, -0.012, 0.012, 0.012, 0.012, 0.012),
    (0.960, 0.083, -0.012, 0.052, 0.052, 0.052, 0.056),
    (0.900, 0.086, -0.012, 0.071, 0.072, 0.076, 0.080),
    (0.850, 0.088, -0.010, 0.077, 0.080, 0.082, 0.088),
    (0.800, 0.089, -0.006, 0.077, 0.078, 0.081, 0.083),
    (0.730, 0.090, 0.000, 0.072, 0.070, 0.075, 0.074),
    (0.650, 0.091, 0.004, 0.064, 0.061, 0.068, 0.064),
    (0.570, 0.092, 0.007, 0.054, 0.052, 0.058, 0.054),
    (0.520, 0.092, 0.009, 0.049, 0.049, 0.053, 0.049),
    (0.485, 0.092, 0.009, 0.048, 0.049, 0.052, 0.047),
    (0.450, 0.092, 0.004, 0.046, 0.047, 0.046, 0.046),
    (0.410, 0.093, -0.004, 0.048, 0.048, 0.043, 0.051),
    (0.350, 0.094, -0.012, 0.051, 0.049, 0.040, 0.055),
    (0.290, 0.094, -0.017, 0.046, 0.044, 0.037, 0.049),
    (0.220, 0.092, -0.022, 0.037, 0.035, 0.033, 0.038),
    (0.150, 0.091, -0.026, 0.030, 0.029, 0.030, 0.032),
    (0.110, 0.091, -0.028, 0.029, 0.029, 0.030, 0.031),
    (0.078, 0.091, -0.028, 0.033, 0.032, 0.033, 0.034),
    (0.040, 0.091, -0.029, 0.031, 0.031, 0.034, 0.038),
)
ARM: Stack = (
    (1.405, 0.168, -0.020, 0.018, 0.026, 0.026, 0.026),
    (1.375, 0.178, -0.020, 0.038, 0.042, 0.042, 0.041),
    (1.340, 0.186, -0.021, 0.044, 0.042, 0.047, 0.045),
    (1.290, 0.192, -0.022, 0.041, 0.040, 0.045, 0.043),
    (1.230, 0.199, -0.023, 0.038, 0.037, 0.043, 0.041),
    (1.170, 0.207, -0.025, 0.033, 0.033, 0.036, 0.036),
    (1.130, 0.213, -0.026, 0.031, 0.032, 0.033, 0.035),
    (1.090, 0.217, -0.024, 0.034, 0.033, 0.036, 0.035),
    (1.045, 0.222, -0.020, 0.034, 0.033, 0.036, 0.035),
    (0.990, 0.229, -0.015, 0.029, 0.028, 0.032, 0.031),
    (0.930, 0.236, -0.011, 0.022, 0.022, 0.027, 0.027),
    (0.890, 0.241, -0.008, 0.019, 0.019, 0.026, 0.026),
    (0.860, 0.243, -0.005, 0.019, 0.019, 0.029, 0.031),
    (0.830, 0.246, -0.002, 0.017, 0.018, 0.034, 0.037),
    (0.805, 0.248, 0.000, 0.014, 0.016, 0.040, 0.040),
    (0.790, 0.249, 0.000, 0.011, 0.012, 0.040, 0.036),
)
# Muscles and bones that show: centre, radii, lean about x in degrees, width of the blend (< 0 hollows out).
BULGES: tuple[tuple[float, ...], ...] = (
    # x, y, z, rx, ry, rz, lean, blend
    (0.000, 1.662, 0.000, 0.0765, 0.090, 0.100, 0, 0.020),     # cranium
    (0.000, 1.672, -0.016, 0.0800, 0.086, 0.096, 0, 0.016),    # hair
    (0.000, 1.603, 0.094, 0.0090, 0.024, 0.014, -20, 0.016),   # nose
    (0.000, 1.592, 0.101, 0.0105, 0.0085, 0.009, 0, 0.012),    # its tip
    (0.027, 1.650, 0.081, 0.0200, 0.006, 0.010, 0, 0.020),     # brow
    (0.030, 1.627, 0.103, 0.0150, 0.010, 0.014, 0, -0.016),    # socket of the eye
    (0.040, 1.598, 0.066, 0.0200, 0.016, 0.018, 0, 0.025),     # cheekbone
    (0.000, 1.5340, 0.0810, 0.0170, 0.012, 0.013, 0, 0.020),   # chin
    (0.064, 1.322, 0.066, 0.0620, 0.046, 0.030, 12, 0.035),    # breast
    (0.070, 1.315, -0.085, 0.0550, 0.090, 0.024, 5, 0.040),    # shoulder blade
    (0.178, 1.348, -0.021, 0.0460, 0.068, 0.050, 0, 0.045),    # deltoid
    (0.080, 0.880, -0.066, 0.0700, 0.070, 0.060, 12, 0.030),   # gluteus
    (0.092, 0.495, 0.035, 0.0280, 0.032, 0.020, 0, 0.025),     # kneecap
    (0.091, 0.026, -0.050, 0.0320, 0.036, 0.037, 0, 0.020),     # heel
    (0.101, 0.017, 0.112, 0.0440, 0.027, 0.050, 4, 0.020),      # ball of the foot
    (0.094, 0.013, 0.145, 0.0270, 0.021, 0.032, 4, 0.018),      # big toe
)
# Tapered capsules: one end, its radius, the other end, its radius, width of the blend.
CAPSULES: tuple[tuple[float, ...], ...] = (
    (0.030, 1.428, 0.030, 0.012, 0.140, 1.424, -0.008, 0.013, 0.030),   # collarbone
    (0.091, 0.055, -0.022, 0.037, 0.099, 0.021, 0.095, 0.029, 0.025),   # instep
    (0.106, 0.014, 0.105, 0.022, 0.112, 0.011, 0.138, 0.018, 0.018),    # outer toes
    (0.242, 0.872, 0.010, 0.014, 0.236, 0.836, 0.050, 0.0115, 0.016),   # thumb
    (0.236, 0.836, 0.050, 0.0112, 0.233, 0.812, 0.075, 0.0098, 0.004),
    (0.233, 0.812, 0.075, 0.0098, 0.231, 0.799, 0.089, 0.0083, 0.004),
    (0.249, 0.805, 0.031, 0.0090, 0.250, 0.759, 0.034, 0.0083, 0.006),  # index
    (0.250, 0.759, 0.034, 0.0083, 0.252, 0.724, 0.037, 0.0070, 0.002),
    (0.250, 0.805, 0.010, 0.0092, 0.251, 0.752, 0.011, 0.0086, 0.006),  # middle
    (0.251, 0.752, 0.011, 0.0086, 0.253, 0.711, 0.013, 0.0072, 0.002),
    (0.250, 0.805, -0.011, 0.0088, 0.251, 0.758, -0.013, 0.0081, 0.006),  # ring
    (0.251, 0.758, -0.013, 0.0081, 0.253, 0.720, -0.016, 0.0069, 0.002),
    (0.249, 0.808, -0.031, 0.0078, 0.250, 0.773, -0.035, 0.0072, 0.006),  # little finger
    (0.250, 0.773, -0.035, 0.0072, 0.252, 0.744, -0.039, 0.0062, 0.002),
)
ARM_BLEND_M = 0.038
LEG_BLEND_M = 0.030
FACE_BLEND_M = 0.022
SOLE_BLEND_M = 0.006
# Separate balls: centre, radii, how much the ends bend upwards and backwards (1/m)
BALLS: dict[str, tuple[tuple[float, float, float], tuple[float, float, float], float, float]] = {
    "bun": ((0.0, 1.7150, -0.0990), (0.0400, 0.0380, 0.0340), 0.0, 0.0),
    "mouth": ((0.0, 1.5585, 0.0885), (0.0230, 0.0046, 0.0060), 16.0, 12.0),
    "eye": ((0.0280, 1.6270, 0.0800), (0.0130, 0.0125, 0.0120), 0.0, 0.0),
    "brow": ((0.0290, 1.6520, 0.0945), (0.0165, 0.0032, 0.0080), -14.0, 22.0),
}


def distance(points: FloatArray) -> FloatArray:
    """Return roughly the signed distance (N,) of points (N, 3) to the skin: negative inside."""
    p = points * np.where(points[:, :1] < 0.0, (-1.0, 1.0, 1.0), (1.0, 1.0, 1.0))
    d = _stack(p, TORSO)
    d = _joined(d, _stack(p, FACE), FACE_BLEND_M)
    d = _joined(d, _stack(p, LEG), LEG_BLEND_M)
    d = _joined(d, _stack(p, ARM), ARM_BLEND_M)
    for row in BULGES:
        part, blend = _ellipsoid(p, row), row[7]
        d = _joined(d, part, blend) if blend > 0.0 else -_joined(-d, part, -blend)
    for row in CAPSULES:
        d = _joined(d, _capsule(p, row), row[8])
    return -_joined(-d, p[:, 1], SOLE_BLEND_M)


def section(table: Stack, height: float) -> FloatArray:
    """Return a table's cross-section at a height, (6,): centre x and z, reach out, in, front, back."""
    return np.asarray(_rows_at(table, np.array((height,)))[0])


def _rows_at(table: Stack, heights: FloatArray) -> FloatArray:
    """Interpolate the rows by Catmull and Rom's cubic, (N, 6): the outline has no corners at the rows."""
    rows = np.array(sorted(table))
    y, values = rows[:, 0], rows[:, 1:]
    slopes = np.gradient(values, y, axis=0)
    h = np.clip(heights, y[0], y[-1])
    i = np.clip(np.searchsorted(y, h, side="right") - 1, 0, len(y) - 2)
    gap = (y[i + 1] - y[i])[:, None]
    t = (h[:, None] - y[i][:, None]) / gap
    return np.asarray((1 + 2 * t) * (1 - t) ** 2 * values[i] + t * (1 - t) ** 2 * gap * slopes[i]
                      + t * t * (3 - 2 * t) * values[i + 1] + t * t * (t - 1) * gap * slopes[i + 1])


def _stack(p: FloatArray, table: Stack) -> FloatArray:
    x0, z0, out, inward, front, back = _rows_at(table, p[:, 1]).T
    x, z = p[:, 0] - x0, p[:, 2] - z0
    rx, rz = np.where(x > 0.0, out, inward), np.where(z > 0.0, front, back)
    length = np.hypot(x / rx, z / rz)
    across = (length - 1.0) * length / np.maximum(np.hypot(x / rx**2, z / rz**2), 1e-9)
    across = np.where(length < 0.1, -np.minimum(rx, rz), across)
    heights = [row[0] for row in table]
    beyond = np.maximum(min(heights) - p[:, 1], p[:, 1] - max(heights))
    return np.asarray(np.where(beyond > 0.0, np.hypot(np.maximum(across, 0.0), beyond), np.maximum(across, beyond)))


def _ellipsoid(p: FloatArray, row: tuple[float, ...]) -> FloatArray:
    lean = np.radians(row[6])
    x, y, z = (p - np.array(row[:3])).T
    y, z = y * np.cos(lean) + z * np.sin(lean), z * np.cos(lean) - y * np.sin(lean)
    scaled = np.stack((x, y, z), axis=-1) / np.array(row[3:6])
    length = np.linalg.norm(scaled, axis=-1)
    slope = np.linalg.norm(scaled / np.array(row[3:6]), axis=-1)
    return np.asarray(np.where(length < 0.1, -min(row[3:6]), (length - 1.0) * length / np.maximum(slope, 1e-9)))


def _capsule(p: FloatArray, row: tuple[float, ...]) -> FloatArray:
    a, b = np.array(row[0:3]), np.array(row[4:7])
    share = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
    near = a + share[:, None] * (b - a)
    return np.asarray(np.linalg.norm(p - near, axis=-1) - (row[3] + share * (row[7] - row[3])))


def _joined(a: FloatArray, b: FloatArray, blend: float) -> FloatArray:
    """Unite two fields, rounding the seam within `blend` of both (the polynomial smooth minimum)."""
    h = np.maximum(blend - np.abs(a - b), 0.0) / blend
    return np.asarray(np.minimum(a, b) - h * h * blend / 4.0)
