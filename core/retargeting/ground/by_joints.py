"""Brings joints to the ground: feet are as high as the source's, scaled by leg length, and the body does not hop.

If feet or shins have other proportions than the source's, the two feet ask for different heights of the body. As a heel
rises, this height also changes over time. So the height goes smoothly from one foot to the other, and legs raise or
lower their feet by the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.contacts import weight_within
from ...clips.keyed import SAME_S, SAMPLE_S, filled, key_times
from ...clips.posed import PosedJoints
from ...clips.thresholds import (
    BRIEF_S,
    FAR_LEGS,
    LIES_LEGS,
    LITTLE_LEGS,
    LOW_LEGS,
    LOW_PERCENT,
    NEAR_LEGS,
    POSTURE_S,
    SOFT_LEGS,
    STEP_LEGS,
    STRAIGHT,
    UPRIGHT_LEGS,
)
from ...maths.arrays import FloatArray, IntArray, merged
from ...maths.displacement import SoftBounds
from ...skeletons.hierarchy import with_ancestors
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..comparing.matching import SAME_POSITION, Pairing
from ..comparing.upright import FEET
from ..hips import HIPS
from ..limbs import Limb
from .fitted_curves import CONTACT_WEIGHT, SOFT_WEIGHT, ends_as_it_begins, smoothed
from .grounding import Ground, most_bent, most_drawn, most_put_down
from .lower_ground import LEVEL_LEGS_PER_S
from .off_ground import lowest_beside

_FEWEST_FRAMES = 6
"""Least number of frames that show a foot's contacts."""
_BENT = 1e-3
"""Share of the body's size: if the slope of the heights changes by more at a key, the middles beside it are sampled
too."""
_HALF_FLIGHT_S: Final = 0.2
"""Half of the longest short flight, as in a run. The body's height in it may differ from the clip's, so that the path
of the hips is smooth."""
_FLIGHT_SHARE: Final = 0.5
"""Share of the height of such a flight by which the body's height may differ. The limit is small, since what looks like
a flight may be a low step."""


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """A skeleton with its motion, for the heights of its feet.

    up: (3,) unit, in model space. translations: including those of limbs that are carried along.
    """

    skeleton: Skeleton
    rotations: Tracks
    translations: Tracks
    up: FloatArray

    def times(self, feet: IntArray) -> FloatArray:
        """Return the key times of all joints that move the feet, (F,)."""
        keep = with_ancestors(self.skeleton.parents, feet)
        return key_times(self.rotations, self.translations, joints=keep)

    def heights(self, feet: IntArray, times: FloatArray) -> FloatArray:
        """Return the heights of feet (J,) in the model, (F, J)."""
        return PosedJoints.of_tracks(self.skeleton, self.rotations, self.translations, feet).heights(times, self.up)


def _ground(heights: FloatArray, names: Sequence[str], times: FloatArray, leg: float) -> FloatArray:
    """Return the height of each foot joint (J,) in contact, from heights (F, J) at times (F,); equal on both sides.

    Ankles get the median of their heights while they are low and slow. Balls get their usual height meanwhile, since
    feet also turn on the heel. Feet that are never slow get their lowest usual height.
    """
    kinds = np.array([name[2:] for name in names])
    low = np.array([np.percentile(heights[:, kinds == kind], LOW_PERCENT, axis=0).min() for kind in kinds])
    if len(times) < 2 or leg <= 0.0 or not (kinds == "ankle").any():
        return low
    slow = np.abs(np.gradient(heights, times, axis=0)) < LEVEL_LEGS_PER_S * leg
    ankles, balls = (np.flatnonzero(kinds == kind) for kind in ("ankle", "metatarsal"))
    height = heights[:, ankles]
    stands = slow[:, ankles] & (height < np.percentile(height, LOW_PERCENT) + LOW_LEGS[0] * leg)
    if np.count_nonzero(stands) < _FEWEST_FRAMES:
        return low
    low[ankles] = np.median(height[stands])
    if len(balls) == len(ankles):
        flat = stands & slow[:, balls] & (np.abs(height - low[ankles]) < LITTLE_LEGS * leg)
        if np.count_nonzero(flat) >= _FEWEST_FRAMES:
            low[balls] = np.median(heights[:, balls][flat])
    return low


