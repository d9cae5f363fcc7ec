"""Feet held without a score: one clip, or footholds as they are wanted."""

from collections.abc import Callable, Sequence

import numpy as np

from takt.core.maths.arrays import FloatArray
from takt.core.maths.formulas import worked_out
from takt.core.playing.feet.clip_feet import clip_feet
from takt.core.playing.feet.footholds import BESIDE_S, NEVER_S, SWING_S, Footholds, Loose, ground_axes
from takt.core.playing.feet.leading import Moment, led
from takt.core.playing.feet.legs import legs_of
from takt.core.playing.feet.lock import FeetLock
from takt.core.playing.feet.planted import Planted
from takt.core.playing.feet.soles import Soles
from takt.core.playing.feet.steps import Seams
from takt.core.playing.feet.steps import footholds as put_together
from takt.core.skeletons.maps import SkeletonMap
from takt.core.skeletons.skeleton import Pose

__all__ = ["SWING_S", "feet_lock", "footholds", "held", "shifted"]


def feet_lock(found: SkeletonMap, sample: Callable[[FloatArray], Pose], duration_s: float, up: FloatArray) -> FeetLock:
    """Hold the feet of one clip where they look planted; sample: its poses (F, J, …) at times (F,)."""
    legs = legs_of(found)
    soles = Soles.of(found.skeleton, legs, up)
    feet = clip_feet(sample, duration_s, legs, found.skeleton, up, {}, soles) if legs else ()
    ground = ground_axes(up).T
    planted = [Planted(foot.spans_s, foot.at @ ground, Loose.of(foot.loose @ ground, BESIDE_S),
                       np.array((0, len(foot.at))), np.full(1, foot.fast), np.zeros((1, 2)),
                       np.ones(len(foot.at), dtype=np.complex128))
               for foot in feet]
    zero, end = np.zeros(1), np.array((duration_s,))
    together = put_together(planted, Seams(zero, end, zero, zero, np.zeros(1, dtype=np.bool_)),
                            [leg.length(found.skeleton) for leg in legs])
    return FeetLock(found, legs, together, up, soles)


def held(lock: FeetLock, pose: Pose, times_s: FloatArray, upright: float = 0.0) -> Pose:
    """Return poses with feet held over the ground only, as away from seams, or also upright."""
    pose = Pose(pose.rotations.copy(), pose.translations.copy(), pose.scales)
    knees, none = np.full((len(lock.legs), len(times_s)), -np.inf), np.zeros(len(times_s))
    lock.hold(pose, times_s, lock.footholds.gaps_at(times_s), np.full(len(times_s), upright), None, knees, none, none)
    return pose


def shifted(found: Footholds, positions: FloatArray, times_s: FloatArray, upright: float,
            higher: float = 0.0) -> FloatArray:
    """Return how far feet at positions (L, F, 3) are moved at times (F,), (L, F, 3).

    higher: how much higher than its foothold a foot is to be, for its sole.
    """
    return worked_out(lambda foot, moment: led(foot, Moment(*moment), upright, higher, 0.0), positions,
                      found.led(found.gaps_at(times_s), times_s))


def footholds(spans_s: Sequence[tuple[float, float]], *at: FloatArray) -> Footholds:
    """Return footholds (K, 3) of each foot in ground coordinates, all in the same spans.

    They are left and reached within SWING_S. Nothing moves the feet: wherever they are let go they are at the origin.
    """
    start, stop = np.array(spans_s).T
    edges = np.tile(np.stack((np.append(-NEVER_S, stop), np.append(start, NEVER_S))), len(at))
    eases = np.minimum(edges[1] - edges[0], SWING_S) * np.ones((2, 1))
    none = np.zeros((3, 1))
    positions = np.concatenate([np.stack((np.hstack((none, each.T)), np.hstack((each.T, none))), axis=1)
                                for each in at], axis=-1)
    first, shape = np.arange(len(at) + 1) * (len(start) + 1), positions.shape
    return Footholds(first, edges, positions, np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(first[-1]),
                     np.zeros(first[-1]), eases, np.ones(first[-1]), np.zeros(first[-1], np.int64), eases, 1.0,
                     np.full(edges.shape, BESIDE_S))
