"""The music of the score kept with an armature: which file, and where tick 0 lies in it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import bpy

from ..core.errors import TaktError
from ..core.library.library import Library
from ..core.pha.document import Document, parse
from . import libraries, properties, score, sound

_MOST_BASES = 100


class ScoreMusic(NamedTuple):
    """A sound file, and how many seconds into it tick 0 lies."""

    path: Path
    offset_s: float


def document_of(armature_object: bpy.types.Object) -> Document:
    """Read the text of the score; raise TaktError where there is none, or where it is no XML."""
    character = properties.character(armature_object)
    if character.text is None:
        raise TaktError(f"'{armature_object.name}' has no score")
    own = properties.score_path(character)
    path = Path(bpy.path.abspath(own)) if own else None
    return parse(character.text.as_string(), path)


def library_of(armature_object: bpy.types.Object, document: Document) -> Library:
    """Return the folders in which the score's files are looked up."""
    chosen = properties.character(armature_object).library
    roots = [Path(bpy.path.abspath(chosen))] if chosen else []
    return Library(roots, further=libraries.folders()).beside(document)


def music_of(armature_object: bpy.types.Object) -> ScoreMusic | None:
    """Return the score's music, its own or inherited; None where it has none.

    Raises TaktError where a file is not there or cannot be read.
    """
    document = document_of(armature_object)
    library = library_of(armature_object, document)
    for _ in range(_MOST_BASES):
        if document.music is not None:
            return ScoreMusic(library.sound_path(document.music.src), document.music.offset_s)
        if document.extends is None:
            return None
        document = library.module(library.module_path(document.extends.src))
    return None


def play_along(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Let the scene play the score's music so that tick 0 sounds where the score begins; stop it where it has none."""
    music = music_of(armature_object)
    if music is None:
        sound.stop(scene)
        return
    start = properties.character(armature_object).frame_start
    sound.play_along(scene, music.path, start - music.offset_s * score.frames_per_second(scene))