def _below_ankles(ground: FloatArray, names: Sequence[str], shape: FloatArray) -> FloatArray:
    """Return the heights (J,) of foot joints in contact, of a body that turns over.

    ground: (J,) their lowest usual heights. Its ankles come down to the height of the balls in contact, so the balls
    show how high an ankle is in contact. shape: (J,) the heights of the joints above each other, in a foot in contact.

    >>> _below_ankles(np.array((0.03, 0.03)), ("l_ankle", "l_metatarsal"), np.array((0.1, 0.03))).tolist()
    [0.1, 0.03]
    """
    kinds = np.array([name[2:] for name in names])
    ankles, balls = (kinds == kind for kind in ("ankle", "metatarsal"))
    if not balls.any():
        return ground
    above = shape - shape[balls].mean()
    return np.where(ankles, np.maximum(ground, ground[balls].mean() + above), ground)


def _hips_over_feet(source: BodyMotion, pairs: Pairing, heights: FloatArray, times: FloatArray) -> FloatArray:
    """Return the heights of the hips above the lowest foot joint at times (F,), (F,); infinite without hips."""
    hips = pairs.source[[name in HIPS for name in pairs.meant]]
    return np.asarray(source.heights(hips, times).min(axis=1, initial=np.inf) - heights.min(axis=1))


def _ground_at_rest(source: BodyMotion, pairs: Pairing, feet: IntArray, heights: FloatArray, times: FloatArray,
                    seen: FloatArray) -> FloatArray:
    """Return the heights of foot joints (J,) on the ground, by the rest pose. heights: (F, J) at times (F,).

    seen: (J,) as found in the motion. It replaces the rest pose if the legs are bent or spread there, unless both agree
    nearly: then the body stands on the ground at rest all the same. If a body that stands is always lower than at rest,
    the ground is lower, too.
    """
    legs = _legs(source, pairs)
    rest = np.asarray(source.skeleton.rest_world[feet, :, 3] @ source.up)
    if not len(legs):
        return rest
    height = float((legs.sum(axis=1) @ source.up).mean())
    leg = _leg(source, pairs)
    is_told = height >= STRAIGHT * leg or np.abs(rest - seen).max() < NEAR_LEGS[0] * leg
    if not is_told:
        return seen
    high = _hips_over_feet(source, pairs, heights, times).max()  # without hips, it counts as standing
    return rest + _sunken_ground((heights - rest).min(axis=1), times, leg) if high > UPRIGHT_LEGS * leg else rest


def _sunken_ground(lower: FloatArray, times: FloatArray, leg: float) -> float:
    """Return the height of the ground, below 0, of a clip that is below the ground all the time; else 0.

    lower: (F,) the height of the lower foot above its height at rest at times (F,). It is 0 if the ground is not level:
    a body that goes down a step, or falls, begins on higher ground.
    """
    level = lowest_beside(times, lower, np.ones(len(times), dtype=np.bool_))
    is_level = np.ptp(level) < LOW_LEGS[1] * leg
    return float(level.max()) if is_level and level.max() < -STEP_LEGS[0] * leg else 0.0


def _legs(body: BodyMotion, pairs: Pairing) -> FloatArray:
    """Return thigh and shin of the source's legs at rest, upwards, (L, 2, 3)."""
    at = {name: body.skeleton.rest_world[joint, :, 3]
          for name, joint in zip(pairs.meant, pairs.source.tolist(), strict=True)}
    legs = [(at[f"{side}_hip"] - at[f"{side}_knee"], at[f"{side}_knee"] - at[f"{side}_ankle"]) for side in "lr"
            if {f"{side}_hip", f"{side}_knee", f"{side}_ankle"} <= at.keys()]
    return np.array(legs).reshape(-1, 2, 3)


def _leg(body: BodyMotion, pairs: Pairing) -> float:
    """Return the length of the source's legs, 0 if none is known."""
    lengths = np.linalg.norm(_legs(body, pairs), axis=-1).sum(axis=1)
    return float(lengths.mean()) if len(lengths) else 0.0


