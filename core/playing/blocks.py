"""Stages of blocks: lanes that play at once, over the pose before the block."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field, replace
from typing import Final, cast

import numpy as np

from ..clips.clip import Clip
from ..clips.excerpt import Excerpt
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..pha import sequence as pha
from ..pha.sequence import Block
from ..skeletons.skeleton import Pose, Skeleton
from .mix import Lane, Mix, Mode
from .placing.root_alignment import RootAlignment
from .playing import Playing
from .presence import EASE_CURVATURE, EASE_SLOPE, Presence
from .row import Row
from .stage import Stage
from .transitions.curves import CURVES
from .transitions.lengths import DEFAULT_SPEED_RAD_S, SAME_POSE_RAD, STILL_RAD_S

MOST_EASE: Final = 0.25
"""Greatest automatic fade, as a share of what a lane plays between two silences."""
SOFT_EASE_S: Final = 0.5
MOST_SOFT_EASE: Final = 0.5
"""A fade may be longer than MOST_EASE if joints would jerk otherwise: up to SOFT_EASE_S seconds, but at most
MOST_SOFT_EASE of what the lane plays."""
_PER_S: Final = 24.0
_MOST_LOOKED_AT: Final = 48
"""Sampling rate for the usual accelerations in a lane's own motion, and the greatest number of samples."""
_USUAL: Final = 95.0
"""Percentile of the accelerations that counts as usual."""
_SPEED_S: Final = 0.1
"""Time over which an automatic fade measures the speed of the joints."""
_SAME_TIME_S: Final = 1e-9
_SAME_POSE: Final = 10
"""Number of decimals to which poses below a block are compared."""


@dataclass(eq=False)
class BelowPose:
    """The pose before a segment: each joint has the last pose of the last piece that moved it, or rest."""

    pose: Pose
    _ends: dict[Clip | Excerpt | Stage, Pose] = field(default_factory=dict)

    @classmethod
    def of(cls, skeleton: Skeleton) -> BelowPose:
        """Return the rest pose."""
        return cls(Pose.rest(skeleton, 1))

    def go_on(self, piece: Clip | Excerpt | Stage | None) -> None:
        """Apply the end of a piece; None: not known yet."""
        if piece is None or not piece.moved.any():
            return
        if piece not in self._ends:
            self._ends[piece] = piece.sample(np.array((piece.duration_s,)))
        last, pose, moved = self._ends[piece], self.pose, piece.moved
        self.pose = Pose(np.where(moved[:, None], last.rotations, pose.rotations),
                         np.where(moved[:, None], last.translations, pose.translations),
                         np.where(moved[:, None], last.scales, pose.scales))

    def key(self, joints: BoolArray) -> bytes:
        """Return bytes that are equal for equal poses of these joints (J,)."""
        values = [values[0, joints].ravel() for values in (self.pose.rotations, self.pose.translations,
                                                           self.pose.scales)]
        return np.asarray(np.round(np.concatenate(values), _SAME_POSE) + 0.0).tobytes()


@dataclass(frozen=True, eq=False)
class _Plan:
    """A lane before its fades are known.

    said: the lane in the score. lane: its stage and mask. begin_s, end_s: (R,) its runs, between silences. is_over:
    there is a lane below it with joints in common. is_all_the_while: it plays without silence. usual: cache by run of
    the usual acceleration of its joints, rad/s².
    """

    said: pha.Lane
    lane: Lane
    begin_s: FloatArray
    end_s: FloatArray
    is_over: bool
    is_all_the_while: bool
    usual: dict[int, float] = field(default_factory=dict)

    @property
    def is_eased(self) -> bool:
        """Whether it may fade in or out."""
        said = self.said
        return len(self.begin_s) != 1 or self.is_over or any(
            ease > 0.0 for ease in (said.ease_in_s, said.ease_out_s))


