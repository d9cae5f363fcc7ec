"""Read an Action's curves as a clip of the armature that they move."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Container, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, cast

import bpy
import numpy as np
from mathutils import Matrix

from ...core.clips.clip import Clip, Tracks
from ...core.clips.keyed import packed
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray
from ...core.maths.euler import from_euler
from ...core.skeletons.skeleton import Skeleton
from .. import properties
from ..rigs import armature, bone_rules, constraints, drivers
from ..rigs.bone_rules import BoneRules

_LINEAR, _BEZIER = 1, 2
"""Keyframe.interpolation, as foreach_get returns it; 0 is CONSTANT, and greater values are easing curves."""
_AT_REST = {"location": (0.0, 0.0, 0.0), "scale": (1.0, 1.0, 1.0), "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
            "rotation_euler": (0.0, 0.0, 0.0), "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0)}
_SAME = 1e-5
"""Scales, and locations as shares of the skeleton's size, that differ from rest by less than this are rounding."""
_MOST_FRAMES = 1_000_000
_OF_KEY = {"co": (2, np.float32), "interpolation": (1, np.uint8), "easing": (1, np.uint8),
           "handle_left": (2, np.float32), "handle_right": (2, np.float32), "amplitude": (1, np.float32),
           "back": (1, np.float32), "period": (1, np.float32)}
"""All properties of a key that shape a curve: number of components, and type."""


class _Curve(NamedTuple):
    bone: str
    channel: str
    component: int
    fcurve: bpy.types.FCurve


class _Keys(NamedTuple):
    """A curve's keys: frames (K,), values (K,)."""

    frames: FloatArray
    values: FloatArray
    is_straight: bool
    """Whether Blender interpolates linearly between keys."""
    is_still_outside: bool
    """Whether the curve keeps its first value before its keys, and its last one after them."""


def bones_moved(action: bpy.types.Action, slot: bpy.types.ActionSlot | None = None) -> Iterator[str]:
    """Yield the bone of each curve of an Action, in one of its slots, or without a slot in all."""
    return (curve.bone for bag in bags(action) if slot is None or bag.slot_handle == slot.handle
            for curve in bone_curves(bag))


def held_by_drivers(armature_object: bpy.types.Object) -> tuple[str, ...]:
    """Return the bones whose keyed channels have drivers, so that they do not follow the armature's Action."""
    action = armature_object.animation_data.action if armature_object.animation_data else None
    keyed = {curve.data_path for bag in bags(action) for curve in bag.fcurves} if action else set()
    return tuple(sorted(drivers.driven_bones(armature_object, keyed)))


class Fitted(NamedTuple):
    """An Action on an armature. It must not be stored, since it refers to Blender's data."""

    action: bpy.types.Action
    armature_object: bpy.types.Object
    bag: bpy.types.ActionChannelbag | None
    """The curves that move the armature."""
    is_controlled: bool
    """Whether constraints or drivers move bones too, so that the pose is what Blender evaluates."""


def fit(action: bpy.types.Action, armature_object: bpy.types.Object) -> Fitted:
    """Return an Action with its curves on an armature."""
    return Fitted(action, armature_object, bag_of(action, armature_object),
                  bool(constraints.controlled_bones(armature_object, unmuted=True)
                       or drivers.driven_bones(armature_object)))


def fingerprint(fitted: Fitted) -> Hashable:
    """Return a value that stays the same as long as read_clip would return the same clip.

    None if that cannot be known: curves with modifiers, and constraints or drivers, may depend on anything.
    """
    action, armature_object, own, is_controlled = fitted
    assert armature_object.pose is not None
    if is_controlled:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for bag in bags(action):
        for curve in bag.fcurves:
            points: Any = curve.keyframe_points
            if len(curve.modifiers):
                return None
            digest.update(f"{curve.data_path}\n{curve.array_index} {curve.extrapolation} {len(points)}\n".encode())
            for name, (width, kind) in _OF_KEY.items():
                values = np.empty(len(points) * width, dtype=kind)
                points.foreach_get(name, values)
                digest.update(values.tobytes())
        digest.update(b"\0")
    modes = (tuple(bone.rotation_mode for bone in armature_object.pose.bones), frozenset(_switched(armature_object)))
    bones = cast(bpy.types.Armature, armature_object.data).bones
    rules = tuple((bone.use_inherit_rotation, bone.inherit_scale, bone.use_local_location, bone.use_connect)
                  for bone in bones)
    return (digest.digest(), 0 if own is None else own.slot_handle, action.frame_range[0], action.frame_range[1],
            action.use_cyclic, modes, rules)


