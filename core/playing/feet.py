"""Feet on the ground: where they are planted, and a small correction of the legs that keeps them there.

A foot is planted while the joint that carries it is low and slow. While it is, that joint is held where it is on
average; the ankle goes along, and hip and knee turn as two bones that have to reach it (law of cosines), so that
the foot itself keeps its rotation. Where a straight leg does not reach it, the body goes down a little. All of it comes
in before and goes out after each contact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons.hierarchy import is_descendant, with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, Skeleton, world_from_pose

LOW_LEGS: Final = 0.06
"""A planted foot is at most this much higher than the lowest place it ever has, in leg lengths."""
SLOW_LEGS_PER_S: Final = 0.35
SHORTEST_S: Final = 0.1
BRIEF_S: Final = 0.05
EASE_S: Final = 0.15
STEP_S: Final = 1.0 / 60.0
"""How finely contacts are looked for."""
_FRAMES_AT_ONCE: Final = 256
_TRIES: Final = 30
_REACH: Final = 0.9995
"""Legs are never straightened beyond this share of their length, where the knee would snap."""
_LEAST_DOWN: Final = 1e-4
_MOST_DOWN: Final = 0.05
"""In leg lengths: what is no way down, and how far the body goes down at most."""


@dataclass(frozen=True)
class Leg:
    """Joints of a leg; foot is the one that stands: the ball of the foot, or the ankle where there is none.

    is_loose: the ankle does not hang on the knee, as in rigs whose legs reach for their feet by IK.
    """

    hip: int
    knee: int
    ankle: int
    foot: int
    is_loose: bool = False


def legs_of(skeleton_map: SkeletonMap) -> tuple[Leg, ...]:
    """Return the legs of which hip, knee and ankle are known and the knee hangs on the hip."""
    found, parents = [], skeleton_map.skeleton.parents
    for side in "lr":
        joints = [skeleton_map.joint_of.get(f"{side}_{part}", -1) for part in ("hip", "knee", "ankle", "metatarsal")]
        hip, knee, ankle, ball = joints
        if min(hip, knee, ankle) >= 0 and is_descendant(parents, knee, hip):
            found.append(Leg(hip, knee, ankle, ball if ball >= 0 and is_descendant(parents, ball, ankle) else ankle,
                             not is_descendant(parents, ankle, hip)))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Contacts:
    """When and where a foot stands: K times, one after another, from start_s to stop_s (K,), at (K, 3)."""

    start_s: FloatArray
    stop_s: FloatArray
    at: FloatArray

    @classmethod
    def of(cls, places: FloatArray, times_s: FloatArray, up: FloatArray, leg_length: float,
           hips: FloatArray | None = None, ankles: FloatArray | None = None) -> Contacts:
        """Find them: a joint's places (F, 3) in model space at times (F,), ascending; up: unit vector (3,).

        hips, ankles: (F, 3) likewise; a foot then stands where the leg reaches all the while, if there is such a place.
        """
        found = runs(planted(places, times_s, up, leg_length))
        first, last = np.array(found, dtype=np.int64).reshape(-1, 2).T
        at = [places[start:stop].mean(axis=0) for start, stop in found]
        if hips is not None and ankles is not None:
            reaches = _reaches(hips, ankles, leg_length)
            at = [_within_reach(place, hips[start:stop] + places[start:stop] - ankles[start:stop], up,
                                reaches[start:stop]) for place, (start, stop) in zip(at, found, strict=True)]
        return cls(times_s[first], times_s[last - 1], np.array(at).reshape(-1, 3))

    def shift(self, places: FloatArray, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return how far a foot at places (F, 3) must be moved over the ground at times (F,), (F, 3).

        All the way while it stands; before and after that for a share that eases in and out within EASE_S, or within
        the time that there is between two contacts.
        """
        if not len(self.at):
            return np.zeros(places.shape)
        gap = np.minimum(np.concatenate(((np.inf,), self.start_s[1:] - self.stop_s[:-1], (np.inf,))), EASE_S)
        begun = np.searchsorted(self.start_s, times_s, side="right")
        last, following = np.maximum(begun - 1, 0), np.minimum(begun, len(self.at) - 1)
        shift = np.zeros(places.shape)
        for contact, away_s, ease_s, counts in (
                (last, times_s - self.stop_s[last], gap[last + 1], begun > 0),
                (following, self.start_s[following] - times_s, gap[following], begun < len(self.at))):
            away = np.clip(away_s / np.maximum(ease_s, 1e-9), 0.0, 1.0)
            share = np.where(counts, 0.5 + 0.5 * np.cos(np.pi * away), 0.0)
            ahead = self.at[contact] - places
            shift += share[:, None] * (ahead - (ahead @ up)[:, None] * up)
        return shift


