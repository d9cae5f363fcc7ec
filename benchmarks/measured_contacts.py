"""When a clip's body is on the ground, as benchmarks see it: by thresholds of their own, so that figures of different
days are of the same moments, whatever core/retargeting/ground/contact_detection.py finds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from takt.core.clips.clip import Clip
from takt.core.clips.contacts import foot_contacts, instants, joined
from takt.core.clips.keyed import SAMPLE_S
from takt.core.clips.posed import PosedJoints
from takt.core.maths.arrays import FloatArray, runs
from takt.core.retargeting.comparing.upright import FEET
from takt.core.retargeting.ground.contact_detection import SeenBody
from takt.core.retargeting.ground.off_ground import ankles_and_soles, is_within, off_ground
from takt.core.retargeting.ground.touching import ground_height
from takt.core.skeletons.maps import SkeletonMap

NEAR_LEGS: Final = 0.18
SLOW_LEGS_PER_S: Final = 0.3
"""A body touches the ground with more than its feet where another joint is so low, and as slow, for its leg."""
ON_LEGS: Final = 0.005
"""A foot that a clip has no higher than this above where it stands is on the ground."""
TRUNK_ON_LEGS: Final = 0.02
"""Nor is seat or back that is no higher."""
TOUCHING: Final = frozenset(("HumanoidRoot", "skullbase", "hip", "knee", "shoulder", "elbow", "wrist", "vt3", "vt6"))
"""Joints, or their names without a side, by which a body that lies, sits or crawls touches the ground."""


def contact_spans(clip: Clip, found: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return when a clip's body is on the ground, (K, 2) in seconds: with a foot, or where it lies or crawls.

    A foot that leaves the ground, or comes to it, and is still near it, is not on it.
    """
    contacts, times = foot_contacts(clip, found, up), instants(clip.duration_s)
    _, soles = ankles_and_soles(clip, found, [*contacts], times, up)
    is_on = off_ground(times, soles, soles, [*contacts], contacts) <= ON_LEGS * found.leg_length
    feet = [np.reshape([(times[a], times[b - 1]) for a, b in runs(on & is_within(times, contact.stands))], (-1, 2))
            for on, contact in zip(is_on.T, contacts.values(), strict=True)]
    return joined(np.concatenate((*feet, lying_spans(clip, found, up))))


def lying_spans(clip: Clip, found: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return when a joint that is none of a foot is near the ground and slow, or skin of seat or back on it, (K, 2)."""
    joint_of, leg = found.joint_of, found.leg_length
    feet = [joint_of[name] for name in FEET if name in joint_of]
    others = [joint for name, joint in joint_of.items() if name in TOUCHING or name[2:] in TOUCHING]
    times = np.arange(0.0, clip.duration_s + SAMPLE_S, SAMPLE_S)
    if not feet or not others or leg <= 0.0 or len(times) < 2:
        return np.zeros((0, 2))
    posed = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, np.array((*feet, *others)))
    of_feet, low = np.split(posed.heights(times, up), [len(feet)], axis=1)
    ground = ground_height(clip, feet, of_feet, up)
    speed = np.abs(np.gradient(low, times, axis=0))
    touches = ((low - ground < NEAR_LEGS * leg) & (speed < SLOW_LEGS_PER_S * leg)).any(axis=1)
    touches |= height_of_trunk(clip, found, up, times) < TRUNK_ON_LEGS
    edges = np.array(runs(touches), dtype=np.int64).reshape(-1, 2)
    return np.stack((times[edges[:, 0]], times[edges[:, 1] - 1]), axis=1).clip(0.0, clip.duration_s)


def height_of_trunk(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray) -> FloatArray:
    """Return how high seat or back of a clip's body are above its ground at times (F,), (F,) in legs.

    Infinite while hips are high.
    """
    seen = SeenBody.of(clip, found, up, times)
    return np.full(len(times), np.inf) if seen is None else seen.trunk()
