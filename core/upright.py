"""A clip's model axes and where its skeleton stands in them."""

from __future__ import annotations

from typing import Final

import numpy as np

from . import rotations as rot
from .arrays import FloatArray
from .clip import Clip, Tracks
from .keyed import keys_of, packed
from .loose import upwards, world_of
from .matching import SAME_PLACE, Pairing
from .skeleton import Skeleton

SAME_ANGLE_RAD: Final = 1e-9
_FRAMES_LOOKED_AT = 200
_STANDING_PERCENT = 20.0
_FEET = ("l_ankle", "r_ankle", "l_metatarsal", "r_metatarsal")


def turned(clip: Clip, turn: FloatArray) -> Clip:
    """Return the clip in other model axes: its roots' rest and translations turn, all else is relative to them."""
    if rot.angle_between(turn, rot.IDENTITY) <= SAME_ANGLE_RAD:
        return clip
    moves = clip.translations
    of_root = np.repeat(clip.skeleton.parents[moves.joints] < 0, np.diff(moves.starts))
    values = np.where(of_root[:, None], rot.rotate(turn, moves.values), moves.values)
    return Clip(clip.name, clip.skeleton.turned(turn), clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)


def resting(clip: Clip, turn: FloatArray) -> Clip:
    """Return the same motion of a skeleton whose rest pose is turned in model space by a quaternion (4,).

    With rest R, place p and key K of a root, Q the turn: Q·R·K′ = R·K, so K′ = R⁻¹·Q⁻¹·R·K, and t′ = t + p − Q·p.
    """
    if rot.angle_between(turn, rot.IDENTITY) <= SAME_ANGLE_RAD:
        return clip
    skeleton = clip.skeleton
    back = rot.multiply(rot.multiply(rot.conjugate(skeleton.rest_rotations), rot.conjugate(turn)),
                        skeleton.rest_rotations)
    away = skeleton.rest_translations - rot.rotate(turn, skeleton.rest_translations)
    channels: list[Tracks] = []
    for tracks, rest in ((clip.rotations, rot.IDENTITY), (clip.translations, np.zeros(3))):
        keys = {int(joint): keys_of(tracks, i) for i, joint in enumerate(tracks.joints)}
        for root in np.flatnonzero(skeleton.parents < 0).tolist():
            times, values = keys.get(root, (np.zeros(1), rest[None]))
            keys[root] = times, rot.multiply(back[root], values) if len(rest) == 4 else values + away[root]
        channels.append(packed([(joint, *keys[joint]) for joint in sorted(keys)], len(rest)))
    rotations, translations = channels
    return Clip(clip.name, skeleton.turned(turn), clip.duration_s, rotations, translations, clip.scales,
                clip.is_looping)


def scaled(clip: Clip, size: float) -> Clip:
    """Return the clip in another unit: all its lengths times size."""
    if size == 1.0:
        return clip
    old, moves = clip.skeleton, clip.translations
    skeleton = Skeleton(old.names, old.parents, old.rest_rotations, old.rest_translations * size, old.rest_scales,
                        old.name)
    return Clip(clip.name, skeleton, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, moves.values * size), clip.scales, clip.is_looping)


def standing(clip: Clip, pairs: Pairing) -> Clip:
    """Let a root at rest in the model's origin, as many BVH files have it, stand as high as its feet hang down.

    Such a file's translations are places, not ways from rest, and would lift the character by its own height.
    """
    skeleton = clip.skeleton
    feet, hips = ([int(pairs.source[p]) for p, name in enumerate(pairs.meant) if name in wanted]
                  for wanted in (_FEET, ("l_hip", "r_hip")))
    places = skeleton.rest_world[:, :, 3]
    root = np.flatnonzero(skeleton.parents < 0)
    size = float(np.ptp(places, axis=0).max())
    if len(root) != 1 or not feet or not hips or np.linalg.norm(places[root[0]]) > SAME_PLACE * size or (
            int(root[0]) not in clip.translations.joints):
        return clip
    leg = places[hips].mean(axis=0) - places[feet].mean(axis=0)
    up = np.eye(3)[np.argmax(np.abs(leg))] * np.sign(leg[np.argmax(np.abs(leg))])
    lift = -min(float(places[foot] @ up) for foot in feet) * up
    rest = skeleton.rest_translations.copy()
    rest[root[0]] += lift
    moves = clip.translations
    of_root = np.repeat(moves.joints == root[0], np.diff(moves.starts))
    values = np.where(of_root[:, None], moves.values - lift, moves.values)
    stood = Skeleton(skeleton.names, skeleton.parents, skeleton.rest_rotations, rest, skeleton.rest_scales,
                     skeleton.name)
    return Clip(clip.name, stood, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)


def grounded(target: Skeleton, pairs: Pairing, rotations: Tracks, translations: Tracks, up: FloatArray) -> Tracks:
    """Return translations of which the feet stand as high as at rest: their lower one is seldom below that.

    For clips whose own rest pose does not say how high they stand, since markers are no soles. up: (3,) unit.
    """
    feet = pairs.target[[name in _FEET for name in pairs.meant]]
    if not len(feet) or not len(translations):
        return translations
    times = np.linspace(0.0, float(translations.times_s.max()), _FRAMES_LOOKED_AT)
    world = world_of(target, upwards(target, feet), times, rotations, translations)
    lower = np.min([world[int(foot)][:, :, 3] @ up for foot in feet], axis=0)
    rest = float((target.rest_world[feet, :, 3] @ up).min())
    above = (float(np.percentile(lower, _STANDING_PERCENT)) - rest) * up
    root = int(np.argmin([len(upwards(target, np.array([joint]))) for joint in translations.joints.tolist()]))
    parent = int(target.parents[translations.joints[root]])
    if parent >= 0:
        above = np.asarray(np.linalg.solve(target.rest_world[parent, :, :3], above), dtype=np.float64)
    values = translations.values.copy()
    values[translations.starts[root]:translations.starts[root + 1]] -= above
    return Tracks(translations.joints, translations.starts, translations.times_s, values)