def read_clip(fitted: Fitted, skeleton: Skeleton, fps: float) -> Clip:
    """Return an Action as a clip in armature space. At 0 s is the start of its frame range.

    The range is the manual one if the Action has one, else it goes from the first key to the last.
    skeleton: of the armature, from read_skeleton. Curves with linear interpolation are read by their keys, others at
    every frame. If constraints or drivers move bones too, or bones inherit only a part of their parents' transform, the
    evaluated pose is read at every frame.
    """
    action = fitted.action
    start, end = action.frame_range[0], action.frame_range[1]
    end = max(start, min(end, start + _MOST_FRAMES))
    duration = (end - start) / fps
    rules = bone_rules.read_rules(fitted.armature_object)
    tracks = None if fitted.is_controlled else _tracks(fitted, skeleton, rules, (start, end), fps)
    if tracks is None or rules.tell_more(skeleton, tracks[0], tracks[2]):
        tracks = _evaluated(fitted, skeleton, start, end, fps)
    return Clip(action.name, skeleton, duration, *tracks, is_looping=action.use_cyclic)


def tracks_of(action: bpy.types.Action, armature_object: bpy.types.Object, skeleton: Skeleton, fps: float,
              frame_start: float, *, is_dense: bool = False) -> tuple[Tracks, Tracks, Tracks]:
    """Return an armature's motion by the curves of an Action alone; time 0 s is at frame_start.

    Unlike in read_clip, nothing is evaluated: constraints, drivers and limits of inheritance are ignored, and so are
    muted curves. is_dense: at every frame, as Blender interpolates, in addition to the frames with keys.
    """
    fitted = Fitted(action, armature_object, bag_of(action, armature_object), False)
    start, end = action.curve_frame_range[0], action.curve_frame_range[1]
    tracks = _tracks(fitted, skeleton, bone_rules.read_rules(armature_object), (start, end), fps, are_heard=True,
                     is_dense=is_dense)
    later_s = (start - frame_start) / fps
    first, second, third = (replace(each, times_s=each.times_s + later_s) for each in tracks)
    return first, second, third


def bag_of(action: bpy.types.Action, armature_object: bpy.types.Object) -> bpy.types.ActionChannelbag | None:
    """Return the curves that move an armature: of its slot if it plays the Action, else of the slot with its name.

    If these move no bones of the armature, the curves that move most of its bones are returned.
    """
    found = [*bags(action)]
    if len(found) < 2:
        return next(iter(found), None)
    bones, animation = cast(bpy.types.Armature, armature_object.data).bones, armature_object.animation_data
    own = animation.action_slot_handle if animation is not None and animation.action == action else 0
    names = {slot.handle: slot.name_display for slot in action.slots}

    def rank(bag: bpy.types.ActionChannelbag) -> tuple[bool, bool, bool, int]:
        count = sum(curve.bone in bones for curve in bone_curves(bag))
        return (count > 0, own != 0 and bag.slot_handle == own, names.get(bag.slot_handle) == armature_object.name,
                count)

    return max(found, key=rank)


def bags(action: bpy.types.Action) -> Iterator[bpy.types.ActionChannelbag]:
    """Yield the curves of all slots of an Action, layer by layer."""
    for layer in action.layers:
        for strip in layer.strips:
            yield from cast(bpy.types.ActionKeyframeStrip, strip).channelbags


def bone_curves(bag: bpy.types.ActionChannelbag) -> Iterator[_Curve]:
    for fcurve in bag.fcurves:
        found = armature.bone_property(fcurve.data_path)
        if found is not None and fcurve.array_index < len(_AT_REST.get(found[1], ())):
            yield _Curve(*found, fcurve.array_index, fcurve)


