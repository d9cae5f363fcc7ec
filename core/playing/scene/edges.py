"""Edges of floors that are too high for one step, and strides that are too long for stairs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

import numpy as np

from ...errors import Place, Problem
from ...maths.arrays import FloatArray, runs
from ..feet.floored import Floored
from ..row import Row
from .ways import edges_s, innermost

_HIGHEST_LEGS: Final = 0.4
"""An edge higher than this is none for a foot, in leg lengths: about twice a step of stairs."""
_LOWEST_LEGS: Final = 0.4
"""A body that is lowered by more than this, in leg lengths, so that both its feet reach the floor, crouches. Steps over
two stairs at once lower it by three quarters of that at most.
"""
_ACROSS_LEGS: Final = 0.1
"""A floor that rises within this length is an edge, not a slope."""
_SAMPLES: Final = 65
"""Points between two footprints at which the floor is looked at."""


def high_edges(stage: Floored, row: Row, shown: Callable[[FloatArray], FloatArray],
               unit_m: float = 1.0) -> tuple[Problem, ...]:
    """Return warnings about edges of a floor that are too high to step over, the highest one of each call.

    row: its segments. shown: see seats_of. unit_m: see Settings.
    """
    leg = _leg(stage)
    begins_s, balls = stage.footprints
    if len(begins_s) < 2:
        return ()
    way = np.diff(balls, axis=0)
    points = balls[:-1, None] + np.linspace(0.0, 1.0, _SAMPLES)[:, None] * way[:, None]
    heights, on_floor = stage.heights(points), stage.has_floor(points)
    spacing = np.linalg.norm(way, axis=1) / (_SAMPLES - 1)
    moments, ends_s = list[tuple[float, float]](), set[float]()
    for lag in np.unique(lags := np.clip(_ACROSS_LEGS * leg / np.maximum(spacing, 1e-30), 1, _SAMPLES - 1).astype(int)):
        own = np.flatnonzero(lags == lag)
        rises = heights[own, lag:] - heights[own, :-lag]
        at = np.abs(rises).argmax(axis=1)
        most, goes_on = rises[np.arange(len(own)), at], on_floor[own, at + lag]
        for number in np.flatnonzero(np.abs(most) > _HIGHEST_LEGS * leg).tolist():
            time_s = float(begins_s[own[number] + 1])
            moments.append((time_s, float(most[number])))
            if not goes_on[number]:
                ends_s.add(time_s)
    return tuple(Problem(
        f"<call> at {float(shown(np.array((time_s,)))[0]):.2f} s the floor ends, and the ground beside it is "
        f"{abs(high) * unit_m:.2g} m {'higher' if high > 0.0 else 'lower'}, as high as the armature: put the armature "
        "at the height that this ground is to have, or add a ground plane to the floor" if time_s in ends_s else
        f"<call> at {float(shown(np.array((time_s,)))[0]):.2f} s the floor is {abs(high) * unit_m:.2g} m "
        f"{'higher' if high > 0.0 else 'lower'} beyond an edge, expected at most {_HIGHEST_LEGS * leg * unit_m:.2g} m "
        "in one step: lead the way over stairs, or round it", place, is_warning=True)
        for place, (time_s, high) in _greatest(row, moments).items())


def long_strides(stage: Floored, row: Row, shown: Callable[[FloatArray], FloatArray], told: Collection[Place],
                 unit_m: float = 1.0) -> tuple[Problem, ...]:
    """Return warnings about strides for which the body must crouch, the longest one of each call; see high_edges.

    told: of calls of which another warning says that the floor is not for them.
    """
    leg = _leg(stage)
    times_s, lowered = stage.crouches
    lowest = [begin + int(lowered[begin:end].argmax()) for begin, end in runs(lowered > _LOWEST_LEGS * leg)]
    moments = zip(times_s[lowest].tolist(), lowered[lowest].tolist(), strict=True)
    return tuple(Problem(
        f"<call> at {float(shown(np.array((time_s,)))[0]):.2f} s the body crouches by {low * unit_m:.2g} m, since the "
        f"stride is too long for so steep a floor, expected at most {_LOWEST_LEGS * leg * unit_m:.2g} m: call a clip "
        "with shorter strides, or make the floor less steep", place, is_warning=True)
        for place, (time_s, low) in _greatest(row, moments).items() if place not in told)


def _leg(stage: Floored) -> float:
    return max((leg.length(stage.skeleton) for leg in stage.lock.legs), default=0.0)


def _greatest(row: Row, moments: Iterable[tuple[float, float]]) -> dict[Place, tuple[float, float]]:
    """Return for the place of each call the time at which a value is farthest from 0, and that value."""
    found = dict[Place, tuple[float, float]]()
    for time_s, value in moments:
        place = _call_at(row, time_s)
        if abs(value) > abs(found.get(place, (0.0, 0.0))[1]):
            found[place] = time_s, value
    return found


def _call_at(row: Row, time_s: float) -> Place:
    """Return the place of the call that leads somewhere at a time, or else of the outermost one that plays then."""
    for way in innermost(row.sequence.ways):
        begin_s, end_s = edges_s(way, row)
        if begin_s <= time_s <= end_s:
            return way.place
    steps = row.sequence.origins.of_segment(int(row.segment_at(np.array((time_s,)))[0]))
    return steps[0].place if steps else Place()
