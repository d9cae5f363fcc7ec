"""Joints that move with others without being their descendants, such as doubles."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.keyed import by_joint, filled, key_times, packed_by_joint
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray, merged
from ..skeletons.hierarchy import in_order
from ..skeletons.skeleton import Pose, Skeleton

STILL: Final = 1e-7
"""Share of the skeleton's size; motion below it needs no keys."""


def carried(target: Skeleton, joints: IntArray, rotations: Tracks, translations: Tracks,
            besides: FloatArray | None = None) -> Tracks:
    """Add translations that keep joints at their rest position relative to others, as if these were their parents.

    joints: (C, 2) joints, and those with which they move. They get keys where anything else has keys, and at times
    besides (F,).
    """
    if not len(joints):
        return translations
    on_of = dict(joints.tolist())
    order = in_order(target.parents, on_of)
    times = filled(key_times(rotations, translations))
    times = times if besides is None else merged(times, besides)
    part = part_of(target, np.sort(order), rotations, translations)
    pose, column = part.sample(times), {joint: i for i, joint in enumerate(np.sort(order).tolist())}
    local, rest = locals_of(part.skeleton, pose), target.rest_world
    world = np.empty_like(local)
    tracks, still = by_joint(translations), STILL * target.size
    for joint in order.tolist():
        i, parent = column[joint], int(target.parents[joint])
        world[:, i] = world[:, column[parent]] @ local[:, i] if parent >= 0 else local[:, i]
        if joint not in on_of:
            continue
        on = on_of[joint]
        offset = np.linalg.solve(rest[on, :, :3], rest[joint, :, 3] - rest[on, :, 3])
        position: FloatArray = world[:, column[on], :3, :3] @ offset + world[:, column[on], :3, 3]
        world[:, i, :3, 3] = position
        if parent >= 0:
            above = world[:, column[parent]]
            seen = np.linalg.solve(above[:, :3, :3], (position - above[:, :3, 3])[..., None])
            position = np.asarray(seen[..., 0], dtype=np.float64)
        away = position - target.rest_translations[joint]
        if joint in tracks or np.abs(away).max() > still:
            tracks[joint] = times, away
    return packed_by_joint(tracks, 3)


def locals_of(skeleton: Skeleton, pose: Pose) -> FloatArray:
    """Return matrices parent_from_joint (..., J, 4, 4)."""
    linear = rot.to_matrix(rot.multiply(skeleton.rest_rotations, pose.rotations))
    linear = linear * (skeleton.rest_scales * pose.scales)[..., None, :]
    positions = skeleton.rest_translations + pose.translations
    return square(np.concatenate((linear, positions[..., None]), axis=-1))


def square(matrices: FloatArray) -> FloatArray:
    """Return matrices (..., 3, 4) with their last row, (..., 4, 4)."""
    last = np.broadcast_to(np.array((0.0, 0.0, 0.0, 1.0)), (*matrices.shape[:-2], 1, 4))
    return np.concatenate((matrices, last), axis=-2)


def part_of(skeleton: Skeleton, keep: IntArray, rotations: Tracks, translations: Tracks) -> Clip:
    """Return a clip of the kept joints only, from the tracks of the whole skeleton. keep: includes their ancestors."""
    new = {int(joint): i for i, joint in enumerate(keep)}

    def kept(tracks: Tracks, channels: int) -> Tracks:
        return packed_by_joint({new[joint]: keys for joint, keys in by_joint(tracks).items() if joint in new}, channels)

    moves, turns = kept(translations, 3), kept(rotations, 4)
    last = max(float(tracks.times_s.max(initial=0.0)) for tracks in (moves, turns))
    return Clip("", skeleton.part(keep), last, turns, moves, Tracks.empty(3))
