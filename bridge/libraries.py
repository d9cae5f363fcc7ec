"""Libraries: folders that are searched after a score's own, in their order; a character's, then the preferences'."""

import os
from collections.abc import Iterable
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any, Final, cast

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from ..core.library.library import Library
from ..core.pha.document import Document
from . import language

PACKAGE = (__package__ or "").rpartition(".")[0]
"""The name by which Blender knows the extension."""
SAMPLES: Final = Path(os.path.realpath(__file__)).parents[1] / "samples" / "library"
"""The folder with sample clips and scores."""
_SAMPLES_ANYWHERE: Final = (PACKAGE.rpartition(".")[2], *SAMPLES.parts[-2:])
"""The last parts of the path of the samples' folder, wherever the extension is installed."""


class TaktFolder(bpy.types.PropertyGroup):
    """A folder with clips and scores."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(name="Library", subtype="DIR_PATH",
                             description="A folder with clips and scores, which may be in its subfolders")


class TaktOwnFolder(bpy.types.PropertyGroup):
    """A folder that belongs to one character, which may be stored relative to the .blend."""

    if TYPE_CHECKING:
        path: str
    else:
        path: StringProperty(name="Library", subtype="DIR_PATH", options={"PATH_SUPPORTS_BLEND_RELATIVE"},
                             description="A folder with clips and scores, which may be in its subfolders")


class Libraries:
    """The properties of libraries in the preferences."""

    if TYPE_CHECKING:
        libraries: bpy.types.bpy_prop_collection_idprop[TaktFolder]
        library_index: int
    else:
        libraries: CollectionProperty(type=TaktFolder)
        library_index: IntProperty()


def kept() -> Libraries | None:
    """Return the preferences, or None if the extension is not installed as one."""
    preferences = bpy.context.preferences
    entry = None if preferences is None else preferences.addons.get(PACKAGE)
    return None if entry is None or entry.preferences is None else cast(Libraries, entry.preferences)


def folders(own: Iterable[TaktOwnFolder] = ()) -> tuple[Path, ...]:
    """Return a character's own folders and those named in the preferences, in their order."""
    found = kept()
    return (*(Path(absolute(folder.path, folder.id_data)) for folder in own if folder.path),
            *(Path(bpy.path.abspath(folder.path)) for folder in (() if found is None else found.libraries)
              if folder.path))


def absolute(path: str, owner: bpy.types.ID | None) -> str:
    """Return the absolute path of a stored path, relative to the .blend from which its owner came; "" for none.

    A path to Takt's samples leads to those of this Blender, even if the .blend is from another Blender or computer.
    """
    if not path:
        return ""
    parts = PureWindowsPath(path).parts
    for end in range(len(parts), 2, -1):
        if parts[end - 3:end] == _SAMPLES_ANYWHERE:
            return str(SAMPLES.joinpath(*parts[end:]))
    library = None if owner is None else base_of(owner, path)
    return os.path.normpath(bpy.path.abspath(path, library=library))


def base_of(owner: bpy.types.ID, path: str) -> bpy.types.Library | None:
    """Return the library whose file is the base of a relative path; None: the open file.

    An override has the paths of its original from there, until they are changed.
    """
    override = owner.override_library
    reference = None if override is None else override.reference
    if reference is None:
        return owner.library
    theirs: Any = getattr(reference, "takt", None)
    paths = () if theirs is None else (theirs.filepath, theirs.library, theirs.sound,
                                       *(folder.path for folder in theirs.folders))
    return reference.library if path in paths else None


def may_be_chosen(library: Library, document: Document) -> bool:
    """Return whether a score's library may still be chosen: there is none, or only samples, which it does not use."""
    return not library.roots or (library.roots[0] == SAMPLES and not document.loads and not document.includes)


def register() -> None:
    """Register the folders, before the preferences that list them."""
    language.register_class(TaktFolder)
    language.register_class(TaktOwnFolder)


def unregister() -> None:
    """Unregister the folders, after the preferences."""
    bpy.utils.unregister_class(TaktOwnFolder)
    bpy.utils.unregister_class(TaktFolder)
