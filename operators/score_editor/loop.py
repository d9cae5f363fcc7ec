"""Loop a part of the score, between two edges or over the selected blocks, by Blender's preview range."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty

from ...bridge.language import say
from ...bridge.reports import report
from ...preview.score_editor.life import frame_at
from .base import InScoreEditor, found_editor

_EDGES = [("FROM", "From Here", "Play only the part after the playhead"),
          ("TO", "To Here", "Play only the part before the playhead"),
          ("SELECTED", "Selected", "Play only what is selected"),
          ("NONE", "The Whole", "Play all of the score again")]


class TAKT_OT_score_loop(InScoreEditor, bpy.types.Operator):
    """Play a part of the score over and over"""

    bl_idname = "takt.score_loop"
    bl_label = "Loop"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        edge: str
    else:
        edge: EnumProperty(name="Part", items=_EDGES, description="Part of the score that plays", options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return the tooltip of this button."""
        return say(next(words for name, _, words in _EDGES if name == properties.edge))

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Set the scene's preview range."""
        editor, scene = found_editor(context), context.scene
        assert scene is not None
        if self.edge == "NONE":
            scene.use_preview_range = False
            return {"FINISHED"}
        begin, end = ((scene.frame_preview_start, scene.frame_preview_end) if scene.use_preview_range
                      else (scene.frame_start, scene.frame_end))
        chosen = editor.layout.found(editor.selected)
        if self.edge == "SELECTED":
            if not len(chosen):
                report(self, {"WARNING"}, "Select blocks first")
                return {"CANCELLED"}
            boxes = editor.layout.boxes
            begin, end = (round(frame_at(editor.armature, scene, editor.layout, float(tick)))
                          for tick in (boxes.begin[chosen].min(), boxes.end[chosen].max()))
        else:
            here = scene.frame_current
            begin, end = (here, max(end, here)) if self.edge == "FROM" else (min(begin, here), here)
        scene.use_preview_range = True
        scene.frame_preview_start, scene.frame_preview_end = begin, end
        return {"FINISHED"}
