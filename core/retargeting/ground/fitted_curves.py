"""Smooth curves at the times at which a body was measured, near wishes and within bounds (maths/displacement.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.keyed import SAMPLE_S
from ...maths.arrays import FloatArray
from ...maths.displacement import DisplacementProblem, SoftBounds, solve_displacement

_END_WEIGHT: Final = 1e6
"""Curves begin and end where they are wanted, so that clips go on fitting together."""
_SHORTEST_S: Final = 2.0 * SAMPLE_S
"""Shorter clips are not smoothed."""


@dataclass(frozen=True, eq=False)
class CurveBounds:
    """Where K curves may be at F times, (K, F) each.

    lo: never below. soft_lo, soft_hi: hardly below or above, as their weights say, against wishes of 1.
    """

    lo: FloatArray
    soft_lo: FloatArray
    soft_hi: FloatArray
    lo_weight: FloatArray
    hi_weight: FloatArray


def fit_curves(times: FloatArray, wish: FloatArray, bounds: CurveBounds, smoothing_s: float, *,
               is_cycle: bool) -> FloatArray:
    """Return K curves (K, F) at times (F,) that bend little, are near their wishes (K, F), and within their bounds.

    times: ascending, in seconds. smoothing_s: how long before and after itself a wish is heard. is_cycle: what happens
    at the end is followed by the beginning; else curves begin and end where they are wanted, if lo lets them.
    Solved in even frames, as many as there are times in the same time; between them curves go straight, and are cut off
    at lo.

    >>> times, hop = np.arange(61) / 60.0, (np.arange(61) == 30)[None] * 1.0
    >>> far = hop * 0.0 + 9.0
    >>> free = fit_curves(times, hop, CurveBounds(-far, -far, far, far, far), 0.12, is_cycle=False)
    >>> near = fit_curves(times, hop, CurveBounds(hop - 0.5, -far, far, far, far), 0.12, is_cycle=False)
    >>> float(free.max().round(2)), float(near.max().round(2))
    (0.05, 0.5)
    """
    length = float(times[-1] - times[0]) if len(times) > 2 else 0.0
    if length < _SHORTEST_S:
        return np.maximum(wish, bounds.lo)
    frames = max(round(length / float(np.median(np.diff(times)))), 2)
    every = np.linspace(times[0], times[-1], frames + 1)
    wished, lo, soft_lo, soft_hi, lo_weight, hi_weight = (
        np.stack([np.interp(every, times, row) for row in rows]) for rows in
        (wish, bounds.lo, bounds.soft_lo, bounds.soft_hi, bounds.lo_weight, bounds.hi_weight))
    weight, own = np.ones_like(wished), slice(frames if is_cycle else frames + 1)
    if is_cycle:
        wished[:, 0], lo[:, 0] = 0.5 * (wished[:, 0] + wished[:, -1]), np.maximum(lo[:, 0], lo[:, -1])
    else:
        weight[:, [0, -1]] = _END_WEIGHT
    soft = SoftBounds(soft_lo[:, own], soft_hi[:, own], lo_weight[:, own], hi_weight[:, own])
    made = solve_displacement(DisplacementProblem(
        wished[:, own], weight[:, own], lo[:, own], np.full_like(lo[:, own], np.inf), np.full(len(wish), smoothing_s),
        length / frames, soft, is_cycle)).curves
    closed = np.concatenate((made, made[:, :1]), axis=1) if is_cycle else made
    return np.asarray(np.maximum(np.stack([np.interp(times, every, curve) for curve in closed]), bounds.lo))
