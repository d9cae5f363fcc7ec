"""The waveform of the music under a score's ruler, found once for as long as the score names the same file."""

from collections.abc import Hashable
from pathlib import Path

import bpy

from ...bridge import properties, score_music, score_tree, sound
from ...core.errors import TaktError
from ...core.music.waveform import Waveform
from ...core.score_editor.layout import Layout

_MOST = 32
_paths: dict[Hashable, Path] = {}
"""Of the music of scores, by all that they depend on."""


def waveform_of(armature_object: bpy.types.Object, layout: Layout) -> Waveform | None:
    """Return the waveform of a score's own music; None where it has none, and until it is decoded.

    The editors are drawn anew when it is there. Cheap enough for every drawing.
    """
    document, character = layout.documents[0], properties.character(armature_object)
    if document.music is None:
        return None
    key = document.music.src, character.filepath, character.library
    if key not in _paths:
        if len(_paths) >= _MOST:
            _paths.clear()
        try:
            _paths[key] = score_music.library_of(armature_object, document).sound_path(document.music.src)
        except TaktError:
            return None  # which is among the score's problems
    return sound.waveform(_paths[key], score_tree.redraw)


def forget() -> None:
    """Look for all files anew."""
    _paths.clear()
