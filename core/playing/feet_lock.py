"""Holds feet in their footholds by a correction of the legs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose
from .footholds import REACH, Footholds, ground_axes
from .joints import Joints
from .legs import Chains, Leg
from .soles import Soles

SOFT_LEGS: Final = 0.02
"""Feet are kept above the ground softly: over so much of the leg."""
_SOFT_DOWN_LEGS: Final = 0.03
"""Over so much the body begins to go down, as it is heavy; feet give way meanwhile."""
_MOST_DOWN_LEGS: Final = 0.05
"""At most so far, and likewise without a jolt."""


class Floor(NamedTuple):
    """What soles are kept above in F frames.

    heights: (N, L, F) how low, along up, points of the soles may be, see soles.py; share: (F,) how much that holds.
    """

    heights: FloatArray
    share: FloatArray


@dataclass(frozen=True, eq=False)
class FeetLock:
    """Holds the feet of L legs. up: unit vector (3,) of model space. soles: N points of each of them."""

    skeleton_map: SkeletonMap
    legs: tuple[Leg, ...]
    footholds: Footholds
    up: FloatArray
    soles: Soles

    def hold(self, pose: Pose, times_s: FloatArray, gaps: IntArray, upright: FloatArray, floor: Floor | None) -> None:
        """Bring the feet of poses (F, J, …) at times (F,), in any order, into their footholds.

        gaps: (L, F), see Footholds; upright: (F,) how much they are held in height too. floor: what they are kept
        above, if there is anything. A foothold that the leg cannot reach is followed as far as it goes.
        """
        world, are_scaled = self._joints.posed(pose)
        positions, shift, firmly = self._led(world, times_s, gaps, upright, floor)
        hips, _, ankles, _ = positions.swapaxes(0, 1)
        goals = ankles + shift
        down = self._down(hips, ankles, goals, firmly, gaps, times_s)
        if down is not None:
            pose.translations[:, self.tops] -= (self.up[:, None] * down).T[:, None]
            positions[2] -= down
            shift = goals - ankles  # which are down as well
        frames = np.ascontiguousarray(world[:3 * len(self.legs), :, :3, :3].transpose(2, 3, 0, 1))
        if are_scaled:
            frames /= np.maximum(np.linalg.norm(frames, axis=0), 1e-30)
        self._bend(pose, positions[:, :3], frames.reshape(3, 3, 3, *gaps.shape), goals, shift)

    def downs(self, pose: Pose, times_s: FloatArray, gaps: IntArray, upright: FloatArray,
              floor: Floor | None) -> FloatArray:
        """Return by how much the body goes down for each foot that is held, (L, F); see hold."""
        positions, shift, _ = self._led(self._joints.posed(pose)[0], times_s, gaps, upright, floor)
        hips, _, ankles, _ = positions.swapaxes(0, 1)
        found = self._too_high(hips, ankles, ankles + shift)
        return np.zeros(gaps.shape) if found is None else found

    def _led(self, world: FloatArray, times_s: FloatArray, gaps: IntArray, upright: FloatArray,
             floor: Floor | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return where joints are, (3, 4, L, F), how far feet are to be moved, (3, L, F), and how firmly, (L, F).

        world: matrices (4 · L, F, 4, 4) of hips, knees, ankles and feet.
        """
        positions = np.ascontiguousarray(world[..., :3, 3].transpose(2, 0, 1)).reshape(3, 4, -1, len(times_s))
        shift, firmly, clear = self.footholds.shift(positions[:, 3], gaps, times_s, upright)
        if floor is not None:
            count = len(self.legs)
            high = self.soles.heights(world[2 * count:3 * count], world[3 * count:])
            below = (floor.heights - high).max(axis=0) + clear - shift[2]
            shift[2] += floor.share * _soft(below, SOFT_LEGS * self._lengths)
        return positions, shift, firmly

    def _down(self, hips: FloatArray, ankles: FloatArray, goals: FloatArray, firmly: FloatArray, gaps: IntArray,
              times_s: FloatArray) -> FloatArray | None:
        """Return by how much the body goes down, (F,), None where it does not.

        Around transitions it has gone down before a foot is held, and comes up after it: what a foot on its way lacks
        comes and goes within a frame.
        """
        found = self._too_high(hips, ankles, goals)
        if found is None and not self.footholds.is_body_down(gaps):
            return None
        held = np.zeros(gaps.shape) if found is None else firmly * found
        return np.asarray(self.footholds.planned_down(gaps, times_s, held).max(axis=0))

    def _bend(self, pose: Pose, positions: FloatArray, frames: FloatArray, goals: FloatArray,
              shift: FloatArray) -> None:
        """Turn the joints of legs so that ankles come to their goals (3, L, F), by a shift.

        positions: (3, 3, L, F) x, y and z of hips, knees and ankles; frames: (3, 3, 3, L, F), see Chains.turns.
        """
        is_moved = (shift != 0.0).any(axis=0)
        if not is_moved.any():
            return
        joints, parents = self._chains.joints, self.skeleton_map.skeleton.parents
        turns = self._chains.turns(positions, frames, goals)
        for i in self._loose:
            ankle, own = joints[2, i], np.asarray(shift[:, i].T @ ground_axes(self.up))
            if parents[ankle] >= 0:
                parent = Joints.of(self.skeleton_map.skeleton, [int(parents[ankle])]).matrices(pose)[0, :, :3, :3]
                own = np.asarray(np.linalg.solve(parent, own[..., None])[..., 0], dtype=np.float64)
            pose.translations[:, ankle] += own
        if not is_moved.all():
            turns = np.where(is_moved[..., None], turns, rot.IDENTITY)
        of_frames = turns.transpose(2, 0, 1, 3).reshape(len(pose.rotations), -1, 4)
        pose.rotations[:, joints.ravel()] = rot.multiply(pose.rotations.take(joints.ravel(), axis=1), of_frames)

    def _too_high(self, hips: FloatArray, ankles: FloatArray, goals: FloatArray) -> FloatArray | None:
        """Return by how much hips (3, L, F) are to go down so that ankles come to their goals (3, L, F), (L, F).

        None where no hip is to. With the hip at height h over the goal
        and d beside it, a leg of length r reaches it from √(r² − d²) above.
        """
        away, now = hips - goals, hips - ankles
        far = np.maximum((REACH * self._lengths)**2, np.einsum("ilf,ilf->lf", now, now))
        found = away[2] - np.sqrt(np.maximum(far - away[0] * away[0] - away[1] * away[1], 0.0))
        if not (found > 0.0).any():
            return None
        most = _MOST_DOWN_LEGS * self._lengths
        down = np.maximum(most - _soft(1.5 * most - _soft(found, _SOFT_DOWN_LEGS * self._lengths), most), 0.0)
        return np.where(self._chains.is_loose[:, None], 0.0, down)

    @cached_property
    def _joints(self) -> Joints:
        feet = [leg.foot for leg in self.legs]
        joints = Joints.of(self.skeleton_map.skeleton, [*self._chains.joints.ravel().tolist(), *feet])
        return joints.turned(ground_axes(self.up))

    @cached_property
    def _lengths(self) -> FloatArray:
        """How long the legs are, (L, 1)."""
        return np.array([[leg.length(self.skeleton_map.skeleton)] for leg in self.legs])

    @cached_property
    def _loose(self) -> tuple[int, ...]:
        """The numbers of legs that are no chains down to the foot."""
        return tuple(i for i, leg in enumerate(self.legs) if leg.is_loose)

    @cached_property
    def _chains(self) -> Chains:
        return Chains.of(self.skeleton_map, self.legs, self.up)

    @cached_property
    def tops(self) -> IntArray:
        """The topmost ancestors of the legs, which go down where legs do not reach."""
        skeleton = self.skeleton_map.skeleton
        return np.array(sorted({int(with_ancestors(skeleton.parents, np.array((leg.hip,)))[0]) for leg in self.legs
                                if not leg.is_loose}), dtype=np.int64)


def _soft(x: FloatArray, softness: FloatArray) -> FloatArray:
    """Return 0 below 0, and x − softness/2 from `softness` on, without a bend between.

    >>> _soft(np.array((-1.0, 0.0, 1.0, 2.0, 3.0)), np.array(2.0)).tolist()
    [0.0, 0.0, 0.25, 1.0, 2.0]
    """
    inside = np.minimum(np.maximum(x, 0.0), softness)
    return np.asarray(inside**2 / (2.0 * softness) + np.maximum(x - softness, 0.0))
