"""Detect files that do not have the format of their ending: empty files, and files of other programs."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..errors import FileError, quoted

_KINDS: Final = {b"\x1f\x8b": "gzip", b"PK\x03\x04": "ZIP", b"7z\xbc\xaf": "7-Zip", b"Rar!": "RAR", b"\x89PNG": "PNG",
                 b"\xff\xd8\xff": "JPEG", b"Kaydara FBX": "FBX", b"glTF": "GLB", b"BLENDER": "Blender", b"%PDF": "PDF",
                 b"(\xb5/\xfd": "Zstandard", b"#usda": "USD", b"PXR-USDC": "USD", b"#VRML": "VRML", b"#X3D": "X3D",
                 b"HIERARCHY": "BVH", b"\0\x10[Serializer": "OGRE", b"<!doctype html": "HTML", b"<html": "HTML"}
"""The beginnings of files of other formats, in lower case for text, and the usual names of these formats."""
_NOTHING: Final = b"\0 \t\r\n"
_BLANKS: Final = re.compile(b"[" + _NOTHING + b"]*")
_ENOUGH: Final = 4096
"""Number of bytes after the blanks that show what a file is."""
_SHOWN_BYTES, _SHOWN_LETTERS = 8, 40


def misnamed(data: bytes, label: str, begins: Sequence[str], path: Path | None) -> FileError | None:
    """Return the error for a file that does not have its format, or None if it may have it.

    label: the name of the format. begins: the possible beginnings of its files, after blanks, as Latin-1. Beginnings
    that are not text are not named in the message.

    >>> print(misnamed(b"Not found", "X3D", ("<",), Path("dance.x3d")))
    dance.x3d:1: this is no X3D: it begins with 'Not found', where '<' is wanted
    """
    wanted = " / ".join(quoted(each) for each in begins if each.isprintable())
    if _BLANKS.fullmatch(data):
        return FileError.at(f"this file is empty: it has {len(data)} bytes, and nothing in them; {label} begins with "
                            f"{wanted}", path, byte=0)
    start = _utf8(data).lstrip(_NOTHING)
    kind = next((kind for magic, kind in _KINDS.items() if start.startswith(magic) or start.lower().startswith(magic)),
                "")
    is_other = kind == "HTML" or not start.lower().startswith(tuple(each.encode("latin-1").lower() for each in begins))
    if not is_other:
        return None
    is_text, found = beginning(data)
    message = f"this is no {label}: it begins with {found}, where {wanted} is wanted"
    if kind:
        message = f"this is no {label} but {kind}: it begins with {found}, where {wanted} is wanted"
    return FileError.at(message, path, 1) if is_text else FileError.at(message, path, byte=0)


def beginning(data: bytes) -> tuple[bool, str]:
    r"""Return whether a file is text, and what it begins with: the first line between quotes, or bytes.

    >>> beginning(b"hello\nworld"), beginning(b"\x1f\x8b\x08")
    ((True, "'hello'"), (False, 'bytes 1f 8b 08'))
    """
    line = next((each.strip() for each in _utf8(data).splitlines() if each.strip()), b"")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        text = line[:error.start].decode() if error.start > _SHOWN_LETTERS else ""
    if text and text[:_SHOWN_LETTERS].isprintable():
        return True, quoted(text[:_SHOWN_LETTERS])
    return False, f"bytes {data[:_SHOWN_BYTES].hex(' ')}"


def _utf8(data: bytes) -> bytes:
    """Return how a text begins in UTF-8, without the mark that tells its encoding, and blanks."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if data.startswith(mark):
            return data[len(mark):_ENOUGH].decode(encoding, "replace").encode("utf-8", "replace")
    begin = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    found = _BLANKS.match(data, begin)
    begin = begin if found is None else found.end()
    return data[begin:begin + _ENOUGH]
