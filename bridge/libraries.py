"""Libraries: folders that are searched after a score's own, in their order; a character's, then the preferences'."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ..core.library.library import Library
from ..core.pha.document import Document
from . import language

PACKAGE = (__package__ or "").rpartition(".")[0]
"""The name that Blender knows the extension by."""
SAMPLES: Final = Path(os.path.realpath(__file__)).parents[1] / "samples" / "library"
"""Clips and scores to begin with, where there are no others."""


class TaktFolder(bpy.types.PropertyGroup):
    """A folder with clips and scores."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(name="Library", subtype="DIR_PATH",
                             description="A folder below which clips and scores lie")


class Libraries:
    """What the preferences keep of libraries; the annotations of their class."""

    if TYPE_CHECKING:
        libraries: bpy.types.bpy_prop_collection_idprop[TaktFolder]
        library_index: int
    else:
        libraries: CollectionProperty(type=TaktFolder)
        library_index: IntProperty()


def kept() -> Libraries | None:
    """Return the preferences, None where the extension runs without being installed as one."""
    preferences = bpy.context.preferences
    entry = None if preferences is None else preferences.addons.get(PACKAGE)
    return None if entry is None or entry.preferences is None else cast(Libraries, entry.preferences)


def folders(own: Iterable[TaktFolder] = ()) -> tuple[Path, ...]:
    """Return a character's own folders and those named in the preferences, in their order."""
    found = kept()
    every = (*own, *(() if found is None else found.libraries))
    return tuple(Path(bpy.path.abspath(folder.path)) for folder in every if folder.path)


def may_be_chosen(library: Library, document: Document) -> bool:
    """Tell whether a score's library may still be chosen: it has none, or the samples and calls nothing of them."""
    return not library.roots or (library.roots[0] == SAMPLES and not document.loads and not document.includes)


def register() -> None:
    """Make the folders known to Blender, before the preferences that list them."""
    language.register_class(TaktFolder)


def unregister() -> None:
    """Take them out again, after the preferences."""
    bpy.utils.unregister_class(TaktFolder)
