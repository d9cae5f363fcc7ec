"""When a clip's body is on the ground, with which part, and how firmly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.contacts import LOW_LEGS, FootContacts, depth_within, foot_contacts, instants, joined
from ...clips.keyed import SAMPLE_S
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray, runs
from ...skeletons.maps import SkeletonMap
from ..comparing.upright import FEET
from .bearing_trunk import has_low_hips, head_height, trunk_height
from .off_ground import ankles_and_soles, is_within, off_ground

EASE_S: Final = 0.15
"""How long before and after a contact skin takes to the ground and leaves it."""
_SHORTEST_SLIDE_S: Final = 2.0 * EASE_S
"""Feet that slide over the ground for less would make the body hop onto it and off again."""
NEAR_LEGS: Final = 0.18
_SLOW_LEGS_PER_S: Final = 0.3
"""A body touches the ground with more than its feet where another joint is so low, and as slow, for its leg."""
_FIRM: Final = 2.0
"""How firmly stands what lies, or a foot on its heel; a foot on its toes half so."""
_ON_LEGS: Final = 0.005
"""A foot that a clip has no higher than this above where it stands is on the ground."""
_TRUNK_ON_LEGS: Final = 0.02
"""Nor is seat or back that is no higher."""
_MOST_KNOWN: Final = 8
"""Bodies of which lengths are kept."""
TOUCHING: Final = frozenset(("HumanoidRoot", "skullbase", "hip", "knee", "shoulder", "elbow", "wrist", "vt3", "vt6"))
"""Joints, or their names without a side, by which a body that lies, sits or crawls touches the ground."""


def contact_spans(clip: Clip, found: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return when a clip's body is on the ground, (K, 2) in seconds: with a foot, or where it lies or crawls.

    A foot that leaves the ground, or comes to it, and is still near it, is not on it.
    """
    contacts, times = foot_contacts(clip, found, up), instants(clip.duration_s)
    _, soles = ankles_and_soles(clip, found, [*contacts], times, up)
    is_on = off_ground(times, soles, soles, [*contacts], contacts) <= _ON_LEGS * leg_length(found)
    feet = [np.reshape([(times[a], times[b - 1]) for a, b in runs(on & is_within(times, contact.stands))], (-1, 2))
            for on, contact in zip(is_on.T, contacts.values(), strict=True)]
    return joined(np.concatenate((*feet, lying_spans(clip, found, up))))


def with_slides(contacts: Mapping[str, FootContacts], lying: FloatArray, clip: Clip, found: SkeletonMap,
                 up: FloatArray) -> dict[str, FootContacts]:
    """Return contacts with those of feet that slide over the ground while nothing stands, as of one who falls."""
    times = instants(clip.duration_s)
    free = ~is_within(times, joined(np.concatenate((*(each.stands for each in contacts.values()), lying))))
    if not contacts or not _long_spans(times, free):
        return dict(contacts)
    _, soles = ankles_and_soles(clip, found, [*contacts], times, up)
    is_low = off_ground(times, soles, soles, [*contacts], contacts).max(axis=1) <= LOW_LEGS[0] * leg_length(found)
    slides = np.reshape(_long_spans(times, is_low & free), (-1, 2))
    return {side: replace(each, ball=joined(np.concatenate((each.ball, slides)))) for side, each in contacts.items()}


def _long_spans(times: FloatArray, is_so: BoolArray) -> list[tuple[float, float]]:
    """Return when something is so for as long as a slide lasts at least; is_so: (F,) at times (F,)."""
    spans = [(float(times[a]), float(times[b - 1])) for a, b in runs(is_so)]
    return [(begin, end) for begin, end in spans if end - begin >= _SHORTEST_SLIDE_S]


