"""A clip's model axes and where its skeleton stands in them."""

from __future__ import annotations

from typing import Final

import numpy as np

from . import rotations as rot
from .arrays import FloatArray
from .clip import Clip, Tracks
from .matching import SAME_PLACE, Pairing
from .skeleton import Skeleton, world_from_pose

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
    """Let a root at rest in the model's origin, as many BVH files have it, stand where the clip's feet stand.

    Such a file's translations are places, not ways from rest, and would lift the character by its own height. How
    high feet stand is taken from the clip, since markers and soles differ: from where its lower foot is rarely below.
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
    times = np.linspace(0.0, clip.duration_s, _FRAMES_LOOKED_AT)
    heights = (world_from_pose(skeleton, clip.sample(times))[:, feet, :, 3] @ up).min(axis=1)
    lift = (float(np.percentile(heights, _STANDING_PERCENT)) - min(float(places[foot] @ up) for foot in feet)) * up
    rest = skeleton.rest_translations.copy()
    rest[root[0]] += lift
    moves = clip.translations
    of_root = np.repeat(moves.joints == root[0], np.diff(moves.starts))
    values = np.where(of_root[:, None], moves.values - lift, moves.values)
    stood = Skeleton(skeleton.names, skeleton.parents, skeleton.rest_rotations, rest, skeleton.rest_scales,
                     skeleton.name)
    return Clip(clip.name, stood, clip.duration_s, clip.rotations,
                Tracks(moves.joints, moves.starts, moves.times_s, values), clip.scales, clip.is_looping)
