"""Brings skin to the ground: soles in contact are on it, and no skin is below it, with any shoes or skirts.

What touches the ground in the clip decides how high the body is. A swinging foot that would dip into the ground is
lifted by its own leg, so that the body and the other foot do not hop. The body is lifted only by the part that no leg
can lift. It is also lifted if a straight knee would snap while nothing else bears the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from ...clips.body_contacts import HANDS, JOINTS, BodyContacts
from ...clips.clip import Clip, Tracks
from ...clips.contacts import joined
from ...clips.keyed import FINE_S, SAME_S, beside, divided, key_times, thinned
from ...clips.thresholds import LITTLE_LEGS, NEAR_LEGS, SEEN_LEGS, SOFT_LEGS, STILL_LEGS
from ...maths.arrays import FloatArray, merged, smoothstep
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import MOST_BODIES
from ..limbs import Limb
from .arms_off_ground import ArmSkin, ArmsOnGround, with_arms_drawn_up
from .body_skin import BodySkin
from .fitted_curves import smoothed
from .grounding import Ground, most_bent, most_drawn, most_put_down
from .lift_of_touching import lift_of_touching, near_ground
from .lowest_skin import LowestSkin
from .off_ground import ankles_and_soles, off_ground
from .soft_ground import Measured, smooth_ground
from .touching import all_touching, with_slides

_BESIDE_GROUND_LEGS: Final = (0.05, 0.12)
"""A foot that is no higher than the first value in the clip is near the ground; from the second on it is not."""
_CALM_S: Final = 0.04
"""Smoothing time of how far such a foot is put down."""
_OFF_LEGS: Final = 0.015
"""A higher foot does not bear the body."""


def ground_by_skin(contacts: BodyContacts, source: Clip, source_map: SkeletonMap, played: Clip,
                   target: BodySkin, ratio: float, before: Sequence[Ground] = ()) -> Ground | None:
    """Return the lifts of the target's body and feet, or None if nothing changes.

    contacts: of the source clip as it was compared, in the target's axes, with the map of its skeleton. played: the
    retargeted clip, on the target's own skeleton. ratio: size of the target / size of the source. before: the lifts so
    far; the sum of all lifts is smooth (soft_ground.py). While a part of the source touches the ground, the lowest skin
    of that part is on it; no skin is below it. The ground is as high as the soles at rest.
    """
    found = _measured(contacts, source, source_map, played, target, ratio)
    if found is None:
        return None
    most, reach = _most_drawn(found, played), _reach(found, played)
    wish = lift_of_touching(found.low - found.high, found.touching, found.weight, found.leg, reach)
    ground = smooth_ground(found, played, wish, most, reach[:, :-1], before)
    if max(np.abs(ground.lift).max(initial=0.0), np.abs(ground.drawn).max(initial=0.0)) <= STILL_LEGS * found.leg:
        return None
    return ground


def _measured(contacts: BodyContacts, source: Clip, source_map: SkeletonMap, played: Clip,
              target: BodySkin, ratio: float) -> Measured | None:
    """Measure a body's skin above the ground; None if it has no feet, or none with skin. See ground_by_skin."""
    body, up = _body(target), target.up
    if body is None:
        return None
    legs, leg = body.legs, body.leg
    lying = contacts.spans(JOINTS)
    touches = with_slides(contacts.feet, lying, source, source_map, up)
    times = _times(played, joined(np.concatenate((*(found.stands for found in touches.values()), lying))))
    low, high = body.skin.at(played, times, up)
    arms = body.arms_on_ground(low, high, _bears(contacts, times))
    touching, weight = all_touching(times, [touches.get(side) for side in body.sides], lying)
    whole = np.column_stack((low[:, :len(legs)], arms.lowest(body.without_arms(low).min(axis=1))))
    stands_at = -lift_of_touching(whole, touching, weight, leg)
    keys = thinned(key_times(played.rotations, played.translations), SAME_S)
    between = _sudden_times(times, whole, stands_at, keys, leg)
    if len(between):
        more = body.skin.at(played, between, up)
        order = np.argsort(np.concatenate((times, between)))
        times, low, high = (np.concatenate(both)[order] for both in ((times, between), (low, more[0]), (high, more[1])))
        touching, weight = all_touching(times, [touches.get(side) for side in body.sides], lying)
        arms = body.arms_on_ground(low, high, _bears(contacts, times))
    low, ankles_at = body.without_arms(low), high[:, 1:2 * len(legs):2]
    below = high[:, :2 * len(legs):2] - ankles_at
    feet, shin, others = low[:, :len(legs)], low[:, len(legs):-1], low[:, -1]
    goes = np.clip((shin - feet) / (NEAR_LEGS[0] * leg), 0.0, 1.0)
    others = np.minimum(others, (shin + goes * most_drawn(below, leg)).min(axis=1))
    ankles, soles = ankles_and_soles(source, source_map, body.sides, times, up)
    as_in_clip = feet + ratio * ankles - (ankles_at - body.ankles)
    off = off_ground(times, as_in_clip, ratio * soles, body.sides, contacts.feet)
    off = np.minimum(off, np.maximum(feet, 0.0))  # a foot that is already lower does not lift the body
    lowest, on = arms.lowest(low.min(axis=1)), np.zeros(len(times))
    return Measured(times, np.column_stack((feet, lowest)), np.column_stack((off, on)),
                    np.minimum(shin, low[:, -1:]), others, touching, weight, legs, below, arms, leg)


