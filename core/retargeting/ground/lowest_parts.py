"""How high the lowest parts of a body are that may bear it besides its feet: by its skin, or by joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..comparing.reference import rebased
from ..comparing.upright import FEET
from ..limbs import Limb
from ..skin_points import SkinPoints
from .bearing_skin import may_touch
from .bearing_trunk import ABOUT_LEGS, FEWEST, OF_ARMS, plain_name
from .touching import leg_length


class LowestParts(NamedTuple):
    """How high a body's lowest parts are above the ground at times (F,), (F,) each: of all but feet and arms; of arms.

    In legs. Arms are what is below the elbows, feet what is below the middle of the shins.
    """

    body: FloatArray
    arms: FloatArray

    @classmethod
    def of(cls, clip: Clip, found: SkeletonMap, points: SkinPoints | None, times: FloatArray, up: FloatArray,
           ground: float) -> LowestParts:
        """Measure a body with a map of its skeleton; points: of its skin, None if it is not known.

        ground: how high the lowest joint of its feet is on it.
        """
        leg = leg_length(found)
        skinned = None if points is None else _by_skin(clip, found, points, times, up, ground)
        body, arms = _by_joints(clip, found, times, up, ground, leg) if skinned is None else skinned
        return cls(body / leg, arms / leg)

    def borne(self, hands: FloatArray) -> FloatArray:
        """Return how high the lowest of both is, (F,), where hands bear the body so much, (F,)."""
        return np.asarray(self.body - hands * np.maximum(self.body - np.minimum(self.arms, self.body), 0.0))


def points_of(clip: Clip) -> SkinPoints | None:
    """Return points of a clip's own skin, where it is known."""
    if clip.skin is None:
        return None
    places = clip.skin.of_joints(clip.skeleton, np.ones(len(clip.skeleton), np.bool_))
    return SkinPoints.of(places, clip.skin.joints[:, None], np.ones((len(places), 1)))


def _by_skin(clip: Clip, found: SkeletonMap, points: SkinPoints, times: FloatArray, up: FloatArray,
             ground: float) -> tuple[FloatArray, FloatArray] | None:
    """Return how high the lowest skin of a body, and of its arms, is above its soles; None: there is too little."""
    points = points.part(may_touch(points, found, clip.skeleton))
    is_arm, is_foot = _of_arms(points, found), _of_feet(points, found, clip.skeleton)
    is_body = ~is_arm & ~is_foot
    if min(np.count_nonzero(is_body), np.count_nonzero(is_foot)) < FEWEST:
        return None
    still = rebased(Clip("", found.skeleton, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3)), clip.skeleton)
    sole = lowest_foot(found, up) - float(points.part(is_foot).heights(still, np.zeros(1), up).min())
    body, arms = (points.part(own).heights(clip, times, up).min(axis=1, initial=np.inf) - ground + sole
                  for own in (is_body, is_arm))
    return body, arms


def _by_joints(clip: Clip, found: SkeletonMap, times: FloatArray, up: FloatArray, ground: float,
               leg: float) -> tuple[FloatArray, FloatArray]:
    """Return how high the lowest joints of a body, and of its arms, are, less what usually is about them."""
    known = {name: joint for name, joint in found.joint_of.items() if plain_name(name) in ABOUT_LEGS}
    about = leg * np.array([ABOUT_LEGS[plain_name(name)] for name in known])
    high = PosedJoints.of(clip, np.array([*known.values()], dtype=np.int64)).heights(times, up) - about - ground
    is_arm = np.array([plain_name(name) in OF_ARMS for name in known], dtype=np.bool_)
    return high[:, ~is_arm].min(axis=1, initial=np.inf), high[:, is_arm].min(axis=1, initial=np.inf)


def lowest_foot(found: SkeletonMap, up: FloatArray) -> float:
    """Return how high the lowest joint of a body's feet rests along up (3,)."""
    feet = [found.joint_of[name] for name in FEET if name in found.joint_of]
    return float((found.skeleton.rest_world[feet, :, 3] @ up).min())


def _of_arms(points: SkinPoints, found: SkeletonMap) -> BoolArray:
    """Return which points (P,) are of an arm below its elbow."""
    elbows = [found.joint_of[f"{side}_elbow"] for side in "lr" if f"{side}_elbow" in found.joint_of]
    return with_descendants(found.skeleton.parents, np.array(elbows, dtype=np.int64))[points.joints[:, 0]]


def _of_feet(points: SkinPoints, found: SkeletonMap, own: Skeleton) -> BoolArray:
    """Return which points (P,) are of a foot, or of a shin and nearer to the ankle; own: as the skin rests."""
    joints, is_foot = found.joint_of, np.zeros(len(points.positions), np.bool_)
    for side in "lr":
        limb = Limb.of(found, side, ("hip", "knee", "ankle"))
        if limb is not None:
            knee, ankle = own.rest_world[[limb.middle, limb.last], :, 3]
            is_low = np.linalg.norm(points.positions - ankle, axis=1) < np.linalg.norm(points.positions - knee, axis=1)
            is_foot |= with_descendants(own.parents, np.array([limb.middle]))[points.joints[:, 0]] & is_low
        if f"{side}_ankle" in joints:
            is_foot |= with_descendants(own.parents, np.array([joints[f"{side}_ankle"]]))[points.joints[:, 0]]
    return is_foot
