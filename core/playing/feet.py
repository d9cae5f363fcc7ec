"""Planted feet stay in place, by a correction of the legs.

When a foot is planted is taken from the clips, each on the skeleton that it came from (clips/contacts.py). While it is,
the joint that bears it is held in one position; the ankle goes along, and hip and knee turn so that they reach it.
Where a straight leg does not reach it, the body goes down a little. At seams a foot stays, or makes a step (steps.py),
and neither foot nor ankle goes below the lowest that the clips on both sides have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose
from .clip_feet import ClipFoot, Joints, clip_feet, known_contacts, own_feet
from .footholds import Footholds, reaches
from .legs import Chains, Leg, legs_of
from .row import Row
from .stage import FIRST_ROUND, Over, in_rounds
from .steps import Hold, Walker
from .transitions.curves import CURVES

_SOFT_LEGS: Final = 0.02
"""Feet are kept above the ground softly: over so much of the leg."""
_SOFT_DOWN_LEGS: Final = 0.03
"""Over so much the body begins to go down, as it is heavy; feet give way meanwhile."""
_MOST_DOWN_LEGS: Final = 0.05
_JUMP_LEGS: Final = 0.01
_UPRIGHT: Final = 0.25
"""Within this share of a transition's window, at both its ends, feet come to the height of their footholds."""


@dataclass(frozen=True, eq=False)
class Feet(Over):
    """The last stage: planted feet stay in place.

    row: the segments whose clips tell when feet are planted. skeleton_map: tells what the joints are, legs among them;
    up: unit vector (3,) of model space.
    """

    row: Row
    skeleton_map: SkeletonMap
    up: FloatArray

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with planted feet in place; see Stage."""
        pose = self.below.sample(times_s)
        seam, share = self.row.windows(times_s)
        upright = CURVES["SMOOTHER"].rise(np.clip(np.minimum(share, 1.0 - share) / _UPRIGHT, 0.0, 1.0))
        pose = self._lock.hold(pose, times_s, np.where(seam >= 0, upright, 0.0), self._lowest[seam])
        self.root.repeat(pose, rounds)
        return pose

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,); legs always."""
        moved = self.below.moved.copy()
        for leg in self._legs:
            moved[[leg.hip, leg.knee, leg.ankle]] = True
        moved[list(self._lock.tops)] = True
        return np.asarray(moved)

    @cached_property
    def _legs(self) -> tuple[Leg, ...]:
        return legs_of(self.skeleton_map)

    @cached_property
    def _feet(self) -> tuple[tuple[ClipFoot, ...], ...]:
        """What each leg's foot does in each segment, S of them; the same value wherever the same is played."""
        row, skeleton = self.row, self.skeleton
        chain = with_ancestors(skeleton.parents, np.array([leg.ankle for leg in self._legs]))
        known: dict[tuple[int, bytes], tuple[ClipFoot, ...]] = {}
        found = []
        for segment, (clip, held) in enumerate(zip(row.sequence.clip.tolist(), row.held_by(chain), strict=True)):
            if (clip, held) not in known:
                source = row.sources.clips[clip]
                known[clip, held] = source.derived(
                    own_feet, row.sources.interpolation, row.sources.translation, self._legs, tuple(self.up.tolist())
                ) if row.plays_as_it_is(clip, chain) else clip_feet(
                    lambda times, at=segment: row.unplaced(np.full(len(times), at), times),  # type: ignore[misc]
                    source.duration_s, self._legs, skeleton, self.up, known_contacts(source, self._legs))
            found.append(known[clip, held])
        return tuple(found)

    @cached_property
    def _lock(self) -> FeetLock:
        """What holds the feet; a loop's footholds go over its seam, so its neighbouring rounds are looked at too."""
        lengths = [leg.length(self.skeleton) for leg in self._legs]
        walker, layout, row = Walker(self.up, lengths), self.row.layout, self.row
        own_s = row.sources.durations_s[row.sequence.clip]
        stretch = quotient(layout.end_s - layout.begin_s, own_s)
        for turn in (-1, 0, 1) if self.is_loop else (0,):
            begin, end = ((edge + turn * self.duration_s).tolist() for edge in (layout.begin_s, layout.end_s))
            for segment, feet in enumerate(self._feet):
                walker.go_on([Hold.of_clip(foot, self._placed(foot.at, segment, turn), begin[segment],
                                           float(stretch[segment])) for foot in feet],
                             begin[segment], end[segment], self._window_before(segment, turn))
        return FeetLock(self.skeleton_map, tuple(zip(self._legs, walker.footholds(self._loose), strict=True)), self.up)

    def _loose(self, times_s: FloatArray) -> FloatArray:
        """Return where feet are at times (F,) if nothing holds them, (F, L, 3); in a loop also in its other rounds."""
        pose = self.below.sample(*in_rounds(times_s, self.duration_s, self.is_loop))
        return Joints.of(self.skeleton, [leg.foot for leg in self._legs]).matrices(pose)[..., 3]

    def _window_before(self, segment: int, turn: int) -> tuple[float, float] | None:
        """Return when the transition plays that leads to a segment in one round of a loop.

        None: there is none, and feet are not where the clip before left them.
        """
        before, layout = segment - 1, self.row.layout
        begin, end = (float(edge[before] + (turn - (before < 0)) * self.duration_s)
                      for edge in (layout.window_begin_s, layout.window_end_s))
        if end > begin or (before < 0 and not self.is_loop):
            return begin, end
        apart = [self._placed(foot.ends[:1], segment, 0) - self._placed(last.ends[1:], before, -(before < 0))
                 for last, foot in zip(self._feet[before], self._feet[segment], strict=True)]
        jumps = np.linalg.norm(apart, axis=-1).max() > _JUMP_LEGS * self._legs[0].length(self.skeleton)
        return None if jumps else (begin, end)

    def _placed(self, at: FloatArray, segment: int, turn: int) -> FloatArray:
        """Return where points (K, 3) of a segment's clip are in one round of a loop."""
        return self.root.placed_points(at, np.full(len(at), segment % len(self._feet)), np.full(len(at), turn))

    @cached_property
    def _lowest(self) -> FloatArray:
        """How low foot and ankle of each leg may go at the seam after each segment, (S, L, 2)."""
        own = np.array([[foot.lowest for foot in feet] for feet in self._feet])
        return np.asarray(np.minimum(own, np.roll(own, -1, axis=0)))


