"""Keys of single joints: out of packed tracks and back into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .clip import Tracks

SAMPLE_S: Final = 1.0 / 30.0
"""Longest time between keys where several joints' rotations become one joint's."""


def filled(times: FloatArray) -> FloatArray:
    """Add times between the first and the last, so that no gap is much longer than SAMPLE_S."""
    steps = int(np.ceil((times[-1] - times[0]) / SAMPLE_S))
    if np.diff(times).max(initial=0.0) <= SAMPLE_S:
        return times
    return np.union1d(times, np.linspace(times[0], times[-1], steps + 1))


def keys_of(tracks: Tracks, index: int) -> tuple[FloatArray, FloatArray]:
    """Return the times (N,) and values (N, C) of one track."""
    part = slice(int(tracks.starts[index]), int(tracks.starts[index + 1]))
    return tracks.times_s[part], tracks.values[part]


def sampled(tracks: Tracks, index: int, times: FloatArray) -> FloatArray:
    """Return what one track of rotations is at times (F,), the keys themselves where it has these times: (F, 4)."""
    own_times, values = keys_of(tracks, index)
    if np.array_equal(own_times, times):
        return values
    alone = Tracks(np.zeros(1, np.int64), np.array((0, len(own_times))), own_times, values)
    before, after, share = alone.neighbours(times)
    return rot.nlerp(values[before[:, 0]], values[after[:, 0]], share[:, 0])


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
