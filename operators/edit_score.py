"""Edit Score: show the score of the active armature in a Text Editor."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import IntProperty, StringProperty

from ..bridge import properties
from ..bridge.active_character import ForScore, active_armature

_LINES_ABOVE = 10
"""Lines shown above the one that is jumped to, where there is room."""


class TAKT_OT_edit_score(ForScore, bpy.types.Operator):
    """Show the score in a Text Editor: one that is open, or a new window"""

    bl_idname = "takt.edit_score"
    bl_label = "Edit Score"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        line: int
        filepath: str
    else:
        line: IntProperty(name="Line", description="Where the cursor is put, counted from 1; 0 leaves it", min=0,
                          options={"SKIP_SAVE"})
        filepath: StringProperty(name="File", description="Another file to show, which the score includes",
                                 subtype="FILE_PATH", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find or open the editor."""
        armature_object, manager = active_armature(context), context.window_manager
        assert armature_object is not None and manager is not None  # poll saw to it
        text = properties.character(armature_object).text
        if self.filepath:
            text = _text_of(Path(self.filepath))
            if text is None:
                self.report({"ERROR"}, f"'{self.filepath}' is no file that can be opened")
                return {"CANCELLED"}
        assert text is not None
        areas = (area for window in manager.windows for area in window.screen.areas if area.type == "TEXT_EDITOR")
        area = next(areas, None) or _new_window(manager)
        editor = cast(bpy.types.SpaceTextEditor, area.spaces.active)
        editor.text = text
        editor.show_line_numbers = editor.show_line_highlight = True
        if self.line:
            text.cursor_set(min(self.line, len(text.lines)) - 1)
            room = editor.visible_lines // 2 or _LINES_ABOVE  # no lines are counted before a window is drawn
            editor.top = max(0, self.line - min(room, _LINES_ABOVE))
        return {"FINISHED"}


def _text_of(path: Path) -> bpy.types.Text | None:
    """Return the Text of a file, read if it is not open yet."""
    for text in bpy.data.texts:
        if text.filepath and Path(bpy.path.abspath(text.filepath)) == path:
            return text
    return bpy.data.texts.load(str(path)) if path.is_file() else None


def _new_window(manager: bpy.types.WindowManager) -> bpy.types.Area:
    bpy.ops.wm.window_new()
    area = manager.windows[-1].screen.areas[0]
    area.type = "TEXT_EDITOR"
    return area
