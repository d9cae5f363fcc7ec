"""Texts of scores in Blender: found by their files, and shown in a Text Editor."""

from pathlib import Path

import bpy

from ..core.pha.document import Document

_LINES_ABOVE = 10
"""Lines shown above the one that is jumped to, where there is room."""


def text_of(path: Path) -> bpy.types.Text | None:
    """Return the Text of a file that is open."""
    return next((text for text in bpy.data.texts
                 if text.filepath and Path(bpy.path.abspath(text.filepath)) == path), None)


def holds(text: bpy.types.Text, document: Document) -> bool:
    """Tell whether a Text still says what a document was read from, so that the document's lines are its own."""
    return text.as_string() == str(document.text).replace("\r\n", "\n").replace("\r", "\n")


def text_editor(manager: bpy.types.WindowManager, text: bpy.types.Text) -> bpy.types.Area | None:
    """Return a Text Editor that is open, best one that shows the Text already."""
    areas = [area for window in manager.windows for area in window.screen.areas if area.type == "TEXT_EDITOR"]
    showing = (area for area in areas if getattr(area.spaces.active, "text", None) == text)
    return next(showing, areas[0] if areas else None)


def show(area: bpy.types.Area, text: bpy.types.Text) -> bpy.types.SpaceTextEditor:
    """Show a Text in a Text Editor, with the numbers of its lines."""
    editor = area.spaces.active
    assert isinstance(editor, bpy.types.SpaceTextEditor)
    editor.text = text
    editor.show_line_numbers = editor.show_line_highlight = True
    return editor


def scroll_to(editor: bpy.types.SpaceTextEditor, line: int) -> None:
    """Bring a line, counted from 1, into view, unless it is there."""
    room = editor.visible_lines // 2 or _LINES_ABOVE  # no lines are counted before a window is drawn
    if not editor.top < line <= editor.top + editor.visible_lines:
        editor.top = max(0, line - min(room, _LINES_ABOVE))


def select_line(text: bpy.types.Text, line: int) -> None:
    """Select a line, counted from 1, with the cursor at its beginning: editors show where that is, however narrow."""
    at = min(line, len(text.lines)) - 1
    text.select_set(at, len(text.lines[at].body), at, 0)
