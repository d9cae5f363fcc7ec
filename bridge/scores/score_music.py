"""The music of the score kept with an armature: which file, and where tick 0 lies in it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import bpy

from ...core.errors import FileError, TaktError
from ...core.library.library import SOUND_ENDINGS, Library
from ...core.pha.document import Document
from ...core.score_editor import music
from .. import libraries, paths, properties
from ..frame_rate import frames_per_second
from . import performing, sound


class ScoreMusic(NamedTuple):
    """A sound file, and how many seconds into it tick 0 lies."""

    path: Path
    offset_s: float


def read(armature_object: bpy.types.Object) -> tuple[Document, Library]:
    """Read the text of the score, and find its library; raise TaktError if there is none, or where it is no XML."""
    character = properties.character(armature_object)
    if character.text is None:
        raise TaktError(f"'{armature_object.name}' has no score")
    return performing.read_score(character.text.as_string(), character, armature_object)


def music_of(armature_object: bpy.types.Object) -> ScoreMusic | None:
    """Return the score's music, its own or inherited, or None if it has none.

    Raises TaktError if a file is not there or cannot be read.
    """
    document, library = read(armature_object)
    found = music.music_of(document, library)
    path = None if found is None else path_of(armature_object, library, found.src)
    return None if found is None or path is None else ScoreMusic(path, found.offset_s)


def path_of(armature_object: bpy.types.Object, library: Library, src: str) -> Path:
    """Return the sound file that a score names: below its library, or where the character knows it to lie.

    Raises FileError if it is neither here nor there.
    """
    beyond = _beyond(armature_object, src)
    try:
        return library.sound_path(src)
    except FileError:
        if beyond is None:
            raise
    if not beyond.is_file():
        raise FileError.at(f"the music {src!r} is gone; bring this file back, or choose the music again", beyond)
    return beyond


def is_gone(armature_object: bpy.types.Object, src: str) -> bool:
    """Tell whether music that does not lie in the library is no longer where it was; cheap enough for every drawing."""
    beyond = _beyond(armature_object, src)
    return beyond is not None and not beyond.is_file()


def src_of(library: Library, path: Path) -> tuple[str, str]:
    """Return by what a score names a sound file, and the path to be kept for it: "" if it lies in the library.

    That is relative to the .blend where it can be. Raises FileError if its ending is none of a sound's.
    """
    try:
        return library.src_of_sound(path), ""
    except FileError:
        if path.suffix.lower() not in SOUND_ENDINGS or not path.is_file():
            raise
    return music.src_beyond(path), paths.kept(str(path))


def _beyond(armature_object: bpy.types.Object, src: str) -> Path | None:
    """Return the file that the character keeps for this name."""
    kept = properties.character(armature_object).sound
    path = Path(libraries.absolute(kept, armature_object)) if kept else None
    return path if path is not None and music.src_beyond(path) == src else None


def play_along(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Let the scene play the score's music so that tick 0 sounds where the score begins; stop it where it has none."""
    own = music_of(armature_object)
    if own is None:
        sound.stop(scene)
        return
    start = properties.character(armature_object).frame_start
    sound.play_along(scene, own.path, start - own.offset_s * frames_per_second(scene))
