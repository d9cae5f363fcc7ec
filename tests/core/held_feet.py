"""Feet held without a score: one clip, or footholds as they are wanted."""

from collections.abc import Callable, Sequence

import numpy as np

from takt.core.maths.arrays import FloatArray
from takt.core.playing.clip_feet import Joints, clip_feet
from takt.core.playing.feet import FeetLock
from takt.core.playing.footholds import Footholds
from takt.core.playing.legs import legs_of
from takt.core.playing.steps import EASE_S, Hold, Walker
from takt.core.skeletons.maps import SkeletonMap
from takt.core.skeletons.skeleton import Pose

__all__ = ["EASE_S", "feet_lock", "footholds", "held"]


def feet_lock(found: SkeletonMap, sample: Callable[[FloatArray], Pose], duration_s: float, up: FloatArray) -> FeetLock:
    """Hold the feet of one clip where they look planted; sample: its poses (F, J, …) at times (F,)."""
    legs = legs_of(found)
    walker = Walker(up, [leg.length(found.skeleton) for leg in legs])
    feet = clip_feet(sample, duration_s, legs, found.skeleton, up, {}) if legs else ()
    walker.go_on([Hold.of_clip(foot, foot.at, 0.0, 1.0) for foot in feet], 0.0, duration_s)
    asked = Joints.of(found.skeleton, [leg.foot for leg in legs])
    together = walker.footholds(lambda times: asked.matrices(sample(times))[..., 3])
    return FeetLock(found, tuple(zip(legs, together, strict=True)), up)


def held(lock: FeetLock, pose: Pose, times_s: FloatArray, upright: float = 0.0) -> Pose:
    """Hold feet over the ground only, as away from seams, or also upright."""
    return lock.hold(pose, times_s, np.full(len(times_s), upright), np.full((len(lock.legs), 2), -np.inf)[None])


def footholds(spans_s: Sequence[tuple[float, float]], at: FloatArray) -> Footholds:
    """Return footholds (K, 3) that are left and reached within EASE_S."""
    start, stop = np.array(spans_s).T
    gap = np.minimum(np.concatenate(((np.inf,), start[1:] - stop[:-1], (np.inf,))), EASE_S)
    return Footholds(start, stop, at, gap[:-1], gap[1:], np.zeros(len(start)))
