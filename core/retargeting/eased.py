"""Arms that are moved out of a trunk, or onto what they touch, go there and back without a jerk.

Where the direction out of a thick trunk changes its side, or a hand comes in fast, a correction that holds in each
frame by itself jumps from one to the next. So what it does to wrists and elbows is averaged over a moment, and done
anew.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import filled, keys_of, poses_at
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.hierarchy import path_to_root, with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, world_from_pose
from .limbs import Limb, keys_where_moved, reach, runs_of_frames, turned_limb, with_rotations
from .loose import part_of
from .trunk import TRUNK

_MOMENT_S: Final = 0.05
"""Averages are over twice as long before and after, and most of what they see is within this; longer ones miss short
touches."""
_STILL: Final = 1e-6


def with_arms_eased(plain: Clip, moved: Clip, found: SkeletonMap) -> Clip:
    """Return moved with arms that leave those of plain, and come back to them, without a jerk.

    Both are clips of the map's skeleton that differ in the rotations of arms alone.
    """
    new: dict[int, tuple[FloatArray, FloatArray]] = {}
    for side in "lr":
        arm = Limb.of(found, side, ("shoulder", "elbow", "wrist"))
        if arm is not None:
            new |= _eased(plain, moved, arm, _carrier(found, arm))
    return with_rotations(plain, new) if new else moved


def _carrier(found: SkeletonMap, arm: Limb) -> int:
    """Return the joint of the trunk that carries an arm, beside which it moves."""
    trunk = {found.joint_of[name] for name in TRUNK if name in found.joint_of}
    above = path_to_root(found.skeleton.parents, arm.first)[1:]
    return next((joint for joint in above if joint in trunk), above[0])


def _eased(plain: Clip, moved: Clip, arm: Limb, carrier: int) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return new keys of an arm's joints, none where it is not moved."""
    kept = with_ancestors(plain.skeleton.parents, np.array(arm.joints))
    one, other = (part_of(plain.skeleton, kept, clip.rotations, clip.translations) for clip in (plain, moved))
    own, trunk = Limb(*np.searchsorted(kept, arm.joints).tolist()), int(np.searchsorted(kept, carrier))
    keyed = [keys_of(clip.rotations, i)[0] for clip in (one, other) for i in range(len(clip.rotations.joints))]
    times = filled(np.unique(np.concatenate([*keyed, (0.0, plain.duration_s)])).clip(0.0, plain.duration_s))
    before, after = poses_at(one, times), poses_at(other, times).rotations
    offset, angle = np.zeros((len(times), 3)), np.zeros((len(times), 1))
    away = np.abs(after[:, own.joints] - before.rotations[:, own.joints])
    is_moved = away.reshape(len(times), -1).max(axis=1) > _STILL
    rows = np.flatnonzero(is_moved)
    for run in runs_of_frames(len(rows)):
        offset[rows[run]], angle[rows[run], 0] = _difference(one, own, trunk, before.at(rows[run]), after[rows[run]])
    offset, angle = averaged(times, offset), averaged(times, angle)
    rows = np.flatnonzero((np.abs(offset) > 0.0).any(axis=1) | (angle[:, 0] != 0.0))
    turns = before.rotations.copy()
    for run in runs_of_frames(len(rows)):
        turns[rows[run]] = _moved(one, own, trunk, before.at(rows[run]), offset[rows[run]], angle[rows[run], 0])
    is_moved[rows] = True
    if not len(rows):
        return {}
    return {int(kept[joint]): keys
            for joint, keys in keys_where_moved(one, plain.duration_s, own, times, turns, is_moved).items()}


def averaged(times: FloatArray, values: FloatArray, moment_s: float = _MOMENT_S) -> FloatArray:
    """Return the averages of values (F, C) at times (F,) over moments about each, nearer ones counting more.

    What begins or ends within a moment is taken to go on.

    >>> averaged(np.array((0.0, 1.0, 2.0)), np.array([(0.0,), (1.0,), (2.0,)]), 0.25)[1].tolist()
    [1.0]
    """
    for _ in range(2):
        ends = np.concatenate((times[:1] - moment_s, times, times[-1:] + moment_s))
        padded = np.concatenate((values[:1], values, values[-1:]))
        areas = np.cumsum((padded[1:] + padded[:-1]) / 2.0 * np.diff(ends)[:, None], axis=0)
        areas = np.concatenate((np.zeros((1, values.shape[1])), areas))
        values = (_area(ends, padded, areas, times + moment_s) - _area(ends, padded, areas, times - moment_s)) / (
            2.0 * moment_s)
    return values


def _area(times: FloatArray, values: FloatArray, areas: FloatArray, at: FloatArray) -> FloatArray:
    """Return the area (N, C) under lines between values (F, C) up to instants (N,), from areas (F, C) at times."""
    before = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    passed = (at - times[before])[:, None]
    slope = (values[before + 1] - values[before]) / np.maximum(times[before + 1] - times[before], 1e-30)[:, None]
    return np.asarray(areas[before] + passed * values[before] + 0.5 * passed**2 * slope)


def _difference(clip: Clip, arm: Limb, trunk: int, before: Pose, after: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how far a wrist was moved as the trunk sees it, (F, 3), and by what angle the elbow was swung, (F,)."""
    skeleton, trial = clip.skeleton, Pose(before.rotations.copy(), before.translations, before.scales)
    world = world_from_pose(skeleton, before)
    new = world_from_pose(skeleton, Pose(after, before.translations, before.scales))
    offset = new[:, arm.last, :, 3] - world[:, arm.last, :, 3]
    reach(clip, trial.rotations, world, arm, offset)
    line, first = _line(new, arm), new[:, arm.first, :, 3]
    elbows = [at[:, arm.middle, :, 3] - first for at in (world_from_pose(skeleton, trial), new)]
    one, other = (elbow - line * np.sum(elbow * line, axis=1, keepdims=True) for elbow in elbows)
    seen = np.linalg.solve(world[:, trunk, :, :3], offset[..., None])[..., 0]
    sine, cosine = np.sum(np.cross(one, other) * line, axis=1), np.sum(one * other, axis=1)
    return np.asarray(seen), np.asarray(np.arctan2(sine, cosine))


def _moved(clip: Clip, arm: Limb, trunk: int, before: Pose, offset: FloatArray, angle: FloatArray) -> FloatArray:
    """Return rotations (F, J, 4) of poses whose wrist is moved and whose elbow is swung; see _difference."""
    pose = Pose(before.rotations.copy(), before.translations, before.scales)
    world = world_from_pose(clip.skeleton, before)
    reach(clip, pose.rotations, world, arm, (world[:, trunk, :, :3] @ offset[..., None])[..., 0])
    world = world_from_pose(clip.skeleton, pose)
    turned_limb(clip.skeleton, pose.rotations, world, arm, rot.from_axis_angle(_line(world, arm), angle))
    return pose.rotations


def _line(world: FloatArray, arm: Limb) -> FloatArray:
    line = world[:, arm.last, :, 3] - world[:, arm.first, :, 3]
    return np.asarray(line / np.maximum(np.linalg.norm(line, axis=1, keepdims=True), 1e-30))
