"""The music of the score kept with an armature: which file, and where tick 0 lies in it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import bpy

from ..core.errors import TaktError
from ..core.library.library import Library
from ..core.pha.document import Document
from ..core.score_editor import music
from . import performing, properties, score, sound


class ScoreMusic(NamedTuple):
    """A sound file, and how many seconds into it tick 0 lies."""

    path: Path
    offset_s: float


def read(armature_object: bpy.types.Object) -> tuple[Document, Library]:
    """Read the text of the score, and find its library; raise TaktError where there is none, or where it is no XML."""
    character = properties.character(armature_object)
    if character.text is None:
        raise TaktError(f"'{armature_object.name}' has no score")
    return performing.read_score(character.text.as_string(), character, armature_object)


def music_of(armature_object: bpy.types.Object) -> ScoreMusic | None:
    """Return the score's music, its own or inherited; None where it has none.

    Raises TaktError where a file is not there or cannot be read.
    """
    document, library = read(armature_object)
    found = music.music_of(document, library)
    return None if found is None else ScoreMusic(library.sound_path(found.src), found.offset_s)


def play_along(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Let the scene play the score's music so that tick 0 sounds where the score begins; stop it where it has none."""
    own = music_of(armature_object)
    if own is None:
        sound.stop(scene)
        return
    start = properties.character(armature_object).frame_start
    sound.play_along(scene, own.path, start - own.offset_s * score.frames_per_second(scene))
