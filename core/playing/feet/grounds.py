"""How high clips stand that climb, as they begin and as they end: on stairs, or on a ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ...maths.arrays import FloatArray, IntArray, runs
from ...skeletons.skeleton import Pose, Skeleton
from ..joints import Joints
from .footholds import ground_axes
from .legs import Leg

_CLIMBS_LEGS: Final = 0.15
"""Ground that is less higher or lower is the same."""
_AGREE_LEGS: Final = 0.1
"""Hips go up with both feet, but for so much."""
_SLOW_LEGS_PER_S: Final = 0.5
"""A foot that goes no faster stands."""
_LONGEST_FLIGHT_S: Final = 0.3
"""Who climbs has no foot that stands for so long at most: who jumps or falls, for longer."""
_STEP_S: Final = 1.0 / 30.0
_MOST_INSTANTS: Final = 20_000


def grounds_of(sample: Callable[[IntArray, FloatArray], Pose], durations_s: FloatArray, skeleton: Skeleton,
               legs: Sequence[Leg], up: FloatArray) -> FloatArray:
    """Return how much higher than at rest C clips stand as they begin and as they end, (2, C); 0 where none climbs.

    sample: returns poses of clips (F,) at their own times (F,). durations_s: (C,). up: (3,) of model space.
    A clip climbs whose feet are both higher or lower at its end than as it begins, and the hips with them, and of which
    a foot stands nearly always: who jumps, falls, sits or lies down does not.
    """
    count, clips, length = len(legs), len(durations_s), max((leg.length(skeleton) for leg in legs), default=0.0)
    if not count or length <= 0.0:
        return np.zeros((2, clips))
    joints = Joints.of(skeleton, [*(leg.foot for leg in legs), *(leg.hip for leg in legs)]).turned(ground_axes(up))
    rest = joints.positions(Pose.rest(skeleton, 1))[0, :, 2]

    def posed(clip: IntArray, times_s: FloatArray) -> FloatArray:
        return np.asarray(joints.positions(sample(clip, times_s)) / length)

    high = posed(np.tile(np.arange(clips), 2), np.append(0.0 * durations_s, durations_s))[..., 2] - rest / length
    ends = high.reshape(2, clips, -1)
    rise, hips = ends[1, :, :count] - ends[0, :, :count], np.diff(ends[..., count:].mean(axis=-1), axis=0)[0]
    climbs = (np.abs(hips) > _CLIMBS_LEGS) & (np.abs(rise - hips[:, None]) < _AGREE_LEGS).all(axis=-1)
    for clip in np.flatnonzero(climbs).tolist():
        times_s = np.linspace(0.0, durations_s[clip], min(int(durations_s[clip] / _STEP_S) + 2, _MOST_INSTANTS))
        feet = posed(np.full(len(times_s), clip), times_s)[:, :count]
        speeds = np.linalg.norm(np.diff(feet, axis=0), axis=-1) / max(times_s[1], 1e-9)
        flights = runs((speeds > _SLOW_LEGS_PER_S).all(axis=1))
        climbs[clip] = all((end - begin) * times_s[1] <= _LONGEST_FLIGHT_S for begin, end in flights)
    first = ends[0, :, :count].min(axis=-1)
    return np.where(climbs, length * np.stack((first, first + hips)), 0.0)
