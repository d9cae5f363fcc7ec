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


def straying_rad(clip: Clip, joint_of: Mapping[str, int], *, at_end: bool = False) -> float:
    """Return by how much a clip sets out to the left of where the body faces, −π to π; 0 where it stays or goes ahead.

    joint_of: the joints of its skeleton by their names in H-Anim. at_end: the same of how it goes as it ends. Less than
    ASTRAY_RAD is ahead. 0 too where it is not known where the body faces.
    """
    if clip.duration_s <= 0.0 or "HumanoidRoot" not in joint_of:
        return 0.0
    first_s = max(clip.duration_s - FIRST_S, 0.0) if at_end else 0.0
    pose = clip.sample(np.array((first_s, min(first_s + FIRST_S, clip.duration_s))), "SLERP")
    positions = world_from_pose(clip.skeleton, pose)[..., 3]
    posture = measure_posture(positions[[-1 if at_end else 0]], joint_of)
    if posture is None:
        return 0.0
    left, _, ahead = np.diff(positions[:, joint_of["HumanoidRoot"]], axis=0)[0] @ posture.axes[0]
    if np.hypot(left, ahead) < LEAST_SIZES * float(np.ptp(clip.skeleton.rest_world[..., 3], axis=0).max()):
        return 0.0
    angle = float(np.arctan2(left, ahead))
    return angle if abs(angle) >= ASTRAY_RAD else 0.0
