"""Several stages at once, each with its share of each joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Pose, Skeleton
from .root_motion import RootWay
from .stage import FIRST_ROUND, Instants, Stage


@dataclass(frozen=True, eq=False)
class Lane:
    """What a stage has of a mix. Where it is not what carries the travel, it is to be a row that plays As Authored.

    mask: (J,) 0…1 how much of each joint is the lane's; what its stage never moves is not, whatever the mask says.
    weight: 0…1 how much the whole lane counts.
    Raises TaktError where the mask does not fit the skeleton, or mask or weight lead out of 0…1.
    """

    stage: Stage
    mask: FloatArray
    weight: float = 1.0

    def __post_init__(self) -> None:
        joints = len(self.stage.skeleton)
        if self.mask.shape != (joints,):
            raise TaktError(f"a lane's mask has shape {self.mask.shape}, expected ({joints},): one number for a joint")
        if not ((self.mask >= 0.0) & (self.mask <= 1.0)).all() or not 0.0 <= self.weight <= 1.0:
            raise TaktError("masks and weights of lanes are numbers from 0 to 1")

    @classmethod
    def whole(cls, stage: Stage) -> Lane:
        """Return the lane that has all of the body."""
        return cls(stage, np.ones(len(stage.skeleton)))

    @cached_property
    def share(self) -> FloatArray:
        """How much of each joint it has over what lies below it, (J,)."""
        return self.mask * self.weight * self.stage.moved


@dataclass(frozen=True, eq=False)
class Mix:
    """The third stage: lanes from first to last, each over what the ones before made; joints of none are at rest.

    All last as long as the longest: shorter ones are played slower, so that they begin and end together.
    """

    lanes: tuple[Lane, ...]

    @property
    def skeleton(self) -> Skeleton:
        """Whose joints it moves."""
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
    def root(self) -> RootWay:
        """How it travels: as the first lane does that has the root."""
        has = (lane.stage.root for lane in self.lanes if lane.stage.root.is_among(lane.share > 0.0))
        return next(has, RootWay.still())

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        return np.asarray(np.any([lane.share > 0.0 for lane in self.lanes], axis=0))

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses at times (F,) within 0…duration_s; see Stage."""
        pose = Pose.rest(self.skeleton, len(times_s))
        for lane, slower in zip(self.lanes, self._slower, strict=True):
            _lay_over(pose, lane.stage.sample(times_s / slower, rounds), lane.share)
        return pose

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return when something happens in any lane; see Stage."""
        found = [lane.stage.instants(per_s * slower, densest)
                 for lane, slower in zip(self.lanes, self._slower, strict=True)]
        return Instants(*(np.concatenate(times) for times in
                          zip(*((each.edges, each.jumps, each.keys) for each in found), strict=True)))

    @cached_property
    def _slower(self) -> tuple[float, ...]:
        """How many times as long as by itself each lane lasts; what has no length holds its only pose."""
        return tuple(self.duration_s / lane.stage.duration_s if lane.stage.duration_s > 0.0 else 1.0
                     for lane in self.lanes)


def mixed(lanes: Sequence[Lane]) -> Stage:
    """Return what plays lanes at once; a single lane that has everything its stage moves is that stage itself.

    Raises TaktError where there is no lane, or several skeletons or loops beside what is none.
    """
    if not lanes or any(lane.stage.skeleton is not lanes[0].stage.skeleton for lane in lanes):
        raise TaktError("a mix needs lanes, all of them on one skeleton")
    if any(lane.stage.is_loop != lanes[0].stage.is_loop for lane in lanes):
        raise TaktError("in a mix all lanes are loops, or none is")
    if len(lanes) == 1 and (lanes[0].share[lanes[0].stage.moved] == 1.0).all():
        return lanes[0].stage
    return Mix(tuple(lanes))


def _lay_over(pose: Pose, above: Pose, share: FloatArray) -> None:
    """Give joints of poses (F, J, …) to what lies above them, by shares (J,): wholly as they are, else on the way."""
    whole, partly = np.flatnonzero(share >= 1.0), np.flatnonzero((share > 0.0) & (share < 1.0))
    for below, own in ((pose.rotations, above.rotations), (pose.translations, above.translations),
                       (pose.scales, above.scales)):
        below[:, whole] = own[:, whole]
    if len(partly):
        part = share[partly]
        pose.rotations[:, partly] = rot.slerp(pose.rotations[:, partly], above.rotations[:, partly], part)
        for below, own in ((pose.translations, above.translations), (pose.scales, above.scales)):
            below[:, partly] += (own[:, partly] - below[:, partly]) * part[:, None]
