"""Smooth curves at the times at which a body was measured, near wishes and within bounds (maths/displacement.py)."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.contacts import depth_within, joined
from ...clips.keyed import SAMPLE_S
from ...clips.thresholds import LITTLE_LEGS
from ...maths.arrays import BoolArray, FloatArray
from ...maths.displacement import DisplacementProblem, SoftBounds, solve_displacement

_EFFECT: Final = 4.0
"""Distance from a wish, in smoothing times, beyond which it has no effect."""
SOFT_WEIGHT: Final = 30.0
"""Weight of the limits of knees, if wishes have the weight 1: a foot that is 1 cm beyond its leg's easy reach costs as
much as a body that is 5 cm from its wish."""
CONTACT_WEIGHT: Final = 1e4
"""Weight of the body's contacts: where the body must rise at once, they yield by millimetres."""
_END_WEIGHT: Final = 1e6
"""Weight of wish and soft bounds at both ends of a curve that keeps its ends: there the value is best for that moment
alone.

So if one clip ends in the pose in which another begins, they still fit. A curve that has to leave its wish for a
contact does so gradually.
"""
_SHORTEST_S: Final = 2.0 * SAMPLE_S
"""Shorter clips are not smoothed."""


def smoothed(times: FloatArray, wish: FloatArray, smoothing_s: float, *, weight: FloatArray | float = 1.0,
             lo: FloatArray | float = -np.inf, hi: FloatArray | float = np.inf, keeps_ends: bool = False,
             is_cycle: bool = False, soft: SoftBounds | None = None,
             holds_between: bool = False) -> FloatArray:
    """Return K smooth curves (K, F) at times (F,) that are near their wishes (K, F), and within their bounds.

    times: ascending, in seconds. smoothing_s: for how many seconds before and after itself a wish acts. weight, lo, hi:
    (K, F), or shapes that broadcast to it. keeps_ends: curves begin and end at their wishes, if the bounds allow it.
    is_cycle: the end continues at the beginning. soft: bounds that may be exceeded at a cost, at the same times.
    holds_between: the curve also respects values of lo between two frames of the solve.

    The solve uses frames at equal distances, as many as there are times. Between them curves are linear, clipped to lo
    and hi. Where lo > hi, the wish is their middle. Clips shorter than two frames get the clipped wishes.

    >>> times, step = np.arange(9) / 30.0, (np.arange(9) > 4)[None] * 1.0
    >>> smoothed(times, step, 0.04, lo=0.0, hi=1.0)[0].round(2).tolist()
    [0.0, 0.0, 0.03, 0.13, 0.34, 0.65, 0.86, 0.96, 1.0]
    """
    lo, hi, weight = (np.broadcast_to(each, wish.shape) for each in (lo, hi, weight))
    length = float(times[-1] - times[0]) if len(times) > 2 else 0.0
    if length < _SHORTEST_S or not len(wish):
        return np.asarray(np.clip(wish, lo, hi))
    frames = max(round(length / float(np.median(np.diff(times)))), 2)
    every, own = np.linspace(times[0], times[-1], frames + 1), slice(frames if is_cycle else frames + 1)
    wished, weights = (_at(every, times, rows) for rows in (wish, weight))
    low, high = (_highest if holds_between else _at)(every, times, lo), _at(every, times, hi)
    if is_cycle:
        wished[:, 0], low[:, 0] = 0.5 * (wished[:, 0] + wished[:, -1]), np.maximum(low[:, 0], low[:, -1])
        high[:, 0] = np.minimum(high[:, 0], high[:, -1])
    if soft is not None:
        soft = soft.each(lambda rows: _at(every, times, rows)[:, own])
    if keeps_ends and not is_cycle:
        more = _END_WEIGHT / weights[:, [0, -1]]
        for each in (weights, *(() if soft is None else (soft.lo_weight, soft.hi_weight))):
            each[:, [0, -1]] *= more
    made = solve_displacement(DisplacementProblem(
        wished[:, own], weights[:, own], low[:, own], high[:, own], np.full(len(wish), smoothing_s), length / frames,
        soft, is_cycle)).curves
    closed = np.concatenate((made, made[:, :1]), axis=1) if is_cycle else made
    curves = _at(times, every, closed)
    return np.where(lo > hi, curves, np.clip(curves, lo, hi))


def near_wishes(times: FloatArray, counts: BoolArray, smoothing_s: float) -> BoolArray:
    """Return whether wishes act at times (F,), (F,): at those that count, and shortly before and after them.

    counts: (F,) which times have a wish. smoothing_s: as in smoothed.
    """
    near = joined(times[counts, None] + (-_EFFECT * smoothing_s, _EFFECT * smoothing_s))
    return np.asarray(depth_within(times, near) >= 0.0)


def ends_as_it_begins(heights: FloatArray, leg: float) -> bool:
    """Return whether heights (F, ...) are about the same at both ends of a clip, so that it can loop.

    leg: the length of the legs.
    """
    return bool(np.abs(heights[0] - heights[-1]).max(initial=0.0) < LITTLE_LEGS * leg)


def _highest(every: FloatArray, times: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the highest values of rows (K, F) around even times (N,), (K, N), including values between these times."""
    highest = _at(every, times, rows)
    before = np.clip(np.searchsorted(every, times, side="right") - 1, 0, len(every) - 2)
    for row, own in zip(highest, rows, strict=True):
        np.maximum.at(row, before, own)
        np.maximum.at(row, before + (times > every[before]), own)
    return highest


def _at(at: FloatArray, times: FloatArray, rows: FloatArray) -> FloatArray:
    """Return rows (K, F) at other times (N,), (K, N); a bound may be infinite at some of the times."""
    return np.stack([(np.interp if np.isfinite(row).all() else _bound_at)(at, times, row) for row in rows])


def _bound_at(at: FloatArray, times: FloatArray, bound: FloatArray) -> FloatArray:
    """Return a bound (F,) that is infinite at some times, at other times (N,).

    Between a finite and an infinite value it is the finite one, so the bound holds in the whole gap.
    """
    is_bound = np.isfinite(bound)
    share = np.interp(at, times, is_bound)
    known = np.interp(at, times, np.where(is_bound, bound, 0.0))
    return np.where(share > 0.0, known / np.where(share > 0.0, share, 1.0), bound[~is_bound][0])
