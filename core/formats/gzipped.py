"""Decompress gzip files, which X3D and VRML files may be. Source: RFC 1952, GZIP file format, version 4.3."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Final

from ..errors import FileError
from .format import TAKE_ANOTHER

MAGIC: Final = b"\x1f\x8b"
MAX_UNPACKED: Final = 32 * 2**20
"""Greatest number of unpacked bytes; larger files are refused."""
_MOST_MEMBERS: Final = 100
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


def unpacked(data: bytes, path: Path | None) -> bytes:
    """Return the decompressed data of a gzip file, and any other data unchanged.

    Raises FileError, with the byte, if the data is cut off or damaged, or would have more than MAX_UNPACKED bytes.

    >>> import gzip
    >>> unpacked(gzip.compress(b"#VRML V2.0 utf8"), None), unpacked(b"<X3D/>", None)
    (b'#VRML V2.0 utf8', b'<X3D/>')
    """
    parts, left, rest = list[bytes](), MAX_UNPACKED, data
    while rest.startswith(MAGIC):
        at = len(data) - len(rest)
        if len(parts) == _MOST_MEMBERS:
            raise FileError.at(f"more than {_MOST_MEMBERS} compressed parts; no more are read", path, byte=at)
        member = zlib.decompressobj(_GZIP_WINDOW)
        try:
            parts.append(member.decompress(rest, left + 1))
        except zlib.error as error:
            raise FileError.at(f"what gzip has compressed here is damaged ({error}); {TAKE_ANOTHER}", path,
                               byte=at) from None
        left -= len(parts[-1])
        if left < 0:
            raise FileError.at(f"unpacked, this file has more than {MAX_UNPACKED} bytes; at most as many are read",
                               path, byte=at)
        if not member.eof:
            raise FileError.at("the file ends here, within what gzip has compressed: it is cut off", path,
                               byte=len(data))
        rest = member.unused_data
    return b"".join(parts) if parts else data
