"""Mix several stages, with a weight for each joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray, runs
from ..skeletons.skeleton import Pose, Skeleton
from .placing.root_alignment import RootAlignment
from .placing.root_motion import RootMotion
from .presence import ALWAYS, Presence
from .row import Row
from .stage import FIRST_ROUND, Instants, Stage

Mode = Literal["replace", "mix", "add"]


@dataclass(frozen=True, eq=False)
class Lane:
    """A stage's part in a mix. A lane that does not move the root must be a row played As Authored.

    mask: (J,) 0…1 weight of each joint; a joint that the stage never moves counts as 0. weight: 0…1 of the whole lane.
    presence: a factor that changes over the mix. mode: whether the lane replaces the lanes below, is averaged with its
    neighbours in mode mix, or adds its motion. first_s: the time in the stage at which an added motion begins.

    Raises TaktError if the mask does not fit the skeleton, or if mask or weight are outside of 0…1.
    """

    stage: Stage
    mask: FloatArray
    weight: float = 1.0
    mode: Mode = "replace"
    presence: Presence = ALWAYS
    first_s: float = 0.0

    def __post_init__(self) -> None:
        joints = len(self.stage.skeleton)
        if self.mask.shape != (joints,):
            raise TaktError(f"a lane's mask has shape {self.mask.shape}, expected ({joints},): one number for a joint")
        if not ((self.mask >= 0.0) & (self.mask <= 1.0)).all() or not 0.0 <= self.weight <= 1.0:
            raise TaktError("masks and weights of lanes are numbers from 0 to 1")

    @classmethod
    def whole(cls, stage: Stage) -> Lane:
        """Return a lane that moves the whole body."""
        return cls(stage, np.ones(len(stage.skeleton)))

    @cached_property
    def share(self) -> FloatArray:
        """Its weight for each joint, (J,), at full presence."""
        return self.mask * self.weight * self.stage.moved


def _looking_at(lane: Lane, joints: BoolArray) -> Lane:
    """Return a lane limited to some joints (J,)."""
    row = lane.stage
    if not isinstance(row, Row):
        return lane
    known = None if row.sampled is None else row.sampled.sampled
    return replace(lane, stage=row.of_joints(joints if known is None else joints & known))


@dataclass(frozen=True, eq=False)
class Mix:
    """The third stage: lanes from first to last, each over the result of the previous ones.

    All lanes begin and end together: shorter ones play slower. carried: the joints that carry the body. The first lane
    that moves them gives the root motion, and the others follow it. below: the pose below all lanes, (1, J, …); None
    for rest.
    """

    lanes: tuple[Lane, ...]
    carried: RootAlignment | None = None
    below: Pose | None = None

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton whose joints it moves."""
        return self.lanes[0].stage.skeleton

    @cached_property
    def duration_s(self) -> float:
        """How long it lasts."""
        return max(lane.stage.duration_s for lane in self.lanes)

    @property
    def is_loop(self) -> bool:
        """Whether the end leads into the beginning."""
        return all(lane.stage.is_loop for lane in self.lanes)

    @cached_property
    def root(self) -> RootMotion:
        """Its root motion: that of the first lane that moves the root."""
        has = (lane.stage.root for lane in self.lanes if lane.stage.root.clips.is_among(lane.share > 0.0))
        return next(has, RootMotion.still())

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        return np.asarray(np.any([lane.share > 0.0 for lane in self.lanes], axis=0))

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses at times (F,) within 0…duration_s; see Stage."""
        pose = Pose.rest(self.skeleton, len(times_s))
        guide = None if self._leader is None else self._pose_of(self._leader, times_s, rounds)
        if self.below is not None:
            pose.rotations[:], pose.translations[:], pose.scales[:] = (
                self.below.rotations, self.below.translations, self.below.scales)
            if self.carried is not None and guide is not None:
                self.carried.move(pose, guide)
        for group in self._groups:
            presences = [self.lanes[i].presence.at(times_s) for i in group]
            if not any(presence.any() for presence in presences):
                continue
            poses = [guide if i == self._leader and guide is not None else self._led(i, times_s, rounds, guide)
                     for i in group]
            mode = self.lanes[group[0]].mode
            if mode == "mix":
                lay_mean_over(pose, poses, [self.lanes[i].share for i in group], presences)
            elif mode == "add":
                add_motion(pose, poses[0], self._first(group[0]), self.lanes[group[0]].share, presences[0])
            else:
                lay_over(pose, poses[0], share_of(self.lanes[group[0]].share, presences[0]))
        return pose

    def of_joints(self, joints: BoolArray) -> Mix:
        """Return a mix that moves some joints (J,) as this one does, if possible without lanes that move none of them.

        The mix itself is returned if such lanes determine the duration, or separate lanes that would be averaged.
        """
        asked = joints.copy()
        if self.carried is not None:
            asked[self.carried.joints] = asked[self.carried.root] = True
        kept = [i for i, lane in enumerate(self.lanes) if (lane.share[asked] > 0.0).any()]
        lanes = tuple(self.lanes[i] for i in kept)
        if not kept or max(lane.stage.duration_s for lane in lanes) < self.duration_s:
            return self
        group = {i: number for number, group in enumerate(self._groups) for i in group}
        if any(group[a] != group[b] and self.lanes[a].mode == "mix" == self.lanes[b].mode for a, b in pairwise(kept)):
            return self
        return Mix(tuple(_looking_at(lane, asked) for lane in lanes), self.carried, self.below)

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the instants of events in any lane; see Stage."""
        found = [lane.stage.instants(per_s * slower, densest)
                 for lane, slower in zip(self.lanes, self._slower, strict=True)]
        eases = [edges[(edges > 0.0) & (edges < self.duration_s)] * per_s
                 for edges in (lane.presence.edges_s for lane in self.lanes)]
        edges = np.unique(np.concatenate([each.edges for each in found] + eases))
        return Instants(edges, *(np.concatenate(times) for times in
                                 zip(*((each.jumps, each.keys) for each in found), strict=True)))

    @cached_property
    def _slower(self) -> tuple[float, ...]:
        """Factor by which each lane is slowed down; a lane without duration holds its only pose."""
        return tuple(self.duration_s / lane.stage.duration_s if lane.stage.duration_s > 0.0 else 1.0
                     for lane in self.lanes)

    @cached_property
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        """Lanes that are applied together: neighbours in mode mix; each other lane alone."""
        groups: list[tuple[int, ...]] = []
        for i, lane in enumerate(self.lanes):
            if groups and lane.mode == "mix" == self.lanes[i - 1].mode:
                groups[-1] = (*groups[-1], i)
            else:
                groups.append((i,))
        return tuple(groups)

    @cached_property
    def _leader(self) -> int | None:
        """The first lane that moves the joints that carry the body, or None."""
        if self.carried is None:
            return None
        return next((i for i, lane in enumerate(self.lanes) if lane.share[self.carried.root] > 0.0), None)

    @cached_property
    def _is_led(self) -> tuple[bool, ...]:
        """Whether each lane moves the root and the joints that carry the body, so that it follows the leader."""
        carried = self.carried
        return tuple(carried is not None and bool(lane.stage.moved[carried.root])
                     and bool((lane.share[carried.joints] > 0.0).any()) for lane in self.lanes)

    def _pose_of(self, lane: int, times_s: FloatArray, rounds: IntArray) -> Pose:
        return self.lanes[lane].stage.sample(times_s / self._slower[lane], rounds)

    def _led(self, lane: int, times_s: FloatArray, rounds: IntArray, guide: Pose | None) -> Pose:
        """Return a lane's poses, moved to position and heading of the leading lane; an added lane stays in place."""
        pose = self._pose_of(lane, times_s, rounds)
        if self.carried is not None and lane != self._leader and self._is_led[lane]:
            to = self._first(lane) if self.lanes[lane].mode == "add" else guide
            if to is not None:
                self.carried.move(pose, to)
        return pose

    def _first(self, lane: int) -> Pose:
        return self.lanes[lane].stage.sample(np.array((self.lanes[lane].first_s,)))


