"""Planted feet stay in place, by a small correction of the legs.

While a foot is planted, the joint that bears it is held in its position; the ankle goes along, and hip and knee turn so
that they reach it. Where a straight leg does not reach it, the body goes down a little. All of it eases in before and
out after each contact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, Skeleton, world_from_pose
from .contacts import EASE_S, Contacts, reaches
from .legs import Leg, knee_axis, legs_of, reach
from .stage import FIRST_ROUND, Over, in_rounds

STEP_S: Final = 1.0 / 60.0
"""How finely contacts are looked for."""
_FRAMES_AT_ONCE: Final = 256
_LEAST_DOWN: Final = 1e-4
_MOST_DOWN: Final = 0.05
"""In leg lengths: what is no way down, and how far the body goes down at most."""


@dataclass(frozen=True, eq=False)
class Feet(Over):
    """The last stage: planted feet stay in place.

    skeleton_map: tells what the joints are; up: unit vector (3,) of model space.
    """

    skeleton_map: SkeletonMap
    up: FloatArray

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with planted feet in place; see Stage."""
        pose = self._lock.hold(self.below.sample(times_s), times_s)
        self.root.repeat(pose, rounds)
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,); legs always."""
        moved = self.below.moved.copy()
        for leg, _ in self._lock.legs:
            moved[[leg.hip, leg.knee, leg.ankle]] = True
        moved[list(self._lock.tops)] = True
        return np.asarray(moved)

    @cached_property
    def _lock(self) -> FeetLock:
        """What holds the feet; a loop's contacts go over its seam, so its neighbouring rounds are looked at too."""
        def sample(times_s: FloatArray) -> Pose:
            return self.below.sample(*in_rounds(times_s, self.duration_s, self.is_loop))

        further = self.duration_s if self.is_loop else 0.0
        return FeetLock.of(self.skeleton_map, sample, -further, self.duration_s + further, self.up)


@dataclass(frozen=True, eq=False)
class FeetLock:
    """Keeps planted feet in place.

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
        positions = np.empty((len(times), len(asked), 3))
        for start in range(0, len(times) if legs else 0, _FRAMES_AT_ONCE):
            part = slice(start, start + _FRAMES_AT_ONCE)
            positions[part] = _world(skeleton, sample(times[part]), asked)[..., 3]
        rest = skeleton.rest_world[:, :, 3]
        lengths = [np.linalg.norm(np.diff(rest[[leg.hip, leg.knee, leg.ankle]], axis=0), axis=1).sum() for leg in legs]
        found = []
        lower = np.zeros(len(times))
        for i, leg in enumerate(legs):
            foot, hip, ankle = np.moveaxis(positions[:, 3 * i:3 * i + 3], 1, 0)
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
            away = np.flatnonzero(shift.any(axis=1))
            if len(away):
                part = rotations[away]
                reach(self.skeleton_map, leg, self._knee_axes[i], part, {j: at[away] for j, at in world.items()},
                      goal[away])
                rotations[away] = part
            if leg.is_loose and above[2] >= 0:
                shift = np.asarray(np.linalg.solve(world[above[2]][:, :, :3], shift[..., None])[..., 0], np.float64)
            if leg.is_loose:
                translations[:, leg.ankle] += shift
        return Pose(rotations, translations, pose.scales)

    @cached_property
    def _knee_axes(self) -> tuple[FloatArray, ...]:
        return tuple(knee_axis(self.skeleton_map, leg, self.up) for leg, _ in self.legs)

    @cached_property
    def tops(self) -> frozenset[int]:
        """The topmost ancestors of the legs, which go down; none where nothing has to."""
        skeleton = self.skeleton_map.skeleton
        legs = self.legs if self.lower.any() else ()
        return frozenset(int(with_ancestors(skeleton.parents, np.array((leg.hip,)))[0]) for leg, _ in legs)


def _too_high(hip: FloatArray, ankle: FloatArray, goal: FloatArray, up: FloatArray, leg_length: float) -> FloatArray:
    """Return by how much hips (F, 3) are too high for an ankle to come to its goal (F, 3), (F,).

    With the hip at height h over the goal and d beside it, a leg of length r reaches it from √(r² − d²) above.
    """
    reach = reaches(hip, ankle, leg_length)
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
    """Return matrices (F, N, 3, 4) of some joints; only their ancestors are looked at."""
    keep = with_ancestors(skeleton.parents, np.array(joints, dtype=np.int64))
    part = skeleton.part(keep)
    world = world_from_pose(part, Pose(pose.rotations[:, keep], pose.translations[:, keep], pose.scales[:, keep]))
    return world[:, np.searchsorted(keep, joints)]
