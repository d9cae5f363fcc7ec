"""A motion written as an Action: a key for every bone that moves, at every frame of the scene."""

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..core import rotations as rot
from ..core.arrays import BoolArray, FloatArray, IntArray
from ..core.motion import Motion
from ..core.skeleton import Pose
from . import properties, score, versions

_STILL = 1e-9
"""A location or scale that never leaves rest by more than this, in the armature's unit, gets no keys."""
_LAST_FRAME = 1e-6
"""A motion that ends within this share of a frame after a frame ends on it."""
_FRAMES_AT_ONCE = 1024
_LINEAR = 1
"""Keyframe.interpolation LINEAR, as foreach_set wants it."""


@dataclass(frozen=True, eq=False)
class Channels:
    """Keys of the bones that move, over F frames.

    frames: (F,) the scene's frames. rotations: names of R bones and (F, R, 4), signs continuous;
    locations: names of L bones and (F, L, 3), in the bones' own axes; scales: names of S bones and (F, S, 3).
    """

    frames: IntArray
    rotations: tuple[tuple[str, ...], FloatArray]
    locations: tuple[tuple[str, ...], FloatArray]
    scales: tuple[tuple[str, ...], FloatArray]


def sample_channels(motion: Motion, scene: bpy.types.Scene, frame_start: int) -> Channels:
    """Sample a motion at the frames of a scene, from frame_start to the first frame at or after its end."""
    fps = score.frames_per_second(scene)
    last = int(np.ceil(motion.duration_s * fps - _LAST_FRAME))
    frames = np.arange(max(last, 0) + 1)
    pose = _sample(motion, np.minimum(frames / fps, motion.duration_s))
    skeleton = motion.skeleton
    moved = np.any([clip.moved for clip in motion.clips], axis=0)
    # Core's translations lie in the parent's axes, Blender's locations in the axes of the bone at rest.
    locations = rot.rotate(rot.conjugate(skeleton.rest_rotations), pose.translations)
    return Channels(frames + frame_start,
                    _chosen(skeleton.names, moved, rot.continuous(pose.rotations)),
                    _chosen(skeleton.names, moved & _leaves(locations, 0.0), locations),
                    _chosen(skeleton.names, moved & _leaves(pose.scales, 1.0), pose.scales))


def write_action(armature_object: bpy.types.Object, name: str, channels: Channels) -> bpy.types.Action:
    """Write the keys into Takt's own Action of the armature and assign it with its slot.

    An Action that Takt made before is filled anew; any other that was assigned is kept in the file.
    """
    animation = armature_object.animation_data or armature_object.animation_data_create()
    assert animation is not None
    action = _own_action(armature_object) or bpy.data.actions.new(name)
    before = animation.action
    if before is not None and before != action and before.users == 1:
        before.use_fake_user = True  # the user's own: without a user it would be lost on saving
    slot = next((s for s in action.slots if s.target_id_type == "OBJECT"), None) or action.slots.new(
        id_type="OBJECT", name=armature_object.name)
    bag = versions.ensure_channelbag(action, slot)
    bag.fcurves.clear()
    for group in list(bag.groups):
        bag.groups.remove(group)
    for channel, (names, values) in (("rotation_quaternion", channels.rotations), ("location", channels.locations),
                                     ("scale", channels.scales)):
        _write_keys(bag, channel, names, channels.frames, values)
    _prepare_bones(armature_object, channels)
    animation.action = action
    animation.action_slot = slot
    properties.character(armature_object).action = action
    return action


def _sample(motion: Motion, times_s: FloatArray) -> Pose:
    """Sample in runs, so that memory does not grow with the length of the motion beyond what is kept."""
    pose = Pose.rest(motion.skeleton, len(times_s))
    for start in range(0, len(times_s), _FRAMES_AT_ONCE):
        run = slice(start, start + _FRAMES_AT_ONCE)
        part = motion.sample(times_s[run])
        pose.rotations[run], pose.translations[run], pose.scales[run] = part.rotations, part.translations, part.scales
    return pose


def _own_action(armature_object: bpy.types.Object) -> bpy.types.Action | None:
    """Return the Action that Takt made for this armature; a copy of a character still points to the first one's."""
    action = properties.character(armature_object).action
    if action is None or not action.is_editable:
        return None
    others = (ob for ob in bpy.data.objects if ob != armature_object and ob.type == "ARMATURE")
    return None if any(properties.character(ob).action == action for ob in others) else action


def _write_keys(bag: bpy.types.ActionChannelbag, channel: str, names: tuple[str, ...], frames: IntArray,
                values: FloatArray) -> None:
    """Write values (F, B, C) as curves of bones; float32, since Blender copies that without conversion."""
    keys = np.empty((len(frames), 2), dtype=np.float32)
    keys[:, 0] = frames
    linear = np.full(len(frames), _LINEAR, dtype=np.uint8)
    for bone, name in enumerate(names):
        path = f'pose.bones["{bpy.utils.escape_identifier(name)}"].{channel}'
        for index in range(values.shape[2]):
            curve = versions.add_fcurve(bag, path, index, name)
            keys[:, 1] = values[:, bone, index]
            points: Any = curve.keyframe_points
            points.add(len(frames))
            points.foreach_set("co", keys.ravel())
            points.foreach_set("interpolation", linear)
            curve.update()


def _prepare_bones(armature_object: bpy.types.Object, channels: Channels) -> None:
    """Let the bones that move listen to quaternions, and take them to rest where no curve will."""
    assert armature_object.pose is not None
    moved = set(channels.rotations[0])
    for name in moved:
        bone = armature_object.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        if name not in channels.locations[0]:
            bone.location = (0.0, 0.0, 0.0)
        if name not in channels.scales[0]:
            bone.scale = (1.0, 1.0, 1.0)


def _chosen(names: tuple[str, ...], chosen: BoolArray, values: FloatArray) -> tuple[tuple[str, ...], FloatArray]:
    joints = np.flatnonzero(chosen)
    return tuple(names[joint] for joint in joints), values[:, joints]


def _leaves(values: FloatArray, rest: float) -> BoolArray:
    """Tell which joints (J,) ever leave the rest value, from values (F, J, C)."""
    return np.asarray((np.abs(values - rest) > _STILL).any(axis=(0, 2)))
