"""COLLADA (`.dae`): the skeletons of its skins and of its joint nodes, with their animations.

Joints rest in the pose in which their skins were bound. All animations form one clip, unless the file divides them into
clips. Lengths are converted to metres, with Y up.
Source: Khronos Group, COLLADA 1.4.1 specification.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ..clips.clip_file import ClipFile
from . import collada_character
from .collada_data import ColladaData
from .collada_figures import figures
from .format import Format
from .node_clips import named_apart, of_whom, places_of
from .placed import distortions_of


def read(data: bytes, path: Path | None = None) -> ClipFile:
    """Read a COLLADA file: a skeleton for each body in it, and a clip for each animation clip and body that it moves.

    path: for messages; its name is the clip's if the file gives none.
    Raises FileError, with the line, for content that cannot be read, and if there is nothing that could move.
    """
    document = ColladaData(data, path)
    found = figures(document)
    clips, warnings = [clip for _, clip in found.clips], found.warnings + document.warnings()
    if not clips:
        warnings += ("has no animation that moves a body; its skeleton can play",)
    apart, places = named_apart(clips), places_of(found.scene.tree, found.bodies)
    warnings += of_whom(apart) + distortions_of(apart, places)
    return ClipFile(clips[0].skeleton if clips else found.bodies[0].skeleton, apart, warnings=warnings, places=places)


FORMAT: Final = Format("COLLADA", "COLLADA", (".dae",), read=lambda source: read(source.data, source.path),
                       read_characters=lambda source: collada_character.read(source.data, source.path), begins=("<",))
