"""The height of a body that does not stand on its feet: its contacts are as high above the ground as the clip's.

Feet do not determine the height of a body that sits, lies or rolls. With a shorter trunk it would hang in the air; with
a longer one its head would lift it. So buttocks and back, or the lowest part while the body turns over, should be as
high as in the clip, by the ratio of the legs. Each counts in proportion to how much it supports the body. Arms count in
proportion to how much their hands do. These are wishes for the one curve of the body's height (soft_ground.py).
"""

from __future__ import annotations

import numpy as np

from ...clips.body_contacts import BODY, HANDS, TRUNK, BodyContacts
from ...clips.clip import Clip
from ...clips.keyed import FINE_S, in_steps
from ...maths.arrays import FloatArray
from .body_skin import BodySkin
from .grounding import Ground


def lowest_borne(body: FloatArray, arms: FloatArray, hands: FloatArray) -> FloatArray:
    """Return the lower of the heights of body and arms, (F,). hands: (F,) how much they support the body."""
    return np.asarray(body - hands * np.maximum(body - np.minimum(arms, body), 0.0))


def as_high_as_contacts(contacts: BodyContacts, played: Clip, body: BodySkin) -> Ground | None:
    """Return the lifts of a body (negative: down) that its contacts need, or None if only feet are in contact.

    contacts: of the source clip. played: the retargeted clip, on the target's own skeleton.
    """
    times = in_steps(played.duration_s, FINE_S)
    lift = np.zeros(len(times))
    for effector, lowest in ((TRUNK, _trunk), (BODY, _body)):
        share = contacts.weight(effector, times)
        near = np.flatnonzero(share)
        if len(near):
            wanted = body.leg * np.maximum(contacts.height(effector, times[near]), 0.0)
            low = lowest(contacts, played, body, times[near])
            lift[near] += np.where(np.isfinite(low), share[near] * (wanted - low - lift[near]), 0.0)
    return Ground.lifting(times, lift) if lift.any() else None


def _trunk(_: BodyContacts, played: Clip, body: BodySkin, times: FloatArray) -> FloatArray:
    """Return the heights of buttocks and back above the ground at times (F,), (F,)."""
    return np.asarray(body.low(played, times, "trunk")[:, 0])


def _body(contacts: BodyContacts, played: Clip, body: BodySkin, times: FloatArray) -> FloatArray:
    """Return the height of the lowest part except feet at times (F,), (F,); arms count as in lowest_borne."""
    bears = np.maximum(*(contacts.weight(hand, times) for hand in HANDS))
    lowest, arms = body.low(played, times, "body", "forearms").T
    return lowest_borne(lowest, arms, bears)
