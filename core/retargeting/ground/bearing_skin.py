"""The skin that may support a body: without props in hands, tails, wings, and robes that reach to the ground."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.maps.names import is_helper
from ...skeletons.skeleton import Skeleton
from ..skin_points import SkinPoints
from .arms_off_ground import from_line
from .bearing_trunk import along

_LIMBS: Final = ("l_shoulder", "r_shoulder", "l_hip", "r_hip")
_HANGS_LEGS: Final = 0.25
"""Distance from the body's bones from which on hanging parts do not support it."""
_HEM_LEGS: Final = 0.18
"""A robe that ends lower than this reaches to the ground."""
_BESIDE_FOOT: Final = 0.2
"""Share of a foot's length: a robe is farther from both feet than this. Trousers and heels are nearer."""
_HEEL: Final = 0.3
"""Share of a foot's height: skin of a shin that is lower belongs to the heel."""
_BESIDE_SHIN_LEGS: Final = (0.12, 0.2)
"""In leg lengths: a robe is farther from both shins than the first, and its hem in places than the second. Skin that is
nearer may be that of a thick leg."""
_BOTH: Final = 0.1
"""Skin to which each leg gives at least this weight hangs around both."""
_MIDDLE: Final = 0.1
"""Of the way from one ankle to the other, either side of its middle: a robe has skin there, ..."""
_AHEAD: Final = 0.25
"""... and all of that so far before or behind it: what is nearer is skin of legs that are as thick."""


def may_touch(skin: SkinPoints, found: SkeletonMap, own: Skeleton) -> BoolArray:
    """Return which points (P,) count: without props in hands, such as a sword, and hanging parts, such as a tail.

    found: the map of the skeleton. own: the skeleton in the skin's rest pose. Fingers count, even if they are children
    of controls.
    """
    skeleton, known = found.skeleton, set(found.joint_of.values())
    is_held = np.zeros(len(skeleton), np.bool_)
    wrists = [found.joint_of[f"{side}_wrist"] for side in "lr" if f"{side}_wrist" in found.joint_of]
    for joint in np.flatnonzero(with_descendants(skeleton.parents, np.array(wrists, dtype=np.int64))).tolist():
        is_held[joint] = joint not in known and (is_held[skeleton.parents[joint]] or is_helper(skeleton.names[joint]))
    return np.asarray(~is_held[skin.joints[:, 0]] & ~_hangs(skin, found, own))


def _hangs(skin: SkinPoints, found: SkeletonMap, own: Skeleton) -> BoolArray:
    """Return which points (P,) belong to a tail, wings, long hair, or the far ends of a skirt or cape.

    The joints of these are unknown to the map, and so are their parents, up to trunk or head. The points are away from
    the body's bones. Parts on the head must also hang down from it.
    """
    hangs, far = np.zeros(len(skin.positions), np.bool_), _HANGS_LEGS * found.leg_length
    carriers, is_known = _carriers(found), np.zeros(len(own), np.bool_)
    is_known[list(found.joint_of.values())] = True
    limbs = np.array([found.joint_of[name] for name in _LIMBS if name in found.joint_of], dtype=np.int64)
    is_own = ~is_known & (carriers >= 0) & (carriers != own.parents) & ~with_descendants(own.parents, limbs)
    rows = np.flatnonzero(is_own[skin.joints[:, 0]])
    if far <= 0.0 or not len(rows):
        return hangs
    places, points = own.rest_world[..., 3], skin.positions[rows]
    above = np.where(own.parents >= 0, carriers[own.parents], -1)
    bones = np.flatnonzero(is_known & (above >= 0))
    away = np.min([from_line(points, places[above[bone]], places[bone]) for bone in bones.tolist()], axis=0)
    head = found.joint_of.get("skullbase", -1)
    if head >= 0 and above[head] >= 0:
        is_hair = with_descendants(own.parents, np.array([head]))[skin.joints[rows, 0]]
        down = (points - places[head]) @ (places[above[head]] - places[head])
        away[is_hair & (down < far * np.linalg.norm(places[above[head]] - places[head]))] = 0.0
    hangs[rows] = away > far
    return hangs


def _carriers(found: SkeletonMap) -> IntArray:
    """Return for each joint (J,) itself, if the map knows it, else its nearest known ancestor, or -1."""
    carriers, known = np.full(len(found.skeleton), -1), set(found.joint_of.values())
    for joint, parent in enumerate(found.skeleton.parents.tolist()):
        carriers[joint] = joint if joint in known else carriers[parent] if parent >= 0 else -1
    return carriers


