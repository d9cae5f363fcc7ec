"""Who lies tips over what bears him instead until seat or back are on the ground: a big head, or broad shoulders.

Rigid settling: while seat or back bear the body in the clip, and head or arms hold them in the air on this one, the
whole body turns about the level axis across its spine, by which its hips come down. Where hands bear it, as in a
push-up, nobody tips over them; but he does, either way, until both hands and feet are on the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from ...clips.body_contacts import HANDS, TRUNK, BodyContacts
from ...clips.clip import Clip
from ...clips.contacts import depth_within
from ...clips.keyed import SAMPLE_S
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray, smoothstep
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..limbs import Limb, with_joint_turned
from ..skin_points import SkinPoints
from .bearing_skin import may_touch
from .bearing_trunk import of_trunk
from .fitted_curves import heard, smoothed
from .lowest_skin import LowestSkin
from .touching import EASE_S, LEVEL_SHARE, NEARLY_LEGS, ROUNDS, SEEN_LEGS, leg_length

_LEVEL: Final = (0.5, 0.75)
"""Sines: with his spine less steep than the first somebody lies; steeper than the second, he sits."""
_MOST_RAD: Final = np.radians(22.0)
AGAIN_RAD: Final = np.radians(3.0)
"""Once legs have been turned, and the seat with them, it takes little to be on the ground again."""
_MOST_ON_HANDS_RAD: Final = np.radians(45.0)
_STRETCHED: Final = (0.85, 0.95)
"""Of a leg's length from hip to ankle: one that is shorter than the first puts its foot down itself."""
_BEYOND: Final = 1.4
"""Of the spine from hips to shoulders: so far from the hips is what bears the body, a head farther than arms."""
_SOFT_S: Final = 0.06
"""So long before and after itself an angle is heard."""
_ENDS: Final = ("l_hip", "r_hip", "l_shoulder", "r_shoulder")
_MOST_KNOWN: Final = 4


@dataclass(frozen=True, eq=False)
class _Body:
    """The skin of seat and back, and that of head and arms; or that of feet, and of arms; and hips and shoulders.

    Of who lies legs and hands do not count: they turn to the ground by themselves, and bear nobody.
    """

    skin: LowestSkin
    ends: Sequence[int]

    def hangs(self, clip: Clip, times: FloatArray, up: FloatArray) -> FloatArray:
        """Return how much higher the first part of its skin is than the other at times (F,), (F,)."""
        low, _ = self.skin.at(clip, times, up)
        return np.asarray(low[:, 0] - low[:, 1])

    def spine(self, clip: Clip, times: FloatArray) -> FloatArray:
        """Return the way from hips to shoulders at times (F,), (F, 3)."""
        _, at = PosedJoints.of(clip, np.array(self.ends)).placed(times)
        return np.asarray((at[:, 2] + at[:, 3] - at[:, 0] - at[:, 1]) / 2.0)

    def settled(self, clip: Clip, root: int, up: FloatArray, steps: FloatArray, share: FloatArray, as_high: FloatArray,
                leg: float, bounds: tuple[float, float], still: float) -> Clip:
        """Return a clip whose body tips, as far as it lies, until the first part is as_high above the other.

        steps: (F,) in seconds. share: (F,) how much it is to do so. as_high: (F,). leg: how long legs are if feet are
        to come down. bounds: the least and the most that shoulders go up by, in radians. still: so little may be left.
        """
        frames = np.flatnonzero(heard(steps, share > 0.0, _SOFT_S))
        times, spine = steps[frames], self.spine(clip, steps[frames])
        level = spine - (spine @ up)[:, None] * up
        long, wide = (np.linalg.norm(each, axis=1) for each in (spine, level))
        lies = share[frames] * (1.0 - smoothstep(np.abs(spine @ up) / np.maximum(long, 1e-30), *_LEVEL))
        far = leg + _BEYOND * np.maximum(wide, LEVEL_SHARE * long)
        axes = np.cross(up, level / np.maximum(wide, 1e-30)[:, None])  # about which shoulders go down
        angles, made = np.zeros(len(steps)), clip
        for _ in range(ROUNDS):
            wanted = angles[frames] + lies * np.arctan((self.hangs(made, times, up) - as_high[frames]) / far)
            wanted = np.clip(wanted, *bounds)
            if np.max(np.abs(wanted - angles[frames]) * far, initial=0.0) <= still:
                break
            angles[frames] = wanted
            calm = smoothed(steps, angles[None], _SOFT_S, lo=bounds[0], hi=bounds[1])[0, frames]
            made = with_joint_turned(clip, root, times, axes, -calm)
        return made


