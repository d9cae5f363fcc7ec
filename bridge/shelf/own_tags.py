"""The user's own tags for clips of the shelf, written to the file takt.tags beside the clips."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...core.classes import tags_file
from ...core.errors import TaktError
from ...core.score_editor.commands import Playable
from . import shelf


def of_clip(armature_object: bpy.types.Object, clip: Playable) -> tuple[str, ...]:
    """Return the user's tags of a clip."""
    search = shelf.search_of(armature_object)
    return () if search is None else search.own_tags.get(search.tagged_as(clip), ())


def named(armature_object: bpy.types.Object, name: str) -> Playable | None:
    """Return the clip of the library with a full name, or whose file has that name; None if there is none."""
    return next((each for each in shelf.playables(armature_object)
                 if each.is_clip and name in (each.full_name, each.src)
                 and shelf.path_of(armature_object, each) is not None), None)


def give(armature_object: bpy.types.Object, clip: Playable, tags: tuple[str, ...]) -> None:
    """Replace the user's tags of a clip, and show them.

    They are written where the clip already has tags, else in the library folder that holds its file. Raises TaktError
    if they cannot be written; then the old tags stay.
    """
    search = shelf.search_of(armature_object)
    place = None if search is None else search.place_of_tags(clip)
    if search is None or place is None:
        raise TaktError(f"'{clip.full_name}' is in none of the score's folders; choose Rebuild, and try once more")
    folder, prefix, name = place
    tags_file.with_tags(Path(folder), name.removeprefix(prefix), tags)
    for each in {search, search.latest}:
        each.take_tags(clip.src, name, place, tags)
