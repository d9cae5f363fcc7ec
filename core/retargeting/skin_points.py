"""Samples of a character's skin: however the character turns, they include its lowest points."""

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
from ..maths.arrays import BoolArray, FloatArray, IntArray, product
from ..skeletons.skeleton import Skeleton, height_rows
from ..skeletons.skin_sample import SkinSample, evenly

_DIRECTIONS: Final = (60, 300)
"""Numbers of directions in which each joint's part of the skin is sampled: a point every 25°, large parts every 11°."""
_LARGE: Final = 0.17
"""Share of the body's size; larger parts get more directions, in proportion to their surface."""
_STICKS_OUT: Final = 1e-3
"""Share of the body's size; corners that stick out by more than this between the directions are added."""
_SMALL: Final = 0.08
"""Share of the body's size; smaller parts have no such corners."""
_FINER: Final = 4
_MOST_PRODUCTS: Final = 250_000
"""Most products of vertices and directions in the search for corners; denser parts need no search."""
_MIXED: Final = 0.8
"""A vertex whose strongest joint has a smaller weight moves differently from the joint's part as limbs bend."""
_OWN: Final = (_MIXED, 0.97)
"""Weights of the strongest joint between which vertices of large parts, such as hems, are sampled separately. Other
vertices, which move elsewhere when their joints turn, would hide them.
"""
_MOST_INFLUENCES: Final = 4
_FRAMES_AT_ONCE: Final = 128


