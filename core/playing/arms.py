"""Keep arms out of the trunk, and elbows from bending backwards, in transitions.

A transition turns each joint along the shorter arc, so an arm may pass through the trunk. If an arm would be deeper in
the trunk than at both ends of the transition, it makes a detour. The offset that moves it out of the trunk at its
deepest instant (see retargeting/contacts/arms.py) is faded in before that instant, and faded out after it. For elbows
see elbows.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..retargeting.contacts.arms import ArmsBesideTrunk, ArmsInFrames, moved_out
from ..retargeting.limbs import Limb, LimbPoses
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, Skeleton, world_from_pose
from .elbows import Elbows, least_bends
from .row import Row
from .stage import FIRST_ROUND, Over, in_rounds
from .transitions.curves import CURVES

_LOOKS: Final = np.linspace(0.0, 1.0, 17)
"""Shares of a transition at which arms are tested against the trunk."""
_MOST_KNOWN: Final = 64
"""Number of characters whose trunks are cached."""
_PEAKS: Final = (0.3, 0.7)
"""A detour is greatest between these shares of a transition, so that it neither begins nor ends abruptly."""
_EDGE: Final = 0.15
"""Share of a transition, at each end, over which the correction of elbows is faded in and out."""


@dataclass(frozen=True, eq=False)
class ArmsAlone:
    """Arms and trunk of a skeleton without its other joints.

    skeleton: that of the K joints kept. kept: (K,) their indices in the whole skeleton.
    """

    skeleton: Skeleton
    kept: IntArray
    beside: ArmsBesideTrunk

    def world(self, pose: Pose) -> FloatArray:
        """Return the matrices model_from_joint of its joints, (F, K, 3, 4), in poses of the whole skeleton."""
        own = Pose(pose.rotations[:, self.kept], pose.translations[:, self.kept], pose.scales[:, self.kept])
        return world_from_pose(self.skeleton, own)


@dataclass(frozen=True, eq=False)
class Arms(Over):
    """The stage that makes the detours.

    row: contains the transitions. body: arms and trunk of the skeleton. _detours caches by seam: the least bend of each
    elbow (2,), the shares of the transition at which the detours are greatest (2,), and the detours (2, 3, 3), a
    rotation vector for each joint of each arm.
    """

    row: Row
    body: ArmsAlone
    _detours: dict[int, tuple[FloatArray, FloatArray, FloatArray]] = field(default_factory=dict)

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with arms outside of the trunk; see Stage."""
        pose = self.below.sample(times_s, rounds)
        seams = self.row.seam_at(times_s)
        frames = self._going_round(seams)
        if len(frames):
            self._know(np.unique(seams[frames]))
            frames = self._going_round(seams)
            self._turn(pose, frames, times_s[frames])
        return pose

    def _going_round(self, seams: IntArray) -> IntArray:
        """Return the frames that may have detours. seams: (F,) the seam in whose window each frame lies, −1: none."""
        return self._go_round.take(seams).nonzero()[0]

    def _turn(self, pose: Pose, frames: IntArray, times_s: FloatArray) -> None:
        """Add detours to frames (W,) of poses (F, J, …), at times (W,)."""
        if not len(frames):
            return
        seam, share = self.row.windows(times_s)
        least, peaks, detours = (np.stack(each) for each in zip(*(self._detours[number] for number in seam.tolist()),
                                                                strict=True))
        self._straighten(pose, frames, least, share)
        at, arm = np.nonzero(detours.any(axis=(2, 3)))
        part, joints = _part(share[:, None], peaks), self._joints[arm]
        turned = rot.multiply(pose.rotations[frames[at, None], joints],
                              rot.exp(part[at, arm, None, None] * detours[at, arm]))
        pose.rotations[frames[at, None], joints] = turned

    def _straighten(self, pose: Pose, frames: IntArray, least: FloatArray, share: FloatArray) -> None:
        """Bend elbows at least by `least` (W, 2) in frames (W,) of poses. share: (W,) positions in the transitions."""
        kept = np.flatnonzero(np.isfinite(least).any(axis=1))
        if len(kept):
            at, away = frames[kept], np.minimum(share, 1.0 - share)[kept]
            pose.rotations[at[:, None], self._elbows.joints] = self._elbows.kept(
                pose.at(at), least[kept], CURVES["SMOOTHER"].rise(np.minimum(away / _EDGE, 1.0)))

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        moved = self.below.moved.copy()
        for joints in self._joints:
            moved[joints] |= moved[joints].any()
        return np.asarray(moved)

    @cached_property
    def _joints(self) -> IntArray:
        """Shoulder, elbow and wrist of each arm, (2, 3)."""
        return np.asarray(self.body.kept[np.array(self.body.beside.arms)])

    @cached_property
    def _elbows(self) -> Elbows:
        arms = [Limb(*joints) for joints in self._joints.tolist()]
        return Elbows.of(self.row.skeleton, arms, [ends.at(slice(0, None, 3)) for ends in self.row.sources.ends])

    def _know(self, seams: IntArray) -> None:
        """Find the detours of several different seams (N,)."""
        missing = np.array([seam for seam in seams.tolist() if seam not in self._detours], dtype=np.int64)
        if not len(missing):
            return
        for seam, least, peaks, detours in zip(missing.tolist(), *self._found(missing), strict=True):
            if detours.any() or np.isfinite(least).any():
                self._detours[seam] = least, peaks, detours
            else:
                self._go_round[seam] = False

    @cached_property
    def _go_round(self) -> BoolArray:
        """Whether each seam may have detours; the last value, for no seam, is false, (S + 1,)."""
        return np.append(self.row.layout.window_end_s > self.row.layout.window_begin_s, False)

    def _found(self, seams: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the cached values of seams (N,): (N, 2), (N, 2) and (N, 2, 3, 3)."""
        begin, end = self.row.layout.window_begin_s[seams, None], self.row.layout.window_end_s[seams, None]
        times, _ = in_rounds((begin + (end - begin) * _LOOKS).ravel(), self.duration_s, self.is_loop)
        pose, beside = self.below.sample(times), self.body.beside
        bent = least_bends(self._elbows.forwards(pose).reshape(len(seams), len(_LOOKS), -1))
        self._straighten(pose, np.arange(len(times)), bent.repeat(len(_LOOKS), axis=0), np.tile(_LOOKS, len(seams)))
        world = self.body.world(pose)
        placed = ArmsInFrames(beside, world)
        peaks, detours = np.full((len(seams), 2), 0.5), np.zeros((len(seams), 2, 3, 3))
        for side, arm in enumerate(beside.arms):
            outside = placed.distance(side).reshape(len(seams), len(_LOOKS), -1)
            least = beside.allowed(np.minimum(outside[:, :1], outside[:, -1:]), side)
            allowed = np.broadcast_to(least, outside.shape).reshape(len(times), -1)
            pushes = placed.pushes(side, allowed)
            deep = np.linalg.norm(pushes, axis=-1).max(axis=1).reshape(len(seams), -1)
            through = np.flatnonzero(deep.any(axis=1))
            if not len(through):
                continue
            deepest = deep[through].argmax(axis=1)
            rows = through * len(_LOOKS) + deepest
            own = LimbPoses.of(world[rows], arm).at((slice(None), 0))
            moved = moved_out(placed.at(rows), side, own, allowed[rows], pushes[rows])
            turns = moved.rotations(self.body.skeleton, world[rows], arm)
            added = rot.multiply(rot.conjugate(pose.rotations[rows][:, self._joints[side]]), turns)
            detours[through, side] = rot.log(np.where(added[..., :1] < 0.0, -added, added))
            peaks[through, side] = np.clip(_LOOKS[deepest], *_PEAKS)
        return bent, peaks, detours


def _part(share: FloatArray, peaks: FloatArray) -> FloatArray:
    """Return the weights of detours at shares of a transition: 0 at its ends, 1 at the peaks."""
    return np.asarray(CURVES["SMOOTHER"].rise(np.minimum(share / peaks, (1.0 - share) / (1.0 - peaks))))


@lru_cache(maxsize=_MOST_KNOWN)
def arms_of(found: SkeletonMap) -> ArmsAlone | None:
    """Return arms and trunk of a map's skeleton, with a trunk of the usual shape, or None if they are unknown."""
    beside = ArmsBesideTrunk.of(found, None)
    if beside is None:
        return None
    kept = with_ancestors(found.skeleton.parents, np.array(sorted(beside.joints)))
    return ArmsAlone(found.skeleton.part(kept), kept,
                     beside.numbered({int(joint): i for i, joint in enumerate(kept)}))
