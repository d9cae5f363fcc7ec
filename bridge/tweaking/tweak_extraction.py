"""Tweaks extracted from an edited Action, and removal of keys that change nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import bpy
import numpy as np

from ...core.clips.keyed import by_joint, interpolated
from ...core.maths import rotations as rot
from ...core.maths.arrays import BoolArray, FloatArray
from ...core.skeletons.skeleton import Skeleton
from .. import properties
from ..actions import curves, other_curves
from ..actions.action import write_new_action
from ..actions.channels import Channels
from ..actions.keys import write_keys
from ..frame_rate import frames_per_second
from ..rigs import bone_rules
from . import tweak_curves
from .tweak_placing import bag_of

_PLACES = 4
"""Decimal places of frames that are told apart."""
_SAME_RAD = np.radians(0.05)
_SAME = 1e-4
"""Tolerance for locations, as shares of the character's height, and for scales."""
_NAME = "takt_extracting"
_Change = tuple[str, str, FloatArray, FloatArray]
"""Bone, channel, frames (K,) and differences (K, C), as Blender keys them."""
_REST: Final = {"rotation_quaternion": rot.IDENTITY, "location": np.zeros(3), "scale": np.ones(3)}


class Differences(NamedTuple):
    """How an Action differs from a score."""

    found: list[_Change]
    left_out: list[str]
    """Bones with muted or missing curves: their pose is not the Action's."""
    others: list[str]
    """What curves move that pose no bone: custom properties, constraints, the object itself."""

    @property
    def turned_otherwise(self) -> set[str]:
        """The bones whose rotation differs."""
        return {bone for bone, channel, *_ in self.found if channel == "rotation_quaternion"}


def differences(action: bpy.types.Action, armature_object: bpy.types.Object, scene: bpy.types.Scene,
                skeleton: Skeleton, written: Channels) -> Differences:
    """Return the differences between an Action and what would be written for a score, at every frame."""
    fps, start = frames_per_second(scene), properties.character(armature_object).frame_start
    height = float(np.ptp(skeleton.rest_world[:, :, 3], axis=0).max(initial=0.0)) or 1.0
    rules, found = bone_rules.read_rules(armature_object), list[_Change]()
    plain = write_new_action(armature_object, _NAME, written)
    try:
        before = curves.tracks_of(plain, armature_object, skeleton, fps, start, is_dense=True)
        left_out = _left_out(action, plain, armature_object)
    finally:
        bpy.data.actions.remove(plain)
    after = curves.tracks_of(action, armature_object, skeleton, fps, start, is_dense=True)
    is_own = action == properties.character(armature_object).action
    whole = (written.frames - start) / fps if is_own else np.zeros(0)  # what is edited holds before and after its keys
    for channel, own, others in zip(_REST, map(by_joint, after), map(by_joint, before), strict=True):
        for joint in sorted(own.keys() | (others.keys() if is_own else ())):
            name = skeleton.names[joint]
            if (name, channel.partition("_")[0]) in left_out:
                continue
            frames = _frames((_of(own, joint, channel)[0], _of(others, joint, channel)[0], whole), fps, start)
            times = (frames - start) / fps
            values, pose = (interpolated(*_of(some, joint, channel), times) for some in (own, others))
            change, is_other = _change(channel, values, pose, height)
            if channel == "location" and name not in rules.shifted_by_parent:
                change = rot.rotate(rot.conjugate(skeleton.rest_rotations[joint]), change)
            kept = _with_ends(is_other)
            if kept.any():
                found.append((name, channel, frames[kept], change[kept]))
    return Differences(found, list(dict.fromkeys(name for name, _ in left_out)),
                       other_curves.words_of([path for path, _ in other_curves.names([action])]))


def _of(tracks: Mapping[int, tuple[FloatArray, FloatArray]], joint: int, channel: str) -> tuple[FloatArray, FloatArray]:
    """Return the times and values of a joint; without a track one at rest."""
    return tracks.get(joint) or (np.zeros(1), _REST[channel][None])


def _frames(times: Sequence[FloatArray], fps: float, start: float) -> FloatArray:
    """Return the frames (F,) of times in seconds."""
    return np.asarray(np.unique(np.round(np.concatenate(times) * fps, _PLACES)) + start)


def _change(channel: str, values: FloatArray, pose: FloatArray, height: float) -> tuple[FloatArray, BoolArray]:
    """Return the change (F, C) of values from a pose, and where (F,) there is any."""
    if channel == "rotation_quaternion":
        change = rot.multiply(rot.conjugate(pose), rot.normalized(values))
        change = rot.continuous(np.where(change[:1, :1] < 0.0, -change, change))
        return change, rot.angle_between(change, rot.IDENTITY) > _SAME_RAD
    if channel == "location":
        return values - pose, np.linalg.norm(values - pose, axis=1) > _SAME * height
    change = values / np.maximum(pose, _SAME)
    return change, np.abs(change - 1.0).max(axis=1) > _SAME


def _left_out(action: bpy.types.Action, plain: bpy.types.Action,
              armature_object: bpy.types.Object) -> dict[tuple[str, str], None]:
    """Return the bones, each with a kind of channel, that a muted curve of an Action moves.

    In the score's own Action also those for which curves are missing. plain: the score's Action as it would be written.
    """
    heard, silent = dict[tuple[str, str, int], None](), dict[tuple[str, str], None]()
    assert armature_object.pose is not None
    turning = {bone.name: curves.rotation_channel(str(bone.rotation_mode)) for bone in armature_object.pose.bones}
    bag = curves.bag_of(action, armature_object)
    for bone, channel, component, curve in curves.bone_curves(bag) if bag is not None else ():
        if curves.is_muted(curve):
            if channel in ("location", "scale", turning.get(bone)):
                silent[bone, channel.partition("_")[0]] = None
        else:
            heard[bone, channel, component] = None
    bag = curves.bag_of(plain, armature_object)
    if bag is not None:
        begun = {each[:2] for each in heard}
        is_own = action == properties.character(armature_object).action
        for bone, channel, component, _ in curves.bone_curves(bag):
            if (bone, channel, component) not in heard and (is_own or (bone, channel) in begun):
                silent[bone, channel.partition("_")[0]] = None
    return silent


def _with_ends(is_other: BoolArray) -> BoolArray:
    """Return which keys (K,) to take: changed ones, and those beside several changed ones in a row.

    So a row begins and ends as in the Action, and is not eased beyond that. A single changed key is eased.
    """
    around = np.concatenate(((False,), is_other, (False,)))
    in_row = np.concatenate(((False,), is_other & (around[:-2] | around[2:]), (False,)))
    return np.asarray(is_other | in_row[:-2] | in_row[2:])


def write(action: bpy.types.Action, found: Sequence[_Change]) -> int:
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
