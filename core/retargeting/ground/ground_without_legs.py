"""A body without legs is on the ground with what of its skin is lowest, as a snowman or a blob that tips over.

It has no feet that give its height, and no legs whose length gives the height of jumps. It follows the hips of clips
with its root.
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
    """Return by how much a body is to be lifted, so that its lowest skin is as high as it rests.

    None if all may stay. played: a clip on its own skeleton. found: the map of the same joints, on
    a skeleton that rests in the pose in which the body stands; skin: as it rests itself. up: (3,) unit. steps: (F,)
    times at which to look besides keys.
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
