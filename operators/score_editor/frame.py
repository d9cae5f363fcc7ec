"""Frame the whole score, or the selected blocks."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ...bridge.language import say
from ...core.score_editor.stripes import Stripes
from ...preview.score_editor.windows import change_view, whole
from .base import InScoreEditor, found_editor


class TAKT_OT_score_frame(InScoreEditor, bpy.types.Operator):
    """Show all of the score"""

    bl_idname = "takt.score_frame"
    bl_label = "Frame All"

    if TYPE_CHECKING:
        only_selected: bool
    else:
        only_selected: BoolProperty(name="Only Selected", options={"SKIP_SAVE"},
                                    description="Show what is selected, as large as possible")

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return the tooltip of this button."""
        return say("Show what is selected" if properties.only_selected else "Show all of the score")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Zoom and pan."""
        editor = found_editor(context)
        layout, view, boxes = editor.layout, editor.view, editor.layout.boxes
        chosen = layout.found(editor.selected)
        all_of_it = whole(view, layout)
        if not self.only_selected or not len(chosen):
            change_view(context, all_of_it)
        else:
            is_shown = Stripes.of(layout, view).shows(boxes.lane[chosen], boxes.depth[chosen]).all()
            change_view(context, (view if is_shown else all_of_it).framed(float(boxes.begin[chosen].min()),
                                                                          float(boxes.end[chosen].max())))
        return {"FINISHED"}
