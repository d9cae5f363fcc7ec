"""Block keys of the node editor, which the score editor is made of."""

from typing import Any

import bpy

from ...bridge.scores import score_tree


class TAKT_OT_score_no_nodes(bpy.types.Operator):
    """Do nothing, as the score editor has no nodes"""

    bl_idname = "takt.score_no_nodes"
    bl_label = "Leave Nodes Alone"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether this is a score editor, even without a score or a selection."""
        return (score_tree.is_score_editor(context.space_data) and context.region is not None
                and context.region.type == "WINDOW")

    def execute(self, _context: bpy.types.Context) -> "set[Any]":
        """Consume the event."""
        return {"CANCELLED"}
