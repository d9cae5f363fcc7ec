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


def smoothed(times: FloatArray, values: FloatArray, smoothing_s: float, lo: FloatArray | float = -np.inf,
             hi: FloatArray | float = np.inf, weights: FloatArray | float = 1.0) -> FloatArray:
    """Return K curves (K, F) at times (F,) that bend little, are near values (K, F), and within bounds.

    times: ascending, in seconds. smoothing_s: how long before and after itself a value is heard. lo, hi, weights:
    (K, F), or what broadcasts to that; weights: how much each value counts.

    >>> times, step = np.arange(9) / 30.0, (np.arange(9) > 4)[None] * 1.0
    >>> smoothed(times, step, 0.04, 0.0, 1.0)[0].round(2).tolist()
    [0.0, 0.0, 0.0, 0.09, 0.37, 0.71, 0.93, 1.0, 1.0]
    """
    shape = values.shape
    lo, hi, weights = (np.broadcast_to(each, shape) for each in (lo, hi, weights))
    length = float(times[-1] - times[0]) if len(times) > 2 else 0.0
    if length <= 0.0 or not len(values):
        return np.asarray(np.clip(values, lo, hi))
    frames = max(round(length / float(np.median(np.diff(times)))), 2)
    every = np.linspace(times[0], times[-1], frames + 1)
    even = [_at_even(every, times, rows) for rows in (values, weights, lo, hi)]
    made = solve_displacement(DisplacementProblem(*even, np.full(len(values), smoothing_s), length / frames)).curves
    return np.asarray(np.clip(_at_even(times, every, made), lo, hi))


def _at_even(at: FloatArray, times: FloatArray, rows: FloatArray) -> FloatArray:
    """Return rows (K, F) at other times (N,), (K, N); infinite ones are infinite in all of them."""
    return np.stack([np.interp(at, times, row) if np.isfinite(row).all() else np.full(len(at), row.flat[0])
                     for row in rows])


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