@dataclass(frozen=True, eq=False)
class SkinPoints:
    """P sample points of a skin that is bound to a skeleton.

    positions: (P, 3) at rest, in model space. joints, weights: (P, K) influences; weights sum to 1. within: (N, 3)
    vertices evenly chosen from all the skin, and their joints (N,); the sample points if unknown. Raises TaktError if
    shapes differ.
    """

    positions: FloatArray
    joints: IntArray
    weights: FloatArray
    within: tuple[FloatArray, IntArray] | None = None

    def __post_init__(self) -> None:
        if self.joints.shape != self.weights.shape or len(self.joints) != len(self.positions):
            raise TaktError(f"{len(self.positions)} points, joints {self.joints.shape} and weights "
                            f"{self.weights.shape} do not go together")

    @property
    def size(self) -> int:
        """Size of its arrays in bytes."""
        arrays = (self.positions, self.joints, self.weights, *(self.within or ()))
        return sum(array.nbytes for array in arrays)

    @classmethod
    def of(cls, positions: FloatArray, joints: IntArray, weights: FloatArray) -> SkinPoints:
        """Choose samples among vertices: for each joint those farthest out in some direction.

        Vertices that other joints move as well are also sampled, since they stick out where limbs bend.

        positions: (V, 3) at rest, in model space. joints, weights: (V, K), strongest first, as in Influences. A vertex
        belongs to its strongest joint. Vertices without weights or with infinite positions are left out.
        """
        joints, weights = joints[:, :_MOST_INFLUENCES], weights[:, :_MOST_INFLUENCES]
        total = weights.sum(axis=1)
        bound = np.flatnonzero((total > 0.0) & np.isfinite(positions).all(axis=1))
        order = bound[np.argsort(joints[bound, 0], kind="stable")]
        edges = np.flatnonzero(np.diff(joints[order, 0], prepend=-1, append=-1))
        size = max(float(np.ptp(positions[bound], axis=0).max()) if len(bound) else 0.0, 1e-30)
        chosen = []
        for part in (order[a:b] for a, b in pairwise(edges) if b > a):
            share = weights[part, 0] / total[part]
            is_large = np.ptp(positions[part], axis=0).max() > _LARGE * size
            for own in (part[share >= least] for least in (_OWN if is_large else (0.0,))):
                if len(own):
                    chosen.append(own[_outermost(positions[own], size)])
            mixed = part[share < _MIXED]
            for second in np.unique(joints[mixed, 1:2]):
                bending = mixed[joints[mixed, 1] == second]
                chosen.append(bending[_outermost(positions[bending], size)])
        kept = np.unique(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.int64)
        some = bound[evenly(joints[bound, 0])]
        return cls(positions[kept], joints[kept], weights[kept] / total[kept, None],
                   (positions[some], joints[some, 0]))

    @cached_property
    def checksum(self) -> int:
        """A number that is the same for equal points, in any session."""
        return crc32(b"".join(values.tobytes() for values in
                              (self.positions, self.joints, self.weights, *(self.within or ()))))

    def sample(self, skeleton: Skeleton) -> SkinSample:
        """Return vertices of all the skin. skeleton: the one to which it is bound."""
        positions, joints = self.within or (self.positions, self.joints[:, 0])
        return SkinSample.at_rest(skeleton, joints, positions)

    def part(self, kept: BoolArray | IntArray) -> SkinPoints:
        """Return some of the points."""
        return SkinPoints(self.positions[kept], self.joints[kept], self.weights[kept])

    def renumbered(self, new: IntArray) -> SkinPoints:
        """Return the points for a skeleton with other joint numbers. new: (J,) the new numbers."""
        within = None if self.within is None else (self.within[0], new[self.within[1]])
        return SkinPoints(self.positions, new[self.joints], self.weights, within)

    def heights(self, clip: Clip, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return heights along up (3,) of model space at times (F,) of a clip of the points' skeleton, (F, P)."""
        skeleton = clip.skeleton
        matrix, heights = self.height_of_rows(skeleton), np.empty((len(times_s), len(self.positions)))
        for start in range(0, len(times_s), _FRAMES_AT_ONCE):
            run = slice(start, start + _FRAMES_AT_ONCE)
            rows = height_rows(skeleton, poses_at(clip, times_s[run]), up)
            heights[run] = product(rows.reshape(len(rows), -1), matrix)
        return heights

    def local(self, skeleton: Skeleton) -> FloatArray:
        """Return the points in the space of each of their joints, times its weight, (P, K, 4)."""
        return in_axes(skeleton.rest_world[self.joints], self.positions[:, None]) * self.weights[..., None]

    def height_of_rows(self, skeleton: Skeleton) -> FloatArray:
        """Return the matrix (4 J, P) from joints' heights, upᵀ · model_from_joint, to heights of points."""
        local = self.local(skeleton)
        matrix = np.zeros((len(skeleton), 4, len(self.positions)))
        points = np.arange(len(self.positions))
        for k in range(self.joints.shape[1]):
            np.add.at(matrix, (self.joints[:, k, None], np.arange(4), points[:, None]), local[:, k])
        return matrix.reshape(4 * len(skeleton), len(self.positions))


def in_axes(rest: FloatArray, points: FloatArray) -> FloatArray:
    """Return points (..., 3) of the model in the axes of joints at rest (..., 3, 4), as (x, y, z, 1), (..., 4)."""
    own = np.linalg.solve(rest[..., :3], (points - rest[..., 3])[..., None])[..., 0]
    return np.concatenate((own, np.ones((*own.shape[:-1], 1))), axis=-1)


def _outermost(positions: FloatArray, size: float) -> IntArray:
    """Return indices of the positions (P, 3) that are farthest out, in a body of a given size.

    Larger parts get more directions. If vertices are few, corners that stick out between directions are added.
    """
    large = float(np.ptp(positions, axis=0).max()) / size
    count = int(np.clip(_DIRECTIONS[0] * (large / _LARGE) ** 2, *_DIRECTIONS))
    found = np.unique(product(positions, evenly_around(count).T).argmax(axis=0))
    if large < _SMALL:
        return found
    heights = product(positions, evenly_around(int(np.clip(_MOST_PRODUCTS // len(positions), 1, _FINER * count))).T)
    is_missed = heights.max(axis=0) - heights[found].max(axis=0) > _STICKS_OUT * size
    return np.union1d(found, heights[:, is_missed].argmax(axis=0))


def evenly_around(count: int) -> FloatArray:
    """Return directions (N, 3) spread evenly over the sphere, by the golden angle."""
    number = np.arange(count) + 0.5
    height = 1.0 - 2.0 * number / count
    angle, radius = np.pi * (1.0 + np.sqrt(5.0)) * number, np.sqrt(1.0 - height**2)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), height), axis=1)
