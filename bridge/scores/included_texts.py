"""Texts of files that a score includes or extends: an open Text plays in place of its file, saved or not.

So it can be edited in the score editor like the score itself. Files that are not open are read from disk, and locked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import bpy

from .. import libraries, properties
from . import texts

_NAMED = re.compile(r"""<include\b[^>]*?\bsrc\s*=\s*["']([^"']+)|\bextends\s*=\s*["']([^"']+)""")


def open_beside(source: str, filepath: str) -> dict[Path, bpy.types.Text]:
    """Return the open Texts that a score may reach, by their files. filepath: of the score itself, "" if none.

    These are Texts that the score names, and Texts that no character plays, since included files may include them.
    Texts that another character plays are excluded, so that editing one score does not affect all others.
    """
    if "<include" not in source and "extends" not in source:  # most scores need no further check, which is frequent
        return {}
    named = {first or second for first, second in _NAMED.findall(source)}
    if not named:
        return {}
    played = {character.text for ob in bpy.data.objects
              if ob.type == "ARMATURE" and (character := properties.character(ob)).text is not None}
    path = Path(bpy.path.abspath(filepath)) if filepath else None
    found: dict[Path, bpy.types.Text] = {}
    for text in bpy.data.texts:
        own = Path(libraries.absolute(text.filepath, text)) if text.filepath.endswith(".pha") else None
        if own is None or own == path or own in found:
            continue
        if text not in played or any(_ends_with(own, name) for name in named):
            found[own] = text
    return found


def is_named(path: Path, sources: Iterable[str]) -> bool:
    """Return whether any of these texts of scores may include or extend a file, by the file's name."""
    return any(_ends_with(path, first or second) for source in sources for first, second in _NAMED.findall(source))


def _ends_with(path: Path, name: str) -> bool:
    return ("." + ".".join(path.with_suffix("").parts)).endswith(f".{name}")


def said_beside(source: str, filepath: str) -> tuple[tuple[Path, str], ...]:
    """Return the contents of these Texts, or those that an edit proposes instead."""
    return tuple((own, texts.said(text)) for own, text in open_beside(source, filepath).items())
