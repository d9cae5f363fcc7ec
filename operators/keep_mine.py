"""Keep Mine: an Action that was edited by hand belongs to the animator, and the score never writes it again."""

from typing import Any

import bpy

from ..bridge import properties
from ..bridge.actions import action
from ..bridge.active_character import ForScore, active_armature
from ..bridge.reports import report
from ..bridge.scene import held_props


class TAKT_OT_keep_mine(ForScore, bpy.types.Operator):
    """Keep this Action as it was edited: Takt no longer changes it. Rebuild makes a new one from the score"""

    bl_idname = "takt.keep_mine"
    bl_label = "Keep Mine"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no score, or no Action of it that was edited by hand."""
        reason = super().problem(context)
        armature_object = active_armature(context)
        if reason or armature_object is None:
            return reason
        if action.is_edited_by_hand(armature_object):
            return ""
        return "The Action of the score has not been edited by hand"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Unlink the Action from the score; it keeps playing."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        character = properties.character(armature_object)
        own = character.action
        assert own is not None
        held_props.leave(armature_object)
        action.keep_in_file(own)
        character.action = None
        report(self, {"INFO"}, f"'{own.name}' stays as it is; Rebuild makes another Action of the score")
        return {"FINISHED"}
