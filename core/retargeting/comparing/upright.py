"""Conversion of a clip to other model axes or units, and raising it onto its feet."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.keyed import by_joint, packed_by_joint
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from .matching import SAME_POSITION, Pairing

SAME_ANGLE_RAD: Final = 1e-9
_FEET_BELOW = 0.5
"""Least height of a root in the hips above the feet, as a share of the leg's height."""
FEET: Final = ("l_ankle", "r_ankle", "l_metatarsal", "r_metatarsal")
"""H-Anim names of joints of the feet."""


def turned(clip: Clip, turn: FloatArray) -> Clip:
    """Return the clip in other model axes: rest and translations of its roots turn; all else is relative to them."""
    if rot.angle_between(turn, rot.IDENTITY) <= SAME_ANGLE_RAD:
        return clip
    moves = clip.translations
    of_root = np.repeat(clip.skeleton.parents[moves.joints] < 0, np.diff(moves.starts))
    values = np.where(of_root[:, None], rot.rotate(turn, moves.values), moves.values)
    return Clip(clip.name, clip.skeleton.turned(turn), clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)


def resting(clip: Clip, turn: FloatArray) -> Clip:
    """Return the same motion on a skeleton whose rest pose is turned in model space by a quaternion (4,).

    Let Q be the turn, and R, p and K a root's rest rotation, rest position and key. From Q·R·K′ = R·K follows K′ =
    R⁻¹·Q⁻¹·R·K, and t′ = t + p − Q·p.
    """
    if rot.angle_between(turn, rot.IDENTITY) <= SAME_ANGLE_RAD:
        return clip
    skeleton = clip.skeleton
    back = rot.multiply(rot.multiply(rot.conjugate(skeleton.rest_rotations), rot.conjugate(turn)),
                        skeleton.rest_rotations)
    away = skeleton.rest_translations - rot.rotate(turn, skeleton.rest_translations)
    channels: list[Tracks] = []
    for tracks, rest in ((clip.rotations, rot.IDENTITY), (clip.translations, np.zeros(3))):
        keys = by_joint(tracks)
        for root in np.flatnonzero(skeleton.parents < 0).tolist():
            times, values = keys.get(root, (np.zeros(1), rest[None]))
            keys[root] = times, rot.multiply(back[root], values) if len(rest) == 4 else values + away[root]
        channels.append(packed_by_joint(keys, len(rest)))
    rotations, translations = channels
    return Clip(clip.name, skeleton.turned(turn), clip.duration_s, rotations, translations, clip.scales,
                clip.is_looping)


def scaled(clip: Clip, size: float) -> Clip:
    """Return the clip in another unit, with all its lengths multiplied by size."""
    if size == 1.0:
        return clip
    old, moves = clip.skeleton, clip.translations
    skeleton = replace(old, rest_translations=old.rest_translations * size)
    return Clip(clip.name, skeleton, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, moves.values * size), clip.scales, clip.is_looping)


def raised_onto_feet(clip: Clip, pairs: Pairing) -> Clip:
    """Return the clip raised onto its feet if its root rests in the model's origin, as in many BVH files.

    In such files, translations are positions of the root, not offsets from a standing rest pose. They would lift the
    character by the height of its hips. A clip whose root is between the feet is unchanged.
    """
    skeleton = clip.skeleton
    feet, hips = ([int(pairs.source[p]) for p, name in enumerate(pairs.meant) if name in wanted]
                  for wanted in (FEET, ("l_hip", "r_hip")))
    positions = skeleton.rest_world[:, :, 3]
    root = np.flatnonzero(skeleton.parents < 0)
    if len(root) != 1 or not feet or not hips or np.linalg.norm(positions[root[0]]) > SAME_POSITION * skeleton.size or (
            int(root[0]) not in clip.translations.joints):
        return clip
    leg = positions[hips].mean(axis=0) - positions[feet].mean(axis=0)
    up = np.eye(3)[np.argmax(np.abs(leg))] * np.sign(leg[np.argmax(np.abs(leg))])
    depth = -min(float(positions[foot] @ up) for foot in feet)
    if depth < _FEET_BELOW * np.abs(leg).max():
        return clip
    lift = depth * up
    rest = skeleton.rest_translations.copy()
    rest[root[0]] += lift
    moves = clip.translations
    of_root = np.repeat(moves.joints == root[0], np.diff(moves.starts))
    values = np.where(of_root[:, None], moves.values - lift, moves.values)
    stood = replace(skeleton, rest_translations=rest)
    return Clip(clip.name, stood, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)
