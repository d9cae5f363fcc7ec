"""Catalogues of Blender's Asset Browser: a library's folders as entries in the text file that lists catalogues.

Source: Blender's manual, Asset Catalogs: one line each, `UUID:path/of/catalogue:simple name`, after `VERSION 1`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final
from uuid import UUID, uuid5

from ..errors import FileError, quoted
from .files import read_file
from .whole_files import write_whole

NAME: Final = "blender_assets.cats.txt"
_NAMESPACE: Final = UUID("4c2d6e0a-7b0f-5b7e-9d3c-52b7a1f0e8d4")
_FIRST: Final = "# This is an Asset Catalog Definition file for Blender.\n\nVERSION 1\n\n"
_VERSION: Final = "VERSION 1"
_PARTS: Final = 3


def identifier(catalogue: str) -> str:
    """Return the UUID of a catalogue by its path; it is the same in all files.

    >>> identifier("Clips/feet") == identifier("Clips/feet"), identifier("a") == identifier("b"), len(identifier("a"))
    (True, False, 36)
    """
    return str(uuid5(_NAMESPACE, catalogue))


def known(data: bytes, path: Path | None = None) -> dict[str, str]:
    r"""Return the UUIDs of a file's catalogues, by their paths; raise FileError if the file has another version.

    >>> known(b"VERSION 1\n\n5e8f2a3c-0000-0000-0000-000000000001:Clips/feet:Clips-feet\n")
    {'Clips/feet': '5e8f2a3c-0000-0000-0000-000000000001'}
    """
    lines = [line.strip() for line in data.decode("utf-8-sig", "replace").splitlines()]
    said = [line for line in lines if line and not line.startswith("#")]
    if said and said[0] != _VERSION:
        raise FileError.at(f"begins with {quoted(said[0][:80])}, expected {quoted(_VERSION)}", path, 1)
    parts = [line.split(":") for line in said[1:]]
    return {each[1]: each[0] for each in parts if len(each) >= _PARTS - 1}


def read(folder: Path) -> dict[str, str]:
    """Return the UUIDs of a folder's catalogues, by their paths; raise FileError if they cannot be read."""
    path = folder / NAME
    return known(read_file(path), path) if path.is_file() else {}


def add(folder: Path, catalogues: Iterable[str]) -> None:
    """Add the catalogues that a folder does not have yet; existing entries stay unchanged.

    Raises FileError if the file has another version or cannot be written.
    """
    path = folder / NAME
    data = read_file(path) if path.is_file() else b""
    missing = sorted({*catalogues} - known(data, path).keys())
    if not missing:
        return
    lines = "".join(f"{identifier(each)}:{each}:{each.replace('/', '-')}\n" for each in missing)
    before = data if data.strip() else _FIRST.encode()
    gap = b"" if before.endswith(b"\n") else b"\n"
    write_whole(path, before + gap + lines.encode())


def catalogue_of(src: str, top: str) -> str:
    """Return the catalogue of a clip by its src: the names of its folders, below one top catalogue for all.

    >>> catalogue_of("feet.slow.walk", "Clips"), catalogue_of("walk", "Clips")
    ('Clips/feet/slow', 'Clips')
    """
    folders = [part.replace("/", "-").replace(":", "-").replace("\\", "-") for part in src.split(".")[:-1]]
    return "/".join((top, *folders))
