"""Heights of the lowest skin of a body's feet, of its shins, and of all other parts, in many frames.

What depends on the body alone is computed once. Ends of limbs, such as a hand with its fingers or a head with its hair,
are posed only in frames in which they may be lowest: in which their anchor, the joint at which the end begins, is low
enough.
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
"""Share of the body's size: greatest reach of the end of a limb from its anchor."""
_FEWEST_JOINTS: Final = 4
"""Least number of joints for which the end of a limb is posed separately."""


@dataclass(frozen=True, eq=False)
class _Group:
    """The points of one part of the skin that mostly follow one joint.

    column: the number of the part. joints: (K,) that move the points. matrix: (P, 4 K) from these joints' rows upᵀ ·
    model_from_joint to the heights of the points. level: (P, 1) heights above which the points are measured. anchors:
    (K,) the anchor of each joint; without one, the joint itself. far: (K,) from there to the farthest point that the
    joint moves.
    """

    column: int
    joints: IntArray
    matrix: FloatArray
    level: FloatArray
    anchors: IntArray
    far: FloatArray

    @classmethod
    def of(cls, points: SkinPoints, skeleton: Skeleton, level: FloatArray, column: int) -> _Group:
        """Return the group of all these points; level: (P,)."""
        joints, own = np.unique(points.joints[points.weights > 0.0], return_inverse=True)
        local, (point, influence) = points.local(skeleton), np.nonzero(points.weights > 0.0)
        matrix = np.zeros((len(level), 4, len(joints)))
        np.add.at(matrix, (point[:, None], np.arange(4), own[:, None]), local[point, influence])
        away = np.linalg.norm(points.positions[point] - skeleton.rest_world[joints[own], :, 3], axis=1)
        far = np.zeros(len(joints))
        np.maximum.at(far, own, away)
        return cls(column, joints, matrix.reshape(len(level), -1), level[:, None], joints, far)

    def anchored(self, anchors: IntArray, away: FloatArray) -> _Group:
        """Return the group with anchors for all joints (J,), which are `away` (J,) from them along the limbs."""
        return _Group(self.column, self.joints, self.matrix, self.level, anchors[self.joints],
                      self.far + away[self.joints])

    def lowest(self, rows: FloatArray, row: IntArray) -> FloatArray:
        """Return the height of the lowest point above its level, (F,).

        rows: (4, R, F) of joints. row: (J,) the index of each joint in them.
        """
        own = rows.take(row[self.joints], axis=1).reshape(self.matrix.shape[1], -1)
        return np.asarray((product(self.matrix, own) - self.level).min(axis=0))


@dataclass(frozen=True, eq=False)
class _Part:
    """Joints that are posed together, and the groups of points that only they move.

    kept: (R,) these joints and their ancestors. below_anchor: (H,) those below the anchor of the part.
    """

    kept: IntArray
    below_anchor: IntArray
    groups: tuple[_Group, ...]

    def row(self, count: int) -> IntArray:
        """Return the index of each joint among the part's joints, (J,); 0 for joints that it does not have."""
        row = np.zeros(count, dtype=np.int64)
        row[self.kept] = np.arange(len(self.kept))
        return row

    def may_be_lower(self, clip: Clip, rows: FloatArray, row: IntArray, high: FloatArray) -> BoolArray:
        """Return which groups may have a point lower than heights (F,), and in which frames, (G, F).

        rows, row: as for _Group.lowest, of the anchors. If a clip scales joints, points may be anywhere.
        """
        if len(clip.scales):
            return np.ones((len(self.groups), rows.shape[2]), dtype=np.bool_)
        anchors, far, starts, level = self._reach
        return np.asarray(np.minimum.reduceat(rows[3].take(row[anchors], axis=0) - far, starts) - level < high)

    @cached_property
    def _reach(self) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
        """Anchors (N,) of all groups, the reach from them (N, 1), where each group begins, its highest level."""
        none = np.zeros(0, dtype=np.int64)
        anchors = np.concatenate((none, *(group.anchors for group in self.groups)))
        far = np.concatenate((none, *(group.far for group in self.groups)))
        counts = np.array([len(group.anchors) for group in self.groups], dtype=np.int64)
        levels = np.array([group.level.max() for group in self.groups])
        return anchors, far[:, None], np.cumsum(counts) - counts, levels[:, None]


@dataclass(frozen=True, eq=False)
class LowestSkin:
    """The skin of a body, in parts.

    trunk: all joints that are not in an end; the skin of the feet is always there. ends: of limbs, with the skin that
    their joints move. joints: (N,) whose heights are returned as well. feet: their number. columns: the number of
    parts.
    """

    trunk: _Part
    ends: tuple[_Part, ...]
    joints: IntArray
    feet: int
    columns: int

    @classmethod
    def of(cls, skin: SkinPoints, skeleton: Skeleton, feet: Sequence[BoolArray], shins: Sequence[BoolArray],
           level: FloatArray, joints: IntArray) -> LowestSkin:
        """Return the parts of a skin that is bound to a skeleton.

        feet, shins: (P,) each, the points of a foot or shin. level: (P,) heights above which points are measured.
        joints: (N,).
        """
        rest = ~np.logical_or.reduce([*feet, *shins])
        groups = [_Group.of(skin.part(own), skeleton, level[own], column)
                  for column, is_in in enumerate((*feet, *shins, rest))
                  for own in (is_in & (skin.joints[:, 0] == joint) for joint in np.unique(skin.joints[is_in, 0]))]
        of_feet = [joint for group in groups if group.column < len(feet) for joint in group.joints.tolist()]
        posed = with_ancestors(skeleton.parents, np.array([*of_feet, *joints.tolist()]))
        anchors, away = _anchors(skeleton, groups, posed)
        groups, every = [group.anchored(anchors, away) for group in groups], np.arange(len(skeleton))
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
        """Return some parts (P,) of a skin that is bound to a skeleton, measured above 0; all other skin is ignored."""
        counts = np.logical_or.reduce(parts)
        kept = skin.part(counts)
        return cls.of(kept, skeleton, [part[counts] for part in parts], (), np.zeros(len(kept.positions)),
                      np.zeros(0, dtype=np.int64))

    def at(self, clip: Clip, times_s: FloatArray, up: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return heights of the lowest points above their level, (F, feet + shins + 1), and of joints, (F, N).

        times_s: (F,). up: (3,). The last column is all skin that is not of feet or shins. Points of shins and others
        count only if they may be lower than the higher foot, or than their level. If none may, the height is infinite.
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
                if not _is_moved(clip, part.below_anchor):
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
    """Lower the heights of a part in some frames to those of a group."""
    if len(frames):
        low[frames, group.column] = np.minimum(low[frames, group.column], group.lowest(rows, row))


def _is_moved(clip: Clip, joints: IntArray) -> bool:
    """Return whether a clip translates any of some joints."""
    return bool(np.isin(clip.translations.joints, joints).any())


def _anchors(skeleton: Skeleton, groups: Sequence[_Group], trunk: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the anchor of each joint, (J,), and its distance along the limb, (J,).

    A joint without an anchor is its own. trunk: (N,) joints that must not be below an anchor. Skin below an anchor is
    at most _FAR from it.
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
