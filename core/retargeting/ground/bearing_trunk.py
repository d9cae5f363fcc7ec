"""How high seat and back of a body are above the ground, or its head: who sits or lies on it is borne by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray, IntArray, product
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton

_HIGH_LEGS: Final = 0.65
"""With all of the hips higher than this above the ground nobody sits or lies on it."""
ABOUT_LEGS: Final[Mapping[str, float]] = {
    "HumanoidRoot": 0.13, "hip": 0.13, "knee": 0.07, "vl5": 0.13, "vl3": 0.13, "vl1": 0.13, "vt10": 0.13, "vt6": 0.13,
    "vt3": 0.13, "shoulder": 0.08, "skullbase": 0.16, "elbow": 0.05, "wrist": 0.05}
"""How far skin usually is from joints, or from those on both sides, where a clip's is not known."""
OF_ARMS: Final = ("elbow", "wrist")
_SEAT: Final = 0.35
"""Of the thigh's length, from the hip: so far its skin is of the seat."""
_HEM: Final = 0.5
"""And what is farther along both thighs is a hem."""
_HIPS: Final = ("HumanoidRoot", "l_hip", "r_hip")
BACK: Final = (*_HIPS, "vl5", "vl3", "vl1", "vt10", "vt6")
FEWEST: Final = 8
"""So many vertices show the shape of a trunk, or of feet."""


def of_trunk(positions: FloatArray, joints: IntArray, own: Skeleton, found: SkeletonMap) -> BoolArray:
    """Return which places (P, 3) of a skin are of seat or back, (P,): not those of head, arms, legs, nor of a hem.

    joints: (P,) what moves them most. own: the skeleton as the skin rests; found: the map of its joints.
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
        is_trunk |= is_thigh & (along(positions, at[hip], at[knee]) < _SEAT)
    hips, knees = (at[list(each)].mean(axis=0) for each in zip(*legs, strict=True))
    return np.asarray(is_trunk & (along(positions, hips, knees) < _HEM))


def _low_hips(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray, ground: float,
              leg: float) -> IntArray:
    """Return at which of times (F,) hips are low, (N,)."""
    hips = [found.joint_of[name] for name in _HIPS if name in found.joint_of]
    if not hips:
        return np.zeros(0, dtype=np.int64)
    high = PosedJoints.of(clip, np.array(hips)).heights(times, up).min(axis=1) - ground
    return np.flatnonzero(high < _HIGH_LEGS * leg)


def trunk_height(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray, ground: float,
                 leg: float) -> FloatArray:
    """Return how high the lowest of seat and back is above the ground at times (F,), (F,) in legs.

    found: the map of the clip's skeleton. up: (3,) unit. ground: how high its lowest joint of a foot is on it. leg: how
    long legs are. Measured on the clip's own skin, else on one of usual thickness; infinite while hips are high.
    """
    high, joints = np.full(len(times), np.inf), found.joint_of
    near = _low_hips(clip, found, up, times, ground, leg)
    if not len(near):
        return high
    lowest = _by_skin(clip, found, up, times[near])
    if lowest is not None:
        high[near] = lowest - ground + _soles(clip, found, up)
    else:
        back = PosedJoints.of(clip, np.array([joints[name] for name in BACK if name in joints]))
        high[near] = back.heights(times[near], up).min(axis=1) - ground - ABOUT_LEGS[BACK[0]] * leg
    return high / leg


def head_height(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray, ground: float,
                leg: float) -> FloatArray:
    """Return the height of the head's lowest point above the ground at times (F,), in leg lengths; see trunk_height."""
    head = np.array([found.joint_of["skullbase"]]) if "skullbase" in found.joint_of else np.zeros(0, dtype=np.int64)
    if not len(head):
        return np.full(len(times), np.inf)
    lowest = None if clip.skin is None else _lowest_of(
        clip, up, times, with_descendants(clip.skeleton.parents, head)[clip.skin.joints])
    if lowest is None:
        high = PosedJoints.of(clip, head).heights(times, up)[:, 0]
        return np.asarray((high - ground) / leg - ABOUT_LEGS["skullbase"])
    return np.asarray((lowest - ground + _soles(clip, found, up)) / leg)


def _by_skin(clip: Clip, found: SkeletonMap, up: FloatArray, times: FloatArray) -> FloatArray | None:
    """Return how high the lowest skin of seat and back is along up (3,) at times (F,), (F,); None: not known."""
    if clip.skin is None:
        return None
    places = clip.skin.of_joints(clip.skeleton, np.ones(len(clip.skeleton), np.bool_))
    return _lowest_of(clip, up, times, of_trunk(places, clip.skin.joints, clip.skeleton, found))


def _lowest_of(clip: Clip, up: FloatArray, times: FloatArray, is_own: BoolArray) -> FloatArray | None:
    """Return how high the lowest of some vertices (P,) of a clip's skin is, (F,); None: too few."""
    if clip.skin is None or np.count_nonzero(is_own) < FEWEST:
        return None
    lowest = np.full(len(times), np.inf)
    for joint in np.unique(clip.skin.joints[is_own]).tolist():
        local = np.pad(clip.skin.offsets[is_own & (clip.skin.joints == joint)], ((0, 0), (0, 1)), constant_values=1.0)
        rows = PosedJoints.of(clip, np.array([joint])).height_rows(times, up)[:, 0]
        lowest = np.minimum(lowest, product(local, rows).min(axis=0))
    return lowest


def _soles(clip: Clip, found: SkeletonMap, up: FloatArray) -> float:
    """Return how far below the lowest joint of the feet their skin is at rest; 0: not known."""
    rest, ankles = clip.skeleton.rest_world[..., 3], [found.joint_of[f"{side}_ankle"] for side in "lr"
                                                      if f"{side}_ankle" in found.joint_of]
    feet = [found.joint_of[name] for name in ("l_ankle", "r_ankle", "l_metatarsal", "r_metatarsal")
            if name in found.joint_of]
    if clip.skin is None or not ankles:
        return 0.0
    skin = clip.skin.of_joints(clip.skeleton, with_descendants(clip.skeleton.parents, np.array(ankles)))
    return float((rest[feet] @ up).min() - (skin @ up).min()) if len(skin) >= FEWEST else 0.0


def plain_name(name: str) -> str:
    """Return a joint's name without its side."""
    return name[2:] if name[:2] in ("l_", "r_") else name


def along(positions: FloatArray, first: FloatArray, last: FloatArray) -> FloatArray:
    """Return how far along the way from first to last (3,) positions (P, 3) are, (P,), as shares of it."""
    way = last - first
    return np.asarray((positions - first) @ way / max(float(way @ way), 1e-30))
