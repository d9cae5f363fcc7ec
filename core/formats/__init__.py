"""File formats: bytes in, values out (and back). Nothing in here opens a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from . import bvh, collada, gltf, of_blender, ogre_binary, ogre_xml, rite, usd, x3d
from .format import Format

FORMATS: Final[dict[str, Format]] = {entry.identifier: entry for entry in (
    ogre_binary.FORMAT, ogre_xml.FORMAT, bvh.FORMAT, gltf.FORMAT, of_blender.FBX, of_blender.BLEND, rite.FORMAT,
    x3d.FORMAT, x3d.CLASSIC, x3d.VRML, x3d.COMPRESSED, gltf.VRM, gltf.VRMA,
    collada.FORMAT, usd.FORMAT)}
"""All formats of clips by identifier, in the order in which files of one name are looked for."""


def format_of(path: Path, formats: Mapping[str, Format] = FORMATS) -> Format | None:
    """Return the format of a file by the ending of its name, in upper or lower case; the longest ending counts.

    >>> format_of(Path("feet/Steps.Skeleton.XML")).label, format_of(Path("walk.txt"))
    ('OGRE XML', None)
    """
    name = path.name.lower()
    found = [(len(ending), entry) for entry in formats.values() for ending in entry.endings if name.endswith(ending)]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def endings(formats: Mapping[str, Format] = FORMATS, *, read: bool = False, written: bool = False) -> tuple[str, ...]:
    """Return the endings of all formats; read, written: only of the formats that core itself reads, or writes.

    >>> endings(written=True)
    ('.skeleton', '.skeleton.xml', '.bvh', '.x3d', '.x3dv', '.vrma')
    """
    return tuple(ending for entry in formats.values() for ending in entry.endings
                 if (entry.read or not read) and (entry.write or not written))
