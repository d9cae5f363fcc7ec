"""Distances that joints move from one pose to another, and the time this takes at the clips' own speeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...maths.arrays import BoolArray, FloatArray, quotient
from ...skeletons.skeleton import Skeleton, world_from_pose
from .lengths import Neighbours, whole_steps

_FAST_PERCENT: Final = 95.0
_SLOW_SIZES_PER_S: Final = 0.6
"""Speed allowed in every transition, in skeleton sizes per second: about a metre per second for an adult."""
_PAIRS_AT_ONCE: Final = 4096


@dataclass(frozen=True, eq=False)
class Distances:
    """Joint positions at both ends of C clips, and speeds of joints.

    ends: (2, C, J, 3) positions in the clips' first and last poses, placed as they meet at seams. fast: (C, J) speeds
    that joints seldom exceed at the clips' own pace, in model units per second. slow: a speed that is allowed for every
    joint, in the same unit. moved: (C, J) joints that each clip moves. skeleton: that of the clips. counted: (J,)
    joints whose distance counts.
    """

    ends: FloatArray
    fast: FloatArray
    slow: float
    moved: BoolArray
    skeleton: Skeleton
    counted: BoolArray

    @classmethod
    def of(cls, clips: Sequence[Clip], ends: FloatArray, moved: BoolArray,
           counted: BoolArray | None = None) -> Distances:
        """Measure clips, which share one skeleton. counted: None stands for all joints."""
        skeleton = clips[0].skeleton
        positions = skeleton.rest_world[..., 3]
        size = float(np.ptp(positions, axis=0).max(initial=0.0))
        counted = np.ones(len(skeleton), dtype=np.bool_) if counted is None else counted
        return cls(ends, np.stack([clip.derived(_fast) for clip in clips]), _SLOW_SIZES_PER_S * size, moved, skeleton,
                   counted)

    def needed_s(self, seams: Neighbours) -> FloatArray:
        """Return the least durations of N transitions, (N,), in which no joint is faster than in its clips.

        A joint counts if it and all its ancestors are moved by both clips, or by neither.
        """
        out = np.zeros(len(seams.before))
        for start in range(0, len(out), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            out[part] = self.needed_by_joint_s(seams.at(part)).max(axis=1, initial=0.0)
        return out

    def needed_by_joint_s(self, seams: Neighbours) -> FloatArray:
        """Return the time that each joint needs from pose to pose at N seams, (N, J); 0 if it does not count."""
        before, after = seams.before, seams.after
        own = self.moved[before] != self.moved[after]
        for level in self.skeleton.levels[1:]:
            own[:, level] |= own[:, self.skeleton.parents[level]]
        distance = np.linalg.norm(self.ends[1, before] - self.ends[0, after], axis=-1)
        fast = np.maximum(self.fast[before] * quotient(1.0, seams.before_stretch)[:, None],
                          self.fast[after] * quotient(1.0, seams.after_stretch)[:, None])
        return np.where(own | ~self.counted, 0.0, quotient(distance, np.maximum(fast, self.slow)))


def _fast(clip: Clip) -> FloatArray:
    """Return the speeds that the joints of a clip seldom exceed, (J,)."""
    times = whole_steps(clip.duration_s)
    if clip.duration_s <= 0.0:
        return np.zeros(len(clip.skeleton))
    positions = world_from_pose(clip.skeleton, clip.sample(times, "SLERP"))[..., 3]
    speeds = np.linalg.norm(np.diff(positions, axis=0), axis=-1) / np.diff(times)[:, None]
    return np.asarray(np.percentile(speeds, _FAST_PERCENT, axis=0))