def _bears(contacts: BodyContacts, times: FloatArray) -> FloatArray:
    """Return how much each hand bears the clip's body at times (F,), (F, 2)."""
    return np.stack([contacts.weight(hand, times) for hand in HANDS], axis=1)


@dataclass(frozen=True, eq=False)
class _Body:
    """What is the same for all clips of a body: its legs, arms, and skin above the ground.

    sides: of its L feet. ankles: (L,) their heights while the body stands. arms: A of them. ground: its height. leg:
    the length of the legs.
    """

    sides: tuple[str, ...]
    legs: tuple[Limb | None, ...]
    ankles: FloatArray
    arms: tuple[ArmSkin, ...]
    ground: float
    leg: float
    skin: LowestSkin

    @property
    def of_arms(self) -> slice:
        """The columns of the skin that are of arms, two for each."""
        first = 2 * len(self.legs)
        return slice(first, first + 2 * len(self.arms))

    def arms_on_ground(self, low: FloatArray, high: FloatArray, bears: FloatArray) -> ArmsOnGround:
        """Return the arms at F times. low, high: of skin and joints. bears: (F, 2) how much hands bear the body."""
        joints = high[:, 2 * len(self.legs):].reshape(len(high), len(self.arms), 3)
        return ArmsOnGround.of(self.arms, low[:, self.of_arms], joints, bears)

    def without_arms(self, low: FloatArray) -> FloatArray:
        """Return the heights of the lowest skin of feet, of shins, and of all else but the arms, (F, 2 L + 1)."""
        return np.delete(low, self.of_arms, axis=1)


@lru_cache(maxsize=MOST_BODIES)
def _body(body: BodySkin) -> _Body | None:
    """Return a body, cached for all its clips; None if it has no feet, or none with skin."""
    found, own, skin, parents = body.found, body.own, body.points, body.found.skeleton.parents
    if not body.feet or body.leg <= 0.0:
        return None
    is_foot, is_sole = body.feet, np.logical_or.reduce([*body.feet.values()])
    depth = np.minimum(body.at_rest - body.ground, 0.0)  # a train, or a tail, may be below the soles at rest
    legs = tuple(Limb.of(found, side, ("hip", "knee", "ankle")) for side in is_foot)
    ends = np.array([joint for limb in legs for joint in ((0, 0) if limb is None else (limb.first, limb.last))])
    shins = [with_descendants(parents, np.array([limb.middle]))[skin.joints[:, 0]] & ~is_sole if limb is not None else
             np.zeros(len(is_sole), np.bool_) for limb in legs]
    arms = tuple(arm for arm in (ArmSkin.of(found, own, skin, side) for side in range(2)) if arm is not None)
    of_arms = [joint for arm in arms for joint in arm.arm]
    lowest = LowestSkin.of(skin, own, [*is_foot.values()], [*shins, *(part for arm in arms for part in arm.parts)],
                           depth + body.ground, np.array([*ends.tolist(), *of_arms]))
    ankles = found.skeleton.rest_world[ends[1::2], :, 3] @ body.up
    return _Body(tuple(is_foot), legs, ankles, arms, body.ground, body.leg, lowest)


def with_arms_off_ground(played: Clip, of: BodySkin) -> Clip:
    """Return a clip whose hands and forearms are not in the ground."""
    body = _body(of)
    if body is None:
        return played
    stood = replace(of.found, skeleton=played.skeleton)
    return with_arms_drawn_up(played, stood, body.arms, body.ground, body.leg, of.up)


def _times(played: Clip, spans: FloatArray) -> FloatArray:
    """Return the times to measure, (F,): the moments of the clip, and the beginnings and ends of contacts."""
    times = moments(played.duration_s, played.rotations, played.translations)
    return beside(times, spans.ravel().clip(0.0, played.duration_s))


