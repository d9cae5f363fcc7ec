"""Ground height over time in clips that climb stairs or a ladder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

import numpy as np

from ...clips.clip import Clip, Interpolation, TranslationInterpolation
from ...clips.excerpt import Excerpt
from ...clips.keyed import SAMPLE_S
from ...clips.thresholds import MOMENT_S, SLOW_LEGS_PER_S, STEP_LEGS
from ...maths.arrays import FloatArray, runs
from ...skeletons.skeleton import MOST_BODIES, Pose, Skeleton
from ..joints import Joints
from ..stage import Stage
from .footholds import ground_axes
from .legs import Leg

_MOST_INSTANTS: Final = 20_000


@dataclass(frozen=True, eq=False)
class Ground:
    """The ground of a clip that climbs: it rises and falls with the clip's hips.

    limbs: its feet and hips. first: ground height above that at rest as the clip begins. hips: their height then, in
    the model's units.
    """

    limbs: _Limbs
    first: float
    hips: float

    def at(self, pose: Pose) -> FloatArray:
        """Return the ground height above that at rest in poses (F, J, …) of the clip, (F,)."""
        return np.asarray(self.first + self.limbs.hips(self.limbs.joints.positions(pose)) - self.hips)


def ground_of(piece: Clip | Excerpt | Stage, legs: tuple[Leg, ...], up: FloatArray,
              style: tuple[Interpolation, TranslationInterpolation]) -> Ground | None:
    """Return the ground of a piece that climbs, before its ends are shortened; None if it does not climb.

    A piece climbs if both its feet and its hips end higher or lower than they begin, and a foot is in contact nearly
    always. So jumps, falls, sitting and lying down do not count. up: (3,) of model space.
    """
    if isinstance(piece, Excerpt):
        if piece.goes_round:
            return None
        is_whole = not piece.is_reversed and piece.begin_s == 0.0 and piece.end_s == piece.whole.duration_s
        piece = piece.whole if is_whole else replace(piece, skips_s=(0.0, 0.0))
    if isinstance(piece, Clip):
        return piece.derived(_of_clip, legs, tuple(up.tolist()), style)
    sample = partial(piece.sample, interpolation=style[0], translation=style[1]) if isinstance(piece, Excerpt) else (
        piece.sample)
    return _found(sample, piece.duration_s, piece.skeleton, legs, tuple(up.tolist()))


@dataclass(frozen=True, eq=False)
class _Limbs:
    """Feet and hips of a body, and their heights at rest, (2 L,). leg: length of the legs."""

    joints: Joints
    rest: FloatArray
    leg: float

    @classmethod
    @lru_cache(maxsize=MOST_BODIES)
    def of(cls, skeleton: Skeleton, legs: tuple[Leg, ...], up: tuple[float, float, float]) -> _Limbs | None:
        """Take legs; return None if they have no length."""
        length = max((leg.length(skeleton) for leg in legs), default=0.0)
        if length <= 0.0:
            return None
        joints = Joints.of(skeleton, [*(leg.foot for leg in legs), *(leg.hip for leg in legs)])
        joints = joints.turned(ground_axes(np.array(up)))
        return cls(joints, joints.positions(Pose.rest(skeleton, 1))[0, :, 2], length)

    def feet(self, placed: FloatArray) -> FloatArray:
        """Return the heights of feet above those at rest, (F, L)."""
        return np.asarray((placed[..., 2] - self.rest)[:, :len(self.rest) // 2])

    def hips(self, placed: FloatArray) -> FloatArray:
        """Return the heights of hips above those at rest, (F,)."""
        return np.asarray((placed[..., 2] - self.rest)[:, len(self.rest) // 2:].mean(axis=1))


def _of_clip(clip: Clip, legs: tuple[Leg, ...], up: tuple[float, float, float],
             style: tuple[Interpolation, TranslationInterpolation]) -> Ground | None:
    return _found(partial(clip.sample, interpolation=style[0], translation=style[1]), clip.duration_s, clip.skeleton,
                  legs, up)


def _found(sample: Callable[[FloatArray], Pose], duration_s: float, skeleton: Skeleton, legs: tuple[Leg, ...],
           up: tuple[float, float, float]) -> Ground | None:
    limbs = _Limbs.of(skeleton, legs, up)
    if limbs is None:
        return None
    ends = limbs.joints.positions(sample(np.array((0.0, duration_s))))
    feet, hips = limbs.feet(ends), limbs.hips(ends)
    if abs(hips[1] - hips[0]) < STEP_LEGS[0] * limbs.leg or (
            np.abs(feet[1] - feet[0] - (hips[1] - hips[0])).max() > STEP_LEGS[0] * limbs.leg):
        return None
    times = np.linspace(0.0, duration_s, min(int(duration_s / SAMPLE_S) + 2, _MOST_INSTANTS))
    ways = np.diff(limbs.joints.positions(sample(times))[:, :feet.shape[1]], axis=0)
    are_fast = np.linalg.norm(ways, axis=-1).min(axis=1) > SLOW_LEGS_PER_S[1] * limbs.leg * times[1]
    if any((end - begin) * times[1] > MOMENT_S for begin, end in runs(are_fast)):
        return None
    return Ground(limbs, float(feet[0].min()), float(hips[0]))
