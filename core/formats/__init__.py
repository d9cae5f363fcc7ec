"""File formats: bytes in, values out (and back). Nothing in here opens a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..clips.clip import Clip
from ..errors import FileError
from . import bvh, ogre_binary, ogre_xml, rite
from .ogre import OgreSkeleton

Reader = Callable[[bytes, Path], OgreSkeleton]


def _bvh(data: bytes, path: Path) -> OgreSkeleton:
    clip = bvh.read(data, path).clip
    return OgreSkeleton.of(clip.skeleton, (clip,))


SKELETON_READERS: dict[str, Reader] = {
    ".skeleton": ogre_binary.read,
    ".skeleton.xml": ogre_xml.read,
    ".bvh": _bvh,
}
"""How each kind of file with a skeleton and clips is read, by its ending in lower case."""


BESIDE = {".raa": ".ram"}
"""Endings of files that say nothing without another one that lies beside them."""


def read_clips_beside(data: bytes, path: Path, other: bytes, other_path: Path) -> tuple[Clip, ...]:
    """Read all clips of a file whose ending is in BESIDE, and of the file beside it."""
    return (rite.read(data, path, other, other_path),)


def read_clips(data: bytes, path: Path) -> tuple[Clip, ...]:
    """Read all clips of a file, as they move its skeleton; see read_skeleton."""
    return read_skeleton(data, path).played


def read_skeleton(data: bytes, path: Path) -> OgreSkeleton:
    """Read the skeleton and the clips of a file, by the ending of its name.

    data: the whole file; path: names the format and stands in messages.
    Raises FileError for an ending without reader and for what cannot be read.
    """
    name = path.name.lower()
    for ending in sorted(SKELETON_READERS, key=len, reverse=True):
        if name.endswith(ending):
            return SKELETON_READERS[ending](data, path)
    raise FileError.at(f"clips of this kind cannot be read; endings that can: {', '.join(SKELETON_READERS)}", path)
