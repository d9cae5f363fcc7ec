"""The ground by joints: the lower foot is as high above it as the source's, by the legs' ratio.

What height the body takes from one foot may differ from what it takes from the other, if feet or shins have other
proportions than the source's; and from one moment to the next, as a heel rises. Where the skin is not known that would
tell where soles are, it goes softly from one to the other (soft_ground.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.contacts import depth_within
from ...clips.keyed import SAMPLE_S, filled
from ...maths.arrays import FloatArray, merged, smoothstep
from ...skeletons.maps import SkeletonMap
from ..comparing.matching import SAME_POSITION, Pairing
from ..comparing.upright import FEET
from ..limbs import Limb
from .arms_off_ground import ArmsOnGround
from .clip_ground import BodyMotion, ground_of_feet, leg_of
from .fitted_curves import POSTURE_S
from .grounding import Ground
from .off_ground import lowest_beside
from .soft_ground import FOOT_ON_LEGS, Measured, softly
from .touching import FULL_WEIGHT

_BENT = 1e-3
"""Of the body's size: where heights change direction by more at a key, the middles beside it are sampled too."""
_CLOSE = 1.01
"""Of SAMPLE_S: keys that are no farther apart are close enough for every joint between them."""
_LIES_LEGS: Final = 0.55
"""So far below its hip at most is the lower ankle of a body that lies or sits."""
_UNSEEN_LEGS: Final = 0.005
"""Hips that go by no more another way stay on it, and so do legs."""
_MOMENT_S: Final = 0.2
"""Half of the longest moment: who is so low for no longer, as in a run with low hips, does not lie."""


@dataclass(frozen=True, eq=False)
class _Heights:
    """How high L feet are at times (F,).

    lowest: (F,) how high the lower foot is to be. feet: (F, L) how high each is above its height at rest. below: (F, L)
    how far below its hip each ankle is; 0 for a foot without a leg.
    """

    times_s: FloatArray
    lowest: FloatArray
    feet: FloatArray
    below: FloatArray

    @property
    def lift(self) -> FloatArray:
        """By how much the body is to be lifted (F,) for its lower foot to be so high."""
        return np.asarray(self.lowest - self.feet.min(axis=1))

    def __or__(self, other: _Heights) -> _Heights:
        """Return those of both, in order of time."""
        order = np.argsort(np.concatenate((self.times_s, other.times_s)))
        return _Heights(*(np.concatenate((getattr(self, each), getattr(other, each)))[order]
                          for each in ("times_s", "lowest", "feet", "below")))


def ground_by_joints(source: BodyMotion, target: BodyMotion, pairs: Pairing, found: SkeletonMap, ratio: float,
                     is_ground_known: bool, has_skin: bool = False) -> Ground | None:
    """Return what brings the target's feet as high above the ground as the source's, by the legs' ratio; None: nothing.

    Bodies of other proportions would otherwise float or sink where they bend, sit or lie. At the clip's ends what the
    feet do is a matter of the pose alone, so that clips go on fitting together.
    found: the map of the target's skeleton. is_ground_known: the source's rest pose says how high it stands, as far as
    its legs are straight; if not, its feet are taken to stand where they seldom go lower, since markers are no soles.
    """
    feet = np.flatnonzero([name in FEET for name in pairs.meant])
    names = [str(pairs.meant[foot]) for foot in feet.tolist()]
    if not len(feet):
        return None
    ours, theirs = pairs.target[feet], pairs.source[feet]
    times = filled(merged(source.times(theirs), target.times(ours)))
    there, leg = source.heights(theirs, times), leg_of(source, pairs)
    rest = target.skeleton.rest_world[ours, :, 3] @ target.up
    ground = ground_of_feet(source, pairs, times, there, rest / ratio, is_ground_known)
    sides = sorted({name[0] for name in names})
    legs = tuple(Limb.of(found, side, ("hip", "knee", "ankle")) for side in sides)
    ends = [(0, 0) if limb is None else (limb.first, limb.last) for limb in legs]

    def measured(when: FloatArray, there: FloatArray) -> _Heights:
        lowest = ratio * (there - ground).min(axis=1)
        here, high = np.split(target.heights(np.append(ours, ends), when), [len(ours)], axis=1)
        by_foot = [(here - rest)[:, [name[0] == side for name in names]].min(axis=1) for side in sides]
        return _Heights(when, lowest, np.stack(by_foot, axis=1), high[:, ::2] - high[:, 1::2])

    heights = measured(times, there)
    size = float(np.ptp(target.skeleton.rest_world[:, :, 3], axis=0).max())
    if np.abs(heights.lift).max() <= SAME_POSITION * size:
        return None
    if not has_skin and len(between := _where_bent(times, heights.lift, _BENT * size)):
        heights |= measured(between, source.heights(theirs, between))
    lifted = Ground(heights.times_s, heights.lift, legs, np.zeros(heights.feet.shape))
    return lifted if has_skin else _softly(heights, lifted, ratio * leg, target)


def _softly(heights: _Heights, lifted: Ground, leg: float, target: BodyMotion) -> Ground:
    """Return what else brings feet to their heights as softly as skin (soft_ground.py); all in one with what lifted it.

    The ground goes up and down with the lower foot. Who lies or sits stays as high as that.
    """
    times, low = heights.times_s, heights.feet + (heights.lift - heights.lowest)[:, None]
    lies = (_longer(times, heights.below.max(axis=1)) < _LIES_LEGS * leg).astype(np.float64)
    touching = np.column_stack((1.0 - smoothstep(low / leg, *FOOT_ON_LEGS), lies))
    skin, none, free = np.column_stack((low, np.zeros(len(low)))), np.zeros((len(low), 0)), np.full(low.shape, np.inf)
    weight = np.column_stack((touching[:, :-1], FULL_WEIGHT * lies))
    found = Measured(times, skin, skin, free, free[:, 0], touching, weight, lifted.legs, heights.below,
                     ArmsOnGround(none, none, none), leg)
    clip = Clip("", target.skeleton, float(times[-1]), target.rotations, target.translations, Tracks.empty(3))
    ground = softly(found, clip, (lifted,))
    seen = times[np.abs(ground.lift) > _UNSEEN_LEGS * leg]
    share = smoothstep(depth_within(times, seen[:, None].repeat(2, axis=1)), -POSTURE_S, 0.0)
    return replace(ground, lift=lifted.lift + share * ground.lift, drawn=share[:, None] * ground.drawn)


def _longer(times: FloatArray, high: FloatArray) -> FloatArray:
    """Return how high something is (F,) at times (F,), without what is low for a moment only."""
    every = np.ones(len(times), np.bool_)
    return lowest_beside(times, -lowest_beside(times, -high, every, _MOMENT_S), every, _MOMENT_S)


def _where_bent(times: FloatArray, lift: FloatArray, bent: float) -> FloatArray:
    """Return the middles of gaps between times (F,) at which a value's slope changes too much."""
    turns = np.abs(np.diff(lift, 2, prepend=lift[:1], append=lift[-1:])) > bent
    gaps = np.flatnonzero((turns[:-1] | turns[1:]) & (np.diff(times) > _CLOSE * SAMPLE_S))
    return np.asarray((times[gaps] + times[gaps + 1]) / 2.0)
