"""Whether a clip goes elsewhere than the body faces: sideways, or backwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..skeletons.posture import measure_posture
from ..skeletons.skeleton import world_from_pose

FIRST_S: Final = 0.5
"""So long it is followed as it begins, or as it ends."""
LEAST_SIZES: Final = 0.05
"""So far a body goes at least within FIRST_S, against its size, if it goes at all."""
ASTRAY_RAD: Final = np.radians(45.0)
_LOOKS: Final = 4
"""So often, FIRST_S apart, it is looked for how far it goes: who leans back to jump ahead does not go back."""


def straying_rad(clip: Clip, joint_of: Mapping[str, int], *, at_end: bool = False) -> float:
    """Return the angle, −π to π, from where the body faces to where a clip sets out, positive to the left.

    It is 0 if the clip stays in place, goes ahead (less than ASTRAY_RAD), or if it is not known where the body faces.
    joint_of: the skeleton's joints by their names in H-Anim. at_end: measure at the end of the clip instead.
    """
    if clip.duration_s <= 0.0 or "HumanoidRoot" not in joint_of:
        return 0.0
    away_s = np.minimum(FIRST_S * np.arange(_LOOKS), clip.duration_s)
    pose = clip.sample(clip.duration_s - away_s if at_end else away_s, "SLERP")
    positions = world_from_pose(clip.skeleton, pose)[..., 3]
    posture = measure_posture(positions[:1], joint_of)
    if posture is None:
        return 0.0
    hips = positions[:, joint_of["HumanoidRoot"]] @ posture.axes[0]
    ways = (hips[1:] - hips[0])[:, (0, 2)] * (-1.0 if at_end else 1.0)
    farthest = ways[int(np.linalg.norm(ways, axis=1).argmax())]
    if np.linalg.norm(ways[0]) < LEAST_SIZES * float(np.ptp(clip.skeleton.rest_world[..., 3], axis=0).max()):
        return 0.0
    angle = float(np.arctan2(*(ways[0] if ways[0] @ farthest >= 0.0 else farthest)))
    return angle if abs(angle) >= ASTRAY_RAD else 0.0
