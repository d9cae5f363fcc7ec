"""Holds feet in their footholds by a correction of the legs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose
from .footholds import REACH, Footholds
from .joints import Joints
from .legs import Chains, Leg
from .soles import heights, soles

_SOFT_LEGS: Final = 0.02
"""Feet are kept above the ground softly: over so much of the leg."""
_SOFT_DOWN_LEGS: Final = 0.03
"""Over so much the body begins to go down, as it is heavy; feet give way meanwhile."""
_MOST_DOWN_LEGS: Final = 0.05


@dataclass(frozen=True, eq=False)
class FeetLock:
    """Holds the feet of L legs. up: unit vector (3,) of model space."""

    skeleton_map: SkeletonMap
    legs: tuple[Leg, ...]
    footholds: Footholds
    up: FloatArray

    def hold(self, pose: Pose, times_s: FloatArray, gaps: IntArray, upright: FloatArray, lowest: FloatArray) -> None:
        """Bring the feet of poses (F, J, …) at times (F,), in any order, into their footholds.

        gaps: (L, F), see Footholds; upright: (F,) how much they are held in height too, and kept above the ground;
        lowest: (F, L, 3) how low, along up, points of the soles may be there, see soles.py. A foothold that the leg
        cannot reach is followed as far as it goes.
        """
        world = self._joints.matrices(pose)
        positions = np.ascontiguousarray(world[..., :3, 3].transpose(2, 0, 1)).reshape(3, 4, -1, len(times_s))
        ankles, feet, up = positions[:, 2], positions[:, 3], self.up[:, None, None]
        shift, firmly = self.footholds.shift(feet, gaps, times_s, self.up, upright)
        if upright.any():
            count = len(self.legs)
            high = heights(world[2 * count:3 * count], world[3 * count:], self._soles, self.up)
            below = (lowest.transpose(2, 1, 0) - high).max(axis=0) - np.tensordot(self.up, shift, 1)
            shift += up * (upright * _soft(below, _SOFT_LEGS * self._lengths))
        goals = ankles + shift
        down = (firmly * self._too_high(positions[:, 0], ankles, goals)).max(axis=0)
        if down.any():
            pose.translations[:, list(self.tops)] -= (self.up[:, None] * down).T[:, None]
            positions -= (up * down)[:, None]
            shift = goals - ankles  # which are down as well
        self._bend(pose, positions[:, :3], world, goals, shift)

    def _bend(self, pose: Pose, positions: FloatArray, world: FloatArray, goals: FloatArray,
              shift: FloatArray) -> None:
        """Turn the joints of legs so that ankles come to their goals (3, L, F), by a shift.

        positions: (3, 3, L, F) x, y and z of hips, knees and ankles; world: (4L, F, 4, 4) the matrices of all.
        """
        is_moved = (shift != 0.0).any(axis=0)
        if not is_moved.any():
            return
        joints, parents = self._chains.joints, self.skeleton_map.skeleton.parents
        frames = np.ascontiguousarray(world[:joints.size, :, :3, :3].transpose(2, 3, 0, 1))
        if self._joints.are_scaled(pose):
            frames /= np.maximum(np.linalg.norm(frames, axis=0), 1e-30)
        turns = self._chains.turns(positions, frames.reshape(3, *positions.shape), goals)
        for i in np.flatnonzero(self._chains.is_loose).tolist():
            ankle, own = joints[2, i], np.asarray(shift[:, i].T)
            if parents[ankle] >= 0:
                parent = Joints.of(self.skeleton_map.skeleton, [int(parents[ankle])]).matrices(pose)[0, :, :3, :3]
                own = np.asarray(np.linalg.solve(parent, own[..., None])[..., 0], dtype=np.float64)
            pose.translations[:, ankle] += own
        turns = np.where(is_moved[..., None], turns, rot.IDENTITY)
        old = pose.rotations.take(joints, axis=1).transpose(1, 2, 0, 3)
        pose.rotations[:, joints] = rot.multiply(old, turns).transpose(2, 0, 1, 3)

    def _too_high(self, hips: FloatArray, ankles: FloatArray, goals: FloatArray) -> FloatArray:
        """Return by how much hips (3, L, F) are to go down so that ankles come to their goals (3, L, F), (L, F).

        With the hip at height h over the goal and d beside it, a leg of length r reaches it from √(r² − d²) above.
        """
        away, now = hips - goals, hips - ankles
        height = np.tensordot(self.up, away, 1)
        far = np.maximum((REACH * self._lengths)**2, (now * now).sum(axis=0))
        beside = (away * away).sum(axis=0) - height * height
        found = height - np.sqrt(np.maximum(far - beside, 0.0))
        down = np.minimum(_soft(found, _SOFT_DOWN_LEGS * self._lengths), _MOST_DOWN_LEGS * self._lengths)
        return np.where(self._chains.is_loose[:, None], 0.0, down)

    @cached_property
    def _joints(self) -> Joints:
        feet = [leg.foot for leg in self.legs]
        return Joints.of(self.skeleton_map.skeleton, [*self._chains.joints.ravel().tolist(), *feet])

    @cached_property
    def _soles(self) -> FloatArray:
        return soles(self.skeleton_map.skeleton, self.legs, self.up)

    @cached_property
    def _lengths(self) -> FloatArray:
        """How long the legs are, (L, 1)."""
        return np.array([[leg.length(self.skeleton_map.skeleton)] for leg in self.legs])

    @cached_property
    def _chains(self) -> Chains:
        return Chains.of(self.skeleton_map, self.legs, self.up)

    @cached_property
    def tops(self) -> frozenset[int]:
        """The topmost ancestors of the legs, which go down where legs do not reach."""
        skeleton = self.skeleton_map.skeleton
        return frozenset(int(with_ancestors(skeleton.parents, np.array((leg.hip,)))[0]) for leg in self.legs
                         if not leg.is_loose)


def _soft(x: FloatArray, softness: FloatArray) -> FloatArray:
    """Return 0 below 0, and x − softness/2 from `softness` on, without a bend between.

    >>> _soft(np.array((-1.0, 0.0, 1.0, 2.0, 3.0)), np.array(2.0)).tolist()
    [0.0, 0.0, 0.25, 1.0, 2.0]
    """
    inside = np.minimum(np.maximum(x, 0.0), softness)
    return np.asarray(inside**2 / (2.0 * softness) + np.maximum(x - softness, 0.0))