def _tracks(fitted: Fitted, skeleton: Skeleton, rules: BoneRules, span: tuple[float, float],
            fps: float, *, are_heard: bool = False, is_dense: bool = False) -> tuple[Tracks, Tracks, Tracks]:
    """Return the tracks of curves; are_heard: without muted ones; is_dense: at every frame."""
    _, armature_object, bag, _ = fitted
    found: dict[tuple[str, str], dict[int, bpy.types.FCurve]] = {}
    for curve in bone_curves(bag) if bag is not None else ():
        if curve.bone in skeleton.index_of and not (are_heard and is_muted(curve.fcurve)):
            found.setdefault((curve.bone, curve.channel), {})[curve.component] = curve.fcurve
    assert armature_object.pose is not None
    kinds: dict[str, list[tuple[int, FloatArray, FloatArray]]] = {"rotation": [], "location": [], "scale": []}
    still = {"location": _SAME * float(np.ptp(skeleton.rest_world[:, :, 3], axis=0).max()), "scale": _SAME}
    modes = _modes(armature_object, found)
    for (name, channel), curves in found.items():
        if name not in modes:
            continue  # the bone was deleted after the skeleton was read
        joint = skeleton.index_of[name]
        if (name in rules.connected if channel == "location" else
                channel.startswith("rotation") and channel != rotation_channel(modes[name])):
            continue  # Blender ignores these too
        frames, values = _sampled(curves, channel, *span, is_dense=is_dense)
        if channel in still and np.abs(values - _AT_REST[channel]).max() < still[channel] and (
                name, rotation_channel(modes[name])) in found:
            continue  # importers key all channels of a bone if any is keyed
        if channel.startswith("rotation"):
            values = rot.continuous(quaternions(values, modes[name]))
        elif channel == "location" and name not in rules.shifted_by_parent:
            values = rot.rotate(skeleton.rest_rotations[joint], values)
        kinds[channel.partition("_")[0]].append((joint, (frames - span[0]) / fps, values))
    rotations, locations, scales = (sorted(kinds[kind], key=itemgetter(0)) for kind in kinds)
    return packed(rotations, 4), packed(locations, 3), packed(scales, 3)


def is_muted(curve: bpy.types.FCurve) -> bool:
    """Return whether Blender ignores a curve."""
    return curve.mute or (curve.group is not None and curve.group.mute)


def _switched(armature_object: bpy.types.Object) -> set[tuple[str, str]]:
    """Return the bones that Takt has switched to quaternions, each with its rotation mode before."""
    return {(entry.name, entry.mode) for entry in properties.character(armature_object).switched}


def _modes(armature_object: bpy.types.Object, keyed: Container[tuple[str, str]]) -> dict[str, str]:
    """Return the rotation modes in which an Action is keyed, by bone.

    These are the bones' own modes; for a bone that Takt has switched, the previous one if only that is keyed.
    keyed: the Action's bones, each with a property for which it has curves.
    """
    assert armature_object.pose is not None
    modes = {bone.name: str(bone.rotation_mode) for bone in armature_object.pose.bones}
    for name, before in _switched(armature_object):
        if name in modes and (name, rotation_channel(modes[name])) not in keyed and (
                name, rotation_channel(before)) in keyed:
            modes[name] = before
    return modes


def rotation_channel(mode: str) -> str:
    """Return the property that holds the rotation of bones in a rotation mode."""
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")


