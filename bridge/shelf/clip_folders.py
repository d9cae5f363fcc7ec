"""The folders in which a character's score looks for clips: its library, then further folders in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import bpy

from ...core.errors import FileError, TaktError
from ...core.formats import endings
from ...core.library.files import check_library
from ...core.library.library import SCORE_SUFFIX, Library
from .. import changes, libraries, paths, properties
from ..reports import words_of
from ..scores import score_blocks
from . import shelf


def add(armature_object: bpy.types.Object, folder: Path) -> bool:
    """Add a folder to those in which a character's score looks for clips; return whether it is new.

    If the score calls nothing from its library yet, or has none, the folder becomes its library. Raises FileError if
    the folder does not exist or is a system folder, if the character is linked, or if the score's mistakes hide its
    library.
    """
    if not folder.is_dir():
        raise FileError.at("is no folder, expected one with clips in it", folder)
    check_library(folder)
    library, blocks = _library(armature_object), score_blocks.refresh(armature_object)
    real = Path(os.path.realpath(folder))
    if real in library.roots:
        return False
    if not armature_object.is_editable:
        raise FileError.at(f"cannot be added: '{armature_object.name}' is linked; choose one of its own folders",
                           folder)
    character = properties.character(armature_object)
    assert blocks.layout is not None  # a library was read
    if libraries.may_be_chosen(library, blocks.layout.documents[0]):
        character.library = paths.kept(str(folder))
    else:
        character.folders.add().path = paths.kept(str(folder))
    changes.score()
    score_blocks.refresh(armature_object)
    return True


def bring(armature_object: bpy.types.Object, path: Path, write: Callable[[], None] | None = None) -> str:
    """Return the src by which a character's score calls a file; its folder is added to the search if needed.

    write: writes the file, and is called last, when nothing else can fail. Raises FileError if the file does not exist,
    if no score can name it, or if another file has its name; also what write raises.
    """
    library, before = _library(armature_object), searched(armature_object)
    if write is None and not path.is_file():
        raise FileError.at("is not there", path)
    ending = max((each for each in (*endings(), SCORE_SUFFIX) if path.name.endswith(each)), key=len, default="")
    try:
        src = shelf.src_of(library, path, is_new=write is not None)
        if not src and not ending:
            raise FileError.at(f"is no file of clips that Takt reads: {', '.join(endings())}", path)
        if not src and not all(path.name.removesuffix(ending).split(".")):
            raise FileError.at(shelf.HAS_DOT, path)
        if not src:
            add(armature_object, path.parent)
            src = shelf.src_of(_library(armature_object), path, is_new=write is not None)
        if not src:
            raise FileError.at("has the same name as a file in the score's library; rename one", path)
        if write is not None:
            write()
    except (TaktError, OSError):
        search_only(armature_object, before)
        raise
    return src


def searched(armature_object: bpy.types.Object) -> tuple[str, int]:
    """Return a character's library, and the number of further folders that are searched."""
    character = properties.character(armature_object)
    return character.library, len(character.folders)


def search_only(armature_object: bpy.types.Object, before: tuple[str, int]) -> None:
    """Remove the folders that were added after `before` was returned by `searched`."""
    if searched(armature_object) == before:
        return
    character = properties.character(armature_object)
    character.library = before[0]
    for _ in range(len(character.folders) - before[1]):
        character.folders.remove(len(character.folders) - 1)
    changes.score()
    score_blocks.refresh(armature_object)


def bring_all(armature_object: bpy.types.Object, files: Iterable[Path]) -> tuple[list[str], list[str]]:
    """Bring several files; return their srcs, and the errors of those that could not be brought."""
    brought, wrong = [], []
    for path in files:
        try:
            brought.append(bring(armature_object, path))
        except (TaktError, OSError) as error:
            wrong.append(words_of(error))
    return brought, wrong


def move(armature_object: bpy.types.Object, index: int, by: int) -> bool:
    """Move one of the further folders one place up (by: −1) or down (1) in the search; return whether it moved."""
    folders = properties.character(armature_object).folders
    if not (0 <= index < len(folders) and 0 <= index + by < len(folders)):
        return False
    folders.move(index, index + by)
    changes.score()
    score_blocks.refresh(armature_object)
    return True


def _library(armature_object: bpy.types.Object) -> Library:
    blocks = score_blocks.refresh(armature_object)
    library = None if blocks.scores is None else blocks.scores.library
    if not isinstance(library, Library):
        raise FileError.at("the score has mistakes; correct them in its text first")
    return library
