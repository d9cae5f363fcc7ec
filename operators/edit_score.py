"""Edit Score: show the score of the active armature in a Text Editor."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import IntProperty, StringProperty

from ..bridge import properties, texts
from ..bridge.active_character import ForScore, active_armature


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
        editor = texts.show(texts.text_editor(manager, text) or _new_window(manager), text)
        if self.line:
            text.cursor_set(min(self.line, len(text.lines)) - 1)
            texts.scroll_to(editor, self.line)
        return {"FINISHED"}


def _text_of(path: Path) -> bpy.types.Text | None:
    """Return the Text of a file, read if it is not open yet."""
    return texts.text_of(path) or (bpy.data.texts.load(str(path)) if path.is_file() else None)


def _new_window(manager: bpy.types.WindowManager) -> bpy.types.Area:
    bpy.ops.wm.window_new()
    area = manager.windows[-1].screen.areas[0]
    area.type = "TEXT_EDITOR"
    return area