def _most_drawn(found: Measured, played: Clip) -> FloatArray:
    """Return how far legs can draw up their feet, (F, L).

    While nothing else bears the body, the body rises instead, unless the knee is bent: a straight knee would snap. The
    more something else bears it, the further the knee may bend, by the square of its share.
    """
    most = most_drawn(found.below, found.leg)
    bears = found.touching * np.clip(1.0 - found.high / (_OFF_LEGS * found.leg), 0.0, 1.0)
    for column, leg in enumerate(found.legs):
        alone = 1.0 - np.delete(bears, column, axis=1).max(axis=1) ** 2
        frames = np.flatnonzero((alone > 0.0) & (found.low[:, column] < SOFT_LEGS * found.leg))
        if leg is not None and len(frames):
            bent = most_bent(played, leg, found.times_s[frames], found.below[frames, column])
            most[frames, column] -= alone[frames] * np.maximum(most[frames, column] - bent, 0.0)
    return most


def _reach(found: Measured, played: Clip) -> FloatArray:
    """Return how far legs can put down a foot that hangs while both are on the ground in the clip, (F, L + 1).

    The last column is all other skin: 0. No skin of the leg goes into the ground. Feet near the ground in the clip
    count as well, such as feet that slide or are about to leave, if their legs are known.
    """
    reach, leg = np.zeros((2, *found.low.shape)), found.leg
    low, feet = (found.low - found.high)[:, :-1], found.touching[:, :-1]
    if low.shape[1] < 2:
        return np.asarray(reach[0])
    apart = low - low.min(axis=1, keepdims=True)
    near = 1.0 - smoothstep(found.high[:, :-1] / leg, *_BESIDE_GROUND_LEGS)
    both = feet * feet.min(axis=1, keepdims=True)
    seen = near.min(axis=1, keepdims=True) * smoothstep(apart / leg, *SEEN_LEGS)
    share = near_ground(apart, leg) * np.stack((both, seen))
    for column, limb in enumerate(found.legs):
        frames = np.flatnonzero((share[..., column] > 0.0).any(axis=0) & (apart[:, column] > STILL_LEGS * leg))
        if limb is not None and len(frames):
            down = most_put_down(played, limb, found.times_s[frames], found.below[frames, column])
            clear = np.maximum(found.clear[frames, column] - low[frames].min(axis=1), 0.0)
            reach[:, frames, column] = share[:, frames, column] * np.minimum(down, clear)
            if (seen_reach := reach[1, :, column]).any():
                reach[1, :, column] = smoothed(found.times_s, seen_reach[None], _CALM_S, lo=0.0, hi=seen_reach,
                                               is_cycle=found.is_cycle)[0]
    return np.asarray(reach.max(axis=0))


def _sudden_times(times: FloatArray, low: FloatArray, stands_at: FloatArray, keys: FloatArray,
                  leg: float) -> FloatArray:
    """Return further times to measure (N,), in gaps between times (F,) in which skin near the ground moves suddenly.

    low: (F, L + 1) heights of each foot, and of all other skin. stands_at: (F,) height of the skin on which the body is
    to stand; a foot that is higher than this and than the other foot does not count. The times are keys (K,) in such
    gaps, and the middles of the gaps.
    """
    feet, lowest = low[:, :-1], low.min(axis=1, keepdims=True)
    near = np.maximum(np.maximum(feet.min(axis=1), stands_at), 0.0)[:, None] + NEAR_LEGS[0] * leg
    heights = np.concatenate((np.minimum(feet, near), lowest), axis=1)
    turns = np.abs(np.diff(heights, 2, axis=0, prepend=heights[:1], append=heights[-1:])) > LITTLE_LEGS * leg
    is_sudden = np.convolve(turns.any(axis=1), np.ones(3))[1:-1] > 0.0
    gaps = np.flatnonzero((is_sudden[:-1] | is_sudden[1:]) & (np.diff(times) > SAME_S))
    inside = np.searchsorted(times, keys, side="right") - 1
    more = beside((times[gaps] + times[gaps + 1]) / 2.0, keys[np.isin(inside, gaps)])
    return np.setdiff1d(beside(times, more), times)


def moments(duration_s: float, *channels: Tracks) -> FloatArray:
    """Return the times (F,) of a clip at which skin is measured in any case: at keys, and between them.

    Heights may turn sharply at keys. If keys are closer than the steps, one of them in each step is enough.
    """
    keys = key_times(*channels).clip(0.0, duration_s)
    return divided(thinned(merged(keys, np.array((0.0, duration_s))), FINE_S), FINE_S)
