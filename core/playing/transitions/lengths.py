"""Automatic duration of transitions: the angle that joints turn ÷ their angular speed there.

Gustaitis et al. 2007, §3.4, take the speed from three key intervals on each side. That depends on the spacing of keys,
so the same motion gets another duration if it is keyed more densely. The default measures the speed over a fixed time
instead, and also takes account of the distances that joints move (distances.py). Only joints that both clips rotate
count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...clips.clip import Clip
from ...errors import TaktError
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, quotient

INTERVALS = 3
"""Key intervals before and after the seam for the mean speed, if it is measured over keys."""
NEAR_S = 0.1
"""Time before and after the seam for the mean speed, if it is measured over time."""
MOST_STEPS = 256
"""Greatest number of steps in which a whole clip is sampled; a longer clip has steps longer than NEAR_S."""
SAME_POSE_RAD = 1e-5
"""A mean angle below this counts as the same pose: the transition has duration 0."""
STILL_RAD_S = 0.01
"""A mean speed below this counts as still: dividing by it would give minutes."""
DEFAULT_SPEED_RAD_S = 2.0
"""Used if neither clip turns any common joint."""
_PAIRS_AT_ONCE = 4096
Angles = Callable[[FloatArray, FloatArray], FloatArray]
MeanSpeed = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Speed:
    """A rule for the speed at a seam.

    mean: returns the mean speed of both sides from angles and times. is_by_keys: whether it is measured over key
    intervals rather than time.
    """

    identifier: str
    label: str
    description: str
    mean: MeanSpeed
    is_by_keys: bool


@dataclass(frozen=True, eq=False)
class Turning:
    """How the joints of C clips turn; each array is (C, J): angles in radians, and times in clip seconds.

    turns: joints that count and have a rotation track; in the other arrays, all other joints are 0. first, last, whole:
    in the first part of the clip, in its last part, and in all of it. path: the angle turned there; time: its duration.
    speed: the rule for the parts at the ends. angles: returns the angles from one pose to another; limits.Limits may
    choose the longer arc.
    """

    turns: BoolArray
    first_path: FloatArray
    first_time: FloatArray
    last_path: FloatArray
    last_time: FloatArray
    whole_path: FloatArray
    whole_time: FloatArray
    speed: Speed
    angles: Angles

    @classmethod
    def of(cls, clips: Sequence[Clip], speed: Speed, angles: Angles = rot.angle_between,
           counted: BoolArray | None = None) -> Turning:
        """Measure clips, which share one skeleton. counted: (J,) joints that count; None stands for all."""
        shape = (len(clips), len(clips[0].skeleton))
        sums = np.zeros((6, *shape))
        turns = np.zeros(shape, dtype=np.bool_)
        for row, clip in enumerate(clips):
            if len(clip.rotations):
                turns[row, clip.rotations.joints] = True
                sums[:, row, clip.rotations.joints] = clip.derived(_paths if speed.is_by_keys else _turned)
        if counted is not None:
            turns &= counted
            sums[..., ~counted] = 0.0
        first, first_s, last, last_s, whole, whole_s = sums
        return cls(turns, first, first_s, last, last_s, whole, whole_s, speed, angles)

    def moving(self, near: FloatArray, whole: FloatArray) -> FloatArray:
        """Return the speed that counts: of that near the seam and that over the whole clips.

        Over key intervals, it is the one near the seam unless that is still. Over time, it is the faster one, since a
        transition need not be slow because a clip ends slowly.
        """
        if not self.speed.is_by_keys:
            near = np.maximum(near, whole)
        return np.where(near > STILL_RAD_S, near, np.where(whole > STILL_RAD_S, whole, DEFAULT_SPEED_RAD_S))


def _turned(clip: Clip) -> FloatArray:
    """Return for T rotation tracks, (6, T): angle and time of the first NEAR_S, of the last NEAR_S, and of all steps.

    Steps are even, so the angles do not depend on where keys are, nor on tremor within a step.
    """
    near = min(NEAR_S, clip.duration_s)
    times = np.concatenate((whole_steps(clip.duration_s), (near, clip.duration_s - near)))
    *whole, second, last_but_one = clip.sample(times, "SLERP").rotations[:, clip.rotations.joints]
    angles = rot.angle_between(np.array((whole[0], last_but_one)), np.array((second, whole[-1])))
    path = rot.angle_between(np.array(whole[1:]), np.array(whole[:-1])).sum(axis=0)
    ones = np.ones(len(clip.rotations))
    return np.stack((angles[0], near * ones, angles[1], near * ones, path, clip.duration_s * ones))


def whole_steps(duration_s: float) -> FloatArray:
    """Return the instants at which a whole clip is sampled: at most NEAR_S apart, farther apart in long clips.

    >>> whole_steps(0.25).round(3).tolist()
    [0.0, 0.083, 0.167, 0.25]
    """
    return np.linspace(0.0, duration_s, int(np.clip(np.ceil(duration_s / NEAR_S - 1e-9), 1, MOST_STEPS)) + 1)


def _paths(clip: Clip) -> FloatArray:
    """Return for T rotation tracks, (6, T): angle and time of the first INTERVALS, of the last ones, and of all."""
    tracks = clip.rotations
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


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The clips on both sides of N seams, (N,), and the played seconds per second of each clip, (N,)."""

    before: IntArray
    after: IntArray
    before_stretch: FloatArray
    after_stretch: FloatArray

    def at(self, index: IntArray | BoolArray | slice) -> Neighbours:
        """Choose some of them."""
        return Neighbours(self.before[index], self.after[index], self.before_stretch[index], self.after_stretch[index])


