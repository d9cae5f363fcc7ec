"""When a clip's body is on the ground, by the contacts that Takt finds."""

from typing import Final

import numpy as np

from takt.core.clips.body_contacts import JOINTS
from takt.core.clips.clip import Clip
from takt.core.clips.contacts import instants, joined
from takt.core.maths.arrays import FloatArray, runs
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.ground.off_ground import ankles_and_soles, is_within, off_ground
from takt.core.skeletons.maps import SkeletonMap

_FOOT_ON_LEGS: Final = 0.005
"""A foot that a clip has no higher than this above where it stands is on the ground."""


def contact_spans(clip: Clip, found: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return when a clip's body is on the ground, (K, 2) in seconds: with a foot, or where it lies or crawls.

    A foot that leaves the ground, or comes to it, and is still near it, is not on it.
    """
    contacts, times = find_contacts(clip, found, up), instants(clip.duration_s)
    _, soles = ankles_and_soles(clip, found, [*contacts.feet], times, up)
    is_on = off_ground(times, soles, soles, [*contacts.feet], contacts.feet) <= _FOOT_ON_LEGS * found.leg_length
    feet = [np.reshape([(times[a], times[b - 1]) for a, b in runs(on & is_within(times, contact.stands))], (-1, 2))
            for on, contact in zip(is_on.T, contacts.feet.values(), strict=True)]
    return joined(np.concatenate((*feet, contacts.spans(JOINTS))))