@dataclass(frozen=True, eq=False)
class BlockMaker:
    """Makes the stage of a block.

    needed: (J,) joints that the lanes do not fully determine at all times, so that the pose below shows through.
    """

    plans: tuple[_Plan, ...]
    duration_s: float
    carried: RootAlignment | None
    playing: Playing
    needed: BoolArray

    @classmethod
    def of(cls, block: Block, rows: SequenceOf[Row | None], masks: SequenceOf[FloatArray],
           carried: RootAlignment | None, playing: Playing) -> BlockMaker:
        """Return the maker for the lanes of a block. rows, masks: of each lane; the row is None if it plays nothing.

        carried: the joints that carry the body, None if no lane moves them.
        """
        duration_s = max(row.duration_s for row in rows if row is not None)
        plans: list[_Plan] = []
        for said, row, mask in zip(block.lanes, rows, masks, strict=True):
            if row is None:
                continue
            own = _runs(row)
            runs = own * (duration_s / row.duration_s)
            runs[runs <= _SAME_TIME_S] = 0.0
            runs[runs >= duration_s - _SAME_TIME_S] = duration_s
            lane = Lane(row, mask, mode=cast(Mode, said.mode), first_s=float(own[0, 0]) if len(own) else 0.0)
            lane = replace(lane, stage=row.of_joints(_looked_at(lane, carried)))
            group = _group_below(plans, said.mode)
            is_over = any((plan.lane.share * lane.share > 0.0).any() for plan in plans[:group])
            begins = runs if len(runs) else np.zeros((1, 2))
            plans.append(_Plan(said, lane, begins[:, 0], begins[:, 1], is_over,
                               len(runs) == 1 and begins[0].tolist() == [0.0, duration_s]))
        moved = np.any([plan.lane.share > 0.0 for plan in plans], axis=0)
        return cls(tuple(plans), duration_s, carried, playing, moved & ~_covered(plans))

    def over(self, below: Pose | None) -> Mix:
        """Return the stage over a pose (1, J, …); None: if that is never visible."""
        lanes: list[Lane] = []
        for number, plan in enumerate(self.plans):
            under = lanes[:_group_below(self.plans[:number], plan.said.mode)]
            eases = [self._ease(plan, run, under, below) for run in range(len(plan.begin_s))]
            presence = self._presence(plan, np.array(eases).reshape(-1, 2))
            lanes.append(Lane(plan.lane.stage, plan.lane.mask, 1.0, plan.lane.mode, presence, plan.lane.first_s))
        return Mix(tuple(lanes), self.carried, below)

    def _presence(self, plan: _Plan, eases: FloatArray) -> Presence:
        return Presence(CURVES[self.playing.style.curve].rise, self.duration_s, plan.said.weight,
                        plan.said.weight_end, plan.begin_s, plan.end_s, eases[:, 0], eases[:, 1])

    def _ease(self, plan: _Plan, run: int, under: list[Lane], below: Pose | None) -> tuple[float, float]:
        """Return the lengths of fade-in and fade-out for a run of a lane; together at most the run's length."""
        begin, end = float(plan.begin_s[run]), float(plan.end_s[run])
        length = end - begin
        found = []
        for wished, at, is_edge in ((plan.said.ease_in_s, begin, begin <= 0.0),
                                    (plan.said.ease_out_s, end, end >= self.duration_s)):
            if not np.isnan(wished):
                found.append(float(wished))
            elif is_edge and not plan.is_over:
                found.append(0.0)  # nothing plays below; the block's own transition leads from the previous pose
            else:
                usual, soft = self._automatic(plan, run, at, under, below)
                most = max(MOST_EASE * length, min(SOFT_EASE_S, MOST_SOFT_EASE * length))
                found.append(max(min(usual, MOST_EASE * length), min(soft, most)))
        total = sum(found)
        come, go = (ease * length / total for ease in found) if total > length else found
        return come, go

    def _automatic(self, plan: _Plan, run: int, at: float, under: list[Lane],
                   below: Pose | None) -> tuple[float, float]:
        """Return two lengths of an automatic fade: that of a transition, and the least one without jerks.

        The first is, as in transitions, the mean angle between the lane and the lanes below ÷ their speed. For the
        second, let two motions be the angle θ apart, and their speeds differ by v. A weight that follows the fade's
        curve over the time T accelerates a joint by up to c·θ/T² + 2s·v/T, with the curve's curvature c and slope s.
        Neither term may exceed the usual acceleration in the lane's own motion.
        """
        joints = plan.lane.share > 0.0
        if self.carried is not None:
            joints[self.carried.joints] = False
        if not joints.any():
            return 0.0, 0.0
        begin, end = float(plan.begin_s[run]), float(plan.end_s[run])
        step = min(_SPEED_S, end - begin) * (1.0 if at == begin else -1.0)
        own, others = self._both(plan, np.array((at, at + step)), joints, under, below)
        if run not in plan.usual:
            plan.usual[run] = _usual_acceleration(plan, run, joints, self.duration_s)
        usual, angles = plan.usual[run], rot.angle_between(own[0], others[0])
        mean = float(angles.mean())
        paths = [float(rot.angle_between(pose[0], pose[1]).mean()) for pose in (own, others)]
        speed = sum(paths) / (2.0 * abs(step)) if step else 0.0
        found = mean / (speed if speed > STILL_RAD_S else DEFAULT_SPEED_RAD_S) if mean > SAME_POSE_RAD else 0.0
        if usual <= 0.0 or not step:
            return found, 0.0
        apart = rot.log(rot.multiply(rot.conjugate(others), own))
        differ = float(np.linalg.norm(apart[1] - apart[0], axis=-1).max()) / abs(step)
        return found, max(float(np.sqrt(EASE_CURVATURE * angles.max() / usual)), 2.0 * EASE_SLOPE * differ / usual)

    def _both(self, plan: _Plan, times_s: FloatArray, joints: BoolArray, under: list[Lane],
              below: Pose | None) -> tuple[FloatArray, FloatArray]:
        """Return the rotations (F, N, 4) of joints in a lane at times (F,), and in the pose from which it fades in.

        That pose is the result of the lanes below it; for an additive lane it is the lane's own first pose.
        """
        own = _of_lane(plan.lane, times_s, self.duration_s).rotations[:, joints]
        if plan.said.mode == "add":
            other: Pose | None = plan.lane.stage.sample(np.array((plan.lane.first_s,)))
        else:
            other = Mix((*under,), None, below).sample(times_s) if under else below
        return own, own if other is None else np.broadcast_to(other.rotations[:, joints], own.shape)


