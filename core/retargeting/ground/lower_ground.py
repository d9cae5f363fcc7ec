"""The ground of clips that go down, as on stairs: it is lower there, and the body is not in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import FINE_S, SAMPLE_S
from ...clips.posed import PosedJoints
from ...clips.thresholds import LOW_PERCENT, SHORTEST_S, STEP_LEGS, UPRIGHT_LEGS
from ...maths.arrays import BoolArray, FloatArray, runs, smoothstep
from ...skeletons.maps import SkeletonMap
from ..comparing.upright import FEET
from ..hips import HIPS
from .grounding import Ground, lifted

_STEP_S: Final = FINE_S / 2.0
"""Time between samples: short enough for every contact that lasts SHORTEST_S."""
LEVEL_LEGS_PER_S: Final = 0.15
"""A foot is in contact only while its vertical speed is at most this."""
_FALLEN_LEGS: Final = -1.0
"""A body that is so low at the end of the clip is still falling."""
_LEVEL_SOLE: Final = float(np.cos(np.radians(45.0)))
"""Cosine of the greatest tilt of a foot in contact. Feet of a kneeling body are tilted more."""


class LowerGround(NamedTuple):
    """The height of the ground at times (F,), (F,) in leg lengths: 0 where the body stands highest."""

    times_s: FloatArray
    legs: FloatArray

    def flat(self, clip: Clip, leg: float, up: FloatArray) -> Clip:
        """Return the clip as it would be on level ground. leg: the length of the body's legs. up: (3,) unit."""
        away = Ground.lifting(self.times_s, -leg * self.legs)
        return replace(clip, translations=lifted(clip.skeleton, clip.translations, away, up, None))


def lower_ground(clip: Clip, found: SkeletonMap, leg: float, up: FloatArray) -> LowerGround | None:
    """Return the ground of a clip that goes down, or None if it is level.

    found: the map of the joints, on the standing skeleton. leg: the length of the legs. up: (3,) unit. A body that is
    only a little below its earlier ground is in the ground. So is one that has no contact at the lower height, unless
    it is more than a leg lower at the end of the clip: then it is falling.
    """
    feet = [found.joint_of[name] for name in FEET if name in found.joint_of]
    if not feet or clip.duration_s < 2.0 * SAMPLE_S or leg <= 0.0 or not len(clip.translations):
        return None
    times = np.linspace(0.0, clip.duration_s, int(np.ceil(clip.duration_s / _STEP_S)) + 1)
    hips = [found.joint_of[name] for name in HIPS if name in found.joint_of] or feet
    posed = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, np.array((*feet, *hips)))
    rest = found.skeleton.rest_world[feet]
    legs = _level(times, *_lower_foot(posed, times, rest, leg, up))
    return LowerGround(times, legs) if legs.any() else None


def _lower_foot(posed: PosedJoints, times: FloatArray, rest: FloatArray, leg: float,
                up: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the lower foot's height above rest in leg lengths, and whether it may be in contact, (F,) each.

    posed: the joints of feet, then of hips. rest: (J, 3, 4) the feet at rest.
    """
    rows = posed.height_rows(times, up)
    of_feet, high = rows[:, :len(rest)], rows[3, len(rest):].mean(axis=0)
    away = of_feet[3] - (rest[..., 3] @ up)[:, None]
    lower = away.argmin(axis=0), np.arange(len(times))
    level = np.einsum("xjf,jx->jf", of_feet[:3], up @ np.linalg.inv(rest[..., :3]).swapaxes(1, 2))
    is_upright = (high - of_feet[3].min(axis=0) >= UPRIGHT_LEGS * leg) & (level[lower] >= _LEVEL_SOLE)
    return np.asarray(away[lower] / leg), np.asarray(is_upright)


def _level(times: FloatArray, feet: FloatArray, is_upright: BoolArray) -> FloatArray:
    """Return the height of the ground at times (F,), (F,). feet: (F,) the height of the lower foot above rest.

    is_upright: (F,) whether that foot may be in contact. In contacts, the ground is as high as the lower foot. Between
    two contacts, its height changes in step with that foot's.
    """
    feet = np.minimum(feet, 0.0)
    slow = (np.abs(np.gradient(feet, times)) < LEVEL_LEGS_PER_S) & is_upright
    is_standing = np.zeros(len(times), np.bool_)
    for begin, end in runs(slow):
        is_standing[begin:end] = times[end - 1] - times[begin] >= SHORTEST_S
    at = np.flatnonzero(is_standing)
    if not len(at):
        return np.zeros(len(times))
    below = np.maximum(np.percentile(feet[at], 100.0 - LOW_PERCENT) - feet[at], 0.0)
    stood = -below * smoothstep(below, *STEP_LEGS)
    before = np.searchsorted(at, np.arange(len(times)))
    ends = np.concatenate((stood[:1], stood, (-np.inf if feet[-1] < _FALLEN_LEGS else stood[-1],)))
    beside = ends[before + is_standing], ends[before + 1]
    goes = feet + np.interp(times, times[at], stood - feet[at])
    return np.asarray(np.clip(goes, np.minimum(*beside), np.maximum(*beside)))
