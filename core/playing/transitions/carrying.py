"""Inserted transition that continues the clips' speeds at both ends: a cubic Hermite curve from pose to pose."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray, quotient
from ...skeletons.skeleton import Pose
from .blending import Crossing
from .limits import long_arc

LONGEST_S: Final = 0.6
"""Longest time for which a clip's speed acts on the transition; if it acted longer, the pose would drift far away."""


def carried_over(crossing: Crossing, at: IntArray, time_s: FloatArray, length_s: FloatArray) -> Pose:
    """Return the poses (F, J, …) between the last poses of clips and the first ones of the next.

    at: (F,) the crossing of each. time_s: (F,) since the transition began. length_s: (F,) its duration T.

    The motion is linear from one pose to the other, at the speed m, plus (a − m)·h(t) − (b − m)·h(T − t). Here a and b
    are the clips' speeds, h(t) = t·(1 − t/L)² and L = min(T, LONGEST_S). Value and speed are the clips' own at both
    ends; for T ≤ LONGEST_S this is the cubic Hermite curve. The same holds for rotations, by rotation vectors, along
    the longer arc where crossing.is_long. Where a step is 0, the speed there is taken as m.
    """
    out, into = crossing.out, crossing.into
    share = np.clip(quotient(time_s, length_s), 0.0, 1.0)[:, None]
    pull = _fading(time_s, length_s), -_fading(length_s - time_s, length_s)
    turn = rot.log(rot.multiply(rot.conjugate(out.rotations), into.rotations))
    if crossing.is_long is not None:
        turn = np.where(crossing.is_long[..., None], long_arc(turn), turn)
    changes = (rot.log(rot.multiply(rot.conjugate(crossing.out_before.rotations), out.rotations)),
               rot.log(rot.multiply(rot.conjugate(into.rotations), crossing.into_after.rotations)))
    even = rot.multiply(out.rotations[at], rot.exp(turn[at] * share[..., None]))
    lines = []
    for name in ("translations", "scales"):
        a, b, before, after = (getattr(pose, name) for pose in (out, into, crossing.out_before, crossing.into_after))
        lines.append(a[at] + (b - a)[at] * share[..., None]
                     + _displaced(crossing, at, length_s, b - a, (a - before, after - b), pull))
    return Pose(rot.multiply(even, rot.exp(_displaced(crossing, at, length_s, turn, changes, pull))), *lines)


def _displaced(crossing: Crossing, at: IntArray, length_s: FloatArray, whole: FloatArray,
               changes: tuple[FloatArray, FloatArray], pull: tuple[FloatArray, FloatArray]) -> FloatArray:
    """Return what the clips' speeds add to linear motion, (F, J, 3).

    whole: (N, J, 3) from the first pose to the second. changes: (N, J, 3) over the time steps at both ends. pull: (F,)
    weights of the speeds at both ends, in seconds.
    """
    even = whole[at] * quotient(1.0, length_s)[:, None, None]
    found = np.zeros_like(even)
    for change, step_s, weight in zip(changes, (crossing.out_step_s, crossing.into_step_s), pull, strict=True):
        speed = change[at] * quotient(1.0, step_s)[at, None, None]
        known = (step_s > 0.0)[at, None, None]
        found += np.where(known, speed - even, 0.0) * weight[:, None, None]
    return found


def _fading(time_s: FloatArray, length_s: FloatArray) -> FloatArray:
    """Return t·(1 − t/L)²: slope 1 at 0, and 0 from L on."""
    x = np.clip(quotient(time_s, np.minimum(length_s, LONGEST_S)), 0.0, 1.0)
    return np.asarray(time_s * (1.0 - x) ** 2)
