"""Track the part under the mouse in the score editor, to highlight it and show its hint."""

from typing import Any, cast

import bpy

from ...bridge.guard import guarded
from ...bridge.scores import score_tree
from ...core.score_editor.gestures import cursor_of, hit
from ...preview.life import now_s
from ...preview.score_editor.windows import Hover, is_on_shelf, window_of
from .base import editor_of


class TAKT_GT_score_hover(bpy.types.Gizmo):
    """Is told where the mouse is, and never takes what is pressed there

    It counts as under the mouse everywhere in the editor: Blender tells of a mouse that leaves by no other means.
    """

    bl_idname = "TAKT_GT_score_hover"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw nothing, since the editor draws in front of the score; notice that the mouse has left it."""
        window = None if context.space_data is None else window_of(context.space_data)
        if not self.is_highlight and window is not None and window.mouse is not None and window.leave():
            bpy.app.timers.register(_draw_again)  # an area that is being drawn cannot be tagged

    def test_select(self, context: bpy.types.Context, location: Any) -> int:
        """Store the part under the mouse."""
        window = None if context.space_data is None else window_of(context.space_data)
        editor = editor_of(context)
        if editor is None or window is None or context.window is None or context.area is None:
            return -1
        x, y = float(location[0]), float(location[1])
        window.mouse = x, y
        on_shelf = is_on_shelf(context, y)
        over = hit(editor.layout, editor.view, x, y)
        before = window.hover.over if window.hover is not None else None
        window.hover = None if on_shelf else Hover.at(editor.layout, over, x, y, editor.blocks.scores, window.hover)
        can_be_pulled = window.hover is not None and not window.hover.refusal
        context.window.cursor_set(cast(Any, cursor_of(over) if can_be_pulled else "DEFAULT"))
        if window.point(now_s()) or before is None or not before.is_on_the_same(over):
            context.area.tag_redraw()
        return 0


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
        gizmo = self.gizmos.new(TAKT_GT_score_hover.bl_idname)
        gizmo.hide_keymap, gizmo.use_tooltip = True, False


@guarded(None)
def _draw_again() -> None:
    score_tree.redraw()
