"""USD (`.usd`, `.usda`, `.usdc`, `.usdz`): skeletons of UsdSkel with their animations.

A file is one layer; others are not read. See usd_text.py and usd_crate.py for the two encodings, and usd_skel.py for
skeletons and clips.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Final

from ..clips.clip_file import ClipFile
from ..errors import FileError, quoted
from .format import MAX_BYTES, TAKE_ANOTHER, Format
from .misnamed import beginning
from .usd_crate import MAGIC, CrateLayer
from .usd_layer import Layer
from .usd_skel import clips_of_layer
from .usd_text import HEADER, TextLayer

_ZIP: Final = b"PK\x03\x04"
_MAX_ENTRIES: Final = 10_000
_LAYERS: Final = (".usd", ".usda", ".usdc")


def read(data: bytes, path: Path | None = None) -> ClipFile:
    """Read a USD file in any of its encodings; path: for messages.

    Raises FileError, with the line or byte, for content that cannot be read, and if there is no skeleton.
    """
    return clips_of_layer(layer_of(_packed(data, path) if data.startswith(_ZIP) else data, path))


def layer_of(data: bytes, path: Path | None) -> Layer:
    """Read a layer; raise FileError if the data is not one."""
    if data.startswith(MAGIC):
        return CrateLayer(data, path)
    if data.startswith(HEADER):
        return TextLayer(data, path)
    raise FileError.at(f"this is no USD file: it begins with {beginning(data)[1]}, where '#usda 1.0' or "
                       f"{MAGIC.decode()} is wanted", path, byte=0)


def _packed(data: bytes, path: Path | None) -> bytes:
    """Return the first layer of a package, whose files are not compressed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            entries = package.infolist()
            if len(entries) > _MAX_ENTRIES:
                raise FileError.at(f"this package has {len(entries)} files; at most {_MAX_ENTRIES} are read", path)
            first = next((each for each in entries if each.filename.lower().endswith(_LAYERS)), None)
            if first is None:
                raise FileError.at(f"this package has no layer of USD among its {len(entries)} files", path)
            if first.compress_type != zipfile.ZIP_STORED or first.flag_bits & 1:
                raise FileError.at(f"{quoted(first.filename)} is compressed or encrypted in this package, which USD "
                                   "does not allow", path, byte=first.header_offset)
            if first.file_size > min(MAX_BYTES, len(data)):
                raise FileError.at(f"{quoted(first.filename)} has {first.file_size} bytes, the package {len(data)}",
                                   path, byte=first.header_offset)
            return package.read(first)
    except (zipfile.BadZipFile, NotImplementedError, OSError, EOFError, ValueError) as error:
        raise FileError.at(f"this package cannot be read ({quoted(str(error))}): it is cut off, or damaged; "
                           f"{TAKE_ANOTHER}", path, byte=0) from None


FORMAT: Final = Format("USD", "USD", (".usdz", ".usdc", ".usda", ".usd"),
                       read=lambda source: read(source.data, source.path),
                       begins=("#usda", MAGIC.decode(), _ZIP.decode()))
