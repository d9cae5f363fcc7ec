"""Read files with whole characters, and their images."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ...core.errors import FileError, quoted
from ...core.formats import FORMATS, format_of, rite_mesh
from ...core.formats.character import CharacterFile, Look
from ...core.formats.format import Source
from ...core.library.files import read_file

_FORMATS = {**FORMATS, rite_mesh.FORMAT.identifier: rite_mesh.FORMAT}
ENDINGS = tuple(ending for entry in _FORMATS.values() if entry.read_characters for ending in entry.endings)
_MOST_NAMED = 8


def read_characters(path: Path) -> CharacterFile:
    """Return a file's characters; raise TaktError if it is not a character file, or cannot be read."""
    entry = format_of(path, _FORMATS)
    if entry is None or entry.read_characters is None:
        raise FileError.at(f"this is no file with characters that can be imported; {', '.join(ENDINGS)} can", path)
    return entry.read_characters(Source(read_file(path.resolve()), path))


def images_of(file: CharacterFile, folder: Path) -> tuple[dict[Look, Path | bytes], list[str]]:
    """Return the image of each look, as bytes or as a path in a folder, and warnings of missing images."""
    found: dict[Look, Path | bytes] = {}
    missing: dict[str, None] = {}
    for look in dict.fromkeys(look for each in file.characters for mesh in each.meshes for look in mesh.looks):
        if look.image:
            found[look] = look.image
        elif look.texture:
            there = next(_places(look.texture, folder), None)
            if there is None:
                missing[quoted(look.texture)] = None
            else:
                found[look] = there
    names = list(missing)
    return found, [f"Not found beside the file: {', '.join(names[:_MOST_NAMED])}"] if names else []


def _places(texture: str, folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that a texture's path may mean: the path itself, or its name."""
    plain = texture.replace("\\", "/")
    plain = urlsplit(plain).path if plain.startswith("file:") else plain
    root = Path(os.path.realpath(folder))
    for path in (plain, PurePosixPath(plain).name, f"textures/{PurePosixPath(plain).name}"):
        try:
            real = Path(os.path.realpath(folder / path.lstrip("/")))
            if path and real.is_relative_to(root) and real.is_file():
                yield real
        except (OSError, ValueError):  # names that no file can have
            continue