@dataclass(frozen=True, eq=False)
class _Heights:
    """Heights of L feet at times (F,).

    lowest: (F,) the wanted height of the lower foot. feet: (F, L) the height of each foot above its height at rest.
    below: (F, L) how far each ankle is below its hip; 0 for a foot without a leg.
    """

    times_s: FloatArray
    lowest: FloatArray
    feet: FloatArray
    below: FloatArray

    @property
    def lift(self) -> FloatArray:
        """The lifts (F,) of the body that bring its lower foot to its wanted height."""
        return np.asarray(self.lowest - self.feet.min(axis=1))

    def __or__(self, other: _Heights) -> _Heights:
        """Return both together, in order of time."""
        order = np.argsort(np.concatenate((self.times_s, other.times_s)))
        return _Heights(*(np.concatenate((getattr(self, each), getattr(other, each)))[order]
                          for each in ("times_s", "lowest", "feet", "below")))


def ground_by_joints(source: BodyMotion, target: BodyMotion, pairs: Pairing, found: SkeletonMap, ratio: float,
                     is_ground_known: bool, has_skin: bool = False) -> Ground | None:
    """Return offsets that put the target's feet as high as the source's, scaled by leg length; None if nothing changes.

    Otherwise bodies of other proportions would float or sink where they bend, sit or lie. At the clip's ends, the
    offsets depend on the pose alone, so that clips still fit together. found: the map of the target's skeleton.
    is_ground_known: whether the source's rest pose shows the ground, if its legs are straight. If not, the ground is
    where its feet seldom go lower, since markers are not soles.
    """
    feet = np.flatnonzero([name in FEET for name in pairs.meant])
    names = [str(pairs.meant[foot]) for foot in feet.tolist()]
    if not len(feet):
        return None
    ours, theirs = pairs.target[feet], pairs.source[feet]
    times = filled(merged(source.times(theirs), target.times(ours)))
    there = source.heights(theirs, times)
    leg = _leg(source, pairs)
    rest = target.skeleton.rest_world[ours, :, 3] @ target.up
    ground = _ground(there, names, times, leg)
    if _hips_over_feet(source, pairs, there, times).min() < -FAR_LEGS[1] * leg:
        ground = _below_ankles(ground, names, rest / ratio)
    if is_ground_known:
        ground = _ground_at_rest(source, pairs, theirs, there, times, ground)
    sides = sorted({name[0] for name in names})
    legs = tuple(Limb.of(found, side, ("hip", "knee", "ankle")) for side in sides)
    ends = [(0, 0) if limb is None else (limb.first, limb.last) for limb in legs]

    def measured(when: FloatArray, there: FloatArray) -> _Heights:
        lowest = ratio * (there - ground).min(axis=1)
        here, high = np.split(target.heights(np.append(ours, ends), when), [len(ours)], axis=1)
        by_foot = [(here - rest)[:, [name[0] == side for name in names]].min(axis=1) for side in sides]
        return _Heights(when, lowest, np.stack(by_foot, axis=1), high[:, ::2] - high[:, 1::2])

    heights = measured(times, there)
    size = target.skeleton.size
    if np.abs(heights.lift).max() <= SAME_POSITION * size:
        return None
    if has_skin:
        return Ground.lifting(times, heights.lift, legs)
    between = _bend_times(times, heights.lift, _BENT * size)
    if len(between):
        heights |= measured(between, source.heights(theirs, between))
    return _smooth_ground(heights, legs, ratio * leg, target)


