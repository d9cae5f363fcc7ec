"""From clips to a character's motion, in stages.

Each stage is a value made of the one below, and `sample` returns its poses. Since a stage is played like a clip, a row
may hold other stages among its clips, and a mix may hold rows of rows.

    clips      `Sources`    what the segments of a row play: clips, or stages as if they were clips
    row        `Row`        segments one after another: transitions, joints that hold a pose, root motion
    mix        `Mix`        stages at once, each with its share of each joint; where there is one alone, that one itself
    warped     `Warped`     the way over the ground is bent to places and paths of the scene
    arms       `Arms`       arms do not go through the trunk in transitions
    followers  `Followers`  joints that go where others go
    feet       `Feet`       planted feet stay in place
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
"""For all instants the first round of a loop."""


class Playable(Protocol):
    """Anything that moves a skeleton for a while: a clip, a stage, a motion. Playing and writing need no more."""

    @property
    def skeleton(self) -> Skeleton:
        """Whose joints it moves."""

    @property
    def duration_s(self) -> float:
        """How long it lasts: one round of a loop."""

    @property
    def moved(self) -> BoolArray:
        """Joints that it ever moves, (J,)."""

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses at times (F,), as (F, J, …)."""


@dataclass(frozen=True, eq=False)
class Instants:
    """When something happens in a stage, in any order.

    edges: (E,) clips and transitions begin and end. jumps: (N,) where one cuts to the next. keys: (K,) of the clips.
    """

    edges: FloatArray
    jumps: FloatArray
    keys: FloatArray


class Stage(Playable, Protocol):
    """One stage, made of the one below."""

    @property
    def is_loop(self) -> bool:
        """Whether the end leads into the beginning."""

    @property
    def root(self) -> RootMotion:
        """Its root motion, which also carries poses from one round of a loop to the next."""

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses at times (F,) within 0…duration_s of rounds (F,) of the loop."""

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the times of edges, jumps and keys, in units of 1 / per_s seconds.

        densest: a clip's own keys are left out if, as it is played, there are more than this many in a unit.
        """


@dataclass(frozen=True, eq=False)
class Over:
    """A stage that changes poses of the one below, and nothing else."""

    below: Stage

    @property
    def skeleton(self) -> Skeleton:
        """Whose joints it moves."""
        return self.below.skeleton

    @property
    def duration_s(self) -> float:
        """How long it lasts."""
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
        """Return when something happens; see Stage."""
        return self.below.instants(per_s, densest)


def in_rounds(times_s: FloatArray, duration_s: float, is_loop: bool) -> tuple[FloatArray, IntArray]:
    """Return times (F,) within 0…duration_s, and which round of a loop each is in; without a loop the ends hold.

    >>> times, rounds = in_rounds(np.array((-0.5, 1.0, 2.5)), 2.0, True)
    >>> times.tolist(), rounds.tolist()
    ([1.5, 1.0, 0.5], [-1, 0, 1])
    """
    if not is_loop or duration_s <= 0.0:
        return np.minimum(np.maximum(times_s, 0.0), duration_s), np.zeros(len(times_s), dtype=np.int64)
    rounds = np.floor(times_s / duration_s)
    return np.clip(times_s - rounds * duration_s, 0.0, duration_s), rounds.astype(np.int64)
