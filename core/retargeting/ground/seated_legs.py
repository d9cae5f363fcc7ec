"""Legs of who sits or lies do not hold him up: they turn about the hips until feet are as low as seat or back.

On a body whose shins are longer than the clip's, or whose seat is less thick, feet beside the seat would lift it off
the ground. So while the clip's seat or back is on the ground, or comes near it, legs are turned up by what their skin
is deeper than that of seat or back; and, where feet stand in the clip, down by what they would hang above it. Not so
feet below the seat, of one who kneels on his heels: they bear it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from ...clips.body_contacts import FEET, SEAT, TRUNK, BodyContacts
from ...clips.clip import Clip
from ...clips.contacts import FootContacts, depth_within
from ...clips.keyed import SAMPLE_S, beside, key_times
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray, merged, smoothstep
from ...skeletons.hierarchy import with_ancestors, with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..limbs import Limb, with_rotations
from ..skin_points import SkinPoints
from .bearing_skin import may_touch
from .bearing_trunk import of_trunk
from .fitted_curves import POSTURE_S, heard, smoothed
from .grounding import Ground, turns_of_moved
from .lift_of_touching import near_ground
from .lowest_skin import LowestSkin
from .touching import EASE_S, NEARLY_LEGS, ROUNDS, SOFT_LEGS, TRUNK_NEAR_LEGS, leg_length

_ON_WEIGHT: Final = 10.0
"""It counts so much more while seat or back are on the ground."""
_MOST_KNOWN: Final = 4


@dataclass(frozen=True, eq=False)
class _Body:
    """Legs, by side, and how low the skin of the trunk is, and that of each leg."""

    legs: Mapping[str, Limb]
    skin: LowestSkin

    @property
    def hips(self) -> tuple[int, int]:
        """Its hips, left and right; -1 where one is not known."""
        left, right = (self.legs[side].first if side in self.legs else -1 for side in "lr")
        return left, right

    def low(self, clip: Clip, times: FloatArray, up: FloatArray) -> FloatArray:
        """Return how high the lowest skin of the trunk and of each leg is at times (F,) of a clip, (F, 1 + L)."""
        return self.skin.at(clip, times, up)[0][:, :-1]


@lru_cache(maxsize=_MOST_KNOWN)
def _body(found: SkeletonMap, own: Skeleton, skin: SkinPoints) -> _Body | None:
    """Return a body once for all that it plays; None: it has no leg or trunk with skin. own: as the skin rests."""
    skin = skin.part(may_touch(skin, found, own))
    is_trunk = of_trunk(skin.positions, skin.joints[:, 0], own, found)
    parts, legs = [is_trunk], {}
    for side in "lr":
        limb = Limb.of(found, side, ("hip", "knee", "ankle"))
        if limb is not None:
            of_leg = with_descendants(own.parents, np.array([limb.first]))[skin.joints[:, 0]] & ~is_trunk
            if of_leg.any():
                legs[side] = limb
                parts.append(of_leg)
    if not legs or not is_trunk.any():
        return None
    return _Body(legs, LowestSkin.of_parts(skin, own, parts))


def with_legs_beside_trunk(contacts: BodyContacts, played: Clip, found: SkeletonMap, skin: SkinPoints,
                           up: FloatArray) -> tuple[Clip, Ground | None]:
    """Return a clip whose legs are not deeper than its seat and back, as far as these bear the body in its source.

    And what lowers the body by as much as that raises what of it is lowest; None: nothing.

    contacts: of the clip that it plays. found: the map of the target, resting in the pose in which it stands; skin: as
    it rests itself. up: (3,) unit.
    """
    steps = np.append(np.arange(0.0, played.duration_s, SAMPLE_S), played.duration_s)
    near = heard(steps, contacts.weight(TRUNK, steps) > 0.0, POSTURE_S)
    body = _body(found, played.skeleton, skin) if near.any() else None
    if body is None:
        return played, None
    times = _times(played, body, steps, near)
    height = np.maximum(contacts.height(TRUNK, times), 0.0)
    share, is_on = contacts.weight(TRUNK, times), 1.0 - smoothstep(height, 0.0, TRUNK_NEAR_LEGS[0])
    share = share * np.stack([1.0 - contacts.weight(FEET[side], times, on=SEAT) for side in body.legs])
    leg, made, before = leg_length(found), played, body.low(played, times, up)
    stands, low = np.stack([_stands(times, contacts.feet.get(side)) for side in body.legs]), before
    for _ in range(ROUNDS):
        deep = (low[:, 0] - before[:, 1:].T) / leg - np.minimum(height, TRUNK_NEAR_LEGS[1])
        wanted = before[:, 1:].T + leg * _calmly(times, share * _raised(deep, stands), is_on)
        new: dict[int, tuple[FloatArray, FloatArray]] = {}
        for limb, raised in zip(body.legs.values(), wanted - low[:, 1:].T, strict=True):
            if np.abs(raised).max() > NEARLY_LEGS * leg:
                new |= _turned(made, limb, body.hips, times, raised, up)
        if not new:
            break
        made = with_rotations(made, new)
        low = body.low(made, times, up)
    if made is played:
        return played, None
    return made, Ground(times, before.min(axis=1) - low.min(axis=1), (), np.zeros((len(times), 0)))


def _times(played: Clip, body: _Body, steps: FloatArray, near: BoolArray) -> FloatArray:
    """Return when to look, (F,): in those steps that are near, or beside such, and at the keys of legs between."""
    kept = with_ancestors(played.skeleton.parents, np.array([limb.last for limb in body.legs.values()]))
    every = beside(key_times(played.rotations, played.translations, joints=kept).clip(0.0, played.duration_s), steps)
    return np.asarray(every[np.interp(every, steps, near) == 1.0])


def _raised(deep: FloatArray, stands: FloatArray) -> FloatArray:
    """Return by how much legs are raised (L, F), in legs, that are so much deeper than the trunk.

    And lowered, as far as feet stand in the clip, (L, F) 0 to 1, and are not too far above it.
    """
    up = 0.5 * (deep + np.sqrt(deep * deep + ((1.0 - stands) * SOFT_LEGS) ** 2))
    return np.asarray(up + stands * near_ground(-deep, 1.0) * np.minimum(deep, 0.0))


def _calmly(times: FloatArray, raised: FloatArray, is_on: FloatArray) -> FloatArray:
    """Return by how much legs are raised (L, F) at times (F,), gone to and back from softly.

    is_on: (F,) how much seat or back are on the ground, where it counts more. A clip's ends stay, so that clips go on
    fitting to others.
    """
    return smoothed(times, raised, POSTURE_S, weight=1.0 + _ON_WEIGHT * is_on, keeps_ends=True)


def _stands(times: FloatArray, contacts: FootContacts | None) -> FloatArray:
    """Return how much a foot stands at times (F,), (F,)."""
    if contacts is None:
        return np.zeros(len(times))
    return np.asarray(smoothstep(depth_within(times, contacts.stands), -EASE_S, 0.0))


def _turned(clip: Clip, limb: Limb, hips: Sequence[int], times: FloatArray, raised: FloatArray,
            up: FloatArray) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return key times and rotations of a leg's joints whose ankle is raised at times (F,) by (F,).

    Along the arc about its hip, so that its knee stays as bent, as far as it is beside the hip and not below it.
    """
    _, at = PosedJoints.of(clip, np.array(limb)).placed(times)
    away = at[:, 2] - at[:, 0]
    down = -(away @ up)
    level = away + down[:, None] * up
    wide = np.linalg.norm(level, axis=1)
    long = np.maximum(np.hypot(wide, down), 1e-30)
    arc = np.sqrt(np.maximum(long * long - (down - raised) ** 2, 0.0))
    wider = (arc - wide) * (wide / long) ** 2
    offset = raised[:, None] * up + wider[:, None] * level / np.maximum(wide, 1e-30)[:, None]
    keys = merged(key_times(clip.rotations, joints=np.array(limb)), times)
    keyed = np.zeros((len(keys), 3))
    keyed[np.searchsorted(keys, times)] = offset
    turns = turns_of_moved(clip, limb, hips, keys, keyed)
    return {joint: (keys, turns[:, column]) for column, joint in enumerate(limb)}
