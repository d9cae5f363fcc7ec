"""The skin of buttocks and back, on which a body sits or lies, and how thick bodies usually are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton

ABOUT_LEGS: Final[Mapping[str, float]] = {
    "HumanoidRoot": 0.13, "hip": 0.13, "knee": 0.07, "vl5": 0.13, "vl3": 0.13, "vl1": 0.13, "vt10": 0.13, "vt6": 0.13,
    "vt3": 0.13, "shoulder": 0.08, "skullbase": 0.16, "elbow": 0.05, "wrist": 0.05,
    "finger": 0.02}
"""Usual distance of the skin from joints, in leg lengths, for clips without skin; left and right alike."""
OF_ARMS: Final = ("elbow", "wrist")
_SEAT: Final = 0.35
"""Share of the thigh, from the hip down, whose skin belongs to the buttocks."""
_HEM: Final = 0.5
"""Share of both thighs beyond which skin belongs to a hem."""
HIPS_OF_BACK: Final = ("HumanoidRoot", "l_hip", "r_hip")
BACK: Final = (*HIPS_OF_BACK, "vl5", "vl3", "vl1", "vt10", "vt6")
FEWEST: Final = 8
"""Least number of vertices that show the shape of a trunk, or of feet."""


def of_trunk(positions: FloatArray, joints: IntArray, own: Skeleton, found: SkeletonMap,
             thighs: float = _SEAT) -> BoolArray:
    """Return which points (P, 3) of a skin belong to buttocks or back, (P,), not to head, arms, legs or a hem.

    joints: (P,) the joint that moves each point most. own: the skeleton in the rest pose of the skin. found: the map of
    its joints. thighs: the share of the thighs, from the hips down, that belongs to the buttocks.
    """
    known, at = found.joint_of, own.rest_world[..., 3]
    limbs = [known[name] for name in ("skullbase", "l_shoulder", "r_shoulder", "l_hip", "r_hip") if name in known]
    is_trunk = ~with_descendants(own.parents, np.array(limbs, dtype=np.int64))[joints]
    legs = [(known[f"{side}_hip"], known[f"{side}_knee"]) for side in "lr"
            if {f"{side}_hip", f"{side}_knee"} <= known.keys()]
    if not legs:
        return is_trunk
    for hip, knee in legs:
        is_thigh = (with_descendants(own.parents, np.array([hip]))
                    & ~with_descendants(own.parents, np.array([knee])))[joints]
        is_trunk |= is_thigh & (along(positions, at[hip], at[knee]) < thighs)
    hips, knees = (at[list(each)].mean(axis=0) for each in zip(*legs, strict=True))
    return np.asarray(is_trunk & (along(positions, hips, knees) < _HEM))


def plain_name(name: str) -> str:
    """Return a joint's name without its side."""
    return name[2:] if name[:2] in ("l_", "r_") else name


def along(positions: FloatArray, first: FloatArray, last: FloatArray) -> FloatArray:
    """Project positions (P, 3) onto the line from first to last, (3,) each; return (P,), 0 at first and 1 at last."""
    way = last - first
    return np.asarray((positions - first) @ way / max(float(way @ way), 1e-30))
