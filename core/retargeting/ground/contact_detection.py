"""Contacts of a clip's body with the ground: found once, on its own skin where that is known, for all steps to read.

An effector is in contact while it is near the ground, whatever its size. Its height, in leg lengths, is that of its
skin, or of its joints minus the usual thickness around them. Its weight is 1 up to NEAR_LEGS[0], and 0 from
NEAR_LEGS[1] on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.body_contacts import BODY, FEET, HANDS, HEAD, JOINTS, SEAT, TRUNK, BodyContacts, contacts_of
from ...clips.clip import Clip
from ...clips.contacts import STEP_S, FootContacts, foot_contacts, instants, joined
from ...clips.posed import PosedJoints
from ...clips.thresholds import (
    BRIEF_S,
    EASE_S,
    FAR_LEGS,
    LIES_LEGS,
    LIMB_S,
    NEAR_LEGS,
    ON_LEGS,
    SLOW_LEGS_PER_S,
    STEP_LEGS,
    TRUNK_NEAR_LEGS,
)
from ...maths.arrays import ROUNDING, BoolArray, FloatArray, IntArray, smoothstep
from ...skeletons.hierarchy import is_descendant
from ...skeletons.maps import SkeletonMap
from ..comparing.upright import FEET as FOOT_JOINTS
from .balance import beyond_feet
from .bearing_trunk import ABOUT_LEGS, BACK, FEWEST, HIPS_OF_BACK, OF_ARMS, plain_name
from .body_skin import BodySkin, lowest_foot, points_of
from .contact_heights import lowest_borne
from .fitted_curves import smoothed
from .off_ground import is_within
from .touching import ground_height

_HIGH_LEGS: Final = 0.52
"""Height of the skin around all hips above which a body neither sits nor lies on the ground."""
_BELOW_SEAT_LEGS: Final = (0.12, 0.22)
"""Distance of feet from their hips, sideways. Up to the first value they are below the buttocks of a character that
sits on its heels, and bear it; from the second on they are beside them."""
_IN_AIR_LEGS: Final = (0.15, 0.6)
"""Heights: up to the first, a part keeps the clip's height; from the second on, it is in the air."""


@dataclass(frozen=True, eq=False)
class SeenBody:
    """A clip's body at times (F,).

    ground: its height along up (3,). leg: the length of the legs. feet: (F,) the height of the lowest foot joint above
    the ground, in leg lengths. joints: the heights of the skin around other joints, (F,) each. skin: its own; None if
    unknown.
    """

    clip: Clip
    found: SkeletonMap
    up: FloatArray
    times_s: FloatArray
    ground: float
    leg: float
    feet: FloatArray
    joints: Mapping[str, FloatArray]
    skin: BodySkin | None

    @classmethod
    def of(cls, clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray) -> SeenBody | None:
        """Return the body at times (F,), or None if no feet or legs are known."""
        known, leg = found.joint_of, found.leg_length
        feet = [known[name] for name in FOOT_JOINTS if name in known]
        if not feet or leg <= 0.0:
            return None
        names = [name for name in known if plain_name(name) in ABOUT_LEGS]
        heights = PosedJoints.of(clip, np.array((*feet, *(known[name] for name in names)))).heights(times, up)
        of_feet, others = np.split(heights, [len(feet)], axis=1)
        ground = ground_height(clip, feet, of_feet, up)
        about = np.array([ABOUT_LEGS[plain_name(name)] for name in names])
        high = (others - ground) / leg - about
        points = None if clip.skin is None else points_of(clip.skin, clip.skeleton)
        skin = None if points is None else BodySkin.of(found, clip.skeleton, points, tuple(up.tolist()))
        shows = skin is not None and sum(np.count_nonzero(foot) for foot in skin.feet.values()) >= FEWEST
        return cls(clip, found, up, times, ground, leg, (of_feet.min(axis=1) - ground) / leg,
                   dict(zip(names, high.T, strict=True)), skin if shows else None)

    def low(self, part: str, frames: IntArray) -> FloatArray:
        """Return the height of a part's lowest skin in some frames (N,), (N,) in leg lengths; see BodySkin.part.

        Without skin, the usual thickness around the joints is used. Infinite if neither skin nor joints are known.
        """
        if self.skin is not None and np.count_nonzero(self.skin.part(part)) >= FEWEST:
            low = self.skin.low(self.clip, self.times_s[frames], part)[:, 0]
            return np.asarray((low + lowest_foot(self.found, self.up) - self.ground) / self.leg)
        high = [each[frames] for name, each in self.joints.items() if _is_of(name, part)]
        return np.min(high, axis=0) if high else np.full(len(frames), np.inf)

    def trunk(self) -> FloatArray:
        """Return the height of buttocks or back, (F,) in leg lengths; infinite while hips are high."""
        high = np.full(len(self.times_s), np.inf)
        hips = [each for name, each in self.joints.items() if name in HIPS_OF_BACK]
        low = np.flatnonzero(np.min(hips, axis=0) < _HIGH_LEGS) if hips else np.zeros(0, np.int64)
        high[low] = self.low("trunk", low)
        return high


