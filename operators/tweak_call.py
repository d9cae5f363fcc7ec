"""Only This Call: give a call of a procedure its own keys, independent of the other calls."""

from typing import Any

import bpy

from ..bridge.active_character import active_armature
from ..bridge.reports import refuse, report
from ..bridge.scores import score
from ..bridge.tweaking import tweak_single_calls, tweaks
from ..core.errors import TaktError
from .tweak_base import ForTweaks


class TAKT_OT_tweak_call(ForTweaks, bpy.types.Operator):
    """Give the call at the current frame its own tweaks, which can be changed without changing other calls"""

    bl_idname = "takt.tweak_call"
    bl_label = "Only This Call"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no call to be separated."""
        reason, armature_object = super().problem(context), active_armature(context)
        if reason or armature_object is None:
            return reason
        layer = tweak_single_calls.chosen_layer(armature_object)
        return "" if layer is not None and layer.procedure else "The chosen layer has no procedure"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Give the call its own keys, and update them."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        tweaks.look(armature_object, scene)
        motion = score.motion_of(armature_object)
        if motion is None:
            return refuse(self, f"The score cannot be played: {score.error_of(armature_object) or 'it is empty'}")
        try:
            said = tweak_single_calls.tell_apart(armature_object, scene.frame_current_final)
        except TaktError as error:
            return refuse(self, str(error))
        tweaks.go_along(armature_object, scene, motion)
        report(self, {"INFO"}, said)
        return {"FINISHED"}
