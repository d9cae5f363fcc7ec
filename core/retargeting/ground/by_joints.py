"""The ground by joints: the lower foot is as high above it as the source's, by the legs' ratio.

What height the body takes from one foot may differ from what it takes from the other, if feet or shins have other
proportions than the source's; and from one moment to the next, as a heel rises. Where the skin is not known that would
tell where soles are, it goes softly from one to the other (soft_ground.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.contacts import LOW_LEGS, depth_within
from ...clips.keyed import SAMPLE_S, filled, key_times
from ...clips.posed import PosedJoints
from ...maths.arrays import FloatArray, IntArray, merged, smoothstep
from ...skeletons.hierarchy import with_ancestors
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..comparing.matching import SAME_POSITION, Pairing
from ..comparing.upright import FEET
from ..hips import HIPS
from ..limbs import Limb
from .arms_off_ground import ArmsOnGround
from .fitted_curves import POSTURE_S
from .grounding import Ground
from .lower_ground import LEVEL_LEGS_PER_S
from .off_ground import lowest_beside
from .soft_ground import ON_LEGS, Measured, softly
from .touching import FULL_WEIGHT, NEAR_LEGS

_STANDING_PERCENT, _LOWEST_PERCENT, _BALLS_PERCENT = 10.0, 5.0, 40.0
_LOW_LEGS, _FLAT_LEGS = 0.04, 0.01
"""A foot stands while it is so slow up or down, its ankle is at most so far above its lowest, and stays so level."""
_FEWEST = 6
"""With fewer frames than this a foot is not known to stand."""
_BENT = 1e-3
"""Of the body's size: where heights change direction by more at a key, the middles beside it are sampled too."""
_CLOSE = 1.01
"""Of SAMPLE_S: keys that are no farther apart are close enough for every joint between them."""
_STRAIGHT = 0.97
"""Of the leg's length: legs that rest as straight as that, 14° apart at most, stand on the ground."""
_OVER_LEGS: Final = 0.3
"""Who has both feet so far above his hips turns over, or stands on his hands."""
_SUNK_LEGS: Final = 0.08
"""Who is always deeper in the ground plays elsewhere than he rests; by less, soles that tip on their toes may be."""
_STANDS_LEGS: Final = 0.7
"""So far below its hip at least is the lower ankle of a body that stands; who lies or sits is not on his feet."""
_LIES_LEGS: Final = 0.55
"""And no farther is that of one who lies or sits; in between he crouches or strides."""
_UNSEEN_LEGS: Final = 0.005
"""Hips that go by no more another way stay on it, and so do legs."""
_MOMENT_S: Final = 0.2
"""Half of the longest moment: who is so low for no longer, as in a run with low hips, does not lie."""


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """A skeleton with its motion, of which the feet's heights are wanted.

    up: (3,) unit, in model space. translations: with those of limbs that are carried along.
    """

    skeleton: Skeleton
    rotations: Tracks
    translations: Tracks
    up: FloatArray

    def times(self, feet: IntArray) -> FloatArray:
        """Return when anything is keyed that carries the feet, (F,)."""
        keep = with_ancestors(self.skeleton.parents, feet)
        return key_times(self.rotations, self.translations, joints=keep)

    def heights(self, feet: IntArray, times: FloatArray) -> FloatArray:
        """Return how high feet (J,) are in the model, (F, J)."""
        return PosedJoints.of_tracks(self.skeleton, self.rotations, self.translations, feet).heights(times, self.up)


def _ground(heights: FloatArray, names: Sequence[str], times: FloatArray, leg: float) -> FloatArray:
    """Return the height of each foot joint (J,) while it stands: heights (F, J) at times (F,), alike on both sides.

    Ankles stand where they are low and slow, in the middle of such heights; the balls of the feet are as high as they
    mostly are meanwhile, some of it being turns on the heel. Feet that are never slow stand where they seldom go lower.
    """
    kinds = np.array([name[2:] for name in names])
    low = np.array([np.percentile(heights[:, kinds == kind], _STANDING_PERCENT, axis=0).min() for kind in kinds])
    if len(times) < 2 or leg <= 0.0 or not (kinds == "ankle").any():
        return low
    slow = np.abs(np.gradient(heights, times, axis=0)) < LEVEL_LEGS_PER_S * leg
    ankles, balls = (np.flatnonzero(kinds == kind) for kind in ("ankle", "metatarsal"))
    height = heights[:, ankles]
    stands = slow[:, ankles] & (height < np.percentile(height, _LOWEST_PERCENT) + _LOW_LEGS * leg)
    if np.count_nonzero(stands) < _FEWEST:
        return low
    low[ankles] = np.median(height[stands])
    if len(balls) == len(ankles):
        flat = stands & slow[:, balls] & (np.abs(height - low[ankles]) < _FLAT_LEGS * leg)
        if np.count_nonzero(flat) >= _FEWEST:
            low[balls] = np.percentile(heights[:, balls][flat], _BALLS_PERCENT)
    return low