def _is_of(name: str, part: str) -> bool:
    """Return whether a joint shows how low a part is."""
    if part == "trunk":
        return name in BACK
    return name == "skullbase" if part == "head" else (plain_name(name) in OF_ARMS) == (part == "forearms")


def find_contacts(clip: Clip, found: SkeletonMap, up: FloatArray) -> BodyContacts:
    """Return the contacts of a clip's body; they are cached with the clip.

    found: the map of its skeleton, resting in the pose in which the body stands. up: (3,) unit. A body without legs has
    none.
    """
    return clip.derived(_found, found, tuple(up.tolist()))


def _found(clip: Clip, found: SkeletonMap, upwards: tuple[float, ...]) -> BodyContacts:
    up = np.array(upwards)
    feet, seen = foot_contacts(clip, found, up), SeenBody.of(clip, found, up, instants(clip.duration_s))
    if seen is None:
        return BodyContacts(feet, ())
    times, trunk, hands = seen.times_s, seen.trunk(), _bearing_hands(seen, feet)
    low = np.flatnonzero(np.isfinite(trunk))
    lying = np.full(len(times), np.inf)
    lying[low] = np.maximum(trunk[low], seen.low("head", low))
    instead = hands.max(axis=1) * smoothstep(trunk, ON_LEGS, NEAR_LEGS[0])
    others = [*contacts_of(TRUNK, times, _near(trunk, TRUNK_NEAR_LEGS) * (1.0 - instead), trunk),
              *contacts_of(HEAD, times, _near(lying), lying),
              *contacts_of(JOINTS, times, _lies(seen, trunk).astype(np.float64)),
              *contacts_of(BODY, times, *_turning_over(seen, hands))]
    for name, weights in zip(HANDS, hands.T, strict=True):
        others += contacts_of(name, times, weights)
    for side in feet:
        others += contacts_of(FEET[side], times, _below_seat(seen, side, low), on=SEAT)
    return BodyContacts(feet, tuple(others))


def _near(height: FloatArray, near: tuple[float, float] = NEAR_LEGS) -> FloatArray:
    """Return how much an effector at heights (F,) is in contact with the ground, (F,)."""
    return np.asarray(1.0 - smoothstep(height, *near))


def _lies(seen: SeenBody, trunk: FloatArray) -> BoolArray:
    """Return when buttocks or back, or a slow joint that is not of a foot, is near the ground, (F,)."""
    high = np.stack([*seen.joints.values()], axis=1) if seen.joints else np.full((len(seen.times_s), 1), np.inf)
    speed = np.gradient(high, seen.times_s, axis=0) if len(high) > 1 else np.zeros(high.shape)
    slow = np.abs(speed) < SLOW_LEGS_PER_S[0]
    return np.asarray(((high < NEAR_LEGS[0]) & slow).any(axis=1) | (trunk < ON_LEGS))


