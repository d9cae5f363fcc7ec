"""From clips to a character's motion, in stages.

Each stage is a value built on the one below, and `sample` returns its poses. A stage can be played like a clip. So a
row may hold other stages among its clips, and a mix may hold rows of rows.

    clips      `Sources`    the clips that the segments of a row play, or stages in place of clips
    row        `Row`        segments one after another: transitions, joints that hold a pose, root motion
    mix        `Mix`        stages that play at once, each with a weight for each joint
    warped     `Warped`     the path over the ground is bent to places and paths of the scene
    arms       `Arms`       arms avoid the trunk in transitions
    followers  `Followers`  joints that copy the motion of others
    feet       `Feet`       feet in contact stay in place (foot lock)
    floored    `Floored`    feet stand on floors of the scene, and bodies sit on its seats
    aimed      `Aimed`      head and hands aim at something of the scene

A stage with nothing to do is left out. A `Motion` wraps the last one, and answers for times before 0 and after the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Pose, Skeleton

if TYPE_CHECKING:
    from .placing.root_motion import RootMotion

FIRST_ROUND: Final = np.zeros(1, dtype=np.int64)
"""Round 0 of a loop, for all instants."""


class Playable(Protocol):
    """Anything that moves a skeleton for a while: a clip, a stage, a motion. Playing and writing need no more."""

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the poses."""

    @property
    def duration_s(self) -> float:
        """Duration in seconds; of one round, for a loop."""

    @property
    def moved(self) -> BoolArray:
        """Joints that it ever moves, (J,)."""

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses at times (F,), as (F, J, …)."""


@dataclass(frozen=True, eq=False)
class Instants:
    """When edges, jumps and keys occur in a stage, in any order.

    edges: (E,) where clips and transitions begin and end. jumps: (N,) where one clip cuts to the next. keys: (K,) keys
    of the clips.
    """

    edges: FloatArray
    jumps: FloatArray
    keys: FloatArray


class Stage(Playable, Protocol):
    """A stage, built on the one below."""

    @property
    def is_loop(self) -> bool:
        """Whether the end leads into the beginning."""

    @property
    def root(self) -> RootMotion:
        """Its root motion, which also places the poses of later rounds of a loop."""

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses at times (F,) within 0…duration_s of rounds (F,) of the loop."""

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the times of edges, jumps and keys, in units of 1 / per_s seconds.

        densest: a clip's keys are left out where it has more than this many keys per unit, as played.
        """


@dataclass(frozen=True, eq=False)
class Over:
    """A stage that only changes poses of the one below."""

    below: Stage

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the poses."""
        return self.below.skeleton

    @property
    def duration_s(self) -> float:
        """Duration in seconds."""
        return self.below.duration_s

    @property
    def is_loop(self) -> bool:
        """Whether the end leads into the beginning."""
        return self.below.is_loop

    @property
    def root(self) -> RootMotion:
        """Its root motion."""
        return self.below.root

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the times of edges, jumps and keys; see Stage."""
        return self.below.instants(per_s, densest)


def in_rounds(times_s: FloatArray, duration_s: float, is_loop: bool) -> tuple[FloatArray, IntArray]:
    """Return times (F,) wrapped into 0…duration_s, and each one's round of the loop; without a loop, times are clamped.

    >>> times, rounds = in_rounds(np.array((-0.5, 1.0, 2.5)), 2.0, True)
    >>> times.tolist(), rounds.tolist()
    ([1.5, 1.0, 0.5], [-1, 0, 1])
    """
    if not is_loop or duration_s <= 0.0:
        return np.minimum(np.maximum(times_s, 0.0), duration_s), np.zeros(len(times_s), dtype=np.int64)
    rounds = np.floor(times_s / duration_s)
    return np.clip(times_s - rounds * duration_s, 0.0, duration_s), rounds.astype(np.int64)
