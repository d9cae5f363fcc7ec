"""The music of an armature's score: its file, and the offset of tick 0."""

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
    """A sound file, and the time in it, in seconds, at tick 0."""

    path: Path
    offset_s: float


def read(armature_object: bpy.types.Object) -> tuple[Document, Library]:
    """Return the document of the score, and its library; raise TaktError if there is none, or it is not XML."""
    character = properties.character(armature_object)
    if character.text is None:
        raise TaktError(f"'{armature_object.name}' has no score")
    return performing.read_score(character.text.as_string(), character, armature_object)


def music_of(armature_object: bpy.types.Object) -> ScoreMusic | None:
    """Return the score's music, its own or inherited, or None if it has none.

    Raises TaktError if a file does not exist or cannot be read.
    """
    document, library = read(armature_object)
    found = music.music_of(document, library)
    path = None if found is None else path_of(armature_object, library, found.src)
    return None if found is None or path is None else ScoreMusic(path, found.offset_s)


def path_of(armature_object: bpy.types.Object, library: Library, src: str) -> Path:
    """Return the sound file of a score: below its library, or at the path that the character stores.

    Raises FileError if it is in neither place.
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
    """Return whether music outside of the library no longer exists; fast enough for every drawing."""
    beyond = _beyond(armature_object, src)
    return beyond is not None and not beyond.is_file()


def src_of(library: Library, path: Path) -> tuple[str, str]:
    """Return the src of a sound file in a score, and the path to store for it: "" if it is in the library.

    The path is relative to the .blend if possible. Raises FileError if its ending is not that of a sound file.
    """
    try:
        return library.src_of_sound(path), ""
    except FileError:
        if path.suffix.lower() not in SOUND_ENDINGS or not path.is_file():
            raise
    return music.src_beyond(path), paths.kept(str(path))


def _beyond(armature_object: bpy.types.Object, src: str) -> Path | None:
    """Return the file that the character stores for this src, or None."""
    kept = properties.character(armature_object).sound
    path = Path(libraries.absolute(kept, armature_object)) if kept else None
    return path if path is not None and music.src_beyond(path) == src else None


def play_along(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Let the scene play the score's music, with tick 0 where the score begins; stop it if there is none."""
    own = music_of(armature_object)
    if own is None:
        sound.stop(scene)
        return
    start = properties.character(armature_object).frame_start
    sound.play_along(scene, own.path, start - own.offset_s * frames_per_second(scene))
