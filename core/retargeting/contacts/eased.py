"""Smoothing of arms that are moved out of a trunk, or onto what they touch.

A correction of each frame by itself jumps where the direction out of a thick trunk changes sides, or where a hand comes
in fast. So the offsets of wrists and elbows are averaged over a moment, then corrected again. Large offsets begin
before the contact and end after it.
"""

from __future__ import annotations

import numpy as np

from ...clips.thresholds import LIMB_S
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ..limbs import LimbPoses


def averaged(times: FloatArray, values: FloatArray, moment_s: float = LIMB_S) -> FloatArray:
    """Return the averages of values (F, C) at times (F,) over a moment around each; nearer values count more.

    Values at the ends are extended beyond them. Windows extend twice as far as moment_s before and after; longer ones
    would miss short contacts.

    >>> averaged(np.array((0.0, 1.0, 2.0)), np.array([(0.0,), (1.0,), (2.0,)]), 0.25)[1].tolist()
    [1.0]
    """
    for _ in range(2):
        ends = np.concatenate((times[:1] - moment_s, times, times[-1:] + moment_s))
        padded = np.concatenate((values[:1], values, values[-1:]))
        areas = np.cumsum((padded[1:] + padded[:-1]) / 2.0 * np.diff(ends)[:, None], axis=0)
        areas = np.concatenate((np.zeros((1, values.shape[1])), areas))
        values = (_area(ends, padded, areas, times + moment_s) - _area(ends, padded, areas, times - moment_s)) / (
            2.0 * moment_s)
    return values


def with_limited_speed(times: FloatArray, ways: FloatArray, counts: FloatArray, speed: float) -> FloatArray:
    """Return offsets (F, 3) at times (F,) that grow and fade at a limited speed around those that count.

    ways: (F, 3) the offsets. counts: (F,) their weights, 0 to 1. speed: the limit.

    >>> ways, counts = np.array([(0.0,) * 3] * 2 + [(0.2, 0.0, 0.0)] + [(0.0,) * 3] * 2), np.array((0, 0, 1, 0, 0))
    >>> with_limited_speed(np.arange(5) / 10.0, ways, counts, 1.0)[:, 0].round(3).tolist()
    [0.0, 0.1, 0.2, 0.1, 0.0]
    """
    far, longest, made = counts * np.linalg.norm(ways, axis=1), np.linalg.norm(ways, axis=1), ways.copy()
    for turn in (slice(None), slice(None, None, -1)):
        passed = speed * np.abs(times - times[turn][0])[turn]
        ahead = far[turn] + passed
        first = np.maximum.accumulate(np.where(ahead >= np.maximum.accumulate(ahead), np.arange(len(times)), 0))
        left = (ahead[first] - passed)[turn]
        rows = np.flatnonzero(left > longest)
        begun = np.arange(len(times))[turn][first][turn][rows]
        made[rows] = (left[rows] / np.maximum(longest[begun], 1e-30))[:, None] * ways[begun]
        longest = np.maximum(longest, left)
    return made


def _area(times: FloatArray, values: FloatArray, areas: FloatArray, at: FloatArray) -> FloatArray:
    """Return the area (N, C) under values (F, C) up to instants (N,), from their cumulative areas (F, C)."""
    before = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    passed = (at - times[before])[:, None]
    slope = (values[before + 1] - values[before]) / np.maximum(times[before + 1] - times[before], 1e-30)[:, None]
    return np.asarray(areas[before] + passed * values[before] + 0.5 * passed**2 * slope)


def corrections(plain: LimbPoses, moved: LimbPoses, carriers: FloatArray) -> FloatArray:
    """Return offsets of wrists in the trunk's axes, and swivel angles of elbows, (..., 4).

    carriers: (..., 3, 3) axes of the trunk joint that carries each arm.
    """
    offset, line = moved.last - plain.last, moved.line
    elbows = [arm.middle - arm.first for arm in (plain.reaching(offset), moved)]
    one, other = (elbow - line * np.sum(elbow * line, axis=-1, keepdims=True) for elbow in elbows)
    angle = np.arctan2(np.sum(rot.cross(one, other) * line, axis=-1), np.sum(one * other, axis=-1))
    return np.concatenate((np.linalg.solve(carriers, offset[..., None])[..., 0], angle[..., None]), axis=-1)


def with_corrections(plain: LimbPoses, carriers: FloatArray, made: FloatArray) -> LimbPoses:
    """Return arms (...) with wrists moved and elbows turned by corrections (..., 4)."""
    moved = plain.reaching((carriers @ made[..., :3, None])[..., 0])
    return moved.turned(rot.from_axis_angle(moved.line, made[..., 3]))
