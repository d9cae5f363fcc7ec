"""Track the part under the mouse in the score editor, to highlight it and show its hint."""

from typing import Any, cast

import bpy

from ...core.score_editor.gestures import cursor_of, hit
from ...preview.life import now_s
from ...preview.score_editor.windows import Chip, Hover, is_on_shelf, window_of
from .base import editor_of


class TAKT_GT_score_hover(bpy.types.Gizmo):
    """Is told where the mouse is, and never takes what is pressed there"""

    bl_idname = "TAKT_GT_score_hover"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw nothing, since the editor draws in front of the score."""

    def test_select(self, context: bpy.types.Context, location: Any) -> int:
        """Store the part under the mouse."""
        window = None if context.space_data is None else window_of(context.space_data)
        editor = editor_of(context)
        if editor is None or window is None or context.window is None or context.area is None:
            return -1
        x, y = float(location[0]), float(location[1])
        playable = window.shelf.at(x, y) if window.shelf is not None else None
        on_shelf = is_on_shelf(context, y)
        over = hit(editor.layout, editor.view, x, y)
        before = window.hover.over if window.hover is not None else None, window.chip
        window.hover = None if on_shelf else Hover.at(editor.layout, over, x, y, editor.blocks.scores, window.hover)
        if playable is None or before[1] is None or before[1].playable != playable:
            window.chip = None if playable is None else Chip(playable, x, y, now_s())
        can_be_pulled = window.hover is not None and not window.hover.refusal
        context.window.cursor_set(cast(Any, cursor_of(over) if can_be_pulled else "DEFAULT"))
        if before[1] != window.chip or before[0] is None or not before[0].is_on_the_same(over):
            context.area.tag_redraw()
        return -1


class TAKT_GGT_score_hover(bpy.types.GizmoGroup):
    """Knows what the mouse is over in each score editor"""

    bl_idname = "TAKT_GGT_score_hover"
    bl_label = "Takt Score"
    bl_space_type = "NODE_EDITOR"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether a score is shown."""
        return editor_of(context) is not None

    def setup(self, _context: bpy.types.Context) -> None:
        """Make the only gizmo."""
        self.gizmos.new(TAKT_GT_score_hover.bl_idname)