@dataclass(frozen=True, eq=False)
class FeetLock:
    """Holds feet. legs: with the footholds of the foot of each; up: unit vector (3,) of model space."""

    skeleton_map: SkeletonMap
    legs: tuple[tuple[Leg, Footholds], ...]
    up: FloatArray

    def hold(self, pose: Pose, times_s: FloatArray, upright: FloatArray, lowest: FloatArray) -> Pose:
        """Return poses (F, J, …) at times (F,), in any order, with feet in their footholds.

        upright: (F,) how much they are held in height too; lowest: (F, L, 2) how low, along up, foot and ankle of each
        leg may be. A foothold that the leg cannot reach is followed as far as it goes.
        """
        rotations, translations = pose.rotations.copy(), pose.translations.copy()
        world, above, feet = self._joints(pose)
        hips, ankles = world[:, 0, :, :, 3], world[:, 2, :, :, 3]
        shift = np.stack([holds.shift(feet[:, i], times_s, self.up, upright) for i, (_, holds) in enumerate(self.legs)],
                         axis=1)
        below = np.maximum(lowest[..., 0] - (feet + shift) @ self.up, lowest[..., 1] - (ankles + shift) @ self.up)
        shift += (upright[:, None] * _soft(below, _SOFT_LEGS * self._lengths))[..., None] * self.up
        goals = ankles + shift
        down = np.where(self._chains.is_loose, 0.0, _too_high(hips, ankles, goals, self.up, self._lengths)).max(axis=1)
        lower = down[:, None] * self.up
        translations[:, list(self.tops)] -= lower[:, None]
        for matrices in (world, above):
            matrices[..., 3] -= lower[:, None, None]
        shift = goals - world[:, 2, :, :, 3]
        joints = self._chains.joints
        bent = self._chains.bent(rotations[:, joints], world, above, goals)
        is_moved = np.asarray((shift != 0.0).any(axis=-1))
        rotations[:, joints] = np.where(is_moved[:, None, :, None], bent, rotations[:, joints])
        for i in np.flatnonzero(self._chains.is_loose).tolist():
            own = np.linalg.solve(above[:, 2, i, :, :3], shift[:, i, :, None])[..., 0]
            translations[:, joints[2, i]] += np.asarray(own, dtype=np.float64)
        return Pose(rotations, translations, pose.scales)

    def _joints(self, pose: Pose) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the matrices (F, 3, L, 3, 4) of hips, knees and ankles and of their parents, and feet (F, L, 3)."""
        chains, found = self._chains, self._asked.matrices(pose)
        count = chains.joints.size
        world, above = (found[:, part].reshape(len(found), *chains.joints.shape, 3, 4)
                        for part in (slice(count), slice(count, 2 * count)))
        above[:, chains.parents < 0] = np.eye(4)[:3]
        return world, above, found[:, 2 * count:, :, 3]

    @cached_property
    def _asked(self) -> Joints:
        chains = self._chains
        return Joints.of(self.skeleton_map.skeleton, [*chains.joints.ravel().tolist(),
                                                      *np.maximum(chains.parents, 0).ravel().tolist(),
                                                      *(leg.foot for leg, _ in self.legs)])

    @cached_property
    def _lengths(self) -> FloatArray:
        return np.array([leg.length(self.skeleton_map.skeleton) for leg, _ in self.legs])

    @cached_property
    def _chains(self) -> Chains:
        return Chains.of(self.skeleton_map, [leg for leg, _ in self.legs], self.up)

    @cached_property
    def tops(self) -> frozenset[int]:
        """The topmost ancestors of the legs, which go down where legs do not reach."""
        skeleton = self.skeleton_map.skeleton
        return frozenset(int(with_ancestors(skeleton.parents, np.array((leg.hip,)))[0]) for leg, _ in self.legs
                         if not leg.is_loose)


def _too_high(hips: FloatArray, ankles: FloatArray, goals: FloatArray, up: FloatArray,
              leg_lengths: FloatArray) -> FloatArray:
    """Return by how much hips (F, L, 3) are to go down so that ankles come to their goals (F, L, 3), (F, L).

    With the hip at height h over the goal and d beside it, a leg of length r reaches it from √(r² − d²) above.
    """
    far = reaches(hips, ankles, leg_lengths)
    away = hips - goals
    height = away @ up
    beside = np.sum(away * away, axis=-1) - height**2
    found = height - np.sqrt(np.maximum(far**2 - beside, 0.0))
    return np.minimum(_soft(found, _SOFT_DOWN_LEGS * leg_lengths), _MOST_DOWN_LEGS * leg_lengths)


def _soft(x: FloatArray, softness: FloatArray) -> FloatArray:
    """Return 0 below 0, and x − softness/2 from `softness` on, without a bend between.

    >>> _soft(np.array((-1.0, 0.0, 1.0, 2.0, 3.0)), np.array(2.0)).tolist()
    [0.0, 0.0, 0.25, 1.0, 2.0]
    """
    inside = np.clip(x, 0.0, softness)
    return np.asarray(inside**2 / (2.0 * softness) + np.maximum(x - softness, 0.0))