def of_joints(stage: Stage, joints: IntArray) -> Stage:
    """Return a stage that need not pose any but some joints (N,); its poses of others mean nothing."""
    if not isinstance(stage, Row):
        return stage
    asked = np.zeros(len(stage.skeleton), dtype=np.bool_)
    asked[joints] = True
    return of_blocks(stage, joints).of_joints(asked)


def of_blocks(row: Row, joints: IntArray) -> Row:
    """Return a row whose blocks need not pose any but some joints (N,): lanes without these may be left out."""
    if not row.sources.stages:
        return row
    asked = np.zeros(len(row.skeleton), dtype=np.bool_)
    asked[joints] = True
    stages = {number: stage.of_joints(asked) if isinstance(stage, Mix) else stage
              for number, stage in row.sources.stages.items()}
    return replace(row, prepared=replace(row.prepared, sources=replace(row.sources, stages=stages)))


def mixed(lanes: Sequence[Lane]) -> Stage:
    """Return a stage that plays lanes at once; a single lane with all joints of its stage is that stage itself.

    Raises TaktError if there is no lane, if lanes have different skeletons, or if only some of them are loops.
    """
    if not lanes or any(lane.stage.skeleton is not lanes[0].stage.skeleton for lane in lanes):
        raise TaktError("a mix needs lanes, all of them on one skeleton")
    if any(lane.stage.is_loop != lanes[0].stage.is_loop for lane in lanes):
        raise TaktError("in a mix all lanes are loops, or none is")
    if len(lanes) == 1 and lanes[0].presence is ALWAYS and (lanes[0].share[lanes[0].stage.moved] == 1.0).all():
        return lanes[0].stage
    return Mix(tuple(lanes))