def _bearing_hands(seen: SeenBody, feet: Mapping[str, FootContacts]) -> FloatArray:
    """Return how much the left and the right hand support the body, (F, 2).

    A hand supports the body if it is near the ground, the body would fall without it, and only feet are in contact
    besides. A body that picks something up has a hand on the floor, but its centre of mass is over its feet. In
    push-ups or cartwheels it would fall without its hands. A body that kneels, crawls, sits or lies has other contacts,
    and would hang in the air if the hands lifted it: its arms bend instead, also on the way there, in a roll or a fall.
    """
    times, bears = seen.times_s, np.zeros((len(seen.times_s), 2))
    for side, letter in enumerate("lr"):
        if f"{letter}_wrist" in seen.joints:
            bears[:, side] = _near(_hand_height(seen, letter))
    near = np.flatnonzero(bears.any(axis=1))
    if not len(near):
        return bears
    aside = beyond_feet(seen.clip, seen.found, feet, seen.up, times[near]) / seen.leg
    bears[near] *= smoothstep(aside, *STEP_LEGS)[:, None]
    others = [each for name, each in seen.joints.items() if plain_name(name) not in OF_ARMS]
    more = near[np.stack([each[near] for each in others]).min(axis=0) < NEAR_LEGS[0]] if others else near[:0]
    bears[is_within(times, joined(times[more, None] + (-EASE_S, EASE_S)))] = 0.0
    beside = round(BRIEF_S / STEP_S)  # a hand bears the body a little before and after that, too
    padded = np.pad(bears, ((beside, beside), (0, 0)))
    bears = np.lib.stride_tricks.sliding_window_view(padded, 2 * beside + 1, axis=0).max(axis=-1)
    made = smoothed(times, bears.T, LIMB_S, lo=0.0, hi=1.0).T
    return np.where(made > ROUNDING, made, 0.0)


def _hand_height(seen: SeenBody, side: str) -> FloatArray:
    """Return the height of a hand, (F,): that of its wrist or of its lowest finger."""
    wrist, joints = seen.found.joint_of[f"{side}_wrist"], seen.found.joint_of.values()
    high = seen.joints[f"{side}_wrist"].copy()
    fingers = [joint for joint in joints if is_descendant(seen.clip.skeleton.parents, joint, wrist)]
    low = np.flatnonzero(high < LIES_LEGS)
    if fingers and len(low):
        of_fingers = PosedJoints.of(seen.clip, np.array(fingers)).heights(seen.times_s[low], seen.up).min(axis=1)
        high[low] = np.minimum(high[low], (of_fingers - seen.ground) / seen.leg - ABOUT_LEGS["finger"])
    return high


def _below_seat(seen: SeenBody, side: str, low: IntArray) -> FloatArray:
    """Return how much a foot is below the buttocks, as in sitting on heels, (F,). low: (N,) the frames to examine."""
    below, known = np.zeros(len(seen.times_s)), seen.found.joint_of
    ends = np.array((known[f"{side}_hip"], known[f"{side}_ankle"]))
    _, at = PosedJoints.of(seen.clip, ends).placed(seen.times_s[low])
    away = at[:, 1] - at[:, 0]
    wide = np.linalg.norm(away - (away @ seen.up)[:, None] * seen.up, axis=1)
    below[low] = 1.0 - smoothstep(wide / seen.leg, *_BELOW_SEAT_LEGS)
    return below


def _turning_over(seen: SeenBody, hands: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how much the lowest part supports the body instead of the feet, and the height of that part, (F,) each.

    hands: (F, 2) how much they support the body; an arm counts only as far as its hand does.
    """
    weights, height = np.zeros(len(seen.times_s)), np.full(len(seen.times_s), np.inf)
    near = np.flatnonzero(seen.feet > FAR_LEGS[0])
    if not len(near):
        return weights, height
    borne = lowest_borne(seen.low("body", near), seen.low("forearms", near), hands[near].max(axis=1))
    height[near] = np.maximum(borne, 0.0)
    higher = smoothstep(seen.feet[near] - height[near], *FAR_LEGS)
    weights[near] = higher * (1.0 - smoothstep(height[near], *_IN_AIR_LEGS))
    return weights, height