def _sampled(curves: dict[int, bpy.types.FCurve], channel: str, start: float,
             end: float, *, is_dense: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return frames (F,) from start to end, and the values (F, C) of one channel's curves there.

    is_dense: with every whole frame between the first key and the last.
    """
    keys = dict(zip(curves, _keys([*curves.values()]), strict=True))
    shared = _shared_frames(keys.values(), start, end)
    if shared is not None and not (is_dense and np.diff(shared).max(initial=0.0) > 1.0):
        values = _at_rest(channel, len(shared))
        for index, some in keys.items():
            values[:, index] = some.values
        return shared, values
    # A range that ends between two keys gets a key at its end.
    frames = np.unique(np.concatenate([some.frames for some in keys.values()]).clip(start, end))
    if not all(some.is_still_outside for some in keys.values()):
        frames = np.union1d(frames, (start, end))
    are_straight = {index: some.is_straight and (some.is_still_outside or _within(frames, some.frames))
                    for index, some in keys.items()}
    if is_dense or not all(are_straight.values()):
        frames = np.union1d(frames, np.arange(np.ceil(frames[0]), np.floor(frames[-1]) + 1.0))
    values = _at_rest(channel, len(frames))
    for index, some in keys.items():
        values[:, index] = (np.interp(frames, some.frames, some.values) if are_straight[index]
                            else _evaluated_at(curves[index], some, frames))
    return frames, values


def _shared_frames(every: Collection[_Keys], start: float, end: float) -> FloatArray | None:
    """Return the key frames of curves that all have the same ones, covering start to end; None otherwise.

    This is the case in files with a key at each frame.
    """
    first = next(iter(every)).frames
    is_shared = all(some.is_straight and some.is_still_outside and (
        some.frames is first or (len(some.frames) == len(first) and bool((some.frames == first).all())))
        for some in every)
    is_plain = is_shared and start <= first[0] and first[-1] <= end and bool((first[1:] > first[:-1]).all())
    return first if is_plain else None


def _within(frames: FloatArray, others: FloatArray) -> bool:
    """Return whether no frame is before or after all of the others; both ascend."""
    return bool(others[0] <= frames[0] and frames[-1] <= others[-1])


def _at_rest(channel: str, count: int) -> FloatArray:
    """Return the rest value of a channel, repeated, (F, C)."""
    values = np.empty((count, len(_AT_REST[channel])))
    values[:] = _AT_REST[channel]
    return values


def values_at(curves: Sequence[bpy.types.FCurve], frames: FloatArray) -> list[FloatArray]:
    """Return the values (F,) of each curve at frames (F,), ascending."""
    return [np.interp(frames, some.frames, some.values)
            if some.is_straight and (some.is_still_outside or _within(frames, some.frames))
            else _evaluated_at(curve, some, frames)
            for curve, some in zip(curves, _keys(curves), strict=True)]


def _evaluated_at(curve: bpy.types.FCurve, keys: _Keys, frames: FloatArray) -> FloatArray:
    """Return what Blender evaluates a curve to at frames (F,), without asking it where the curve is level."""
    found = _levels(curve, keys)[keys.frames.searchsorted(frames, side="right")]
    rest = np.flatnonzero(np.isnan(found))
    found[rest] = [curve.evaluate(frame) for frame in frames[rest].tolist()]
    return found


def _levels(curve: bpy.types.FCurve, keys: _Keys) -> FloatArray:
    """Return the value of a curve before its K keys, between them and after them, (K + 1,); NaN where it changes.

    Between equal keys with level handles, Blender's Bézier curve is exactly their value.
    """
    found = np.full(len(keys.frames) + 1, np.nan)
    points: Any = curve.keyframe_points
    if len(points) < 1 or len(curve.modifiers) or (np.diff(keys.frames) <= 0.0).any():
        return found
    kinds, left, right = (np.empty(len(points) * width, dtype=kind) for width, kind in (
        _OF_KEY[name] for name in ("interpolation", "handle_left", "handle_right")))
    for name, values in (("interpolation", kinds), ("handle_left", left), ("handle_right", right)):
        points.foreach_get(name, values)
    begin, end = keys.values[:-1], keys.values[1:]
    is_bent = (kinds[:-1] == _BEZIER) & ((right[1:-2:2] != begin) | (left[3::2] != end))
    is_level = (begin == end) & (kinds[:-1] <= _BEZIER) & ~is_bent
    found[1:-1][is_level] = begin[is_level]
    if keys.is_still_outside:
        found[[0, -1]] = keys.values[[0, -1]]
    return found


def _keys(curves: Sequence[bpy.types.FCurve]) -> Iterator[_Keys]:
    """Yield the keys of curves, which are read into one array."""
    points: list[Any] = [curve.keyframe_points for curve in curves]
    ends = [0, *accumulate(map(len, points))]
    flat, kinds = np.empty(2 * ends[-1], dtype=np.float32), np.empty(ends[-1], dtype=np.uint8)
    for own, (begin, end) in zip(points, pairwise(ends), strict=True):
        own.foreach_get("co", flat[2 * begin:2 * end])
        own.foreach_get("interpolation", kinds[begin:end])
    frames, values = np.ascontiguousarray(flat.reshape(-1, 2).T, dtype=np.float64)
    is_linear = kinds == _LINEAR
    for curve, (begin, end) in zip(curves, pairwise(ends), strict=True):
        has_modifiers = len(curve.modifiers) > 0
        if begin == end:
            yield _Keys(np.zeros(1), np.array((curve.evaluate(0.0),)), False, not has_modifiers)
            continue
        yield _Keys(frames[begin:end], values[begin:end], bool(is_linear[begin:end - 1].all()) and not has_modifiers,
                    curve.extrapolation == "CONSTANT" and not has_modifiers)


def quaternions(values: FloatArray, mode: str) -> FloatArray:
    """Return unit quaternions (F, 4) from the values (F, C) of a rotation mode's channel."""
    if mode == "QUATERNION":
        length = np.linalg.norm(values, axis=1, keepdims=True)
        return np.where(length > 0.0, values / np.maximum(length, 1e-30), rot.IDENTITY)
    if mode == "AXIS_ANGLE":
        return rot.from_axis_angle(values[:, 1:], values[:, 0])
    return from_euler(values, mode)


def _evaluated(fitted: Fitted, skeleton: Skeleton, start: float, end: float,
               fps: float) -> tuple[Tracks, Tracks, Tracks]:
    """Sample the pose that Blender evaluates for an Action, on a copy of the armature in a scene of its own."""
    action, armature_object, bag, _ = fitted
    scene = bpy.data.scenes.new("Takt reading")
    twin: Any = armature_object.copy()
    try:
        scene.collection.objects.link(twin)
        to_twin(armature_object, twin)
        animation = alone(twin)
        animation.action = action
        slot = next((slot for slot in action.slots if bag is not None and slot.handle == bag.slot_handle), None)
        if slot is not None:
            animation.action_slot = slot
        constraints.follow_action(twin)  # an Action of Takt lists the constraints to mute while it plays
        for name, mode in _modes(twin, {(curve.bone, curve.channel) for bag in bags(action)
                                        for curve in bone_curves(bag)}).items():
            twin.pose.bones[name].rotation_mode = mode
        frames = np.append(np.arange(start, end, 1.0), end)
        poses = []
        for frame in frames.tolist():
            scene.frame_set(int(frame), subframe=frame - int(frame))
            layer = scene.view_layers[0]
            layer.update()
            poses.append(armature.read_pose(twin.evaluated_get(layer.depsgraph), skeleton))
    finally:
        own = twin.data
        bpy.data.objects.remove(twin)
        bpy.data.scenes.remove(scene)
        if own != armature_object.data:
            bpy.data.armatures.remove(own)
    times = (frames - start) / fps
    rotations = rot.continuous(np.stack([pose.rotations for pose in poses]))
    translations = np.stack([pose.translations for pose in poses])
    scales = np.stack([pose.scales for pose in poses])
    return (_moving(rotations, times, rot.IDENTITY, 1e-7), _moving(translations, times, np.zeros(3), 1e-7),
            _moving(scales, times, np.ones(3), 1e-6))


def to_twin(original: bpy.types.Object, twin: bpy.types.Object) -> None:
    """Reset a copy to its rest pose, and let its constraints target it instead of the original."""
    assert twin.pose is not None
    for bone in twin.pose.bones:
        bone.matrix_basis = Matrix()  # channels without keys must not depend on the armature's current pose
        for constraint in bone.constraints:
            for name in ("target", "pole_target"):
                if getattr(constraint, name, None) == original:
                    setattr(constraint, name, twin)


def alone(twin: Any) -> Any:
    """Return a copy's animation data without anything that holds it at rest or mixes with its Action."""
    if twin.type == "ARMATURE" and twin.data.pose_position == "REST":
        twin.data = twin.data.copy()
        twin.data.pose_position = "POSE"
    animation = twin.animation_data or twin.animation_data_create()
    animation.use_tweak_mode = False
    for track in animation.nla_tracks:
        if track.is_solo:  # otherwise all others would stay muted
            track.is_solo = False
    while animation.nla_tracks:
        animation.nla_tracks.remove(animation.nla_tracks[0])
    animation.action_blend_type, animation.action_influence = "REPLACE", 1.0
    return animation


def _moving(values: FloatArray, times: FloatArray, rest: FloatArray, still: float) -> Tracks:
    """Pack values (F, J, C) of the joints that ever differ from rest (C,) by more than `still`."""
    away = np.minimum(np.abs(values - rest), np.abs(values + rest) if values.shape[2] == 4 else np.inf)
    joints = np.flatnonzero((away > still).any(axis=(0, 2)))
    return Tracks.uniform(joints, times, values[:, joints]) if len(joints) else Tracks.empty(values.shape[2])
