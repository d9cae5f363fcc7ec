"""Clips that fit after a clip: the cost of a seam to each of many clips, without retargeting any.

Poses and velocities are compared as for *Fit* (playing/transitions/seam_cost.py), but each on its own body, in lengths
of its limbs. So thousands of clips can be compared at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray
from ..playing.transitions.seam_cost import OTHER_FOOT, kinks
from .measures import Followed

JOINTS: Final = ("skullbase", *(f"{side}_{part}" for side in "lr" for part in (
    "hip", "knee", "ankle", "metatarsal", "shoulder", "elbow", "wrist")))
"""What the eye sees of a seam."""
_IN_ARMS: Final = ("elbow", "wrist")
_PLANTED: Final = 0.05
"""In legs: a foot no higher above its ground is planted."""


@dataclass(frozen=True, eq=False)
class EndPose:
    """The begin or end of a clip: positions and velocities (P, 3) of JOINTS, in body space and lengths of limbs.

    planted: (2,) whether each foot is in contact. Joints that the body lacks are NaN.
    """

    positions: FloatArray
    velocities: FloatArray
    planted: BoolArray


def end_poses(body: Followed) -> tuple[EndPose, EndPose]:
    """Return the first and the last pose of a clip."""
    arm = np.mean([np.linalg.norm(body.at[f"{side}_{upper}"] - body.at[f"{side}_{lower}"], axis=1).mean()
                   for side in "lr" for upper, lower in (("shoulder", "elbow"), ("elbow", "wrist"))
                   if f"{side}_{lower}" in body.at]) * 2.0 if "l_elbow" in body.at else 1.0
    return _end_pose(body, 0, float(arm)), _end_pose(body, -1, float(arm))


def _end_pose(body: Followed, frame: int, arm: float) -> EndPose:
    beside = 1 if frame == 0 else -2
    step_s = max(abs(float(body.times_s[beside] - body.times_s[frame])), 1e-6)
    left = np.cross(np.array((0.0, 1.0, 0.0)), body.forward[frame])
    axes = np.stack((left, np.array((0.0, 1.0, 0.0)), body.forward[frame]))
    origin = body.hips[frame] * np.array((1.0, 0.0, 1.0))

    def seen(at: int) -> FloatArray:
        rows = [(body.at[name][at] - origin) / (arm if name[2:] in _IN_ARMS else 1.0) if name in body.at else
                np.full(3, np.nan) for name in JOINTS]
        return np.asarray(np.array(rows) @ axes.T)

    here, there = seen(frame), seen(beside)
    heights = np.array([body.at[f"{side}_ankle"][:, 1] for side in "lr"])
    planted: BoolArray = np.asarray(heights[:, frame] - np.percentile(heights, 1.0) < _PLANTED)
    return EndPose(here, (there - here) / step_s * (1.0 if frame == 0 else -1.0), planted)


def stacked(poses: list[EndPose]) -> EndPose:
    """Return N poses stacked, (N, P, 3) and (N, 2)."""
    if not poses:
        return EndPose(np.zeros((0, len(JOINTS), 3)), np.zeros((0, len(JOINTS), 3)), np.zeros((0, 2), np.bool_))
    return EndPose(*(np.stack([getattr(pose, part) for pose in poses])
                     for part in ("positions", "velocities", "planted")))


def costs(end: EndPose, starts: EndPose) -> FloatArray:
    """Return the cost of a seam from an end to each of N starts, (N,), in lengths of limbs; see seam_costs.

    Joints that one of the two bodies lacks are left out.
    """
    offset, rate = end.positions - starts.positions, end.velocities - starts.velocities
    missing: BoolArray = np.asarray(np.isnan(offset).any(axis=-1))
    seen = kinks(np.where(missing[..., None], 0.0, offset), np.where(missing[..., None], 0.0, rate))
    share = np.maximum((~missing).mean(axis=-1), 1e-9)
    return np.asarray(seen / share + OTHER_FOOT * (end.planted != starts.planted).sum(axis=-1))