def over_both_paths(path_a: FloatArray, path_b: FloatArray, time_a: FloatArray, time_b: FloatArray) -> FloatArray:
    """Return the mean speed over both paths together."""
    return quotient(path_a + path_b, time_a + time_b)


def automatic_lengths(turning: Turning, first: FloatArray, last: FloatArray, seams: Neighbours) -> FloatArray:
    """Return the automatic duration of N transitions in seconds, (N,), before limits.

    first, last: (C, J, 4) the clips' first and last rotations as played. The duration is mean angle ÷ ((path before +
    path after) ÷ (time before + time after)). The sums are over the joints that both clips rotate, and over the parts
    of the clips near the seam; see Turning.moving for the speed of whole clips. If the joints stand still everywhere,
    the speed is DEFAULT_SPEED_RAD_S. Equal poses give 0, and so do clips without common joints.
    """
    pairs, pair = np.unique(seams.before * len(first) + seams.after, return_inverse=True)
    sums = np.empty((10, len(pairs)))
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        part = pairs[start:start + _PAIRS_AT_ONCE]
        sums[:, start:start + _PAIRS_AT_ONCE] = _sums(turning, first, last, part // len(first), part % len(first))
    shared, angle, path_a, path_b, time_a, time_b, whole_a, whole_b, span_a, span_b = sums[:, pair]
    a, b = seams.before_stretch, seams.after_stretch
    mean = quotient(angle, shared)
    near = turning.speed.mean(path_a, path_b, time_a * a, time_b * b)
    whole = turning.speed.mean(whole_a, whole_b, span_a * a, span_b * b)
    return np.where(mean > SAME_POSE_RAD, mean / turning.moving(near, whole), 0.0)


def longest_lengths(turning: Turning, first: FloatArray, last: FloatArray, seams: Neighbours) -> FloatArray:
    """Return the automatic duration of N transitions, (N,), if joints take their own: that of the slowest joint."""
    out = np.empty(len(seams.before))
    for start in range(0, len(out), _PAIRS_AT_ONCE):
        part = seams.at(slice(start, start + _PAIRS_AT_ONCE))
        angles = turning.angles(last[part.before], first[part.after])
        own = joint_lengths(turning, angles, part)
        out[start:start + _PAIRS_AT_ONCE] = np.where(turning.turns[part.before] & turning.turns[part.after], own,
                                                     0.0).max(axis=1, initial=0.0)
    return out


def joint_lengths(turning: Turning, angles: FloatArray, seams: Neighbours) -> FloatArray:
    """Return the duration that each joint would need alone to turn by angles (N, J), in seconds (N, J)."""
    a, b = seams.before, seams.after
    stretch_a, stretch_b = seams.before_stretch[:, None], seams.after_stretch[:, None]
    mean = turning.speed.mean
    near = mean(turning.last_path[a], turning.first_path[b], turning.last_time[a] * stretch_a,
                turning.first_time[b] * stretch_b)
    whole = mean(turning.whole_path[a], turning.whole_path[b], turning.whole_time[a] * stretch_a,
                 turning.whole_time[b] * stretch_b)
    return np.asarray(angles / turning.moving(near, whole))


def speed_named(identifier: str) -> Speed:
    """Look up a rule; raises TaktError with the list of rules."""
    if identifier not in SPEEDS:
        raise TaktError(f"there is no rule for speeds {identifier!r}; there are {', '.join(SPEEDS)}")
    return SPEEDS[identifier]


def _of_both_speeds(path_a: FloatArray, path_b: FloatArray, time_a: FloatArray, time_b: FloatArray) -> FloatArray:
    known = (time_a > 0.0).astype(np.float64) + (time_b > 0.0)
    return quotient(quotient(path_a, time_a) + quotient(path_b, time_b), known)


SPEEDS: dict[str, Speed] = {entry.identifier: entry for entry in (
    Speed("NEAR", "Near the Seam", "By the speed within 0.1 s of the seam, or the whole clips' speed if higher. The "
                                   "body never moves faster than in the clips",
          over_both_paths, False),
    Speed("PATHS", "Three Keys, over Both Clips", "As in PHA 1: the mean speed over three key intervals on each "
                                                  "side, weighted by time, so that a slow clip counts more",
          over_both_paths, True),
    Speed("SPEEDS", "Three Keys, of Both Speeds", "The mean of two speeds: over three key intervals before the seam, "
          "and over three after it", _of_both_speeds, True),
)}


def _sums(turning: Turning, first: FloatArray, last: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return sums over the joints that both clips of each pair turn, (10, P)."""
    both = turning.turns[a] & turning.turns[b]
    angles = np.where(both, turning.angles(last[a], first[b]), 0.0)
    columns = (turning.last_path[a], turning.first_path[b], turning.last_time[a], turning.first_time[b],
               turning.whole_path[a], turning.whole_path[b], turning.whole_time[a], turning.whole_time[b])
    return np.stack((both.sum(axis=1), angles.sum(axis=1), *(np.where(both, c, 0.0).sum(axis=1) for c in columns)))
