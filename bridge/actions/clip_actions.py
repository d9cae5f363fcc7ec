"""Write clips as Actions of their own, key for key."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...core.clips.clip import Clip, Tracks
from ...core.maths import rotations as rot
from ...core.skeletons.skeleton import Skeleton
from .. import versions
from ..frame_rate import frames_per_second
from .keys import write_keys


def write_clips(armature_object: bpy.types.Object, clips: Sequence[Clip],
                scene: bpy.types.Scene) -> list[bpy.types.Action]:
    """Make an Action of each clip, from the scene's first frame on; the first of them is assigned.

    Linear interpolation of a clip's quaternions, which Blender then normalises, equals OGRE's own interpolation.

    clips: on the armature's skeleton, as `armature.read_skeleton` gives it.
    """
    actions = [_write_clip(armature_object, clip, scene) for clip in clips]
    if actions:
        animation = armature_object.animation_data_create()
        assert animation is not None
        animation.action = actions[0]
        animation.action_slot = actions[0].slots[0]
    return actions


def _write_clip(armature_object: bpy.types.Object, clip: Clip, scene: bpy.types.Scene) -> bpy.types.Action:
    action = bpy.data.actions.new(clip.name or armature_object.name)
    action.use_fake_user = True  # Actions that are not assigned have no other user
    fps, first = frames_per_second(scene), scene.frame_start
    action.use_frame_range = True
    action.frame_start, action.frame_end = first, first + clip.duration_s * fps
    slot = action.slots.new(id_type="OBJECT", name=armature_object.name)
    bag = versions.ensure_channelbag(action, slot)
    skeleton = clip.skeleton
    for channel, tracks in (("rotation_quaternion", clip.rotations),
                            ("location", _in_bone_axes(clip.translations, skeleton)), ("scale", clip.scales)):
        for track, joint in enumerate(tracks.joints.tolist()):
            keys = slice(int(tracks.starts[track]), int(tracks.starts[track + 1]))
            write_keys(bag, skeleton.names[joint], channel, first + tracks.times_s[keys] * fps, tracks.values[keys])
    return action


def _in_bone_axes(tracks: Tracks, skeleton: Skeleton) -> Tracks:
    """Rotate translations from the parent's axes, core's, to those of the bone at rest, Blender's."""
    rest = np.repeat(skeleton.rest_rotations[tracks.joints], np.diff(tracks.starts), axis=0)
    return Tracks(tracks.joints, tracks.starts, tracks.times_s, rot.rotate(rot.conjugate(rest), tracks.values))
