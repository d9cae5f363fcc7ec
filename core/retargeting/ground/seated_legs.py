"""Legs of a sitting or lying body turn at the hips until feet are as low as buttocks or back, and do not hold it up.

If shins are longer than the clip's, or the buttocks less thick, feet beside the buttocks would lift the body off the
ground. So while the clip's buttocks or back are on the ground or near it, legs turn up until their skin is no deeper
than that of buttocks or back. If feet are in contact in the clip, legs also turn down until the feet do not hang above
the ground. If a character kneels on its heels, its legs do not turn: the feet bear it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from ...clips.body_contacts import FEET, SEAT, TRUNK, BodyContacts
from ...clips.clip import Clip
from ...clips.contacts import weight_within
from ...clips.keyed import SAMPLE_S, beside, in_steps, key_times
from ...clips.posed import PosedJoints
from ...clips.thresholds import NEARLY_LEGS, POSTURE_S, ROUNDS, SOFT_LEGS, TRUNK_NEAR_LEGS
from ...maths.arrays import BoolArray, FloatArray, merged, smoothstep
from ...skeletons.hierarchy import with_ancestors
from ..limbs import Limb, with_rotations
from .body_skin import BodySkin
from .fitted_curves import near_wishes, smoothed
from .grounding import turns_of_moved
from .lift_of_touching import near_ground

_ON_WEIGHT: Final = 10.0
"""Added weight while buttocks or back are on the ground."""


def with_legs_beside_trunk(contacts: BodyContacts, played: Clip, body: BodySkin) -> Clip:
    """Return a clip whose legs are no lower than buttocks and back, as far as these bear the body in the source.

    contacts: of the source clip.
    """
    steps = in_steps(played.duration_s, SAMPLE_S)
    near = near_wishes(steps, contacts.weight(TRUNK, steps) > 0.0, POSTURE_S)
    legs = _legs(body) if near.any() else {}
    if not legs:
        return played
    parts = "trunk", *(f"{side}_leg" for side in legs)
    hips = [legs[side].first if side in legs else -1 for side in "lr"]
    times = _times(played, legs, steps, near)
    height = np.maximum(contacts.height(TRUNK, times), 0.0)
    share, is_on = contacts.weight(TRUNK, times), 1.0 - smoothstep(height, 0.0, TRUNK_NEAR_LEGS[0])
    share = share * np.stack([1.0 - contacts.weight(FEET[side], times, on=SEAT) for side in legs])
    leg, before = body.leg, body.low(played, times, *parts)
    spans = (contacts.feet[side].stands if side in contacts.feet else np.zeros((0, 2)) for side in legs)
    stands, low = np.stack([weight_within(times, each) for each in spans]), before
    for _ in range(ROUNDS):
        deep = (low[:, 0] - before[:, 1:].T) / leg - np.minimum(height, TRUNK_NEAR_LEGS[1])
        wanted = before[:, 1:].T + leg * _smoothed(times, share * _raised(deep, stands), is_on)
        new: dict[int, tuple[FloatArray, FloatArray]] = {}
        for limb, raised in zip(legs.values(), wanted - low[:, 1:].T, strict=True):
            if np.abs(raised).max() > NEARLY_LEGS * leg:
                new |= _turned(played, limb, hips, times, raised, body.up)
        if not new:
            break
        played = with_rotations(played, new)
        low = body.low(played, times, *parts)
    return played


def _legs(body: BodySkin) -> dict[str, Limb]:
    """Return the legs that have skin, by side; none if buttocks and back have none."""
    limbs = {side: Limb.of(body.found, side, ("hip", "knee", "ankle")) for side in "lr" if body.part("trunk").any()}
    return {side: limb for side, limb in limbs.items() if limb is not None and body.part(f"{side}_leg").any()}


def _times(played: Clip, legs: Mapping[str, Limb], steps: FloatArray, near: BoolArray) -> FloatArray:
    """Return the times to examine, (F,): steps that are near or beside such steps, and the legs' keys between them."""
    kept = with_ancestors(played.skeleton.parents, np.array([limb.last for limb in legs.values()]))
    every = beside(key_times(played.rotations, played.translations, joints=kept).clip(0.0, played.duration_s), steps)
    return np.asarray(every[np.interp(every, steps, near) == 1.0])


def _raised(deep: FloatArray, stands: FloatArray) -> FloatArray:
    """Return how far to raise legs, (L, F) in leg lengths. deep: (L, F) how much lower than the trunk they are.

    Legs that are higher are lowered (negative) where feet are in contact in the clip and near enough. stands: (L, F)
    the contact of the feet, 0 to 1.
    """
    up = 0.5 * (deep + np.sqrt(deep * deep + ((1.0 - stands) * SOFT_LEGS) ** 2))
    return np.asarray(up + stands * near_ground(-deep, 1.0) * np.minimum(deep, 0.0))


def _smoothed(times: FloatArray, raised: FloatArray, is_on: FloatArray) -> FloatArray:
    """Return the smoothed amounts (L, F) by which legs are raised at times (F,).

    is_on: (F,) how much buttocks or back are on the ground, 0 to 1; then `raised` has more weight. Both ends of the
    clip keep their values, so that it still fits other clips.
    """
    return smoothed(times, raised, POSTURE_S, weight=1.0 + _ON_WEIGHT * is_on, keeps_ends=True)


def _turned(clip: Clip, limb: Limb, hips: Sequence[int], times: FloatArray, raised: FloatArray,
            up: FloatArray) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return key times and rotations of a leg's joints whose ankle is raised at times (F,) by (F,).

    The ankle moves on an arc about the hip, so the knee stays as bent. It moves less the more it is below the hip.
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
