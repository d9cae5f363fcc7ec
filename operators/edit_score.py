"""Edit Score: show the score of the active armature in a Text Editor."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import IntProperty, StringProperty

from ..bridge import properties
from ..bridge.active_character import ForScore, active_armature
from ..bridge.background import is_quiet_soon, operator_context
from ..bridge.reports import refuse
from ..bridge.scores import linked_texts, texts
from ..core.errors import FileError
from ..core.pha.document import parse

_SMALLEST_PX = 300


class TAKT_OT_edit_score(ForScore, bpy.types.Operator):
    """Show the score in a Text Editor, one that is open or a new one beside, at the procedure that plays"""

    bl_idname = "takt.edit_score"
    bl_label = "Edit Score"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        line: int
        filepath: str
    else:
        line: IntProperty(name="Line", min=0, options={"SKIP_SAVE"},
                          description="Line to which the cursor goes, counted from 1; 0 leaves the cursor where it is")
        filepath: StringProperty(name="File", description="Another file to show, which the score includes",
                                 subtype="FILE_PATH", options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find or open the editor."""
        armature_object, manager = active_armature(context), context.window_manager
        assert armature_object is not None and manager is not None  # poll has checked it
        text, known = properties.character(armature_object).text, set(bpy.data.texts)
        if texts.text_editor(manager, text) is None and context.window is None:
            return refuse(self, "There is no window to show the score in, and no Text Editor is open; run this where "
                                "Blender has a window")
        path = Path(self.filepath) if self.filepath else None
        if path is not None:
            text = texts.text_of(path)
            if text is None and not path.is_file():
                return refuse(self, f"'{self.filepath}' is no file that can be opened")
        area = texts.text_editor(manager, text)
        is_shown = area is not None and text is not None and getattr(area.spaces.active, "text", None) == text
        area = area or _area_beside(context) or _new_window(manager)
        if area is None:
            return refuse(self, "There is no room for a Text Editor, and no window can be opened: open one yourself")
        try:
            text = linked_texts.open_text(path) if text is None and path is not None else text
        except FileError as error:
            return refuse(self, str(error))
        assert text is not None
        line = self.line or (0 if is_shown else _line_of(text, properties.character(armature_object).procedure))
        editor = texts.show(area, text)
        if line:
            text.cursor_set(min(line, len(text.lines)) - 1)
            texts.scroll_to(editor, line)
        if text not in known:  # showing a known Text needs no undo step
            bpy.ops.ed.undo_push(message=self.bl_label)
        return {"FINISHED"}


def _line_of(text: bpy.types.Text, procedure: str) -> int:
    """Return the line of a procedure, or the first line if it is missing or the score cannot be read."""
    try:
        document = parse(text.as_string())
    except FileError:
        return 1
    return next((document.place(each).line or 1 for each in document.procedures if each.name == procedure), 1)


def _area_beside(context: bpy.types.Context) -> bpy.types.Area | None:
    """Split the largest 3D viewport, or else the largest area, along its longer side.

    Returns None if there is no room, or splitting would wait for long work.
    """
    window = context.window
    if window is None or bpy.app.background or not is_quiet_soon():
        return None
    areas = sorted(window.screen.areas, key=lambda area: (area.type == "VIEW_3D", area.width * area.height))
    if not areas or max(areas[-1].width, areas[-1].height) < _SMALLEST_PX * 2:
        return None
    before = set(window.screen.areas)
    with operator_context(window=window, area=areas[-1]):
        bpy.ops.screen.area_split(direction="VERTICAL" if areas[-1].width >= areas[-1].height else "HORIZONTAL",
                                  factor=0.5)
    new = next((area for area in window.screen.areas if area not in before), None)
    if new is not None:
        new.type = "TEXT_EDITOR"
    return new


def _new_window(manager: bpy.types.WindowManager) -> bpy.types.Area | None:
    new_window: Any = bpy.ops.wm.window_new
    if not new_window.poll():
        return None
    new_window()
    area = manager.windows[-1].screen.areas[0]
    area.type = "TEXT_EDITOR"
    return area