def _usual_acceleration(plan: _Plan, run: int, joints: BoolArray, duration_s: float) -> float:
    """Return the 95th percentile of the accelerations of a lane's joints while it plays, rad/s²."""
    begin, end = float(plan.begin_s[run]), float(plan.end_s[run])
    times = np.linspace(begin, end, int(np.clip((end - begin) * _PER_S, 4, _MOST_LOOKED_AT)))
    turns = _of_lane(plan.lane, times, duration_s).rotations[:, joints]
    step = times[1] - times[0]
    speeds = rot.log(rot.multiply(rot.conjugate(turns[:-1]), turns[1:])) / step
    changes = np.linalg.norm(np.diff(speeds, axis=0), axis=-1) / step
    moving = changes[changes > STILL_RAD_S]
    return float(np.percentile(moving, _USUAL)) if len(moving) else 0.0


def _of_lane(lane: Lane, times_s: FloatArray, duration_s: float) -> Pose:
    return lane.stage.sample(np.clip(times_s * (lane.stage.duration_s / duration_s), 0.0, lane.stage.duration_s))


def _looked_at(lane: Lane, carried: RootAlignment | None) -> BoolArray:
    """Return the joints (J,) of a lane to be sampled: its own and, if it travels, those that show its root motion."""
    looked_at = lane.share > 0.0
    if carried is not None and looked_at[carried.joints].any():
        looked_at[carried.joints] = looked_at[carried.read] = True
    return looked_at


def _group_below(plans: SequenceOf[_Plan], mode: str) -> int:
    """Return how many of the earlier lanes lie below a lane. Lanes that it is averaged with do not count."""
    number = len(plans)
    while mode == "mix" and number and plans[number - 1].said.mode == "mix":
        number -= 1
    return number


def _runs(row: Row) -> FloatArray:
    """Return begin and end of each run of a row between waits, (N, 2)."""
    waits = np.array([not moved.any() for moved in row.sources.moved], dtype=np.bool_)[row.sequence.clip]
    begin = np.flatnonzero(~waits & np.append(True, waits[:-1]))
    end = np.flatnonzero(~waits & np.append(waits[1:], True)) + 1
    edges = np.append(row.layout.begin_s, row.duration_s)
    return np.column_stack((edges[begin], edges[end]))


def _covered(plans: SequenceOf[_Plan]) -> BoolArray:
    """Return the joints (J,) that lanes fully determine at all times."""
    covered = np.zeros(len(plans[0].lane.mask), dtype=np.bool_)
    number = 0
    while number < len(plans):
        after = number + 1
        while plans[number].said.mode == "mix" and after < len(plans) and plans[after].said.mode == "mix":
            after += 1
        whole = [plan for plan in plans[number:after] if not plan.is_eased and plan.said.mode != "add"
                 and plan.is_all_the_while]
        if whole:  # a sum of weights lies between its values at both ends, since all weights follow one curve
            least = np.min([np.sum([plan.lane.share * getattr(plan.said, weight) for plan in whole], axis=0)
                            for weight in ("weight", "weight_end")], axis=0)
            covered |= least >= 1.0
        number = after
    return covered
