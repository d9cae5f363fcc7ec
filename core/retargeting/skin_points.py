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
from ..maths.arrays import BoolArray, FloatArray, IntArray, product
from ..skeletons.skeleton import Skeleton, height_rows
from ..skeletons.skin_sample import SkinSample, evenly

_DIRECTIONS: Final = (60, 300)
"""In which each joint's part of the skin is farthest out: a point every 25°, in large parts up to every 11°."""
_LARGE: Final = 0.17
"""Of the body: parts that are larger get more directions, by their surface."""
_STICKS_OUT: Final = 1e-3
"""Of the body: corners that are farther out than the points in all directions become points as well."""
_SMALL: Final = 0.08
"""Of the body: in smaller parts nothing sticks out so far between directions."""
_FINER: Final = 4
_MOST_PRODUCTS: Final = 250_000
"""Of vertices and directions, in the search for corners: in a part with more vertices these are close enough."""
_MIXED: Final = 0.8
"""A vertex that its strongest joint moves by a smaller share goes other ways than the joint's part as these bend."""
_OWN: Final = (_MIXED, 0.97)
"""In large parts, as hems are, vertices that it moves by such shares count among themselves: others, which go elsewhere
as their joints turn, would hide them."""
_MOST_INFLUENCES: Final = 4
_FRAMES_AT_ONCE: Final = 128


@dataclass(frozen=True, eq=False)
class SkinPoints:
    """P points of a skin that is bound to a skeleton.

    positions: (P, 3) at rest, in model space. joints, weights: (P, K) what moves them; weights sum to 1.
    within: (N, 3) vertices of all the skin, evenly chosen, and the joints (N,) that they belong to; the points, where
    nothing else is known.
    Raises TaktError if the shapes differ.
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
        """Bytes of its arrays."""
        arrays = (self.positions, self.joints, self.weights, *(self.within or ()))
        return sum(array.nbytes for array in arrays)

    @classmethod
    def of(cls, positions: FloatArray, joints: IntArray, weights: FloatArray) -> SkinPoints:
        """Choose points among vertices: for each joint those that are farthest out in some direction.

        So are those that other joints move as well: where limbs bend, they come out from among the others.

        positions: (V, 3) at rest, in model space. joints, weights: (V, K), the strongest first, as Influences has them.
        A vertex belongs to the joint that moves it most. Those that nothing moves, or that are nowhere, are left out.
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
        """Return vertices of all the skin; skeleton: to which it is bound."""
        positions, joints = self.within or (self.positions, self.joints[:, 0])
        return SkinSample.at_rest(skeleton, joints, positions)

    def part(self, kept: BoolArray) -> SkinPoints:
        """Return some of the points (P,)."""
        return SkinPoints(self.positions[kept], self.joints[kept], self.weights[kept])

    def renumbered(self, new: IntArray) -> SkinPoints:
        """Return them for a skeleton whose joints have other numbers; new: (J,) that of each."""
        within = None if self.within is None else (self.within[0], new[self.within[1]])
        return SkinPoints(self.positions, new[self.joints], self.weights, within)

    def heights(self, clip: Clip, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return how high points are along up (3,) in the model at times (F,) of a clip of their skeleton, (F, P)."""
        skeleton = clip.skeleton
        matrix, heights = self._height_of_rows(skeleton), np.empty((len(times_s), len(self.positions)))
        for start in range(0, len(times_s), _FRAMES_AT_ONCE):
            run = slice(start, start + _FRAMES_AT_ONCE)
            rows = height_rows(skeleton, poses_at(clip, times_s[run]), up)
            heights[run] = product(rows.reshape(len(rows), -1), matrix)
        return heights

    def local(self, skeleton: Skeleton) -> FloatArray:
        """Return where points are in the space of each joint that moves them, times its weight, (P, K, 4)."""
        rest = skeleton.rest_world[self.joints]
        local = np.linalg.solve(rest[..., :3], (self.positions[:, None] - rest[..., 3])[..., None])[..., 0]
        return np.concatenate((local, np.ones((*local.shape[:2], 1))), axis=-1) * self.weights[..., None]

    def _height_of_rows(self, skeleton: Skeleton) -> FloatArray:
        """Return the matrix (4 J, P) from joints' heights, upᵀ · model_from_joint, to those of the points."""
        local = self.local(skeleton)
        matrix = np.zeros((len(skeleton), 4, len(self.positions)))
        points = np.arange(len(self.positions))
        for k in range(self.joints.shape[1]):
            np.add.at(matrix, (self.joints[:, k, None], np.arange(4), points[:, None]), local[:, k])
        return matrix.reshape(4 * len(skeleton), len(self.positions))


def _outermost(positions: FloatArray, size: float) -> IntArray:
    """Return indices of those positions (P, 3) that are farthest out, in a body of a size.

    Directions are as dense as the part is large; where vertices are few, corners that stick out between them count too.
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
    """Return directions (N, 3) evenly over the sphere, by the golden angle."""
    number = np.arange(count) + 0.5
    height = 1.0 - 2.0 * number / count
    angle, radius = np.pi * (1.0 + np.sqrt(5.0)) * number, np.sqrt(1.0 - height**2)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), height), axis=1)