def _reaches(hips: FloatArray, ankles: FloatArray, leg_length: FloatArray | float) -> FloatArray:
    """Return how far legs reach, (F,): as far as they already do (F, 3), and almost as far as they are long."""
    return np.asarray(np.maximum(leg_length * _REACH, np.linalg.norm(hips - ankles, axis=1)))


def _within_reach(place: FloatArray, centres: FloatArray, up: FloatArray, reaches: FloatArray) -> FloatArray:
    """Move a place (3,) over the ground into all balls about centres (F, 3) with radii (F,), as far as that goes.

    Each time into the one that it is farthest out of (projection onto convex sets).
    """
    for _ in range(_TRIES):
        away = place - centres
        height = away @ up
        away -= height[:, None] * up
        far = np.linalg.norm(away, axis=1)
        beyond = far - np.sqrt(np.maximum(reaches ** 2 - height ** 2, 0.0))
        worst = int(np.argmax(beyond))
        if beyond[worst] <= 0.0:
            break
        place = place - away[worst] * (beyond[worst] / far[worst])
    return place


def planted(places: FloatArray, times_s: FloatArray, up: FloatArray, leg_length: float) -> BoolArray:
    """Tell when a joint stands on the ground, (F,).

    places: (F, 3) in model space at times (F,), ascending; up: unit vector (3,). Contacts shorter than SHORTEST_S do
    not count, nor do gaps that are shorter than BRIEF_S.
    """
    if len(places) < 2 or leg_length <= 0.0:
        return np.zeros(len(places), dtype=np.bool_)
    height = places @ up
    speed = np.linalg.norm(np.gradient(places, times_s, axis=0), axis=1)
    stands: BoolArray = (height <= height.min() + LOW_LEGS * leg_length) & (speed <= SLOW_LEGS_PER_S * leg_length)
    for start, stop in runs(~stands):
        if 0 < start and stop < len(stands) and times_s[stop] - times_s[start - 1] < BRIEF_S:
            stands[start:stop] = True
    for start, stop in runs(stands):
        if times_s[stop - 1] - times_s[start] < SHORTEST_S:
            stands[start:stop] = False
    return stands


