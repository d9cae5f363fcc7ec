"""A lying body that rests on a big head or broad shoulders tips over them until buttocks or back are on the ground.

In the clip, buttocks or back bear the body; on the target, head or arms hold them in the air. So the body turns as a
whole about the horizontal axis across its spine until its hips come down. If hands bear the body, as in a push-up, it
does not tip over them. It turns, either way, until both hands and feet are on the ground.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.body_contacts import HANDS, TRUNK, BodyContacts
from ...clips.clip import Clip
from ...clips.contacts import weight_within
from ...clips.keyed import SAMPLE_S, in_steps
from ...clips.posed import PosedJoints
from ...clips.thresholds import NEARLY_LEGS, ROUNDS, SEEN_LEGS
from ...maths.arrays import FloatArray, smoothstep
from ...skeletons.maps import SkeletonMap
from ..limbs import Limb, with_joint_turned
from .body_skin import BodySkin
from .fitted_curves import near_wishes, smoothed
from .touching import LEVEL_SHARE

_LEVEL: Final = (0.5, 0.75)
"""Sines of the slope of the spine: up to the first value a body lies, from the second on it sits."""
MOST_RAD: Final = np.radians(22.0)
AGAIN_RAD: Final = np.radians(3.0)
"""Greatest second tilt, after the legs have turned and raised the buttocks a little."""
_MOST_ON_HANDS_RAD: Final = np.radians(45.0)
_LONG: Final = (0.85, 0.95)
"""Distance from hip to ankle, in leg lengths: a leg bent to less than the first brings its foot down by itself."""
_TIPPING_S: Final = 0.06
"""Smoothing time of the angle; see smoothed."""
_BEYOND: Final = 1.4
"""Distance of the supporting part from the hips, in lengths of the spine from hips to shoulders."""
_ENDS: Final = ("l_hip", "r_hip", "l_shoulder", "r_shoulder")
_LYING: Final = ("trunk", "upper")
_ON_HANDS: Final = ("feet", "arms")


def _settled(clip: Clip, body: BodySkin, parts: tuple[str, str], root: int, steps: FloatArray, share: FloatArray,
             as_high: FloatArray, leg: float, bounds: tuple[float, float]) -> Clip:
    """Return a clip whose body tips, in proportion to share, until the first part is as_high above the other.

    steps: (F,) in seconds. share: (F,), 0 to 1. as_high: (F,) lengths. leg: the length of the legs if feet must come
    down. bounds: least and greatest angle by which the shoulders rise, in radians.
    """
    frames = np.flatnonzero(near_wishes(steps, share > 0.0, _TIPPING_S))
    times, up = steps[frames], body.up
    hips, shoulders = (PosedJoints.of(clip, np.array([body.found.joint_of[name] for name in ends])).placed(times)[1]
                       for ends in (_ENDS[:2], _ENDS[2:]))
    spine = shoulders.mean(axis=1) - hips.mean(axis=1)
    level = spine - (spine @ up)[:, None] * up
    long, wide = (np.linalg.norm(each, axis=1) for each in (spine, level))
    lies = share[frames] * (1.0 - smoothstep(np.abs(spine @ up) / np.maximum(long, 1e-30), *_LEVEL))
    far = leg + _BEYOND * np.maximum(wide, LEVEL_SHARE * long)
    axes = np.cross(up, level / np.maximum(wide, 1e-30)[:, None])  # about which shoulders go down
    angles, made = np.zeros(len(steps)), clip
    for _ in range(ROUNDS):
        wanted = angles[frames] + lies * np.arctan((_hangs(made, body, parts, times) - as_high[frames]) / far)
        wanted = np.clip(wanted, *bounds)
        if np.max(np.abs(wanted - angles[frames]) * far, initial=0.0) <= NEARLY_LEGS * body.leg:
            break
        angles[frames] = wanted
        calm = smoothed(steps, angles[None], _TIPPING_S, lo=bounds[0], hi=bounds[1])[0, frames]
        made = with_joint_turned(clip, root, times, axes, -calm)
    return made


def _hangs(clip: Clip, body: BodySkin, parts: tuple[str, str], times: FloatArray) -> FloatArray:
    """Return the height of the lowest skin of the first part above that of the other at times (F,), (F,)."""
    low = body.low(clip, times, *parts)
    return np.asarray(low[:, 0] - low[:, 1])


def _may_tip(body: BodySkin, parts: tuple[str, str]) -> bool:
    """Return whether hips, shoulders, and skin of both parts are known."""
    return set(_ENDS) <= body.found.joint_of.keys() and all(body.part(name).any() for name in parts)


def tipped(contacts: BodyContacts, played: Clip, body: BodySkin, root: int | None,
           most_rad: float = MOST_RAD) -> Clip:
    """Return a clip whose body tips, by most_rad at most, until buttocks or back are as low as in the source.

    It tips only while they support the body there. Their height is measured from the lowest skin of head and arms.
    Legs and hands do not count: they support no lying body, and turn to the ground by themselves. contacts: of the
    source clip. root: the joint that moves the whole body.
    """
    steps = in_steps(played.duration_s, SAMPLE_S)
    near = contacts.weight(TRUNK, steps)
    if root is None or not near.any() or not _may_tip(body, _LYING):
        return played
    as_high = body.leg * np.where(near > 0.0, np.maximum(contacts.height(TRUNK, steps), 0.0), 0.0)
    return _settled(played, body, _LYING, root, steps, near, as_high, 0.0, (0.0, most_rad))


def on_hands_and_feet(contacts: BodyContacts, played: Clip, body: BodySkin,
                      root: int | None) -> tuple[Clip, FloatArray, FloatArray] | None:
    """Return a clip whose body tips until its feet are as low as its hands, where both support the source.

    An example is a push-up with arms that are longer or shorter, compared with the legs. Also returns offsets (F, 3) at
    times (F,) that keep the feet in place. Returns None if nothing changes. For the arguments see tipped.
    """
    steps, leg = in_steps(played.duration_s, SAMPLE_S), body.leg
    share = _on_stretched_legs(contacts, played, body.found, steps)
    if root is None or not share.any() or not _may_tip(body, _ON_HANDS):
        return None
    frames = np.flatnonzero(share)
    share[frames] *= smoothstep(np.abs(_hangs(played, body, _ON_HANDS, steps[frames])) / leg, *SEEN_LEGS)
    if not share.any():
        return None
    bounds = -_MOST_ON_HANDS_RAD, _MOST_ON_HANDS_RAD
    made = _settled(played, body, _ON_HANDS, root, steps, share, np.zeros(len(steps)), leg, bounds)
    joints, up = body.found.joint_of, body.up
    toes = np.array([joints.get(f"{side}_metatarsal", joints[f"{side}_ankle"]) for side in "lr"
                     if f"{side}_ankle" in joints])
    before, after = (PosedJoints.of(clip, toes).placed(steps)[1].mean(axis=1) for clip in (played, made))
    away = before - after
    return made, steps, away - (away @ up)[:, None] * up


def _on_stretched_legs(contacts: BodyContacts, played: Clip, found: SkeletonMap, times: FloatArray) -> FloatArray:
    """Return how much a body rests on hands and on a foot whose leg is stretched at times (F,), (F,) from 0 to 1."""
    hands, stretched = np.maximum(*(contacts.weight(hand, times) for hand in HANDS)), np.zeros(len(times))
    if not hands.any():
        return stretched
    for side, contact in contacts.feet.items():
        leg = Limb.of(found, side, ("hip", "knee", "ankle"))
        if leg is not None:
            in_contact = weight_within(times, contact.stands)
            _, at = PosedJoints.of(played, np.array(leg)).placed(times)
            bones = np.linalg.norm(np.diff(at, axis=1), axis=-1).sum(axis=1)
            long = np.linalg.norm(at[:, 0] - at[:, 2], axis=1) / np.maximum(bones, 1e-30)
            stretched = np.maximum(stretched, in_contact * smoothstep(long, *_LONG))
    return np.asarray(hands * stretched)
