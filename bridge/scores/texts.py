"""Texts of scores in Blender: find them by their files, show them in a Text Editor, and change them."""

from pathlib import Path

import bpy

from ...core.errors import EditError
from ...core.pha.document import Document
from ...core.pha.text import difference, with_line_feeds
from .. import changes, libraries

_LINES_ABOVE = 10
"""Number of lines shown above the line that is scrolled to, if there is room."""
_proposed: dict[int, str] = {}
"""Contents that are played and shown instead of a Text while an edit of it is tried, by the Text's session_uid."""


def said(text: bpy.types.Text) -> str:
    """Return the contents of a Text, or the proposal that replaces them."""
    return _proposed[text.session_uid] if text.session_uid in _proposed else text.as_string()


def propose(text: bpy.types.Text, candidate: str) -> None:
    """Let a score be played and shown with other contents of its Text, without writing them."""
    _proposed[text.session_uid] = candidate
    changes.score()


def propose_nothing() -> None:
    """Clear all proposals."""
    if _proposed:
        _proposed.clear()
        changes.score()


def is_proposed() -> bool:
    """Return whether there is a proposal for any Text."""
    return bool(_proposed)


def check_own(text: bpy.types.Text) -> None:
    """Raise EditError if a Text belongs to another .blend, since changes would be neither saved nor undone."""
    if text.library is not None:
        name = Path(text.library.filepath).name
        raise EditError(f"the score '{text.name}' is linked from {name}: make it local first (ID Data > Make Local "
                        "in the Outliner), or choose another Text")


def replace(text: bpy.types.Text, new: str) -> None:
    """Change the contents of a Text, writing only the difference, so that cursor and scroll of editors stay.

    Raises EditError, and changes nothing, if it belongs to another .blend.
    """
    check_own(text)
    old = text.as_string()
    start, end = difference(old, new)
    cursor = (_offset(old, text.current_line_index, text.current_character),
              _offset(old, text.select_end_line_index, text.select_end_character))
    longer = len(new) - len(old)
    text.select_set(*_position(old, start), *_position(old, end))
    text.region_from_string(new[start:end + longer])
    moved = [at if at <= start else at + longer if at >= end else start for at in cursor]
    text.select_set(*_position(new, moved[0]), *_position(new, moved[1]))


def cursor(text: bpy.types.Text) -> int:
    """Return the cursor's position in bytes of UTF-8."""
    lines = [line.body for line in text.lines[:text.current_line_index + 1]]
    return len("\n".join((*lines[:-1], lines[-1][:text.current_character])).encode())


def text_of(path: Path) -> bpy.types.Text | None:
    """Return the open Text of a file, or None."""
    return next((text for text in bpy.data.texts
                 if text.filepath and Path(libraries.absolute(text.filepath, text)) == path), None)


def holds(text: bpy.types.Text, document: Document) -> bool:
    """Return whether a Text still has the contents from which a document was read, so that its lines are valid."""
    return text.as_string() == with_line_feeds(str(document.text))


def text_editor(manager: bpy.types.WindowManager, text: bpy.types.Text | None) -> bpy.types.Area | None:
    """Return an open Text Editor, preferably one that shows the Text, or None."""
    areas = [area for window in manager.windows for area in window.screen.areas if area.type == "TEXT_EDITOR"]
    showing = (area for area in areas if getattr(area.spaces.active, "text", None) == text)
    return next(showing, areas[0] if areas else None)


def show(area: bpy.types.Area, text: bpy.types.Text) -> bpy.types.SpaceTextEditor:
    """Show a Text in a Text Editor, with line numbers."""
    editor = area.spaces.active
    assert isinstance(editor, bpy.types.SpaceTextEditor)
    editor.text = text
    editor.show_line_numbers = editor.show_line_highlight = True
    return editor


def scroll_to(editor: bpy.types.SpaceTextEditor, line: int) -> None:
    """Scroll to a line, counted from 1, unless it is visible."""
    room = editor.visible_lines // 2 or _LINES_ABOVE  # no lines are counted before a window is drawn
    if not editor.top < line <= editor.top + editor.visible_lines:
        editor.top = max(0, line - min(room, _LINES_ABOVE))


def select_line(text: bpy.types.Text, line: int) -> None:
    """Select a line, counted from 1, with the cursor at its beginning, to which narrow editors scroll."""
    at = min(line, len(text.lines)) - 1
    text.select_set(at, len(text.lines[at].body), at, 0)


def _offset(text: str, line: int, character: int) -> int:
    """Return the offset of a character on a line, both counted from 0."""
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at + character


def _position(text: str, offset: int) -> tuple[int, int]:
    """Return line and character of an offset, both counted from 0."""
    return text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1
