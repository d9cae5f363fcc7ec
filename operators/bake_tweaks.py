"""Bake Tweaks: the motion of the score and all tweaks become one Action with a key at every frame."""

from typing import Any, Final

import bpy

from ..bridge import properties
from ..bridge.actions import other_curves
from ..bridge.actions.action import write_new_action
from ..bridge.actions.channels import clip_channels
from ..bridge.active_character import active_armature
from ..bridge.reports import refuse, report
from ..bridge.rigs import bone_rules, constraints
from ..bridge.scores import score
from ..bridge.tweaking import tweaked_motion, tweaks
from ..core.errors import some_of
from .tweak_base import ForTweaks

_SHOWN: Final = 8


class TAKT_OT_bake_tweaks(ForTweaks, bpy.types.Operator):
    """Make one plain Action of what the score plays and of all tweaks and layers above it; nothing else changes"""

    bl_idname = "takt.bake_tweaks"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write the Action; it is kept in the file but not assigned."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        motion = score.motion_of(armature_object)
        if motion is None:
            return refuse(self, f"The score cannot be played: {score.error_of(armature_object) or 'it is empty'}")
        own = properties.character(armature_object).action
        layers = [action for _, action in tweaks.layers_of(armature_object)]
        channels = clip_channels(tweaked_motion.shown(armature_object, scene, motion), scene,
                                 properties.character(armature_object).frame_start,
                                 bone_rules.read_rules(armature_object))
        action = write_new_action(armature_object, f"{armature_object.name} baked", channels)
        included = layers if own is None else [own, *layers]
        others = other_curves.sample(armature_object, included, channels.frames)
        other_curves.write(action, others, channels.frames)
        setattr(action, properties.KEYS_WRITTEN, "")  # the Action belongs to the animator
        mutes = properties.character(armature_object).mute_constraints
        constraints.mute_once_played(armature_object, channels.bones if mutes else (), action)
        if left_out := other_curves.left_out(armature_object, included):
            report(self, {"WARNING"}, "Bake leaves out what is neither the score's nor tweaks: "
                                      f"{some_of(left_out, _SHOWN)}")
        report(self, {"INFO"}, f"'{action.name}' holds the score and its tweaks, a key at every frame; choose it in "
                                "the Action editor, or export it")
        return {"FINISHED"}
