"""File formats: bytes in, values out (and back). Nothing in here opens a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..clip import Clip
from ..errors import FileError
from . import bvh, ogre_binary, ogre_xml

Reader = Callable[[bytes, Path], tuple[Clip, ...]]


def _ogre_binary(data: bytes, path: Path) -> tuple[Clip, ...]:
    return ogre_binary.read(data, path).played


def _ogre_xml(data: bytes, path: Path) -> tuple[Clip, ...]:
    return ogre_xml.read(data, path).played


def _bvh(data: bytes, path: Path) -> tuple[Clip, ...]:
    return (bvh.read(data, path).clip,)


CLIP_READERS: dict[str, Reader] = {
    ".skeleton": _ogre_binary,
    ".skeleton.xml": _ogre_xml,
    ".bvh": _bvh,
}
"""How each kind of clip file is read, by its ending in lower case."""


def read_clips(data: bytes, path: Path) -> tuple[Clip, ...]:
    """Read all clips of a file, by the ending of its name.

    data: the whole file; path: names the format and stands in messages.
    Raises FileError for an ending without reader and for what cannot be read.
    """
    name = path.name.lower()
    for ending in sorted(CLIP_READERS, key=len, reverse=True):
        if name.endswith(ending):
            return CLIP_READERS[ending](data, path)
    raise FileError.at(f"clips of this kind cannot be read; endings that can: {', '.join(CLIP_READERS)}", path)