def _smooth_ground(heights: _Heights, legs: tuple[Limb | None, ...], leg: float, target: BodyMotion) -> Ground:
    """Return offsets that bring the lower foot to its wanted height, with one smooth curve for the body.

    Legs raise and lower the feet by the difference. If they cannot, the feet hang, or the body rises.
    """
    times, lift = heights.times_s, heights.lift
    most, sunk = most_drawn(heights.below, max(leg, 1e-30)), heights.lowest[:, None] - heights.feet
    is_cycle = ends_as_it_begins(np.column_stack((heights.lowest, heights.feet)), leg)
    inside = np.clip(np.minimum(times - times[0], times[-1] - times) / BRIEF_S, 1.0 if is_cycle else 0.0, 1.0)
    most *= inside[:, None]
    lies = _without_brief_lows(times, heights.below.max(axis=1)) < LIES_LEGS * leg
    frames = np.flatnonzero(~lies) if np.ptp(lift) > SOFT_LEGS * leg else np.zeros(0, np.int64)
    bent, down = _reaches(heights, legs, target, frames)
    flies = np.minimum(_FLIGHT_SHARE * _flight_heights(times, heights.lowest), NEAR_LEGS[0] * leg)
    curve = lift
    if len(frames):
        least = np.minimum((sunk - most).max(axis=1), lift)
        soft_lo = np.maximum((sunk - np.minimum(most, bent)).max(axis=1) - flies, least)
        puts = np.where(lift[:, None] > sunk, np.inf, down).min(axis=1)
        soft_hi = np.maximum(lift + flies + LITTLE_LEGS * leg + np.minimum(puts, leg), soft_lo)
        weights, none = np.full((1, len(times)), SOFT_WEIGHT), np.full((1, len(times)), np.inf)
        soft = SoftBounds(np.where(lies, lift, soft_lo)[None], none, weights, np.zeros(weights.shape))
        curve = smoothed(times, lift[None], POSTURE_S, weight=np.where(lies, CONTACT_WEIGHT, 1.0), lo=least,
                         hi=np.where(lies, np.maximum(lift, least), soft_hi), keeps_ends=True, is_cycle=is_cycle,
                         soft=soft)[0]
        seen = times[np.abs(curve - lift) > SOFT_LEGS * leg]
        share = weight_within(times, seen[:, None].repeat(2, axis=1), POSTURE_S)
        curve = lift + share * (curve - lift)
    higher, over = np.maximum(curve - lift, 0.0)[:, None], curve[:, None] - sunk
    further = np.maximum(-over - np.minimum(most, bent), 0.0)
    drawn = np.maximum(-over - np.minimum(further, flies[:, None]), 0.0)
    drawn -= np.clip(2.0 * higher - over, 0.0, np.minimum(higher, down))
    return Ground(times, curve, legs, drawn)


def _without_brief_lows(times: FloatArray, high: FloatArray) -> FloatArray:
    """Return heights (F,) at times (F,), without low values that last only a moment."""
    every = np.ones(len(times), np.bool_)
    return lowest_beside(times, -lowest_beside(times, -high, every, _HALF_FLIGHT_S), every, _HALF_FLIGHT_S)


def _flight_heights(times: FloatArray, lowest: FloatArray) -> FloatArray:
    """Return the height of the lower foot above its heights shortly before and after, (F,)."""
    return np.asarray(np.maximum(lowest + _without_brief_lows(times, -lowest), 0.0))


def _reaches(heights: _Heights, legs: tuple[Limb | None, ...], target: BodyMotion,
             frames: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return how far legs can raise feet without bending knees much, and how far they can lower them, (F, L) each.

    Computed only in some frames (N,).
    """
    bent, down = np.zeros((2, *heights.feet.shape))
    clip = Clip("", target.skeleton, float(heights.times_s[-1]), target.rotations, target.translations, Tracks.empty(3))
    for column, leg in enumerate(legs):
        if leg is not None and len(frames):
            at = heights.times_s[frames], heights.below[frames, column]
            bent[frames, column], down[frames, column] = most_bent(clip, leg, *at), most_put_down(clip, leg, *at)
    return bent, down


def _bend_times(times: FloatArray, lift: FloatArray, bent: float) -> FloatArray:
    """Return the middles of gaps between times (F,) beside which the slope of the lift changes by more than `bent`."""
    turns = np.abs(np.diff(lift, 2, prepend=lift[:1], append=lift[-1:])) > bent
    gaps = np.flatnonzero((turns[:-1] | turns[1:]) & (np.diff(times) > SAMPLE_S + SAME_S))
    return np.asarray((times[gaps] + times[gaps + 1]) / 2.0)
