"""Feet on the ground: where they are planted, and a small correction of the legs that keeps them there.

A foot is planted while the joint that carries it is low and slow. While it is, that joint is held where it is on
average; the ankle goes along, and hip and knee turn as two bones that have to reach it (law of cosines), so that
the foot itself keeps its rotation. The correction comes in before and goes out after each contact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from . import rotations as rot
from .arrays import BoolArray, FloatArray
from .maps import SkeletonMap
from .skeleton import Pose, world_from_pose

LOW_LEGS: Final = 0.06
"""A planted foot is at most this much higher than the lowest place it ever has, in leg lengths."""
SLOW_LEGS_PER_S: Final = 0.35
SHORTEST_S: Final = 0.1
EASE_S: Final = 0.15
_REACH: Final = 0.9995
"""Legs are never straightened beyond this share of their length, where the knee would snap."""


@dataclass(frozen=True)
class Leg:
    """Joints of a leg; foot is the one that stands: the ball of the foot, or the ankle where there is none."""

    hip: int
    knee: int
    ankle: int
    foot: int


def legs_of(skeleton_map: SkeletonMap) -> tuple[Leg, ...]:
    """Return the legs of which hip, knee and ankle are known and hang on each other."""
    found = []
    for side in "lr":
        joints = [skeleton_map.joint_of.get(f"{side}_{part}", -1) for part in ("hip", "knee", "ankle", "metatarsal")]
        hip, knee, ankle, ball = joints
        if min(hip, knee, ankle) >= 0 and _hangs(skeleton_map, knee, hip) and _hangs(skeleton_map, ankle, knee):
            found.append(Leg(hip, knee, ankle, ball if ball >= 0 and _hangs(skeleton_map, ball, ankle) else ankle))
    return tuple(found)


def contacts(places: FloatArray, times_s: FloatArray, up: FloatArray, leg_length: float) -> BoolArray:
    """Tell when a joint stands on the ground, (F,).

    places: (F, 3) in model space at times (F,), ascending; up: unit vector (3,). Contacts shorter than SHORTEST_S do
    not count.
    """
    if len(places) < 2 or leg_length <= 0.0:
        return np.zeros(len(places), dtype=np.bool_)
    height = places @ up
    speed = np.linalg.norm(np.gradient(places, times_s, axis=0), axis=1)
    planted: BoolArray = (height <= height.min() + LOW_LEGS * leg_length) & (speed <= SLOW_LEGS_PER_S * leg_length)
    for start, stop in runs(planted):
        if times_s[stop - 1] - times_s[start] < SHORTEST_S:
            planted[start:stop] = False
    return planted


def runs(planted: BoolArray) -> list[tuple[int, int]]:
    """Return where each run of True begins and ends (the end is not in it).

    >>> runs(np.array((False, True, True, False, True)))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), planted, (False,))).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def lock_feet(skeleton_map: SkeletonMap, pose: Pose, times_s: FloatArray, up: FloatArray) -> Pose:
    """Return poses (F, J, …) whose planted feet stay where they are.

    times_s: (F,) ascending; up: unit vector (3,) of model space. Poses of a skeleton without whole legs come back
    as they are. A foot that the leg cannot reach is followed as far as it goes.
    """
    skeleton = skeleton_map.skeleton
    rotations = pose.rotations.copy()
    for leg in legs_of(skeleton_map):
        world = world_from_pose(skeleton, Pose(rotations, pose.translations, pose.scales))
        rest = skeleton.rest_world[:, :, 3]
        length = float(np.linalg.norm(np.diff(rest[[leg.hip, leg.knee, leg.ankle]], axis=0), axis=1).sum())
        foot = world[:, leg.foot, :, 3]
        shift = _shift(foot, contacts(foot, times_s, up, length), times_s, up)
        if shift.any():
            _reach(skeleton_map, leg, rotations, world, world[:, leg.ankle, :, 3] + shift)
    return Pose(rotations, pose.translations, pose.scales)