@lru_cache(maxsize=_MOST_KNOWN)
def _body(found: SkeletonMap, own: Skeleton, skin: SkinPoints, *, is_on_hands: bool) -> _Body | None:
    """Return a body once for all that it plays; None: something of it is not known. own: as the skin rests."""
    joints = found.joint_of
    if not set(_ENDS) <= joints.keys():
        return None
    skin = skin.part(may_touch(skin, found, own))

    def below(*names: str) -> BoolArray:
        kept = [joints[f"{side}_{name}"] for name in names for side in "lr" if f"{side}_{name}" in joints]
        return np.asarray(with_descendants(own.parents, np.array(kept, dtype=np.int64))[skin.joints[:, 0]])

    if is_on_hands:
        parts = [below("ankle"), below("shoulder")]
    else:
        is_trunk = of_trunk(skin.positions, skin.joints[:, 0], own, found)
        parts = [is_trunk, ~is_trunk & ~below("hip", "wrist")]
    if not all(part.any() for part in parts):
        return None
    return _Body(LowestSkin.of_parts(skin, own, parts), [joints[name] for name in _ENDS])


def tipped(contacts: BodyContacts, played: Clip, found: SkeletonMap, skin: SkinPoints, root: int | None,
           up: FloatArray, most_rad: float = _MOST_RAD) -> Clip:
    """Return a clip whose body tips until seat or back are as low as in its source, where they bear it there.

    That is, above the lowest of head and arms. By most_rad at most.

    contacts: of the clip that it plays. found: the map of the target, resting in the pose in which it stands; skin: as
    it rests itself. root: the joint that carries all of it. up: (3,) unit.
    """
    steps = np.append(np.arange(0.0, played.duration_s, SAMPLE_S), played.duration_s)
    near = contacts.weight(TRUNK, steps)
    body = _body(found, played.skeleton, skin, is_on_hands=False) if near.any() and root is not None else None
    if body is None or root is None:
        return played
    as_high = leg_length(found) * np.where(near > 0.0, np.maximum(contacts.height(TRUNK, steps), 0.0), 0.0)
    return body.settled(played, root, up, steps, near, as_high, 0.0, (0.0, most_rad), NEARLY_LEGS * leg_length(found))


def on_hands_and_feet(contacts: BodyContacts, played: Clip, found: SkeletonMap, skin: SkinPoints, root: int | None,
                      up: FloatArray) -> tuple[Clip, FloatArray, FloatArray] | None:
    """Return a clip whose body tips until its feet are as low as its hands, where both bear it in the source.

    As in push-ups on arms that are longer for the legs, or shorter. And by what it is to be moved, (F, 3) at times
    (F,), so that its feet stay; None: nothing is to be done. For arguments see tipped.
    """
    steps, leg = np.append(np.arange(0.0, played.duration_s, SAMPLE_S), played.duration_s), leg_length(found)
    share = _on_stretched_legs(contacts, played, found, steps)
    body = _body(found, played.skeleton, skin, is_on_hands=True) if share.any() and root is not None else None
    if body is None or root is None:
        return None
    frames = np.flatnonzero(share)
    share[frames] *= smoothstep(np.abs(body.hangs(played, steps[frames], up)) / leg, *SEEN_LEGS)
    if not share.any():
        return None
    bounds = -_MOST_ON_HANDS_RAD, _MOST_ON_HANDS_RAD
    made = body.settled(played, root, up, steps, share, np.zeros(len(steps)), leg, bounds, NEARLY_LEGS * leg)
    joints = found.joint_of
    toes = np.array([joints.get(f"{side}_metatarsal", joints[f"{side}_ankle"]) for side in "lr"
                     if f"{side}_ankle" in joints])
    before, after = (PosedJoints.of(clip, toes).placed(steps)[1].mean(axis=1) for clip in (played, made))
    away = before - after
    return made, steps, away - (away @ up)[:, None] * up


def _on_stretched_legs(contacts: BodyContacts, played: Clip, found: SkeletonMap, times: FloatArray) -> FloatArray:
    """Return how much hands bear a body at times (F,), and a planted foot whose leg is stretched, (F,) from 0 to 1."""
    hands, stretched = np.maximum(*(contacts.weight(hand, times) for hand in HANDS)), np.zeros(len(times))
    if not hands.any():
        return stretched
    for side, contact in contacts.feet.items():
        leg = Limb.of(found, side, ("hip", "knee", "ankle"))
        if leg is not None:
            planted = smoothstep(depth_within(times, contact.stands), -EASE_S, 0.0)
            _, at = PosedJoints.of(played, np.array(leg)).placed(times)
            bones = np.linalg.norm(np.diff(at, axis=1), axis=-1).sum(axis=1)
            long = np.linalg.norm(at[:, 0] - at[:, 2], axis=1) / np.maximum(bones, 1e-30)
            stretched = np.maximum(stretched, planted * smoothstep(long, *_STRETCHED))
    return np.asarray(hands * stretched)
