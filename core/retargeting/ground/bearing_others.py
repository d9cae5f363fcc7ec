"""How high a body is whose feet do not bear it, as in a roll: what is lowest on it is as high as in the clip.

While feet are high, and head, trunk or hands near the ground, feet tell nothing of how high a body is: one whose trunk
is shorter for its legs would roll in the air, and one whose trunk is longer would be thrown up by its own head. So its
own lowest skin is as high above the ground as the clip's, by the ratio of the legs. Arms count as far as hands bear the
body: others reach anywhere.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.body_contacts import BODY, HANDS, BodyContacts
from ...clips.clip import Clip
from ...clips.keyed import FINE_S
from ...maths.arrays import FloatArray
from ...skeletons.maps import SkeletonMap
from ..skin_points import SkinPoints
from .fitted_curves import smoothed
from .grounding import Ground
from .lowest_parts import LowestParts, lowest_foot
from .touching import NEARLY_LEGS, leg_length

_SOFT_S: Final = 0.036
"""So long before and after itself a lift is heard; not at a clip's ends, which go on fitting to others."""


def at_others(contacts: BodyContacts, played: Clip, found: SkeletonMap, points: SkinPoints,
              up: FloatArray) -> Ground | None:
    """Return by how much a body is to be lifted, or lowered, while its feet do not bear it; None: nowhere.

    contacts: of the clip that it plays. played: what became of that, on the target's own skeleton. found: the map of
    its joints, as the target stands. points: of its skin as it rests itself. up: (3,) unit.
    """
    leg, times = leg_length(found), np.append(np.arange(0.0, played.duration_s, FINE_S), played.duration_s)
    share = contacts.weight(BODY, times)
    near = np.flatnonzero(share)
    if not len(near) or leg <= 0.0 or len(times) < 2:
        return None
    bears = np.maximum(*(contacts.weight(hand, times[near]) for hand in HANDS))
    here = LowestParts.of(played, found, points, times[near], up, lowest_foot(found, up)).borne(bears)
    lift = np.zeros(len(times))
    lift[near] = leg * share[near] * (contacts.height(BODY, times[near]) - here)
    lift = smoothed(times, lift[None], _SOFT_S, keeps_ends=True)[0]
    return Ground(times, lift, (), np.zeros((len(times), 0))) if np.abs(lift).max() > NEARLY_LEGS * leg else None
