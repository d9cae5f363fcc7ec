"""Keys of single joints: unpacked from tracks, and packed into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray, merged
from ..skeletons.skeleton import Pose
from .clip import Clip, Tracks

SAMPLE_S: Final = 1.0 / 30.0
"""Longest time between keys if rotations of several joints are combined into one."""
FINE_S: Final = SAMPLE_S / 2.0
"""Longest time between keys if skin comes near to something."""

_LONG_ENOUGH: Final = 1.3
"""Gaps up to this many steps get no extra keys; so keys at 24 frames per second are left alone with SAMPLE_S."""

_ROUNDING: Final = 1e-3
"""Tolerance in steps: times this little before a step belong to it."""

SAME_S: Final = 1e-3


def filled(times: FloatArray, longest_s: float = _LONG_ENOUGH * SAMPLE_S) -> FloatArray:
    """Return ascending times (N,); if any gap is longer than longest_s, with times added about SAMPLE_S apart."""
    steps = int(np.ceil((times[-1] - times[0]) / SAMPLE_S))
    if np.diff(times).max(initial=0.0) <= longest_s:
        return times
    return merged(times, np.linspace(times[0], times[-1], steps + 1))


def thinned(times: FloatArray, step_s: float = SAMPLE_S) -> FloatArray:
    """Return the first of ascending times (N,) in each step of step_s, and the last of all.

    >>> (120.0 * thinned(np.arange(10) / 120.0)).round().tolist()
    [0.0, 4.0, 8.0, 9.0]
    """
    kept = np.diff(np.floor(times / step_s + _ROUNDING), prepend=-np.inf) > 0.0
    kept[-1:] = True
    return times[kept]


def divided(times: FloatArray, step_s: float) -> FloatArray:
    """Return ascending times (N,), with gaps that are clearly longer than step_s divided into equal parts.

    Values that are linear between keys bend only at keys. So samples at keys and midway show more than even steps do.

    >>> divided(np.array((0.0, 1.0, 1.5, 2.75)), 0.5).tolist()
    [0.0, 0.5, 1.0, 1.5, 2.125, 2.75]
    """
    gaps = np.diff(times)
    parts = np.maximum(np.ceil(gaps / (_LONG_ENOUGH * step_s)), 1.0).astype(np.int64)
    first = np.repeat(np.arange(len(gaps)), parts)
    number = np.arange(len(first)) - np.repeat(np.cumsum(parts) - parts, parts)
    return np.append(times[first] + number * (gaps / parts)[first], times[-1:])


def beside(times: FloatArray, more: FloatArray, apart_s: float = SAME_S) -> FloatArray:
    """Return ascending times (N,), and those of `more` (M,) that are at least apart_s away from each of them.

    Files round the times of keys, so frames at 60 per second are not exactly at multiples of 1/60 s.

    >>> beside(np.array((0.0, 0.5)), np.array((0.25, 0.50001, 0.75))).tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    if not len(times):
        return merged(more)
    after = np.searchsorted(times, more).clip(1, len(times) - 1) if len(times) > 1 else np.zeros(len(more), np.int64)
    near = np.minimum(np.abs(more - times[after]), np.abs(more - times[after - 1]))
    return merged(times, more[near >= apart_s])


def keys_of(tracks: Tracks, index: int) -> tuple[FloatArray, FloatArray]:
    """Return the times (N,) and values (N, C) of one track."""
    return tracks.keys(index)


def key_times(*channels: Tracks, joints: IntArray | None = None) -> FloatArray:
    """Return the key times of some joints, or of all, (N,) ascending; 0 is always included."""
    found = [np.zeros(1)]
    for tracks in channels:
        of_some = tracks.by_times if joints is None else tracks.alike(np.flatnonzero(np.isin(tracks.joints, joints)))
        found += [times for times, _ in of_some]
    return merged(*found)


def sampled(tracks: Tracks, index: int, times: FloatArray) -> FloatArray:
    """Return one track at times (F,), as (F, C); see interpolated."""
    return interpolated(*keys_of(tracks, index), times)


