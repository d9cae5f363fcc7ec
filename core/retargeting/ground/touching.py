"""When a clip's body is on the ground, with which part, and with which contact weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.contacts import FootContacts, depth_within, instants, joined, weight_within
from ...clips.thresholds import EASE_S, LOW_LEGS, MOMENT_S
from ...maths.arrays import BoolArray, FloatArray, runs, smoothstep
from ...skeletons.maps import SkeletonMap
from .off_ground import ankles_and_soles, is_within, off_ground

LEVEL_SHARE: Final = 0.3
"""Least share of a spine or neck that counts as level when a rotation must bring its end down."""
_FULL_WEIGHT: Final = 2.0
"""The contact weight of a lying body, or of a foot on its heel; a foot on its toes has half of it."""


def with_slides(contacts: Mapping[str, FootContacts], lying: FloatArray, clip: Clip, found: SkeletonMap,
                 up: FloatArray) -> dict[str, FootContacts]:
    """Return contacts, with those of feet that slide while nothing else is in contact, as in a fall."""
    times = instants(clip.duration_s)
    free = ~is_within(times, joined(np.concatenate((*(each.stands for each in contacts.values()), lying))))
    if not contacts or not _long_spans(times, free):
        return dict(contacts)
    _, soles = ankles_and_soles(clip, found, [*contacts], times, up)
    is_low = off_ground(times, soles, soles, [*contacts], contacts).max(axis=1) <= LOW_LEGS[0] * found.leg_length
    slides = np.reshape(_long_spans(times, is_low & free), (-1, 2))
    return {side: replace(each, ball=joined(np.concatenate((each.ball, slides)))) for side, each in contacts.items()}


def _long_spans(times: FloatArray, is_so: BoolArray) -> list[tuple[float, float]]:
    """Return the spans of times (F,) in which is_so (F,) is true, without those shorter than MOMENT_S."""
    spans = [(float(times[a]), float(times[b - 1])) for a, b in runs(is_so)]
    return [(begin, end) for begin, end in spans if end - begin >= MOMENT_S]


def ground_height(clip: Clip, feet: Sequence[int], heights: FloatArray, up: FloatArray) -> float:
    """Return the height of a clip's ground along up (3,): the feet's rest height, or their lowest usual one if lower.

    feet: (N,) their joints. heights: (F, N) of the feet.
    """
    return min(float(clip.skeleton.rest_world[feet, :, 3].dot(up).min()), float(np.percentile(heights, 1.0)))


def all_touching(times: FloatArray, contacts: Sequence[FootContacts | None], lying: FloatArray) -> FloatArray:
    """Return how much each foot, and a lying body, touches the ground at times (F,), and their weights, (2, F, N).

    lying: (K, 2) when the body lies.
    """
    lies = weight_within(times, lying) * ((1.0,), (_FULL_WEIGHT,))
    return np.stack([*(_touching(times, each) for each in contacts), lies], axis=2)


def _touching(times: FloatArray, contacts: FootContacts | None) -> FloatArray:
    """Return how much a foot touches the ground at times (F,), and its contact weight, (2, F).

    The weight is lower on the toes alone, and decreases before the heel leaves.
    """
    if contacts is None:
        return np.zeros((2, len(times)))
    begin, end = contacts.heel.T
    heel = np.stack((np.where(begin <= times[0], -np.inf, begin), np.where(end >= times[-1], np.inf, end)), axis=1)
    on_heel = smoothstep(depth_within(times, heel), 0.0, EASE_S)
    touching = weight_within(times, contacts.stands)
    return np.stack((touching, touching + (_FULL_WEIGHT - 1.0) * on_heel))
