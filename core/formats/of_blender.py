"""Formats that Blender reads: they are described here, and bridge provides their readers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..errors import FileError
from .format import Format
from .misnamed import misnamed

FBX: Final = Format("FBX", "FBX", (".fbx",))
BLEND: Final = Format("BLEND", "Blender", (".blend",))
ENDINGS: Final = (*FBX.endings, *BLEND.endings)
_BEGINNINGS: Final = ((FBX, ("Kaydara", ";", "FBXHeaderExtension")),
                      (BLEND, ("BLENDER", "\x1f\x8b", "\x28\xb5\x2f\xfd")))
"""The formats and the beginnings of their files; gzip and Zstandard compress .blend files."""
_BEGINNING_BYTES: Final = 64


def misnamed_at_once(path: Path) -> FileError | None:
    """Return the error for a file whose first bytes do not fit its format, or None if they may."""
    entry, begins = next((each for each in _BEGINNINGS if path.name.endswith(each[0].endings)), (None, ()))
    if entry is None or not path.is_file():
        return None
    try:
        with path.open("rb") as opened:
            return misnamed(opened.read(_BEGINNING_BYTES), entry.label, begins, path)
    except OSError:
        return None  # the reader reports it