def is_heel(skin: SkinPoints, found: SkeletonMap, side: str, is_foot: BoolArray, at_rest: FloatArray) -> BoolArray:
    """Return which points (P,) of a shin belong to the heel: as low as soles, and beside the foot.

    found: the map of the standing skeleton. is_foot: (P,) the points of the foot. at_rest: (P,) the heights of the
    points above the soles.
    """
    joints, parents = found.joint_of, found.skeleton.parents
    if f"{side}_knee" not in joints:
        return np.zeros(len(is_foot), np.bool_)
    heel, foot = np.zeros(len(is_foot), np.bool_), skin.positions[is_foot]
    of_shin = with_descendants(parents, np.array([joints[f"{side}_knee"]]))[skin.joints[:, 0]] & ~is_foot
    rows = np.flatnonzero(of_shin & (at_rest < _HEEL * float(at_rest[is_foot].max())))
    away = np.linalg.norm(skin.positions[rows, None] - foot, axis=-1).min(axis=1, initial=np.inf)
    heel[rows] = away < _BESIDE_FOOT * float(np.ptp(foot, axis=0).max())
    return heel


def of_robe(skin: SkinPoints, found: SkeletonMap, own: Skeleton, at_rest: FloatArray,
            is_foot: Sequence[BoolArray], leg: float) -> BoolArray:
    """Return which points (P,) belong to a robe that reaches to the ground: it does not support the body.

    These are points below the knees, away from feet, shins and long arms, if some are near the ground and they surround
    both legs. Thick legs, such as a robot's, have skin of their own each.
    found: the map of the standing skeleton; own: the skeleton in the skin's rest pose. at_rest: (P,) the heights of the
    points above the soles. is_foot: (P,) for each foot, its points. leg: the length of the legs.
    """
    joints, is_sole = found.joint_of, np.logical_or.reduce(is_foot)
    low, from_legs, shins = np.full(len(at_rest), np.inf), np.full(len(at_rest), np.inf), list[FloatArray]()
    for side in "lr":
        if {f"{side}_knee", f"{side}_ankle"} <= joints.keys():
            knee, ankle = (own.rest_world[joints[f"{side}_{name}"], :, 3] for name in ("knee", "ankle"))
            from_legs = np.minimum(from_legs, from_line(skin.positions, knee, ankle))
            low = np.minimum(low, float(np.linalg.norm(knee - ankle)))
            shins.append(np.stack((ankle, knee)))
    shoulders = [joints[f"{side}_shoulder"] for side in "lr" if f"{side}_shoulder" in joints]
    is_arm = with_descendants(own.parents, np.array(shoulders, dtype=np.int64))[skin.joints[:, 0]]
    is_low = ~is_sole & ~is_arm & (at_rest < low)
    is_robe = is_low & (from_legs > _BESIDE_SHIN_LEGS[0] * leg)
    rows, soles = np.flatnonzero(is_robe), skin.positions[is_sole]
    foot = max(float(np.ptp(skin.positions[of_side], axis=0).max()) for of_side in is_foot)
    from_feet = np.linalg.norm(skin.positions[rows, None] - soles, axis=-1).min(axis=1, initial=np.inf)
    is_robe[rows] = from_feet > _BESIDE_FOOT * foot
    hem = is_robe & (at_rest < _HEM_LEGS * leg) & (from_legs > _BESIDE_SHIN_LEGS[1] * leg)
    is_one = hem.any() and (len(shins) < 2 or _by_both(skin, found)[is_robe].any()
                            or _is_around(skin.positions[is_low], *shins))
    return is_robe if is_one else np.zeros(len(is_robe), np.bool_)


def _by_both(skin: SkinPoints, found: SkeletonMap) -> BoolArray:
    """Return which points (P,) both legs move."""
    knees = ([found.joint_of[f"{side}_knee"]] for side in "lr")
    of_legs = (with_descendants(found.skeleton.parents, np.array(knee))[skin.joints] for knee in knees)
    left, right = (np.sum(skin.weights * of_leg, axis=1) for of_leg in of_legs)
    return np.asarray(np.minimum(left, right) > _BOTH)


def _is_around(points: FloatArray, one: FloatArray, other: FloatArray) -> bool:
    """Return whether points (P, 3) surround two shins, with none in between. one, other: (2, 3) ankle and knee."""
    across = other[0] - one[0]
    ahead = np.cross(across, one[1] - one[0])
    middle = points[np.abs(along(points, one[0], other[0]) - 0.5) < _MIDDLE]
    away, least = np.abs((middle - one[0]) @ ahead), _AHEAD * np.linalg.norm(across) * np.linalg.norm(ahead)
    return len(middle) > 0 and bool((away >= least).all())
