"""How high a body is whose contacts are not its feet: what bears it is as high above the ground as the clip's.

Feet do not determine the height of a body that sits, lies or rolls. With a shorter trunk it would hang in the air; with
a longer one its head would lift it. So seat and back, or the lowest part while the body turns over, should be as high
as in the clip, by the ratio of the legs. Each counts as far as it bears the body. Arms count as far as their hands bear
it. These are wishes for the one curve of the body's height (soft_ground.py).
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
    """Return how high the lowest of body and arms is, (F,) each, where hands bear the body so much, (F,)."""
    return np.asarray(body - hands * np.maximum(body - np.minimum(arms, body), 0.0))


def as_high_as_contacts(contacts: BodyContacts, played: Clip, body: BodySkin) -> Ground | None:
    """Return by how much a body is to be lifted, or lowered, for its contacts; None where its feet tell.

    contacts: of the clip that it plays. played: what became of that, on the target's own skeleton.
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
    """Return how high seat and back are above the ground at times (F,), (F,)."""
    return np.asarray(body.low(played, times, "trunk")[:, 0])


def _body(contacts: BodyContacts, played: Clip, body: BodySkin, times: FloatArray) -> FloatArray:
    """Return how high what is lowest is besides feet at times (F,), (F,); arms count as far as hands bear the body."""
    bears = np.maximum(*(contacts.weight(hand, times) for hand in HANDS))
    lowest, arms = body.low(played, times, "body", "forearms").T
    return lowest_borne(lowest, arms, bears)
