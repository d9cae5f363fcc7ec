"""The automatic length of transitions: how far the joints turn ÷ how fast they turn there.

Gustaitis et al. 2007, §3.4. Only joints count whose rotation both clips move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import rotations as rot
from ..arrays import BoolArray, FloatArray, IntArray
from ..clip import Clip, Tracks

INTERVALS = 3
"""Key intervals before and after the seam over which the speed is averaged."""
SAME_POSE_RAD = 1e-5
"""A mean angle below this counts as the same pose: the transition has length 0."""
STILL_RAD_S = 0.01
"""A mean speed below this counts as standing still: dividing by it would give minutes."""
DEFAULT_SPEED_RAD_S = 2.0
"""Taken where neither clip turns any shared joint at all."""
_PAIRS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Turning:
    """How the joints of C clips turn, each array (C, J): angles in radians along the keys, times in clip seconds.

    turns: joints with a rotation track; the others have zeros everywhere.
    """

    turns: BoolArray
    first_path: FloatArray
    first_time: FloatArray
    last_path: FloatArray
    last_time: FloatArray
    whole_path: FloatArray
    whole_time: FloatArray

    @classmethod
    def of(cls, clips: Sequence[Clip]) -> Turning:
        """Measure clips, which share one skeleton."""
        shape = (len(clips), len(clips[0].skeleton))
        sums = np.zeros((6, *shape))
        turns = np.zeros(shape, dtype=np.bool_)
        for row, clip in enumerate(clips):
            if len(clip.rotations):
                turns[row, clip.rotations.joints] = True
                sums[:, row, clip.rotations.joints] = _paths(clip.rotations)
        return cls(turns, *sums)


def _paths(tracks: Tracks) -> FloatArray:
    """Return for T tracks, (6, T): angle and time of the first intervals, of the last ones, of all."""
    first, last = tracks.starts[:-1], tracks.starts[1:] - 1
    values = rot.normalized(tracks.values)
    angle = np.concatenate((rot.angle_between(values[:-1], values[1:]), (0.0,)))
    time = np.concatenate((np.diff(tracks.times_s), (0.0,)))
    angle[last] = time[last] = 0.0  # no interval leads from one track into the next
    out = np.zeros((6, len(tracks)))
    for step in range(INTERVALS):
        at_first, at_last = np.minimum(first + step, last), np.maximum(last - 1 - step, first)
        inside = first + step < last
        out[0] += angle[at_first] * inside
        out[1] += time[at_first] * inside
        out[2] += angle[at_last] * inside
        out[3] += time[at_last] * inside
    out[4] = np.add.reduceat(angle, first)
    out[5] = np.add.reduceat(time, first)
    return out


def automatic_lengths(turning: Turning, first: FloatArray, last: FloatArray, before: IntArray, after: IntArray,
                      before_stretch: FloatArray, after_stretch: FloatArray) -> FloatArray:
    """Return the automatic length in seconds of N transitions, (N,), not yet limited.

    first, last: (C, J, 4) the clips' first and last rotations as they are played.
    before, after: (N,) the clips on both sides; *_stretch: (N,) seconds played per second of clip.
    mean angle ÷ ((path before + path after) ÷ (time before + time after)), sums over the shared joints and
    INTERVALS key intervals on each side. Where they stand still there: the clips' whole paths and times instead;
    where these stand still too: DEFAULT_SPEED_RAD_S. The same pose gives 0, no shared joint gives 0.
    """
    pairs, pair = np.unique(before * len(first) + after, return_inverse=True)
    sums = np.empty((10, len(pairs)))
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        part = pairs[start:start + _PAIRS_AT_ONCE]
        sums[:, start:start + _PAIRS_AT_ONCE] = _sums(turning, first, last, part // len(first), part % len(first))
    shared, angle, path_a, path_b, time_a, time_b, whole_a, whole_b, span_a, span_b = sums[:, pair]
    speed = _quotient(path_a + path_b, time_a * before_stretch + time_b * after_stretch)
    whole = _quotient(whole_a + whole_b, span_a * before_stretch + span_b * after_stretch)
    speed = np.where(speed > STILL_RAD_S, speed, np.where(whole > STILL_RAD_S, whole, DEFAULT_SPEED_RAD_S))
    mean = _quotient(angle, shared)
    return np.where(mean > SAME_POSE_RAD, mean / speed, 0.0)


def _sums(turning: Turning, first: FloatArray, last: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return sums over the joints that both clips of each pair turn, (10, P)."""
    both = turning.turns[a] & turning.turns[b]
    angles = np.where(both, rot.angle_between(last[a], first[b]), 0.0)
    columns = (turning.last_path[a], turning.first_path[b], turning.last_time[a], turning.first_time[b],
               turning.whole_path[a], turning.whole_path[b], turning.whole_time[a], turning.whole_time[b])
    return np.stack((both.sum(axis=1), angles.sum(axis=1), *(np.where(both, c, 0.0).sum(axis=1) for c in columns)))


def _quotient(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
