"""Start position of a clip: where its file has it, or where the target character rests."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import by_joint, packed_by_joint, poses_at
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.hierarchy import path_to_root
from ..skeletons.skeleton import world_from_pose

FAR_HEIGHTS: Final = 3.0
"""A body that begins farther away than this many times its height is out of sight."""


def carriers(clip: Clip) -> IntArray:
    """Return the joints that carry all that a clip moves: the lowest such joint below each root, (C,)."""
    parents, shared = clip.skeleton.parents, dict[int, list[int]]()
    for joint in np.flatnonzero(clip.moved).tolist():
        path = path_to_root(parents, joint)
        shared[path[-1]] = [above for above in shared.get(path[-1], path) if above in path]
    return np.array([path[0] for path in shared.values()], dtype=np.int64)


def away_at_first(clip: Clip, joints: IntArray, place: FloatArray, up: FloatArray) -> FloatArray:
    """Return the horizontal offset of the middle of joints (N,) from a place, at a clip's beginning.

    place, result: (3,) in model space. up: (3,) unit.
    """
    world = world_from_pose(clip.skeleton, poses_at(clip, np.zeros(1)))
    away = world[0, joints, :, 3].mean(axis=0) - place
    return np.asarray(away - (away @ up) * up)


def shifted(clip: Clip, offset: FloatArray) -> Clip:
    """Return a clip moved by offset, (3,) in model space."""
    keys = by_joint(clip.translations)
    for joint in carriers(clip).tolist():
        parent = int(clip.skeleton.parents[joint])
        local = offset if parent < 0 else np.linalg.solve(clip.skeleton.rest_world[parent, :, :3], offset)
        times, values = keys.get(joint, (np.zeros(1), np.zeros((1, 3))))
        keys[joint] = times, values + local
    moved = packed_by_joint(keys, 3)
    return Clip(clip.name, clip.skeleton, clip.duration_s, clip.rotations, moved, clip.scales, clip.is_looping,
                clip.contacts, clip.skin)
