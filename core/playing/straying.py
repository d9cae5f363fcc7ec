"""Direction of travel: whether a clip goes sideways or backwards rather than where the body faces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..skeletons.posture import measure_posture
from ..skeletons.skeleton import world_from_pose

FIRST_S: Final = 0.5
"""Seconds at the beginning or end of a clip in which its direction of travel is measured."""
LEAST_SIZES: Final = 0.05
"""Least distance travelled in FIRST_S, as a share of the body's size; below it the clip counts as in place."""
ASTRAY_RAD: Final = np.radians(45.0)
_LOOKS: Final = 4
"""Number of windows of FIRST_S that are measured, so that a lean back before a jump ahead counts as no step back."""


def straying_rad(clip: Clip, joint_of: Mapping[str, int], *, at_end: bool = False) -> float:
    """Return the angle from the facing direction to a clip's direction of travel, −π to π, positive to the left.

    It is 0 if the clip stays in place, goes ahead (within ASTRAY_RAD), or if the facing direction is unknown. joint_of:
    the skeleton's joints by their H-Anim names. at_end: measure at the end of the clip instead.
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
    if np.linalg.norm(ways[0]) < LEAST_SIZES * clip.skeleton.size:
        return 0.0
    angle = float(np.arctan2(*(ways[0] if ways[0] @ farthest >= 0.0 else farthest)))
    return angle if abs(angle) >= ASTRAY_RAD else 0.0