def runs(planted: BoolArray) -> list[tuple[int, int]]:
    """Return where each run of True begins and ends (the end is not in it).

    >>> runs(np.array((False, True, True, False, True)))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), planted, (False,))).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


@dataclass(frozen=True, eq=False)
class FeetLock:
    """Keeps feet where they stand.

    legs: with the contacts of the foot of each; up: unit vector (3,) of model space. lower: (T,) by how much the body
    goes down at times_s (T,), ascending.
    """

    skeleton_map: SkeletonMap
    legs: tuple[tuple[Leg, Contacts], ...]
    up: FloatArray
    times_s: FloatArray
    lower: FloatArray

    @classmethod
    def of(cls, skeleton_map: SkeletonMap, sample: Callable[[FloatArray], Pose], begin_s: float, end_s: float,
           up: FloatArray) -> FeetLock:
        """Find when the feet of a motion stand, from begin_s to end_s.

        sample: the poses (F, J, …) of a skeleton at times (F,). A skeleton without whole legs has nothing to lock.
        """
        legs, skeleton = legs_of(skeleton_map), skeleton_map.skeleton
        times = np.linspace(begin_s, end_s, int(np.ceil((end_s - begin_s) / STEP_S)) + 1)
        asked = [joint for leg in legs for joint in (leg.foot, leg.hip, leg.ankle)]
        places = np.empty((len(times), len(asked), 3))
        for start in range(0, len(times) if legs else 0, _FRAMES_AT_ONCE):
            part = slice(start, start + _FRAMES_AT_ONCE)
            places[part] = _world(skeleton, sample(times[part]), asked)[..., 3]
        rest = skeleton.rest_world[:, :, 3]
        lengths = [np.linalg.norm(np.diff(rest[[leg.hip, leg.knee, leg.ankle]], axis=0), axis=1).sum() for leg in legs]
        found = []
        lower = np.zeros(len(times))
        for i, leg in enumerate(legs):
            foot, hip, ankle = np.moveaxis(places[:, 3 * i:3 * i + 3], 1, 0)
            of_leg = () if leg.is_loose else (hip, ankle)  # what does not hang on the leg goes where it should
            found.append((leg, Contacts.of(foot, times, up, float(lengths[i]), *of_leg)))
            if not leg.is_loose:
                lower = np.maximum(lower, _too_high(hip, ankle, ankle + found[-1][1].shift(foot, times, up), up,
                                                    float(lengths[i])))
        return cls(skeleton_map, tuple(found), up, times, _eased(lower))

    def hold(self, pose: Pose, times_s: FloatArray) -> Pose:
        """Return poses (F, J, …) at times (F,), in any order, whose planted feet stay where they are.

        A foot that the leg cannot reach is followed as far as it goes.
        """
        rotations, translations = pose.rotations.copy(), pose.translations.copy()
        skeleton = self.skeleton_map.skeleton
        feet = _world(skeleton, pose, [joint for leg, _ in self.legs for joint in (leg.foot, leg.ankle)])[..., 3]
        down = np.interp(times_s, self.times_s, self.lower)[:, None] * self.up
        translations[:, list(self.tops)] -= down[:, None]
        for i, (leg, contacts) in enumerate(self.legs):
            goal = feet[:, 2 * i + 1] + contacts.shift(feet[:, 2 * i], times_s, self.up)
            joints = [leg.hip, leg.knee, leg.ankle]
            above = [int(skeleton.parents[joint]) for joint in joints]
            asked = [joint for joint in dict.fromkeys((*joints, *above)) if joint >= 0]
            found = _world(skeleton, Pose(rotations, translations, pose.scales), asked)
            world = {joint: found[:, column] for column, joint in enumerate(asked)}
            shift = goal - world[leg.ankle][:, :, 3]
            if shift.any():
                _reach(self.skeleton_map, leg, rotations, world, goal)
            if leg.is_loose and above[2] >= 0:
                shift = np.asarray(np.linalg.solve(world[above[2]][:, :, :3], shift[..., None])[..., 0], np.float64)
            if leg.is_loose:
                translations[:, leg.ankle] += shift
        return Pose(rotations, translations, pose.scales)

    @cached_property
    def tops(self) -> frozenset[int]:
        """The joints on which the bodies of the legs hang altogether, which go down; none where nothing has to."""
        skeleton = self.skeleton_map.skeleton
        legs = self.legs if self.lower.any() else ()
        return frozenset(int(with_ancestors(skeleton.parents, np.array((leg.hip,)))[0]) for leg, _ in legs)


def _too_high(hip: FloatArray, ankle: FloatArray, goal: FloatArray, up: FloatArray, leg_length: float) -> FloatArray:
    """Return by how much hips (F, 3) are too high for an ankle to come to its goal (F, 3), (F,).

    With the hip at height h over the goal and d beside it, a leg of length r reaches it from √(r² − d²) above.
    """
    reach = _reaches(hip, ankle, leg_length)
    away = hip - goal
    height = away @ up
    beside = np.sum(away * away, axis=1) - height**2
    found = height - np.sqrt(np.maximum(reach**2 - beside, 0.0))
    return np.where(found > _LEAST_DOWN * leg_length, np.minimum(found, _MOST_DOWN * leg_length), 0.0)


def _eased(lower: FloatArray) -> FloatArray:
    """Return what is nowhere less than `lower` (T,), a value every STEP_S, and comes and goes within EASE_S."""
    width = int(np.ceil(EASE_S / STEP_S))
    if not lower.any():
        return lower
    most = sliding_window_view(np.pad(lower, 2 * width, mode="edge"), 2 * width + 1).max(axis=1)
    window = np.hanning(2 * width + 3)[1:-1]
    return np.asarray(sliding_window_view(most, 2 * width + 1) @ (window / window.sum()))


def _world(skeleton: Skeleton, pose: Pose, joints: Sequence[int]) -> FloatArray:
    """Return matrices (F, N, 3, 4) of some joints; only what they hang on is looked at."""
    keep = with_ancestors(skeleton.parents, np.array(joints, dtype=np.int64))
    part = skeleton.part(keep)
    world = world_from_pose(part, Pose(pose.rotations[:, keep], pose.translations[:, keep], pose.scales[:, keep]))
    return world[:, np.searchsorted(keep, joints)]


def _reach(skeleton_map: SkeletonMap, leg: Leg, rotations: FloatArray, world: Mapping[int, FloatArray],
           goal: FloatArray) -> None:
    """Turn hip and knee (in place) so that the ankle comes to its goal (F, 3), and the ankle back where it hangs on."""
    hip, knee, ankle = (world[joint][:, :, 3] for joint in (leg.hip, leg.knee, leg.ankle))
    thigh, shin = np.linalg.norm(knee - hip, axis=1), np.linalg.norm(ankle - knee, axis=1)
    whole = np.clip(np.linalg.norm(goal - hip, axis=1), np.abs(thigh - shin) * (2.0 - _REACH),
                    _reaches(hip, ankle, thigh + shin))
    axis = np.cross(knee - hip, ankle - knee)
    is_bent = np.linalg.norm(axis, axis=1, keepdims=True) > 1e-4 * (thigh * shin)[:, None]
    axis = np.where(is_bent, axis, axis.sum(axis=0))  # a straight knee bends as it does at other times
    bend = rot.from_axis_angle(axis, _opening(thigh, shin, np.linalg.norm(ankle - hip, axis=1))
                               - _opening(thigh, shin, whole))
    swing = _arcs(rot.rotate(bend, ankle - knee) + knee - hip, goal - hip)
    both = rot.multiply(swing, bend)
    _turn(skeleton_map, rotations, world, leg.hip, rot.identities(len(goal)), swing)
    _turn(skeleton_map, rotations, world, leg.knee, swing, both)
    if not leg.is_loose:
        _turn(skeleton_map, rotations, world, leg.ankle, both, rot.identities(len(goal)))


def _opening(thigh: FloatArray, shin: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the angle at the knee, π where the leg is straight."""
    cosine = (thigh**2 + shin**2 - whole**2) / np.maximum(2.0 * thigh * shin, 1e-30)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _arcs(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the smallest rotations (F, 4) from directions a to b (F, 3)."""
    axis = np.cross(a, b)
    return rot.from_axis_angle(axis, np.arctan2(np.linalg.norm(axis, axis=1), np.sum(a * b, axis=1)))


def _turn(skeleton_map: SkeletonMap, rotations: FloatArray, world: Mapping[int, FloatArray], joint: int,
          above: FloatArray, own: FloatArray) -> None:
    """Turn a joint by `own` in the model, where what it hangs on has turned by `above`.

    With W the joint's rotation before, P its parent's: new key = (above · P · rest)⁻¹ · own · P · rest · key.
    """
    skeleton = skeleton_map.skeleton
    parent = int(skeleton.parents[joint])
    frame = rot.from_matrix(_rotation(world[parent])) if parent >= 0 else rot.identities(len(rotations))
    frame = rot.multiply(frame, skeleton.rest_rotations[joint])
    turned = rot.multiply(rot.conjugate(rot.multiply(above, frame)), rot.multiply(own, frame))
    rotations[:, joint] = rot.multiply(turned, rotations[:, joint])


def _rotation(world: FloatArray) -> FloatArray:
    """Return the rotation in matrices (F, 3, 4) with scale."""
    linear = world[:, :, :3]
    return np.asarray(linear / np.maximum(np.linalg.norm(linear, axis=1, keepdims=True), 1e-30))
