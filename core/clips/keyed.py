"""Keys of single joints: out of packed tracks and back into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Pose
from .clip import Clip, Tracks

SAMPLE_S: Final = 1.0 / 30.0
"""Longest time between keys where the rotations of several joints are combined into one joint's."""

_LONG_ENOUGH_S: Final = 1.3 * SAMPLE_S
"""Films' 24 frames in a second are as dense as that."""


def filled(times: FloatArray, longest_s: float = _LONG_ENOUGH_S) -> FloatArray:
    """Add times between the first and the last, so that no gap is much longer than SAMPLE_S where one is too long."""
    steps = int(np.ceil((times[-1] - times[0]) / SAMPLE_S))
    if np.diff(times).max(initial=0.0) <= longest_s:
        return times
    return np.union1d(times, np.linspace(times[0], times[-1], steps + 1))


def keys_of(tracks: Tracks, index: int) -> tuple[FloatArray, FloatArray]:
    """Return the times (N,) and values (N, C) of one track."""
    part = slice(int(tracks.starts[index]), int(tracks.starts[index + 1]))
    return tracks.times_s[part], tracks.values[part]


def sampled(tracks: Tracks, index: int, times: FloatArray) -> FloatArray:
    """Return one track of rotations at times (F,) as (F, 4): its keys as they are where they have these times."""
    own_times, values = keys_of(tracks, index)
    if np.array_equal(own_times, times):
        return values
    alone = Tracks(np.zeros(1, np.int64), np.array((0, len(own_times))), own_times, values)
    before, after, share = alone.neighbours(times)
    return rot.nlerp(values[before[:, 0]], values[after[:, 0]], share[:, 0])


def poses_at(clip: Clip, times: FloatArray) -> Pose:
    """Return what clip.sample does for times (F,), without tables of all keys: for few frames, or few joints."""
    if clip.is_looping:
        return clip.sample(times)
    pose = Pose.rest(clip.skeleton, len(times))
    for tracks, out in ((clip.rotations, pose.rotations), (clip.translations, pose.translations),
                        (clip.scales, pose.scales)):
        counts = np.diff(tracks.starts)
        own = tracks.times_s.reshape(len(counts), -1) if len(counts) and (counts == counts[0]).all() else np.zeros(0)
        if len(own) > 1 and (own == own[0]).all():  # all tracks have the same times, as frames do
            values = tracks.values.reshape(*own.shape, -1).swapaxes(0, 1)
            out[:, tracks.joints] = _at(own[0], values, times)
            continue
        for i, joint in enumerate(tracks.joints.tolist()):
            out[:, joint] = _at(*keys_of(tracks, i), times)
    return pose


def _at(own: FloatArray, values: FloatArray, times: FloatArray) -> FloatArray:
    """Return values at times (F,) between keys (K, …, C), as (F, …, C)."""
    if np.array_equal(own, times):
        return values
    before = np.clip(np.searchsorted(own, times, side="right") - 1, 0, len(own) - 1)
    after = np.minimum(before + 1, len(own) - 1)
    gap = own[after] - own[before]
    share = np.divide(times - own[before], gap, out=np.zeros(len(times)), where=gap > 0.0).clip(0.0, 1.0)
    share = share.reshape(-1, *(1,) * (values.ndim - 2))
    if values.shape[-1] == 4:
        return rot.nlerp(values[before], values[after], np.broadcast_to(share, (len(times), *values.shape[1:-1])))
    return np.asarray(values[before] + share[..., None] * (values[after] - values[before]))


def packed(tracks: Sequence[tuple[int, FloatArray, FloatArray]], channels: int) -> Tracks:
    """Pack tracks given as joint, times (N,), values (N, channels)."""
    if not tracks:
        return Tracks.empty(channels)
    joints, times, values = zip(*tracks, strict=True)
    starts = np.cumsum([0, *map(len, times)])
    return Tracks(np.array(joints, dtype=np.int64), starts, np.concatenate(times), np.concatenate(values))


def sandwich(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the matrix (4, 4) of q ↦ left · q · right."""
    basis = np.eye(4)
    return rot.multiply(rot.multiply(left, basis), right).T
