"""Reasons why Auto Keying sets no key in a layer of tweaks: Blender may key only channels that have keys."""

from __future__ import annotations

from typing import Final

import bpy

from ...core.errors import some_of
from . import tweaks
from .tweak_controls import bones_of

_SAYS: Final = ("Auto Keying does not key '{bone}', since it has no key in '{layer}' yet: press I once, or switch off "
                "Only Insert Available in the preferences (Animation)")
_SAYS_OF_SEVERAL: Final = ("Auto Keying does not key {bones}, since they have no keys in '{layer}' yet: press I once, "
                           "or switch off Only Insert Available in the preferences (Animation)")
_NAMES_SHOWN: Final = 3


def may_leave_out(context: bpy.types.Context, armature_object: bpy.types.Object) -> bool:
    """Return whether Auto Keying is on, writes to a layer of tweaks, and keys only channels that have keys."""
    settings, animation = context.tool_settings, armature_object.animation_data
    return (settings is not None and settings.use_keyframe_insert_auto and animation is not None
            and context.preferences is not None and context.preferences.edit.use_keyframe_insert_available
            and any(each == animation.action for _, each in tweaks.layers_of(armature_object)))


def why_no_key(context: bpy.types.Context, armature_object: bpy.types.Object) -> str:
    """Return why Auto Keying would not key selected bones in Pose Mode, and what to do; "" if it would, or is off."""
    selected = context.selected_pose_bones_from_active_object or ()
    bones = [bone.name for bone in selected if bone.id_data == armature_object]
    if not bones or not may_leave_out(context, armature_object):
        return ""
    assert armature_object.animation_data is not None
    action = armature_object.animation_data.action
    assert action is not None
    keyed = set(bones_of(action))
    left_out = [bone for bone in bones if bone not in keyed]
    if len(left_out) > 1:
        return _SAYS_OF_SEVERAL.format(bones=some_of(left_out, _NAMES_SHOWN), layer=action.name)
    return _SAYS.format(bone=left_out[0], layer=action.name) if left_out else ""
