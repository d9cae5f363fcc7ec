"""Reasons why Auto Keying sets no key in a layer of tweaks: Blender may key only channels that have keys."""

from __future__ import annotations

from typing import Final

import bpy

from . import tweaks
from .tweak_controls import bones_of

_SAYS: Final = ("Auto Keying does not key '{bone}', since it has no key in '{layer}' yet: press I once, or switch off "
                "Only Insert Available in the preferences (Animation)")


def why_no_key(context: bpy.types.Context, armature_object: bpy.types.Object) -> str:
    """Return why Auto Keying would not key the active bone, and what to do; "" if it would, or is off."""
    settings, bone, animation = context.tool_settings, context.active_pose_bone, armature_object.animation_data
    is_on = settings is not None and settings.use_keyframe_insert_auto
    if (not is_on or bone is None or bone.id_data != armature_object or animation is None or animation.action is None
            or context.preferences is None or not context.preferences.edit.use_keyframe_insert_available):
        return ""
    action = animation.action
    is_layer = any(each == action for _, each in tweaks.layers_of(armature_object))
    return "" if not is_layer or bone.name in bones_of(action) else _SAYS.format(bone=bone.name, layer=action.name)
