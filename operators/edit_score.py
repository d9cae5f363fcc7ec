"""Edit Score: show the score of the active armature in a Text Editor."""

from typing import Any, cast

import bpy

from ..bridge import properties
from .play_score import active_armature, score_problem


class TAKT_OT_edit_score(bpy.types.Operator):
    """Show the score in a Text Editor: one that is open, or a new window"""

    bl_idname = "takt.edit_score"
    bl_label = "Edit Score"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there is a score to show."""
        reason = score_problem(active_armature(context))
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find or open the editor."""
        armature_object, manager = active_armature(context), context.window_manager
        assert armature_object is not None and manager is not None  # poll saw to it
        areas = (area for window in manager.windows for area in window.screen.areas if area.type == "TEXT_EDITOR")
        area = next(areas, None) or _new_window(manager)
        editor = cast(bpy.types.SpaceTextEditor, area.spaces.active)
        editor.text = properties.character(armature_object).text
        editor.show_line_numbers = True
        return {"FINISHED"}


def _new_window(manager: bpy.types.WindowManager) -> bpy.types.Area:
    bpy.ops.wm.window_new()
    area = manager.windows[-1].screen.areas[0]
    area.type = "TEXT_EDITOR"
    return area