def _shift(places: FloatArray, planted: BoolArray, times_s: FloatArray, up: FloatArray) -> FloatArray:
    """Return how far the foot must be moved over the ground, (F, 3)."""
    shift, weight = np.zeros(places.shape), np.zeros(len(places))
    for start, stop in runs(planted):
        at = places[start:stop].mean(axis=0)
        first = int(np.searchsorted(times_s, times_s[start] - EASE_S))
        last = int(np.searchsorted(times_s, times_s[stop - 1] + EASE_S, side="right"))
        part = slice(first, last)
        away = np.maximum(np.maximum(times_s[start] - times_s[part], times_s[part] - times_s[stop - 1]), 0.0) / EASE_S
        share = 0.5 + 0.5 * np.cos(np.pi * np.minimum(away, 1.0))
        share = np.where(planted[part] & (away > 0.0), 0.0, share)  # another contact's own time
        ahead = at - places[part]
        shift[part] += share[:, None] * (ahead - (ahead @ up)[:, None] * up)
        weight[part] += share
    return np.asarray(shift / np.maximum(weight, 1.0)[:, None])


def _reach(skeleton_map: SkeletonMap, leg: Leg, rotations: FloatArray, world: FloatArray, goal: FloatArray) -> None:
    """Turn hip and knee (in place) so that the ankle comes to its goal (F, 3), and the ankle back."""
    hip, knee, ankle = (world[:, joint, :, 3] for joint in (leg.hip, leg.knee, leg.ankle))
    thigh, shin = np.linalg.norm(knee - hip, axis=1), np.linalg.norm(ankle - knee, axis=1)
    whole = np.clip(np.linalg.norm(goal - hip, axis=1), np.abs(thigh - shin) * (2.0 - _REACH),
                    np.maximum((thigh + shin) * _REACH, np.linalg.norm(ankle - hip, axis=1)))
    axis = np.cross(knee - hip, ankle - knee)
    is_bent = np.linalg.norm(axis, axis=1, keepdims=True) > 1e-4 * (thigh * shin)[:, None]
    axis = np.where(is_bent, axis, axis.sum(axis=0))  # a straight knee bends as it does at other times
    bend = rot.from_axis_angle(axis, _opening(thigh, shin, np.linalg.norm(ankle - hip, axis=1))
                               - _opening(thigh, shin, whole))
    swing = _arcs(rot.rotate(bend, ankle - knee) + knee - hip, goal - hip)
    both = rot.multiply(swing, bend)
    _turn(skeleton_map, rotations, world, leg.hip, rot.identities(len(goal)), swing)
    _turn(skeleton_map, rotations, world, leg.knee, swing, both)
    _turn(skeleton_map, rotations, world, leg.ankle, both, rot.identities(len(goal)))


def _opening(thigh: FloatArray, shin: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the angle at the knee, π where the leg is straight."""
    cosine = (thigh**2 + shin**2 - whole**2) / np.maximum(2.0 * thigh * shin, 1e-30)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _arcs(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the smallest rotations (F, 4) from directions a to b (F, 3)."""
    axis = np.cross(a, b)
    return rot.from_axis_angle(axis, np.arctan2(np.linalg.norm(axis, axis=1), np.sum(a * b, axis=1)))


def _turn(skeleton_map: SkeletonMap, rotations: FloatArray, world: FloatArray, joint: int, above: FloatArray,
          own: FloatArray) -> None:
    """Turn a joint by `own` in the model, where what it hangs on has turned by `above`.

    With W the joint's rotation before, P its parent's: new key = (above · P · rest)⁻¹ · own · P · rest · key.
    """
    skeleton = skeleton_map.skeleton
    parent = int(skeleton.parents[joint])
    frame = rot.from_matrix(_rotation(world[:, parent])) if parent >= 0 else rot.identities(len(world))
    frame = rot.multiply(frame, skeleton.rest_rotations[joint])
    turned = rot.multiply(rot.conjugate(rot.multiply(above, frame)), rot.multiply(own, frame))
    rotations[:, joint] = rot.multiply(turned, rotations[:, joint])


def _rotation(world: FloatArray) -> FloatArray:
    """Return the rotation in matrices (F, 3, 4) with scale."""
    linear = world[:, :, :3]
    return np.asarray(linear / np.maximum(np.linalg.norm(linear, axis=1, keepdims=True), 1e-30))


def _hangs(skeleton_map: SkeletonMap, joint: int, above: int) -> bool:
    parents = skeleton_map.skeleton.parents
    joint = int(parents[joint])
    while joint >= 0 and joint != above:
        joint = int(parents[joint])
    return joint == above
