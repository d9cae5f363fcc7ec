"""The lowest skin of a body without legs is on the ground, as with a snowman, or a blob that tips over.

It has no feet that give its height, and no leg length by which jumps are scaled. Its root follows the hips of clips.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import beside, key_times
from ...clips.thresholds import STILL_LEGS
from ...maths.arrays import FloatArray, merged
from ...skeletons.maps import SkeletonMap
from ..skin_points import SkinPoints
from .body_skin import BodySkin
from .grounding import Ground

_LEGS: Final = frozenset(f"{side}_{joint}" for side in "lr" for joint in ("hip", "knee", "ankle"))


def has_legs(found: SkeletonMap) -> bool:
    """Return whether a body has any joint of a leg."""
    return bool(_LEGS & found.joint_of.keys())


def ground_without_legs(played: Clip, found: SkeletonMap, skin: SkinPoints, up: FloatArray,
                        steps: FloatArray) -> Ground | None:
    """Return the lift that keeps the lowest skin of a body as high as at rest, or None if nothing changes.

    played: a clip on its own skeleton. found: the map of the same joints, on the standing skeleton. skin: in its own
    rest pose. up: (3,) unit. steps: (F,) times to examine besides keys.
    """
    body = BodySkin.of(found, played.skeleton, skin, tuple(up.tolist()))
    if not len(body.at_rest):
        return None
    keys = merged(key_times(played.rotations, played.translations), np.array((played.duration_s,)))
    times = beside(keys.clip(0.0, played.duration_s), steps)
    lift = body.at_rest.min() - body.ground - body.low(played, times, "all")[:, 0]
    if np.abs(lift).max() <= STILL_LEGS * float(np.ptp(body.points.positions, axis=0).max()):
        return None
    return Ground.lifting(times, lift)
