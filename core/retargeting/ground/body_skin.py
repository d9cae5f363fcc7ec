"""The model of a body above the ground: the parts of its skin that may touch the ground, and the ground's height.

It is used for the target, and for the clip's body if the clip's file has skin. The ground is at the lowest skin of the
feet while the body stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...maths.arrays import BoolArray, FloatArray
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import MOST_BODIES, Skeleton
from ...skeletons.skin_sample import SkinSample
from ..comparing.reference import rebased
from ..comparing.upright import FEET
from ..limbs import Limb
from ..skin_points import SkinPoints
from .bearing_skin import is_heel, may_touch, of_robe
from .bearing_trunk import of_trunk
from .lowest_skin import LowestSkin

_BELOW: Final[Mapping[str, tuple[str, ...]]] = {
    "feet": ("ankle",), "arms": ("shoulder",), "forearms": ("elbow",), "head": ("skullbase",)}
"""Parts that are the skin of these joints and their descendants, left and right, if they have a side."""


@dataclass(frozen=True, eq=False)
class BodySkin:
    """A body with P points of skin that may touch the ground.

    found: the map of its joints, on the standing skeleton; own: the skeleton in the skin's rest pose. up: (3,) unit.
    feet: (P,) the points of each foot, by side, with heels that follow the shin bone. at_rest: (P,) the heights of the
    points while the body stands. ground: its height; if no foot has skin, that of the lowest foot joint.
    """

    found: SkeletonMap
    own: Skeleton
    points: SkinPoints
    up: FloatArray
    feet: Mapping[str, BoolArray]
    at_rest: FloatArray
    ground: float

    @classmethod
    @lru_cache(maxsize=MOST_BODIES)
    def of(cls, found: SkeletonMap, own: Skeleton, skin: SkinPoints, up: tuple[float, float, float]) -> BodySkin:
        """Return the body, cached for all its clips. skin: all of it, in the rest pose of own."""
        upwards, leg = np.array(up), found.leg_length
        points = skin.part(may_touch(skin, found, own))
        feet = {side: with_descendants(own.parents, np.array([found.joint_of[f"{side}_ankle"]]))[points.joints[:, 0]]
                for side in "lr" if f"{side}_ankle" in found.joint_of}
        feet = {side: of_side for side, of_side in feet.items() if of_side.any()}
        at_rest = points.heights(rebased(Clip.still(found.skeleton), own), np.zeros(1), upwards)[0]
        if not feet or leg <= 0.0:
            return cls(found, own, points, upwards, {}, at_rest, lowest_foot(found, upwards))
        ground = float(min(at_rest[of_side].min() for of_side in feet.values()))
        feet = {side: of_side | is_heel(points, found, side, of_side, at_rest - ground)
                for side, of_side in feet.items()}
        counts = ~of_robe(points, found, own, at_rest - ground, [*feet.values()], leg)
        return cls(found, own, points.part(counts), upwards,
                   {side: of_side[counts] for side, of_side in feet.items()}, at_rest[counts], ground)

    @property
    def leg(self) -> float:
        """The length of its legs."""
        return self.found.leg_length

    def below(self, *names: str) -> BoolArray:
        """Return the points (P,) moved most by joints of these names, of any side, or by their descendants."""
        known = self.found.joint_of
        joints = [known[name] for plain in names for name in (plain, f"l_{plain}", f"r_{plain}") if name in known]
        return np.asarray(with_descendants(self.own.parents, np.array(joints, np.int64))[self.points.joints[:, 0]])

    def part(self, name: str) -> BoolArray:
        """Return which points (P,) are of a part.

        all: every point. trunk: buttocks and back. upper: all but trunk, legs and hands. l_leg, r_leg: a leg. body: all
        but forearms, feet, and the lower half of shins. Others: see _BELOW.
        """
        if name == "all":
            return np.ones(len(self.at_rest), np.bool_)
        if name == "trunk":
            return self._trunk
        if name == "upper":
            return ~self._trunk & ~self.below("hip", "wrist")
        if name == "body":
            return ~self.below("elbow") & ~self._low_shins & ~self.below("ankle")
        return self.below(f"{name[:2]}hip") & ~self._trunk if name in ("l_leg", "r_leg") else self.below(*_BELOW[name])

    def low(self, clip: Clip, times_s: FloatArray, *parts: str) -> FloatArray:
        """Return the heights of each part's lowest skin above the ground at times (F,) of a clip, (F, N)."""
        return _lowest(self, parts).at(clip, times_s, self.up)[0][:, :-1] - self.ground

    @cached_property
    def _trunk(self) -> BoolArray:
        return of_trunk(self.points.positions, self.points.joints[:, 0], self.own, self.found)

    @property
    def _low_shins(self) -> BoolArray:
        """Which points (P,) are of a shin, and nearer to the ankle than to the knee."""
        low = np.zeros(len(self.at_rest), np.bool_)
        for side in "lr":
            limb = Limb.of(self.found, side, ("hip", "knee", "ankle"))
            if limb is not None:
                ends = self.own.rest_world[[limb.middle, limb.last], None, :, 3]
                from_knee, from_ankle = np.linalg.norm(self.points.positions - ends, axis=-1)
                low |= self.below(f"{side}_knee") & (from_ankle < from_knee)
        return low


@lru_cache(maxsize=4 * MOST_BODIES)
def _lowest(body: BodySkin, parts: tuple[str, ...]) -> LowestSkin:
    return LowestSkin.of_parts(body.points, body.own, [body.part(name) for name in parts])


def lowest_foot(found: SkeletonMap, up: FloatArray) -> float:
    """Return the rest height of the lowest foot joint along up (3,), or 0 without feet."""
    feet = [found.joint_of[name] for name in FEET if name in found.joint_of]
    return float((found.skeleton.rest_world[feet, :, 3] @ up).min(initial=np.inf)) if feet else 0.0


@lru_cache(maxsize=MOST_BODIES)
def points_of(skin: SkinSample, skeleton: Skeleton) -> SkinPoints:
    """Return points of a clip's own skin."""
    places = skin.of_joints(skeleton, np.ones(len(skeleton), np.bool_))
    return SkinPoints.of(places, skin.joints[:, None], np.ones((len(places), 1)))