def turns_at(rotations: Tracks, joints: Sequence[int], times: FloatArray) -> FloatArray:
    """Return the rotations of some joints relative to rest at times (F,), (F, N, 4)."""
    turns, found = rot.identities(len(times), len(joints)), rotations.joints.tolist()
    for column, joint in enumerate(joints):
        if joint in found:
            turns[:, column] = sampled(rotations, found.index(joint), times)
    return turns


def poses_at(clip: Clip, times: FloatArray) -> Pose:
    """Return the same as clip.sample at times (F,), without tables of all keys: for few frames or few joints."""
    if clip.is_looping:
        return clip.sample(times)
    pose = Pose.rest(clip.skeleton, len(times))
    for tracks, out in ((clip.rotations, pose.rotations), (clip.translations, pose.translations),
                        (clip.scales, pose.scales)):
        own = tracks.shared_times
        if own is not None:
            values = tracks.values.reshape(len(tracks), len(own), -1).swapaxes(0, 1)
            out[:, tracks.joints] = interpolated(own, values, times)
            continue
        for own, alike in tracks.by_times:
            before, after, share = around(own, times)
            first, last = (tracks.values[tracks.starts[alike] + keys[:, None]] for keys in (before, after))
            out[:, tracks.joints[alike]] = _blended(first, last, share)
    return pose


def interpolated(own: FloatArray, values: FloatArray, times: FloatArray) -> FloatArray:
    """Return values at times (F,), as (F, …, C): linear between keys, constant before the first and after the last.

    own: (K,) the keys' times, ascending; values: (K, …, C), which are rotations if C is 4. At the exact time of a key,
    its value is returned unchanged.

    >>> interpolated(np.array((0.0, 2.0)), np.array(((0.0,), (4.0,))), np.array((-1.0, 0.5, 3.0))).tolist()
    [[0.0], [1.0], [4.0]]
    """
    if np.array_equal(own, times):
        return values
    before, after, share = around(own, times)
    return _blended(values[before], values[after], share) if share.any() else values[before]


def around(own: FloatArray, times: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the keys (F,) before and after times (F,), and the fraction (F,) of the way between them."""
    before = np.maximum(own.searchsorted(times, side="right") - 1, 0)
    after = np.minimum(before + 1, len(own) - 1)
    start = own[before]
    gap = own[after] - start
    share = np.divide(times - start, gap, out=np.zeros(len(times)), where=gap > 0.0)
    return before, after, np.minimum(np.maximum(share, 0.0), 1.0)


def _blended(before: FloatArray, after: FloatArray, share: FloatArray) -> FloatArray:
    """Return values between those of keys before and after (F, …, C), by a share (F,) from 0 to 1."""
    share = share.reshape(-1, *(1,) * (before.ndim - 2))
    if before.shape[-1] == 4:
        return rot.nlerp(before, after, np.broadcast_to(share, before.shape[:-1]))
    return np.asarray(before + share[..., None] * (after - before))


def packed(tracks: Sequence[tuple[int, FloatArray, FloatArray]], channels: int) -> Tracks:
    """Pack tracks given as joint, times (N,), values (N, channels)."""
    if not tracks:
        return Tracks.empty(channels)
    joints, times, values = zip(*tracks, strict=True)
    starts = np.cumsum([0, *map(len, times)])
    return Tracks(np.array(joints, dtype=np.int64), starts, np.concatenate(times), np.concatenate(values))


def by_joint(tracks: Tracks) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return the times (N,) and values (N, C) of each track, by its joint."""
    return {joint: keys_of(tracks, index) for index, joint in enumerate(tracks.joints.tolist())}


def packed_by_joint(keys: Mapping[int, tuple[FloatArray, FloatArray]], channels: int) -> Tracks:
    """Pack tracks given as times (N,) and values (N, channels) by joint, in the order of joints."""
    return packed([(joint, *keys[joint]) for joint in sorted(keys)], channels)


def in_steps(duration_s: float, step_s: float) -> FloatArray:
    """Return the times 0, step_s, 2 · step_s … of a clip, and its end, (F,)."""
    return np.append(np.arange(0.0, duration_s, step_s), duration_s)


def sandwich(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the matrices (..., 4, 4) of q ↦ left · q · right, for left and right (..., 4)."""
    return rot.multiply(rot.multiply(left[..., None, :], np.eye(4)), right[..., None, :]).swapaxes(-2, -1)
