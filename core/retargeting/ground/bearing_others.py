"""How high a body is whose feet do not bear it, as in a roll: what is lowest on it is as high as in the clip.

While feet are high, and head, trunk or hands near the ground, feet tell nothing of how high a body is: one whose trunk
is shorter for its legs would roll in the air, and one whose trunk is longer would be thrown up by its own head. So its
own lowest skin is as high above the ground as the clip's, by the ratio of the legs; where the clip's skin is not
known, its joints with what usually is about them. Arms count as far as hands bear the body: others reach anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.contacts import foot_contacts
from ...clips.keyed import SAMPLE_S
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray, smoothstep
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..comparing.reference import rebased
from ..comparing.upright import FEET
from ..limbs import Limb
from ..skin_points import SkinPoints
from .bearing_hands import bearing_hands
from .bearing_skin import may_touch
from .eased import averaged
from .grounding import Ground
from .touching import ground_height, leg_length

_STEP_S: Final = SAMPLE_S / 2.0
_HIGHER_LEGS: Final = (0.15, 0.35)
"""Feet that are higher by the first than what else is lowest may bear the body; by the second, they do not."""
_NEAR_LEGS: Final = (0.15, 0.6)
"""What is no higher than the first may bear it instead; from the second on it is in the air, as high as in the clip."""
_MOMENT_S: Final = 0.05
"""Lifts are averaged over twice as long before and after; less so near a clip's ends, which go on fitting to others."""
_STILL_LEGS: Final = 1e-3
_FEWEST: Final = 8
"""So many vertices show the shape of what is about a joint."""
_ABOUT_LEGS: Final[Mapping[str, float]] = {
    "HumanoidRoot": 0.13, "hip": 0.13, "knee": 0.07, "vl5": 0.13, "vl3": 0.13, "vl1": 0.13, "vt10": 0.13, "vt6": 0.13,
    "vt3": 0.13, "shoulder": 0.08, "skullbase": 0.16, "elbow": 0.05, "wrist": 0.05}
"""How far skin usually is from joints, or from those on both sides."""
_OF_ARMS: Final = ("elbow", "wrist")


class _Lowest(NamedTuple):
    """How high a body's lowest parts are above the ground at times (F,), (F,) each: of all but feet and arms; of arms.

    In legs. Arms are what is below the elbows, feet what is below the middle of the shins.
    """

    body: FloatArray
    arms: FloatArray

    @classmethod
    def of(cls, clip: Clip, found: SkeletonMap, points: SkinPoints | None, times: FloatArray, up: FloatArray,
           ground: float) -> _Lowest:
        """Measure a body with a map of its skeleton; points: of its skin, None where it is not known.

        ground: how high the lowest joint of its feet is on it.
        """
        leg = leg_length(found)
        skinned = None if points is None else _by_skin(clip, found, points, times, up, ground)
        body, arms = _by_joints(clip, found, times, up, ground, leg) if skinned is None else skinned
        return cls(body / leg, arms / leg)

    def borne(self, hands: FloatArray) -> FloatArray:
        """Return how high the lowest of both is, (F,), where hands bear the body so much, (F,)."""
        return np.asarray(self.body - hands * np.maximum(self.body - np.minimum(self.arms, self.body), 0.0))


