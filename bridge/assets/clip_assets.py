"""Clips of the library as assets: each becomes an Action on a character, with its picture, tags and catalogue.

The user's own Actions are never overwritten. A clip that is an asset of this character already is left as it is.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import bpy

from ...core.clips.clip import Clip
from ...core.errors import FileError, TaktError, some_of
from ...core.library import asset_catalogues
from ...core.score_editor.commands import Playable
from ...core.score_editor.figure_image import figure_image
from ...core.score_editor.figures import Figure
from .. import properties
from ..actions import clip_of_action
from ..actions.play_clips import ClipPlayer, ClipSettings
from ..reports import Told, words_of
from ..shelf import shelf
from ..shelf.shelf_search import Known, figure_of_clip

MOST: Final = 1_000
"""Greatest number of clips that become Actions at once."""
CATALOGUE: Final = "Clips"
"""The catalogue that contains those of all folders."""
_PICTURE_PX: Final = 128
_SHOWN: Final = 5


class _Wanted(NamedTuple):
    """A clip that is to become an asset, and the name of its Action."""

    chip: Playable
    path: Path
    name: str
    clip: Clip


def mark_clips(armature_object: bpy.types.Object, scene: bpy.types.Scene, chips: Sequence[Playable]
               ) -> Generator[float, None, list[Told]]:
    """Make assets of clips on the shelf, one at each step; return the messages about them.

    If it is stopped, the Actions that it has made are removed. Raises TaktError if none can be made.
    """
    files = _by_file(armature_object, chips)
    folder = _folder_of_catalogues()
    told, ids = list[Told](), dict[str, str]()
    with suppress(TaktError, OSError):  # the error is reported when it is written
        ids = {} if folder is None else asset_catalogues.read(folder)
    player = ClipPlayer.of(armature_object, files, ClipSettings(
        mute_constraints=properties.character(armature_object).mute_constraints))
    made, catalogues, kept, wrong = list[bpy.types.Action](), set[str](), 0, list[str]()
    before = {action.session_uid for action in bpy.data.actions}
    try:
        for number, (path, wanted) in enumerate(files.items()):
            try:
                for each in _clips(player, path, wanted):
                    catalogue = asset_catalogues.catalogue_of(each.chip.src, CATALOGUE)
                    catalogues.add(catalogue)
                    if _is_asset(armature_object, each):
                        kept += 1
                        continue
                    action = player.write(path, each.name, player.played(player.retargeted(each.clip)), scene,
                                          is_played=False)
                    made.append(action)
                    _mark(action, each, shelf.figures(armature_object),
                          ids.get(catalogue) or asset_catalogues.identifier(catalogue))
            except (TaktError, OSError) as error:
                wrong.append(f"{path.name}: {words_of(error)}")
            yield (number + 1) / len(files)
        if not made and not kept:
            raise TaktError("no clip could be made an asset: " + some_of(wrong, _SHOWN))
    except BaseException:
        _take_back(made, before)
        raise
    told += [("WARNING", each) for each in wrong[:_SHOWN]]
    told += _write_catalogues(folder, catalogues)
    already = f"; already assets: {kept}" if kept else ""
    failed = f"; refused: {len(wrong)}" if wrong else ""
    told.append(("INFO", f"Clips marked as assets: {len(made)}{already}{failed}"))
    return told


def _by_file(armature_object: bpy.types.Object, chips: Sequence[Playable]) -> dict[Path, list[Playable]]:
    """Return the clips of each file; raise TaktError if there are none, or too many."""
    files = dict[Path, list[Playable]]()
    for chip in chips:
        path = shelf.path_of(armature_object, chip)
        if path is not None and chip.is_clip:
            files.setdefault(path, []).append(chip)
    count = sum(map(len, files.values()))
    if not count:
        raise TaktError("no clips of the library are shown on the shelf; clear the search, or add a folder of clips")
    if count > MOST:
        raise TaktError(f"{count:,} clips are shown; at most {MOST:,} become assets at once: search for fewer")
    return files


def _clips(player: ClipPlayer, path: Path, chips: Iterable[Playable]) -> list[_Wanted]:
    """Return the wanted clips of a file; all of them if the file was not read yet."""
    found = player.read(path)
    by_name = {chip.name: chip for chip in chips}
    unread = next((chip for chip in by_name.values() if not chip.is_read), None)
    chips_of = {name: by_name.get(clip.name, by_name.get(name, unread)) for name, clip in found.items()}
    wanted = [_Wanted(chip, path, name, found[name]) for name, chip in chips_of.items() if chip is not None]
    if not wanted:
        raise TaktError("holds nothing that can be played")
    return wanted


def _is_asset(armature_object: bpy.types.Object, wanted: _Wanted) -> bool:
    """Return whether an Action that was made of this clip for this character is an asset."""
    made_of = clip_of_action.digest(wanted.path, wanted.name)
    return any(action.asset_data is not None and getattr(action, properties.OF_CLIP) == made_of
               and any(slot.name_display == armature_object.name for slot in action.slots)
               for action in bpy.data.actions)


def _mark(action: bpy.types.Action, wanted: _Wanted, figures: Mapping[Playable, Figure], catalogue: str) -> None:
    """Set an Action's picture, tags and catalogue for the Asset Browser."""
    action.use_fake_user = True
    action.asset_mark()
    data = action.asset_data
    assert data is not None
    data.catalog_id = catalogue
    data.description = wanted.chip.full_name
    found = wanted.clip.derived(Known.of, wanted.chip.src)  # even if the shelf has not computed it yet
    for tag in dict.fromkeys((*wanted.chip.tags, *(() if found is None else found.words))):
        data.tags.new(tag, skip_if_exists=True)
    if not wanted.clip.skeleton.names:
        return
    figure = figures.get(wanted.chip) or wanted.clip.derived(figure_of_clip)
    preview: Any = action.preview_ensure()
    preview.image_size = (_PICTURE_PX, _PICTURE_PX)
    preview.image_pixels_float.foreach_set(figure_image(figure, _PICTURE_PX).ravel())


def _take_back(made: Iterable[bpy.types.Action], before: set[int]) -> None:
    """Remove new Actions, and unmark rewritten ones as assets."""
    for action in made:
        with suppress(ReferenceError):
            if action.session_uid in before:
                action.asset_clear()
            else:
                bpy.data.actions.remove(action)


def _folder_of_catalogues() -> Path | None:
    """Return the folder of the .blend's catalogue file: its asset library, else its own folder; None while unsaved."""
    if not bpy.data.filepath:
        return None
    folder = Path(os.path.realpath(bpy.data.filepath)).parent
    assert bpy.context.preferences is not None
    libraries: Any = bpy.context.preferences.filepaths.asset_libraries
    roots = (Path(os.path.realpath(bpy.path.abspath(each.path))) for each in libraries if each.path)
    return next((root for root in roots if folder.is_relative_to(root)), folder)


def _write_catalogues(folder: Path | None, catalogues: Iterable[str]) -> list[Told]:
    if folder is None:
        return [("WARNING", "The catalogues cannot be listed before the file is saved: save it, and mark the clips "
                            "once more")]
    try:
        asset_catalogues.add(folder, catalogues)
    except (FileError, OSError) as error:
        return [("WARNING", f"The catalogues cannot be listed: {words_of(error)}")]
    return []
