"""How high the lowest skin of a body's feet, of its shins and of all else is, in many frames.

What depends on the body alone is made once. Ends of limbs, as hands with their fingers or a head with its hair, are
posed only in frames in which they may matter: where the joint on which they hang is not too high for them to reach
down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.posed import PosedJoints
from ...maths.arrays import BoolArray, FloatArray, IntArray, product
from ...skeletons.hierarchy import children_of, path_to_root, with_ancestors, with_descendants
from ...skeletons.skeleton import Skeleton
from ..skin_points import SkinPoints

_FAR: Final = 0.2
"""Of the body's size: ends of limbs reach no farther from the joint on which they hang."""
_FEWEST_JOINTS: Final = 4
"""So many joints, at least, make it worth while to pose an end of a limb alone."""


@dataclass(frozen=True, eq=False)
class _Group:
    """Points that belong to one joint, and are moved by few.

    column: of what they are a part. joints: (K,). matrix: (P, 4 K) from these joints' heights, upᵀ · model_from_joint,
    to the points'. level: (P, 1) above which they are measured. anchors: (K,) the joint on which each of joints hangs,
    or itself, and far: (K,) from there to the farthest point that it moves.
    """

    column: int
    joints: IntArray
    matrix: FloatArray
    level: FloatArray
    anchors: IntArray
    far: FloatArray

    @classmethod
    def of(cls, points: SkinPoints, skeleton: Skeleton, level: FloatArray, column: int) -> _Group:
        """Return points of a skin that is bound to a skeleton."""
        joints, own = np.unique(points.joints[points.weights > 0.0], return_inverse=True)
        local, (point, influence) = points.local(skeleton), np.nonzero(points.weights > 0.0)
        matrix = np.zeros((len(level), 4, len(joints)))
        np.add.at(matrix, (point[:, None], np.arange(4), own[:, None]), local[point, influence])
        away = np.linalg.norm(points.positions[point] - skeleton.rest_world[joints[own], :, 3], axis=1)
        far = np.zeros(len(joints))
        np.maximum.at(far, own, away)
        return cls(column, joints, matrix.reshape(len(level), -1), level[:, None], joints, far)

    def hung(self, anchors: IntArray, away: FloatArray) -> _Group:
        """Return them as seen from the joints (J,) on which all joints hang, so far (J,) away along the limbs."""
        return _Group(self.column, self.joints, self.matrix, self.level, anchors[self.joints],
                      self.far + away[self.joints])

    def lowest(self, rows: FloatArray, row: IntArray) -> FloatArray:
        """Return how high the lowest is above its level, (F,); rows: (4, R, F) of joints, row: (J,) which is whose."""
        own = rows.take(row[self.joints], axis=1).reshape(self.matrix.shape[1], -1)
        return np.asarray((product(self.matrix, own) - self.level).min(axis=0))


@dataclass(frozen=True, eq=False)
class _Part:
    """Joints that are posed together, and the points of skin that only they move.

    kept: (R,) joints with their ancestors. hung: (H,) those that are away from the joint on which the part hangs.
    """

    kept: IntArray
    hung: IntArray
    groups: tuple[_Group, ...]

    def row(self, count: int) -> IntArray:
        """Return which of its rows is that of each of so many joints, (J,); 0 where it has none."""
        row = np.zeros(count, dtype=np.int64)
        row[self.kept] = np.arange(len(self.kept))
        return row

    def may_be_lower(self, clip: Clip, rows: FloatArray, row: IntArray, high: FloatArray) -> BoolArray:
        """Tell of which groups, and in which frames, points may be lower than (F,): (G, F).

        rows, row: as for _Group.lowest, of the anchors. Scaled joints may carry points anywhere.
        """
        if len(clip.scales):
            return np.ones((len(self.groups), rows.shape[2]), dtype=np.bool_)
        anchors, far, starts, level = self._reach
        return np.asarray(np.minimum.reduceat(rows[3].take(row[anchors], axis=0) - far, starts) - level < high)

    @cached_property
    def _reach(self) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
        """Anchors (N,) of all groups, how far points are from them (N, 1), where each group begins and its level."""
        none = np.zeros(0, dtype=np.int64)
        anchors = np.concatenate((none, *(group.anchors for group in self.groups)))
        far = np.concatenate((none, *(group.far for group in self.groups)))
        counts = np.array([len(group.anchors) for group in self.groups], dtype=np.int64)
        levels = np.array([group.level.max() for group in self.groups])
        return anchors, far[:, None], np.cumsum(counts) - counts, levels[:, None]


