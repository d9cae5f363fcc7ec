"""Frame all of the score, or what is selected."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ...preview.score_editor.windows import change_view, whole
from .base import InScoreEditor, found_editor


class TAKT_OT_score_frame(InScoreEditor, bpy.types.Operator):
    """Show all of the score"""

    bl_idname = "takt.score_frame"
    bl_label = "Frame All"

    if TYPE_CHECKING:
        only_selected: bool
    else:
        only_selected: BoolProperty(name="Only Selected", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return what this button shows."""
        return "Show what is selected" if properties.only_selected else "Show all of the score"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Zoom and pan."""
        editor = found_editor(context)
        layout, view = editor.layout, whole(editor.view, editor.layout)
        chosen = layout.found(editor.selected)
        if self.only_selected and len(chosen):
            view = view.framed(float(layout.boxes.begin[chosen].min()), float(layout.boxes.end[chosen].max()))
        change_view(context, view)
        return {"FINISHED"}
