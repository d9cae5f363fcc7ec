"""A clip's model axes and where its skeleton stands in them."""

from __future__ import annotations

from typing import Final

import numpy as np

from . import rotations as rot
from .arrays import FloatArray
from .clip import Clip, Tracks
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
