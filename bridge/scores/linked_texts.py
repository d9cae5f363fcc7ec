"""Texts linked to files on disk: saved there, and read again as soon as the file changes outside Blender.

Blender's own mark of changed Texts stays set once a script has written one. So the state in which a Text and its file
were last the same is stored here, and with the Text in the .blend.
"""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

import bpy

from ...core.errors import FileError, TaktError
from ...core.library.files import read_file
from ...core.library.store import Stamp, stamp
from ...core.library.whole_files import write_whole
from ...core.pha.text import with_line_feeds
from .. import paths
from ..background import is_quiet_soon, operator_context
from . import texts

State = Literal["SAME", "UNSAVED", "OUTSIDE", "BOTH"]
"""A Text and its file: the same, changed here, changed outside, or both."""


class _Seen(NamedTuple):
    """The state in which a Text and its file were last equal: the file's size and times, and the Text's content."""

    stamp: Stamp | None
    text: bytes


_KEPT = "takt_file"
"""Property of a Text that stores a `_Seen` in the .blend: the file's size and times, and the Text's content."""
_seen: dict[int, _Seen] = {}
"""The same by the session_uid of the Text."""


def read_text(path: Path) -> str:
    """Return the text of a file, lines ended as in Blender's Texts; raise FileError if it cannot be read."""
    try:
        return _plain(read_file(path, path.resolve()).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError.at("is not UTF-8; save the score as UTF-8", path, byte=error.start) from error


def _plain(content: str) -> str:
    return with_line_feeds(content.removeprefix("\ufeff"))


def open_text(path: Path) -> bpy.types.Text:
    """Return the Text of a file with the file's content; unsaved content stays in a Text of its own.

    Raises FileError if the file cannot be read.
    """
    content, known = read_text(path), texts.text_of(path)
    if known is not None and known.as_string() != content and state(known) in ("UNSAVED", "BOTH"):
        known.filepath = ""  # the Text keeps its content, but loses the link to the file
        known = None
    text = known or bpy.data.texts.load(str(path))
    text.filepath = paths.kept(text.filepath)
    if text.as_string() != content:
        text.from_string(content)
    _note(text, path)
    return text


def path_of(text: bpy.types.Text) -> Path | None:
    """Return the file that a Text is linked to, None if there is none."""
    if not text.filepath or text.library is not None:
        return None
    path = Path(bpy.path.abspath(text.filepath))
    return path if path.is_file() else None


def state(text: bpy.types.Text) -> State:
    """Return whether a Text and its file have the same content; a Text without a file counts as the same."""
    path = path_of(text)
    if path is None:
        return "SAME"
    seen = _seen.get(text.session_uid) or _first_seen(text, path)
    is_changed_outside, is_changed = _stamp(path) != seen.stamp, _digest(text.as_string()) != seen.text
    if is_changed_outside and _is_only_touched(path, seen):
        _seen[text.session_uid], is_changed_outside = seen._replace(stamp=_stamp(path)), False
    if is_changed_outside and is_changed:
        return "BOTH"
    return "OUTSIDE" if is_changed_outside else "UNSAVED" if is_changed else "SAME"


def look(text: bpy.types.Text) -> State:
    """Read a Text again if only its file has changed; return the state afterwards."""
    found = state(text)
    if found == "OUTSIDE":
        try:
            reload(text)
        except FileError:  # perhaps it is being written
            return found
        return "SAME"
    return found


def reload(text: bpy.types.Text) -> None:
    """Load the file's content into its Text; raise FileError if it cannot be read."""
    path = path_of(text)
    if path is None:
        raise FileError.at("is no longer there", Path(text.filepath))
    content = read_text(path)
    if text.as_string() != content:
        line = text.current_line_index
        text.from_string(content)
        text.cursor_set(min(line, len(text.lines) - 1))
    _note(text, path)


def save(text: bpy.types.Text, *, overwrite: bool = False) -> None:
    """Write a Text into its file; raise TaktError if that cannot be done, with the file unchanged.

    overwrite: whether a file that was changed outside is overwritten, too.
    """
    path = Path(bpy.path.abspath(text.filepath))

    def is_same() -> None:
        if not overwrite and state(text) in ("OUTSIDE", "BOTH"):
            raise TaktError(f"{Path(text.filepath).name} was changed outside: Reload Score reads it, "
                            "Overwrite keeps the text here")

    is_same()
    write_whole(path, text.as_string().encode(), is_same)
    _mark_as_saved(text)
    _note(text, path)


def _mark_as_saved(text: bpy.types.Text) -> None:
    """Mark a Text as saved for Blender, by its operator, which writes another file since it may truncate files.

    If the operator fails, or would wait for long work, the Text Editor still shows the Text as unsaved.
    """
    if not is_quiet_soon():
        return
    kept = text.filepath
    with tempfile.TemporaryDirectory(prefix="takt-", ignore_cleanup_errors=True) as folder:
        text.filepath = str(Path(folder) / "saved")
        try:
            with operator_context(edit_text=text), suppress(RuntimeError):
                bpy.ops.text.save()
        finally:
            text.filepath = kept


def _first_seen(text: bpy.types.Text, path: Path) -> _Seen:
    """Treat a Text that Blender counts as unmodified as older than its file, if the two differ."""
    if kept := text.get(_KEPT):
        known, digest = str(kept).split()
        now = _stamp(path)
        _seen[text.session_uid] = _Seen(now if _spelled(now) == known else None, bytes.fromhex(digest))
        return _seen[text.session_uid]
    try:
        is_same = read_text(path) == text.as_string()
    except FileError:
        is_same = False
    said = b"" if text.is_dirty and not is_same else _digest(text.as_string())
    _seen[text.session_uid] = _Seen(_stamp(path) if is_same else None, said)
    return _seen[text.session_uid]


def _note(text: bpy.types.Text, path: Path) -> None:
    """Store that a Text and its file are the same; or that they differ, if another program has written the file.

    Its times are taken before it is read: if it is written in between, it has other times afterwards.
    """
    now = _stamp(path)
    try:
        is_same = read_text(path) == _plain(text.as_string())
    except FileError:
        is_same = False
    seen = _seen[text.session_uid] = _Seen(now if is_same else None, _digest(text.as_string()))
    text[_KEPT] = f"{_spelled(seen.stamp)} {seen.text.hex()}"


def _spelled(stamp: Stamp | None) -> str:
    return "-" if stamp is None else repr(stamp).replace(" ", "")


def _stamp(path: Path) -> Stamp | None:
    try:
        return stamp(path)
    except OSError:
        return None


def _is_only_touched(path: Path, seen: _Seen) -> bool:
    """Return whether a file with other times has its old content, as after copying it back or changing permissions."""
    try:
        return _digest(read_text(path)) == seen.text
    except FileError:
        return False


def _digest(content: str) -> bytes:
    return hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=16).digest()


def forget() -> None:
    """Compare all Texts again, as after another .blend was opened."""
    _seen.clear()
