"""A few points of a character's skin that stand for all of it: wherever it turns, they are its lowest ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final
from zlib import crc32

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import poses_at
from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Skeleton, world_from_pose

_DIRECTIONS: Final = (60, 300)
"""In which each joint's part of the skin is farthest out: a point every 25°, in large parts up to every 11°."""
_LARGE: Final = 0.17
"""Of the body: parts that are larger get more directions, by their surface."""
_MOST_INFLUENCES: Final = 4
_FRAMES_AT_ONCE: Final = 256


@dataclass(frozen=True, eq=False)
class SkinPoints:
    """P points of a skin that is bound to a skeleton.

    positions: (P, 3) at rest, in model space. joints, weights: (P, K) what moves them; weights sum to 1.
    Raises TaktError where the shapes differ.
    """

    positions: FloatArray
    joints: IntArray
    weights: FloatArray

    def __post_init__(self) -> None:
        if self.joints.shape != self.weights.shape or len(self.joints) != len(self.positions):
            raise TaktError(f"{len(self.positions)} points, joints {self.joints.shape} and weights "
                            f"{self.weights.shape} do not go together")

    @classmethod
    def of(cls, positions: FloatArray, joints: IntArray, weights: FloatArray) -> SkinPoints:
        """Choose points among vertices: for each joint those that are farthest out in some direction.

        positions: (V, 3) at rest, in model space. joints, weights: (V, K), the strongest first, as Influences has them.
        A vertex belongs to the joint that moves it most. Vertices that nothing moves are left out.
        """
        joints, weights = joints[:, :_MOST_INFLUENCES], weights[:, :_MOST_INFLUENCES]
        total = weights.sum(axis=1)
        bound = np.flatnonzero(total > 0.0)
        order = bound[np.argsort(joints[bound, 0], kind="stable")]
        edges = np.flatnonzero(np.diff(joints[order, 0], prepend=-1, append=-1))
        large = _LARGE * max(float(np.ptp(positions[bound], axis=0).max()) if len(bound) else 0.0, 1e-30)
        chosen = []
        for part in (order[a:b] for a, b in pairwise(edges) if b > a):
            share = (float(np.ptp(positions[part], axis=0).max()) / large) ** 2
            directions = evenly_around(int(np.clip(_DIRECTIONS[0] * share, *_DIRECTIONS)))
            chosen.append(part[np.unique((positions[part] @ directions.T).argmax(axis=0))])
        kept = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
        return cls(positions[kept], joints[kept], weights[kept] / total[kept, None])

    @cached_property
    def checksum(self) -> int:
        """A number that is the same for equal points, in any session."""
        return crc32(b"".join(values.tobytes() for values in (self.positions, self.joints, self.weights)))

    def part(self, kept: BoolArray) -> SkinPoints:
        """Return some of the points (P,)."""
        return SkinPoints(self.positions[kept], self.joints[kept], self.weights[kept])

    def heights(self, clip: Clip, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return how high points are along up (3,) in the model at times (F,) of a clip of their skeleton, (F, P)."""
        skeleton = clip.skeleton
        matrix, heights = self._height_of_rows(skeleton), np.empty((len(times_s), len(self.positions)))
        for start in range(0, len(times_s), _FRAMES_AT_ONCE):
            run = slice(start, start + _FRAMES_AT_ONCE)
            rows = up @ world_from_pose(skeleton, poses_at(clip, times_s[run]))
            heights[run] = rows.reshape(len(rows), -1) @ matrix
        return heights

    def _height_of_rows(self, skeleton: Skeleton) -> FloatArray:
        """Return the matrix (4 J, P) from joints' heights, upᵀ · model_from_joint, to those of the points."""
        rest = skeleton.rest_world[self.joints]
        local = np.linalg.solve(rest[..., :3], (self.positions[:, None] - rest[..., 3])[..., None])[..., 0]
        local = np.concatenate((local, np.ones((*local.shape[:2], 1))), axis=-1) * self.weights[..., None]
        matrix = np.zeros((len(skeleton), 4, len(self.positions)))
        points = np.arange(len(self.positions))
        for k in range(self.joints.shape[1]):
            np.add.at(matrix, (self.joints[:, k, None], np.arange(4), points[:, None]), local[:, k])
        return matrix.reshape(-1, len(self.positions))


def evenly_around(count: int) -> FloatArray:
    """Return directions (N, 3) evenly over the sphere, by the golden angle."""
    number = np.arange(count) + 0.5
    height = 1.0 - 2.0 * number / count
    angle, radius = np.pi * (1.0 + np.sqrt(5.0)) * number, np.sqrt(1.0 - height**2)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), height), axis=1)
