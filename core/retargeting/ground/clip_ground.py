"""How high the ground of a clip is: where its feet rest, unless its motion shows that they stand elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.contacts import LOW_LEGS, LOWEST_PERCENT
from ...clips.keyed import key_times
from ...clips.posed import PosedJoints
from ...maths.arrays import FloatArray, IntArray
from ...skeletons.hierarchy import with_ancestors
from ...skeletons.skeleton import Skeleton
from ..comparing.matching import Pairing
from ..comparing.upright import FEET
from ..hips import HIPS
from .off_ground import lowest_beside
from .touching import NEAR_LEGS

_SELDOM_PERCENT: Final = 10.0
"""Joints of feet that are seldom lower stand so high: ankles and balls tip into the ground for longer than soles do."""
STRAIGHT: Final = 0.97
"""Of the leg's length: legs that rest as straight as that, 14° apart at most, stand on the ground."""
_OVER_LEGS: Final = 0.3
"""Who has both feet so far above his hips turns over, or stands on his hands."""
_SUNK_LEGS: Final = 0.08
"""Who is always deeper in the ground plays elsewhere than he rests; by less, soles that tip on their toes may be."""
_STANDS_LEGS: Final = 0.7
"""So far below its hip at least is the lower ankle of a body that stands; who lies or sits is not on his feet."""


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


def ground_of_feet(source: BodyMotion, pairs: Pairing, times: FloatArray, heights: FloatArray, shape: FloatArray,
                   is_known: bool) -> FloatArray:
    """Return how high joints (J,) of feet are while they stand on the ground of a motion.

    heights: (F, J) of them at times (F,). shape: (J,) how high they are above each other in a foot that stands.
    is_known: the rest pose tells how high that is, as far as its legs are straight.
    """
    feet = np.flatnonzero([name in FEET for name in pairs.meant])
    kinds, leg = [str(pairs.meant[foot])[2:] for foot in feet.tolist()], leg_of(source, pairs)
    lowest = np.percentile(heights, _SELDOM_PERCENT, axis=0)
    ground = np.array([lowest[[other == kind for other in kinds]].min() for kind in kinds])
    if _hips_over_feet(source, pairs, heights, times).min() < -_OVER_LEGS * leg:
        ground = _below_ankles(ground, kinds, shape)
    return _ground_at_rest(source, pairs, pairs.source[feet], heights, times, ground) if is_known else ground


def _below_ankles(ground: FloatArray, kinds: Sequence[str], shape: FloatArray) -> FloatArray:
    """Return how high foot joints (J,) stand of one who turns over; ground: (J,) where they seldom go lower.

    His ankles come down to where balls stand, and these tell how high an ankle is. shape: (J,) how high joints are
    above each other in a foot that stands.

    >>> _below_ankles(np.array((0.03, 0.03)), ("ankle", "metatarsal"), np.array((0.1, 0.03))).tolist()
    [0.1, 0.03]
    """
    ankles, balls = (np.array([each == kind for each in kinds]) for kind in ("ankle", "metatarsal"))
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
    leg = leg_of(source, pairs)
    is_told = height >= STRAIGHT * leg or np.abs(rest - seen).max() < NEAR_LEGS[0] * leg
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


def leg_of(body: BodyMotion, pairs: Pairing) -> float:
    """Return how long a leg of the source is, 0 if none is known."""
    lengths = np.linalg.norm(_legs(body, pairs), axis=-1).sum(axis=1)
    return float(lengths.mean()) if len(lengths) else 0.0


def ground_height(clip: Clip, feet: Sequence[int], heights: FloatArray, up: FloatArray) -> float:
    """Return how high a clip's ground is along up (3,): where its feet rest, or seldom are lower.

    feet: joints (N,) of them. heights: (F, N) how high they are.
    """
    return min(float(clip.skeleton.rest_world[feet, :, 3].dot(up).min()), float(np.percentile(heights, LOWEST_PERCENT)))
