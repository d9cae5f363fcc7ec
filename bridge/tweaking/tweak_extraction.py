"""Tweaks extracted from an edited Action, and removal of keys that change nothing."""

from __future__ import annotations

import bpy
import numpy as np

from ...core.maths import rotations as rot
from ...core.maths.arrays import BoolArray, FloatArray
from ...core.playing.motion import Motion
from .. import properties
from ..actions import curves
from ..actions.keys import write_keys
from ..frame_rate import frames_per_second
from ..rigs import bone_rules
from . import tweak_curves
from .tweak_placing import bag_of

_SAME_RAD = np.radians(0.05)
_SAME = 1e-4
"""Tolerance for locations, as shares of the character's height, and for scales."""
_Found = list[tuple[str, str, FloatArray, FloatArray]]
"""Bone, channel, frames (K,) and differences (K, C), as Blender keys them."""


def differences(action: bpy.types.Action, armature_object: bpy.types.Object, scene: bpy.types.Scene,
                motion: Motion) -> _Found:
    """Return the differences between an Action's keys and a motion; bones without differences are left out."""
    fps, start = frames_per_second(scene), properties.character(armature_object).frame_start
    skeleton, rules = motion.skeleton, bone_rules.read_rules(armature_object)
    height = float(np.ptp(skeleton.rest_world[:, :, 3], axis=0).max(initial=0.0)) or 1.0
    found: _Found = []
    turns, shifts, factors = curves.tracks_of(action, armature_object, skeleton, fps, start)
    for channel, tracks in (("rotation_quaternion", turns), ("location", shifts), ("scale", factors)):
        for track, joint in enumerate(tracks.joints.tolist()):
            times, values = tracks.keys(track)
            pose = motion.sample(times)
            if channel == "rotation_quaternion":
                change = rot.multiply(rot.conjugate(pose.rotations[:, joint]), rot.normalized(values))
                change = rot.continuous(np.where(change[:1, :1] < 0.0, -change, change))
                is_other = rot.angle_between(change, rot.IDENTITY) > _SAME_RAD
            elif channel == "location":
                change = values - pose.translations[:, joint]
                is_other = np.linalg.norm(change, axis=1) > _SAME * height
                if skeleton.names[joint] not in rules.shifted_by_parent:
                    change = rot.rotate(rot.conjugate(skeleton.rest_rotations[joint]), change)
            else:
                change = values / np.maximum(pose.scales[:, joint], _SAME)
                is_other = np.abs(change - 1.0).max(axis=1) > _SAME
            kept = _with_ends(is_other)
            if kept.any():
                found.append((skeleton.names[joint], channel, start + times[kept] * fps, change[kept]))
    return found


def _with_ends(is_other: BoolArray) -> BoolArray:
    """Return which keys (K,) to take: changed ones, and those beside several changed ones in a row.

    So a row begins and ends as in the Action, and is not eased beyond that. A single changed key is eased.
    """
    around = np.concatenate(((False,), is_other, (False,)))
    in_row = np.concatenate(((False,), is_other & (around[:-2] | around[2:]), (False,)))
    return np.asarray(is_other | in_row[:-2] | in_row[2:])


def write(action: bpy.types.Action, found: _Found) -> int:
    """Write differences into a new Action of tweaks; return the number of keys, counted per bone and moment."""
    bag = bag_of(action)
    assert bag is not None  # it is new
    for bone, channel, frames, values in found:
        write_keys(bag, bone, channel, frames, values)
    return sum(len(frames) for _, _, frames, _ in found)


def clean(action: bpy.types.Action) -> int:
    """Remove keys that change nothing from an Action of tweaks; return their number, counted per bone and moment.

    A key changes nothing if it is neutral, and so are its neighbours.
    """
    bag = bag_of(action)
    if bag is None:
        return 0
    keys = tweak_curves.read(bag).claimed()
    paths = np.array([path for path, _ in keys.names], dtype=object)[keys.curve] if len(keys) else np.zeros(0, object)
    stays, count = np.ones(len(keys), dtype=np.bool_), 0
    for path in dict.fromkeys(paths.tolist()):
        rows = np.flatnonzero((paths == path) & keys.are_own)
        moments = np.unique(keys.frames[rows])
        at = np.searchsorted(moments, keys.frames[rows])
        is_still = np.ones(len(moments), dtype=np.bool_)
        np.logical_and.at(is_still, at, _are_still(keys.at(rows)))
        around = np.concatenate(((True,), is_still, (True,)))
        idle = is_still & around[:-2] & around[2:]
        stays[rows] = ~idle[at]
        count += int(idle.sum())
    if count:
        tweak_curves.write(bag, keys, keys.at(stays))
    return count


def _are_still(keys: tweak_curves.CurveKeys) -> BoolArray:
    """Return which keys are neutral, (K,)."""
    values = keys.columns["co"][:, 1]
    still = np.array([tweak_curves.still_value(*name) for name in keys.names])[keys.curve]
    either = np.isinf(still)
    return np.asarray(np.abs(np.where(either, np.abs(values) - 1.0, values - np.where(either, 0.0, still))) < _SAME)