def at_others(source: Clip, source_map: SkeletonMap, played: Clip, found: SkeletonMap, points: SkinPoints,
              up: FloatArray) -> Ground | None:
    """Return by how much a body is to be lifted, or lowered, while its feet do not bear it; None: nowhere.

    source: the clip as it was compared, in the target's axes, with the map of its skeleton. played: what became of it,
    on the target's own skeleton. found: of the same joints, as the target stands. points: of its skin as it rests
    itself. up: (3,) unit.
    """
    leg, own_leg = leg_length(source_map), leg_length(found)
    feet = [source_map.joint_of[name] for name in FEET if name in source_map.joint_of]
    times = np.append(np.arange(0.0, source.duration_s, _STEP_S), source.duration_s)
    if not feet or min(own_leg, leg) <= 0.0 or len(times) < 2:
        return None
    heights = PosedJoints.of(source, np.array(feet)).heights(times, up)
    ground = ground_height(source, feet, heights, up)
    foot = (heights.min(axis=1) - ground) / leg
    near = np.flatnonzero(foot > _HIGHER_LEGS[0])
    if not len(near):
        return None
    lowest = _Lowest.of(source, source_map, _points_of(source), times[near], up, ground)
    least = np.maximum(lowest.borne(np.ones(len(near))), 0.0)
    may_bear = (least < _NEAR_LEGS[1]) & (foot[near] - least > _HIGHER_LEGS[0])
    if not may_bear.any():
        return None
    near, lowest = near[may_bear], _Lowest(*(part[may_bear] for part in lowest))
    hands = bearing_hands(source, source_map, foot_contacts(source, source_map, up), up, leg).at(times[near])
    bears = hands.max(axis=1)
    high = np.maximum(lowest.borne(bears), 0.0)
    share = smoothstep(foot[near] - high, *_HIGHER_LEGS) * (1.0 - smoothstep(high, *_NEAR_LEGS))
    if not share.any():
        return None
    here = _Lowest.of(played, found, points, times[near], up, _lowest_foot(found, up)).borne(bears)
    lift = np.zeros(len(times))
    lift[near] = own_leg * share * (high - here)
    inside = np.clip(np.minimum(times, source.duration_s - times) / (2.0 * _MOMENT_S), 0.0, 1.0)
    lift += inside * (averaged(times, lift[:, None], _MOMENT_S)[:, 0] - lift)
    return Ground(times, lift, (), np.zeros((len(times), 0))) if np.abs(lift).max() > _STILL_LEGS * own_leg else None


def _points_of(clip: Clip) -> SkinPoints | None:
    """Return points of a clip's own skin, where it is known."""
    if clip.skin is None:
        return None
    places = clip.skin.of_joints(clip.skeleton, np.ones(len(clip.skeleton), np.bool_))
    return SkinPoints.of(places, clip.skin.joints[:, None], np.ones((len(places), 1)))


def _by_skin(clip: Clip, found: SkeletonMap, points: SkinPoints, times: FloatArray, up: FloatArray,
             ground: float) -> tuple[FloatArray, FloatArray] | None:
    """Return how high the lowest skin of a body, and of its arms, is above its soles; None: there is too little."""
    points = points.part(may_touch(points, found))
    is_arm, is_foot = _of_arms(points, found), _of_feet(points, found, clip.skeleton)
    is_body = ~is_arm & ~is_foot
    if min(np.count_nonzero(is_body), np.count_nonzero(is_foot)) < _FEWEST:
        return None
    still = rebased(Clip("", found.skeleton, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3)), clip.skeleton)
    sole = _lowest_foot(found, up) - float(points.part(is_foot).heights(still, np.zeros(1), up).min())
    body, arms = (points.part(own).heights(clip, times, up).min(axis=1, initial=np.inf) - ground + sole
                  for own in (is_body, is_arm))
    return body, arms


def _by_joints(clip: Clip, found: SkeletonMap, times: FloatArray, up: FloatArray, ground: float,
               leg: float) -> tuple[FloatArray, FloatArray]:
    """Return how high the lowest joints of a body, and of its arms, are, less what usually is about them."""
    known = {name: joint for name, joint in found.joint_of.items() if _plain(name) in _ABOUT_LEGS}
    about = leg * np.array([_ABOUT_LEGS[_plain(name)] for name in known])
    high = PosedJoints.of(clip, np.array([*known.values()], dtype=np.int64)).heights(times, up) - about - ground
    is_arm = np.array([_plain(name) in _OF_ARMS for name in known], dtype=np.bool_)
    return high[:, ~is_arm].min(axis=1, initial=np.inf), high[:, is_arm].min(axis=1, initial=np.inf)


def _plain(name: str) -> str:
    """Return a joint's name without its side."""
    return name[2:] if name[:2] in ("l_", "r_") else name


def _lowest_foot(found: SkeletonMap, up: FloatArray) -> float:
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