def _below_ankles(ground: FloatArray, names: Sequence[str], shape: FloatArray) -> FloatArray:
    """Return how high foot joints (J,) stand of one who turns over; ground: (J,) where they seldom go lower.

    His ankles come down to where balls stand, and these tell how high an ankle is. shape: (J,) how high joints are
    above each other in a foot that stands.

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
    """Return how far hips are above the lowest foot joint at times (F,), (F,); infinite where there are none."""
    hips = pairs.source[[name in HIPS for name in pairs.meant]]
    return np.asarray(source.heights(hips, times).min(axis=1, initial=np.inf) - heights.min(axis=1))


def _ground_at_rest(source: BodyMotion, pairs: Pairing, feet: IntArray, heights: FloatArray, times: FloatArray,
                    seen: FloatArray) -> FloatArray:
    """Return how high foot joints (J,) are on the ground, as the rest pose tells; heights (F, J) at times (F,).

    Where bent or spread legs do not tell, as seen in the motion. Characters stand on the ground at rest all the same;
    the motion then shows nearly that height. Who stands and never comes up to it rests elsewhere than he plays.
    """
    legs = _legs(source, pairs)
    rest = np.asarray(source.skeleton.rest_world[feet, :, 3] @ source.up)
    if not len(legs):
        return rest
    height = float((legs.sum(axis=1) @ source.up).mean())
    leg = _leg(source, pairs)
    is_told = height >= _STRAIGHT * leg or np.abs(rest - seen).max() < NEAR_LEGS[0] * leg
    if not is_told:
        return seen
    high = _hips_over_feet(source, pairs, heights, times).max()  # where there are no hips, nothing tells that it lies
    return rest + _sunk((heights - rest).min(axis=1), times, leg) if high > _STANDS_LEGS * leg else rest


def _sunk(lower: FloatArray, times: FloatArray, leg: float) -> float:
    """Return how high the ground is of a clip that is below the ground all the while, less than 0; else 0.

    lower: (F,) how high the lower foot is above where it rests at times (F,). Only where the ground is level: who goes
    down a step, or falls, comes from a higher one.
    """
    level = lowest_beside(times, lower, np.ones(len(times), dtype=np.bool_))
    is_level = np.ptp(level) < LOW_LEGS[1] * leg
    return float(level.max()) if is_level and level.max() < -_SUNK_LEGS * leg else 0.0


def _legs(body: BodyMotion, pairs: Pairing) -> FloatArray:
    """Return thigh and shin of the source's legs at rest, upwards, (L, 2, 3)."""
    at = {name: body.skeleton.rest_world[joint, :, 3]
          for name, joint in zip(pairs.meant, pairs.source.tolist(), strict=True)}
    legs = [(at[f"{side}_hip"] - at[f"{side}_knee"], at[f"{side}_knee"] - at[f"{side}_ankle"]) for side in "lr"
            if {f"{side}_hip", f"{side}_knee", f"{side}_ankle"} <= at.keys()]
    return np.array(legs).reshape(-1, 2, 3)


def _leg(body: BodyMotion, pairs: Pairing) -> float:
    """Return how long a leg of the source is, 0 if none is known."""
    lengths = np.linalg.norm(_legs(body, pairs), axis=-1).sum(axis=1)
    return float(lengths.mean()) if len(lengths) else 0.0


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
    there = source.heights(theirs, times)
    leg = _leg(source, pairs)
    rest = target.skeleton.rest_world[ours, :, 3] @ target.up
    ground = _ground(there, names, times, leg)
    if _hips_over_feet(source, pairs, there, times).min() < -_OVER_LEGS * leg:
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
    touching = np.column_stack((1.0 - smoothstep(low / leg, *ON_LEGS), lies))
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
