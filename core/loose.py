"""Limbs that do not hang on the body they belong to, as feet beside the legs that reach for them by IK."""

from __future__ import annotations

import numpy as np

from . import hanim
from .arrays import FloatArray, IntArray
from .clip import Clip, Tracks
from .keyed import filled, keys_of, packed
from .matching import Pairing
from .skeleton import Skeleton, world_from_pose


def loose_joints(target: Skeleton, pairs: Pairing) -> IntArray:
    """Return pairs (C, 2): a joint, and the one that it hangs on in H-Anim, but not in the target."""
    pair_of = {name: p for p, name in enumerate(pairs.meant) if name}
    found = []
    for name, p in pair_of.items():
        above = hanim.PARENTS[name]
        while above is not None and above not in pair_of:
            above = hanim.PARENTS[above]
        if above is None:
            continue
        joint = int(target.parents[pairs.target[p]])
        while joint >= 0 and joint != pairs.target[pair_of[above]]:
            joint = int(target.parents[joint])
        if joint < 0:
            found.append((p, pair_of[above]))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def carried(target: Skeleton, joints: IntArray, rotations: Tracks, translations: Tracks) -> Tracks:
    """Add translations that keep loose joints where they belong, as if they hung on the joints they belong to.

    joints: (C, 2) what loose_joints gave, as joints.
    """
    if not len(joints):
        return translations
    tracks = {int(j): (int(j), *keys_of(translations, i)) for i, j in enumerate(translations.joints)}
    keep = upwards(target, joints.ravel())
    times = filled(np.unique(np.concatenate((rotations.times_s, translations.times_s, (0.0,)))))
    for joint, on in sorted(joints.tolist(), key=lambda row: len(upwards(target, np.array(row[1:])))):
        world = world_of(target, keep, times, rotations, packed(list(tracks.values()), 3))
        rest = target.rest_world
        local = np.linalg.solve(rest[on, :, :3], rest[joint, :, 3] - rest[on, :, 3])
        place: FloatArray = world[on][:, :, :3] @ local + world[on][:, :, 3]
        parent = int(target.parents[joint])
        if parent >= 0:
            seen = np.linalg.solve(world[parent][:, :, :3], (place - world[parent][:, :, 3])[..., None])
            place = np.asarray(seen[..., 0], dtype=np.float64)
        tracks[joint] = (joint, times, place - target.rest_translations[joint])
    return packed([tracks[joint] for joint in sorted(tracks)], 3)


def upwards(skeleton: Skeleton, joints: IntArray) -> IntArray:
    """Return joints and all above them, in order."""
    found: set[int] = set()
    for joint in joints.tolist():
        while joint >= 0 and joint not in found:
            found.add(joint)
            joint = int(skeleton.parents[joint])
    return np.array(sorted(found), dtype=np.int64)


def world_of(skeleton: Skeleton, keep: IntArray, times: FloatArray, rotations: Tracks,
             translations: Tracks) -> dict[int, FloatArray]:
    """Return matrices (F, 3, 4) of the joints to keep, which hold their ancestors."""
    clip = part_of(skeleton, keep, rotations, translations)
    world = world_from_pose(clip.skeleton, clip.sample(times))
    return {int(joint): world[:, i] for i, joint in enumerate(keep)}


def part_of(skeleton: Skeleton, keep: IntArray, rotations: Tracks, translations: Tracks) -> Clip:
    """Return what tracks do with the joints to keep, which hold their ancestors, as a clip of these alone."""
    new = {int(joint): i for i, joint in enumerate(keep)}

    def kept(tracks: Tracks, channels: int) -> Tracks:
        return packed([(new[int(joint)], *keys_of(tracks, i)) for i, joint in enumerate(tracks.joints)
                        if int(joint) in new], channels)

    moves, turns = kept(translations, 3), kept(rotations, 4)
    last = max(float(tracks.times_s.max(initial=0.0)) for tracks in (moves, turns))
    return Clip("", skeleton.part(keep), last, turns, moves, Tracks.empty(3))