def share_of(share: FloatArray, presence: FloatArray) -> FloatArray:
    """Return weights of joints at F instants, (F, J), at most 1; (J,) if they are constant, which is faster.

    share: (J,) weights at full presence. presence: (F,).
    """
    if (presence == presence[0]).all():
        return np.asarray(np.minimum(share * presence[0], 1.0))
    return np.asarray(np.minimum(share * presence[:, None], 1.0))


def lay_over(pose: Pose, above: Pose, share: FloatArray) -> None:
    """Blend poses above into poses (F, J, …), by weights (J,) or (F, J)."""
    least, most = (share, share) if share.ndim == 1 else (share.min(axis=0), share.max(axis=0))
    partly = np.flatnonzero((most > 0.0) & (least < 1.0))
    for joints in _slices(least >= 1.0):
        for below, own in _channels(pose, above):
            below[:, joints] = own[:, joints]
    if len(partly):
        _blend_over(pose, partly, [own[:, partly] for _, own in _channels(pose, above)], share[..., partly])


def lay_mean_over(pose: Pose, poses: Sequence[Pose], shares: Sequence[FloatArray],
                  presences: Sequence[FloatArray]) -> None:
    """Average N poses by weights of joints (J,) times presences (F,), and blend the mean over the poses below.

    Two rotations are averaged by slerp, more by the eigenvector mean, so the order does not matter. If the weights add
    up to less than 1, the mean is blended by their sum; if to more, they are scaled down.
    """
    if len(poses) == 1:
        lay_over(pose, poses[0], share_of(shares[0], presences[0]))
        return
    has = np.array(shares) > 0.0
    kinds, kind_of = np.unique(has, axis=1, return_inverse=True)
    for kind, lanes in enumerate(kinds.T):
        among, joints = np.flatnonzero(lanes).tolist(), np.flatnonzero(kind_of.reshape(-1) == kind)
        if not among:
            continue
        weights = np.array([shares[i][joints] * presences[i][:, None] for i in among])
        total = weights.sum(axis=0)
        parts = np.divide(weights, total, out=np.full(weights.shape, 1.0 / len(among)), where=total > 0.0)
        own = [[values[:, joints] for values in (each.rotations, each.translations, each.scales)]
               for each in (poses[i] for i in among)]
        turns = [rotations for rotations, _, _ in own]
        rotations = (turns[0] if len(among) == 1 else rot.slerp(turns[0], turns[1], parts[1]) if len(among) == 2 else
                     rot.mean(np.array(turns), parts))
        others = (sum(each[channel] * part[..., None] for each, part in zip(own, parts, strict=True))
                  for channel in (1, 2))
        _blend_over(pose, joints, [rotations, *map(np.asarray, others)], np.minimum(total, 1.0))


def _blend_over(pose: Pose, joints: IntArray, above: Sequence[FloatArray], share: FloatArray) -> None:
    """Blend rotations, translations and scales (F, N, …) over those of N joints, by weights (N,) or (F, N)."""
    if (share >= 1.0).all():
        pose.rotations[:, joints], pose.translations[:, joints], pose.scales[:, joints] = above
        return
    pose.rotations[:, joints] = rot.slerp(pose.rotations[:, joints], above[0], share)
    for below, own in zip((pose.translations, pose.scales), above[1:], strict=True):
        before = below[:, joints]
        below[:, joints] = before + (own - before) * share[..., None]


def _channels(*poses: Pose) -> Iterator[tuple[FloatArray, ...]]:
    """Yield the rotations of poses, their translations, their scales."""
    yield from zip(*((pose.rotations, pose.translations, pose.scales) for pose in poses), strict=True)


def _slices(chosen: BoolArray) -> list[slice]:
    """Return the runs of chosen joints as slices; they are copied much faster than lists of indices.

    >>> _slices(np.array((True, True, False, True)))
    [slice(0, 2, None), slice(3, 4, None)]
    """
    return [slice(*run) for run in runs(chosen)]


def add_motion(pose: Pose, moved: Pose, first: Pose, share: FloatArray, presence: FloatArray) -> None:
    """Add a motion's change since its first pose to poses (F, J, …).

    moved: (F, J, …) the motion. first: (1, J, …) its first pose. share: (J,) weights. presence: (F,).
    """
    joints = np.flatnonzero(share > 0.0)
    part = (share[joints] * presence[:, None])[..., None]
    turned = rot.log(rot.multiply(rot.conjugate(first.rotations[:, joints]), moved.rotations[:, joints]))
    pose.rotations[:, joints] = rot.multiply(pose.rotations[:, joints], rot.exp(turned * part))
    pose.translations[:, joints] += (moved.translations[:, joints] - first.translations[:, joints]) * part
    pose.scales[:, joints] += (moved.scales[:, joints] - first.scales[:, joints]) * part