@dataclass(frozen=True, eq=False)
class LowestSkin:
    """The skin of a body, in parts.

    trunk: all joints but those of ends, with the feet's skin. ends: of limbs, with what their joints move.
    joints: (N,) whose heights are wanted as well. columns: how many parts of skin are told apart.
    """

    trunk: _Part
    ends: tuple[_Part, ...]
    joints: IntArray
    feet: int
    columns: int

    @classmethod
    def of(cls, skin: SkinPoints, skeleton: Skeleton, feet: Sequence[BoolArray], shins: Sequence[BoolArray],
           level: FloatArray, joints: IntArray) -> LowestSkin:
        """Return it for skin that is bound to a skeleton, above a level (P,).

        feet, shins: (P,) each, which points are theirs. joints: (N,).
        """
        rest = ~np.logical_or.reduce([*feet, *shins])
        groups = [_Group.of(skin.part(own), skeleton, level[own], column)
                  for column, is_in in enumerate((*feet, *shins, rest))
                  for own in (is_in & (skin.joints[:, 0] == joint) for joint in np.unique(skin.joints[is_in, 0]))]
        of_feet = [joint for group in groups if group.column < len(feet) for joint in group.joints.tolist()]
        posed = with_ancestors(skeleton.parents, np.array([*of_feet, *joints.tolist()]))
        anchors, away = _hung(skeleton, groups, posed)
        groups, every = [group.hung(anchors, away) for group in groups], np.arange(len(skeleton))
        on = [next(iter(group.anchors[group.anchors != group.joints].tolist()), -1) for group in groups]
        ends = []
        for anchor in sorted(set(on) - {-1}):
            own = tuple(group for group, joint in zip(groups, on, strict=True) if joint == anchor)
            kept = with_ancestors(skeleton.parents, np.unique(np.concatenate([group.joints for group in own])))
            ends.append(_Part(kept, kept[anchors[kept] != kept], own))
        trunk = _Part(every[anchors == every], np.zeros(0, dtype=np.int64),
                      tuple(group for group, joint in zip(groups, on, strict=True) if joint < 0))
        return cls(trunk, tuple(ends), joints, len(feet), len(feet) + len(shins) + 1)

    @classmethod
    def of_parts(cls, skin: SkinPoints, skeleton: Skeleton, parts: Sequence[BoolArray]) -> LowestSkin:
        """Return it for some parts (P,) of skin that is bound to a skeleton, above 0; what else there is stays away."""
        counts = np.logical_or.reduce(parts)
        kept = skin.part(counts)
        return cls.of(kept, skeleton, [part[counts] for part in parts], (), np.zeros(len(kept.positions)),
                      np.zeros(0, dtype=np.int64))

    def at(self, clip: Clip, times_s: FloatArray, up: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far above their level the lowest points are at times (F,): of feet, shins, and all others.

        As (F, feet + shins + 1), and how high joints (N,) are along up (3,), (F, N). Of shins and others only those
        count that may be lower than their level or than the higher foot; where there are none, it is infinite.
        """
        low = np.full((len(times_s), self.columns), np.inf)
        heights, high = np.empty((len(times_s), len(self.joints))), np.empty(len(times_s))
        of_trunk, row = PosedJoints.of(clip, self.trunk.kept), self.trunk.row(len(clip.skeleton))
        is_near = np.ones((len(self.ends), len(times_s)), dtype=np.bool_)
        for run in of_trunk.runs(len(times_s)):
            rows = of_trunk.height_rows(times_s[run], up)
            heights[run] = rows[3, row[self.joints]].T
            for group in self.trunk.groups:
                if group.column < self.feet:
                    low[run, group.column] = np.minimum(low[run, group.column], group.lowest(rows, row))
            high[run] = np.maximum(low[run, :self.feet].max(axis=1), 0.0)
            for group, may in zip(self.trunk.groups, self.trunk.may_be_lower(clip, rows, row, high[run]), strict=True):
                if group.column >= self.feet:
                    frames = np.flatnonzero(may)
                    _lower(low, run.start + frames, group, rows.take(frames, axis=2), row)
            for end, part in enumerate(self.ends):
                if not _is_moved(clip, part.hung):
                    is_near[end, run] = part.may_be_lower(clip, rows, row, high[run]).any(axis=0)
        for part, near in zip(self.ends, is_near, strict=True):
            frames = np.flatnonzero(near)
            if not len(frames):
                continue
            of_part, row = PosedJoints.of(clip, part.kept), part.row(len(clip.skeleton))
            for frame in (frames[run] for run in of_part.runs(len(frames))):
                rows = of_part.height_rows(times_s[frame], up)
                for group in part.groups:
                    _lower(low, frame, group, rows, row)
        return low, heights


def _lower(low: FloatArray, frames: IntArray, group: _Group, rows: FloatArray, row: IntArray) -> None:
    """Let what is lowest be as low as a group in some frames."""
    if len(frames):
        low[frames, group.column] = np.minimum(low[frames, group.column], group.lowest(rows, row))


def _is_moved(clip: Clip, joints: IntArray) -> bool:
    """Return whether any of some joints leaves its parent."""
    return bool(np.isin(clip.translations.joints, joints).any())


def _hung(skeleton: Skeleton, groups: Sequence[_Group], trunk: IntArray) -> tuple[IntArray, FloatArray]:
    """Return on which joint each joint hangs, (J,), and how far away along the limb, (J,); on itself, if on none.

    trunk: (N,) joints that hang on none. What hangs on a joint has no skin farther from it than ends of limbs reach.
    """
    parents, at = skeleton.parents, skeleton.rest_world[..., 3]
    bones = np.where(parents[:, None] >= 0, at - at[parents], 0.0)
    length, skin = np.linalg.norm(bones, axis=1), np.zeros(len(skeleton))
    for group in groups:
        np.maximum.at(skin, group.joints, group.far)
    reach, size = skin.copy(), float(np.ptp(at, axis=0).max())
    for joint in range(len(skeleton) - 1, -1, -1):
        if parents[joint] >= 0:
            reach[parents[joint]] = max(reach[parents[joint]], reach[joint] + length[joint])
    is_trunk = np.zeros(len(skeleton), dtype=np.bool_)
    is_trunk[trunk] = True
    anchors, away, children = np.arange(len(skeleton)), np.zeros(len(skeleton)), children_of(parents)
    for joint, below in enumerate(children):
        if anchors[joint] != joint or not below:
            continue
        hung = np.flatnonzero(with_descendants(parents, np.array(below)))
        if len(hung) >= _FEWEST_JOINTS and reach[joint] <= _FAR * size and not is_trunk[hung].any():
            anchors[hung] = joint
            for each in hung.tolist():
                path = path_to_root(parents, each)
                away[each] = length[path[:path.index(joint)]].sum()
    return anchors, away