def lying_spans(clip: Clip, found: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return when a joint that is none of a foot is near the ground and slow, or skin of seat or back on it, (K, 2)."""
    joint_of, leg = found.joint_of, leg_length(found)
    feet = [joint_of[name] for name in FEET if name in joint_of]
    others = [joint for name, joint in joint_of.items() if name in TOUCHING or name[2:] in TOUCHING]
    times = np.arange(0.0, clip.duration_s + SAMPLE_S, SAMPLE_S)
    if not feet or not others or leg <= 0.0 or len(times) < 2:
        return np.zeros((0, 2))
    posed = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, np.array((*feet, *others)))
    of_feet, low = np.split(posed.heights(times, up), [len(feet)], axis=1)
    ground = ground_height(clip, feet, of_feet, up)
    speed = np.abs(np.gradient(low, times, axis=0))
    touches = ((low - ground < NEAR_LEGS * leg) & (speed < _SLOW_LEGS_PER_S * leg)).any(axis=1)
    touches |= trunk_height(clip, found, up, times, ground, leg) < _TRUNK_ON_LEGS
    edges = np.array(runs(touches), dtype=np.int64).reshape(-1, 2)
    return np.stack((times[edges[:, 0]], times[edges[:, 1] - 1]), axis=1).clip(0.0, clip.duration_s)


def height_of_trunk(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray) -> FloatArray:
    """Return how high seat or back of a clip's body are above its ground at times (F,), (F,) in legs: trunk_height."""
    ground, leg = clip.derived(_ground_of_low, found, tuple(up.tolist())), leg_length(found)
    return np.full(len(times), np.inf) if ground is None else trunk_height(clip, found, up, times, ground, leg)


def height_of_lying(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray) -> FloatArray:
    """Return how high the head of a clip's body is above its ground, or seat and back if higher, (F,) in legs.

    Infinite where hips are high: who lies has head and trunk on the ground.
    """
    ground, leg = clip.derived(_ground_of_low, found, tuple(up.tolist())), leg_length(found)
    if ground is None:
        return np.full(len(times), np.inf)
    high = trunk_height(clip, found, up, times, ground, leg)
    near = np.flatnonzero(np.isfinite(high))
    high[near] = np.maximum(high[near], head_height(clip, found, up, times[near], ground, leg))
    return high


def _ground_of_low(clip: Clip, found: SkeletonMap, upwards: tuple[float, ...]) -> float | None:
    """Return how high the ground of a clip is whose hips ever are low; None: they never are."""
    feet = [found.joint_of[name] for name in FEET if name in found.joint_of]
    leg, up = leg_length(found), np.array(upwards)
    rest = float((clip.skeleton.rest_world[feet, :, 3] @ up).min()) if feet else 0.0
    times = np.append(np.arange(0.0, clip.duration_s, SAMPLE_S), clip.duration_s)
    if not feet or not has_low_hips(clip, found, up, times, rest, leg):  # the ground is no higher than that
        return None
    every = instants(clip.duration_s)
    heights = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, np.array(feet)).heights(every, up)
    return ground_height(clip, feet, heights, up)


def ground_height(clip: Clip, feet: Sequence[int], heights: FloatArray, up: FloatArray) -> float:
    """Return how high a clip's ground is along up (3,): where its feet rest, or seldom are lower.

    feet: joints (N,) of them. heights: (F, N) how high they are.
    """
    return min(float(clip.skeleton.rest_world[feet, :, 3].dot(up).min()), float(np.percentile(heights, 1.0)))


def all_touching(times: FloatArray, contacts: Sequence[FootContacts | None], lying: FloatArray) -> FloatArray:
    """Return how much each foot, and the body that lies, touches the ground at times (F,), and how firmly, (2, F, N).

    lying: (K, 2) when it lies.
    """
    return np.stack([*(_touching(times, each) for each in contacts), _share(times, lying) * ((1.0,), (_FIRM,))], axis=2)


def _touching(times: FloatArray, contacts: FootContacts | None) -> FloatArray:
    """Return how much a foot touches the ground at times (F,), and how firmly, (2, F).

    It stands less firmly on its toes alone; less and less so as its heel is about to leave.
    """
    if contacts is None:
        return np.zeros((2, len(times)))
    begin, end = contacts.heel.T
    heel = np.stack((np.where(begin <= times[0], -np.inf, begin), np.where(end >= times[-1], np.inf, end)), axis=1)
    on_heel = 0.5 - 0.5 * np.cos(np.pi * np.clip(depth_within(times, heel) / EASE_S, 0.0, 1.0))
    touching = _share(times, contacts.stands)
    return np.stack((touching, touching + (_FIRM - 1.0) * on_heel))


def _share(times: FloatArray, spans: FloatArray) -> FloatArray:
    """Return how much of a contact there is at times (F,): 1 within spans (K, 2), less within EASE_S beside them."""
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * np.clip(-depth_within(times, spans) / EASE_S, 0.0, 1.0)))


@lru_cache(maxsize=_MOST_KNOWN)
def leg_length(found: SkeletonMap) -> float:
    """Return the length of a leg at rest, 0 where none is known."""
    positions = found.skeleton.rest_world[:, :, 3]
    legs = [positions[[found.joint_of[f"{side}_{part}"] for part in ("hip", "knee", "ankle")]] for side in "lr"
            if {f"{side}_hip", f"{side}_knee", f"{side}_ankle"} <= found.joint_of.keys()]
    return float(np.mean([np.linalg.norm(np.diff(leg, axis=0), axis=1).sum() for leg in legs])) if legs else 0.0
