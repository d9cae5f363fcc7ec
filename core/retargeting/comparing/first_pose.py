"""First poses that are not part of the motion, such as the T-pose at the start of many files in motion libraries."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.keyed import keys_of, packed, poses_at
from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray

_FIRST_FRAMES: Final = 4
"""Number of frames within which the jump from the first pose to the motion occurs."""
_JUMP_RAD: Final = float(np.radians(25.0))
"""Least angle by which a joint turns between two frames at the jump."""
_FASTER, _FASTER_OVER_ALL = 1.5, 2.5
"""Ratios of the jump's speed to that of the fastest later motion: of the fastest joint, and of all joints. Clips
without such a pose reach 1.5 and 1.7 at most, and never both in one clip.
"""
_LONGEST_S: Final = 0.2
"""Greatest distance of keys that count as frames."""
_FEWEST: Final = 6
"""Least number of frames from which the motion's speed is known."""
_SEEN: Final = 512
"""Number of steps sampled evenly from the rest of a clip."""


def first_pose_end(clip: Clip) -> float | None:
    """Return the time at which the motion begins, if the pose before it is not part of it, else None.

    The motion begins after a jump within the first frames. The jump is faster than all later motion, in its fastest
    joint and over all joints.
    """
    turning = clip.rotations
    if clip.is_looping or not len(turning):
        return None
    times = keys_of(turning, int(np.argmax(np.diff(turning.starts))))[0]
    if len(times) < _FIRST_FRAMES + _FEWEST or not (np.diff(times) > 0.0).all():
        return None
    first = _turns(clip, times, np.arange(_FIRST_FRAMES))
    if first.max() <= _JUMP_RAD:
        return None
    steps = np.unique(np.linspace(_FIRST_FRAMES, len(times) - 2, _SEEN).astype(np.int64))
    angles = np.concatenate((first, _turns(clip, times, steps)))
    steps = np.concatenate((np.arange(_FIRST_FRAMES), steps))
    rates = angles / (times[steps + 1] - times[steps])[:, None]
    fastest, mean = rates.max(axis=1), rates.mean(axis=1)
    jump = int(np.argmax(fastest[:_FIRST_FRAMES]))
    rest = np.delete(np.arange(len(steps)), jump)
    is_frame = times[jump + 1] - times[jump] <= _LONGEST_S
    is_faster = fastest[jump] > _FASTER * fastest[rest].max() and mean[jump] > _FASTER_OVER_ALL * mean[rest].max()
    if not (is_frame and is_faster and angles[jump].max() > _JUMP_RAD):
        return None
    return float(times[jump + 1])


def _turns(clip: Clip, times: FloatArray, steps: IntArray) -> FloatArray:
    """Return the angles by which joints with tracks turn from some of the times to the next ones, (N, T) in radians."""
    seen = np.union1d(steps, steps + 1)
    turns = poses_at(clip, times[seen]).rotations[:, clip.rotations.joints]
    before, after = (turns[np.searchsorted(seen, at)] for at in (steps, steps + 1))
    return rot.angle_between(before, after)


def from_time(clip: Clip, start_s: float) -> Clip:
    """Return a clip without its part before a start time, which becomes time 0."""
    start = poses_at(clip, np.array((start_s,))).at(0)

    def later(tracks: Tracks, values_there: FloatArray) -> Tracks:
        kept = []
        for i, joint in enumerate(tracks.joints.tolist()):
            times, values = keys_of(tracks, i)
            after = times > start_s
            kept.append((joint, np.concatenate(((0.0,), times[after] - start_s)),
                         np.concatenate((values_there[[joint]], values[after]))))
        return packed(kept, tracks.values.shape[1])

    return Clip(clip.name, clip.skeleton, clip.duration_s - start_s, later(clip.rotations, start.rotations),
                later(clip.translations, start.translations), later(clip.scales, start.scales), clip.is_looping)
