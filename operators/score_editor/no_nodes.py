"""Keep keys of the score editor from the node editor that it is made of."""

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
        """Return whether a score would be here, also where none is or nothing of it is selected."""
        return (score_tree.is_score_editor(context.space_data) and context.region is not None
                and context.region.type == "WINDOW")

    def execute(self, _context: bpy.types.Context) -> "set[Any]":
        """Let nobody else have what was pressed."""
        return {"CANCELLED"}
