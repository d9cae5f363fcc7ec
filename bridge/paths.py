"""Stored paths of characters, relative to the .blend as Blender's own, so that both can be moved together.

When a file is saved in another folder, or data are appended, Blender adapts only paths of data blocks; here this is
done for those of characters.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import bpy
from bpy.app import handlers

from . import libraries, properties, versions
from .actions import write_motion
from .guard import guarded

_NAMES = ("filepath", "library", "sound")


class _Kept(NamedTuple):
    """A stored path: its object, and the property of an owner that holds it."""

    owner: bpy.types.Object
    holder: Any
    name: str

    @property
    def path(self) -> str:
        """The path as stored."""
        return str(getattr(self.holder, self.name))


_before: list[tuple[int, str]] = []
"""All stored paths as they were before saving, with the session_uid of their objects."""


def kept(path: str) -> str:
    """Return a path as it is to be stored: relative to the .blend if that is saved and the preferences want it."""
    return _relative(path, str(Path(bpy.data.filepath).parent)) if bpy.data.filepath else path


def _relative(path: str, folder: str) -> str:
    """Return a path relative to a folder, in Blender's spelling; unchanged if that is not possible or wanted."""
    preferences = bpy.context.preferences
    wants = preferences is not None and preferences.filepaths.use_relative_paths
    is_own = Path(libraries.SAMPLES) in (Path(path), *Path(path).parents)  # installed files are not moved along
    if not path or path.startswith("//") or not wants or is_own:
        return path
    try:
        return bpy.path.relpath(path, start=folder)
    except ValueError:  # on another drive
        return path


def _all(objects: Iterable[bpy.types.Object]) -> Iterator[_Kept]:
    """Yield all stored paths of objects in this file, without those that an override has from its own file."""
    for ob in objects:
        if ob.type != "ARMATURE" or ob.library is not None or versions.saved_settings(ob, properties.NAME) is None:
            continue
        character = properties.character(ob)
        found = (*(_Kept(ob, character, name) for name in _NAMES),
                 *(_Kept(ob, folder, "path") for folder in character.folders))
        yield from (each for each in found if each.path and libraries.base_of(ob, each.path) is None)


def _moved(path: str, from_folder: str, to_folder: str, *, is_first: bool) -> str:
    """Return a path adapted to another folder, so that it leads to the same place.

    is_first: the .blend is saved for the first time; otherwise an absolute path stays absolute, unless below the
    folder.
    """
    if path.startswith("//"):
        return _relative(_joined(from_folder, path), to_folder) if from_folder else path
    return _relative(path, to_folder) if is_first or Path(to_folder) in Path(path).parents else path


def _joined(folder: str, path: str) -> str:
    return os.path.normpath(Path(folder) / path[2:])


def _write(changed: list[tuple[_Kept, str]]) -> None:
    """Write paths that lead to the same place as before, so that Actions stay up to date."""
    scene = bpy.context.scene
    owners = {each.owner.session_uid: each.owner for each, _ in changed}.values()
    current = [(ob, action) for ob in owners if scene is not None
               and (action := properties.character(ob).action) is not None and action.is_editable
               and getattr(action, properties.MADE_FROM) == write_motion.digest(ob, scene)]
    for each, path in changed:
        setattr(each.holder, each.name, path)
    for ob, action in current:
        assert scene is not None
        setattr(action, properties.MADE_FROM, write_motion.digest(ob, scene))


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
@guarded(None)
def _before_saving(path: str, *_: object) -> None:
    _before.clear()
    if not path:  # the startup file
        return
    every, old = list(_all(bpy.data.objects)), bpy.data.filepath
    _before.extend((each.owner.session_uid, each.path) for each in every)
    old_folder, new_folder = str(Path(old).parent) if old else "", str(Path(path).parent)
    moved = [(each, _moved(each.path, old_folder, new_folder, is_first=not old)) for each in every]
    _write([(each, new) for each, new in moved if new != each.path])


@handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _after_saving(path: str, *_: object) -> None:
    """Restore adapted paths after a copy was saved, since the open file is elsewhere."""
    if path and bpy.data.filepath != path:
        now = zip(_all(bpy.data.objects), _before, strict=False)
        _write([(each, before) for each, (uid, before) in now
                if each.owner.session_uid == uid and each.path != before])
    _before.clear()


@handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _after_import(imported: Any, *_: object) -> None:
    """Adapt paths of appended characters, so that they lead to the same place as in their own file."""
    for item in imported.import_items:
        if item.source_library is not None and isinstance(item.id, bpy.types.Object):
            source = Path(bpy.path.abspath(item.source_library.filepath)).parent
            _write([(each, kept(_joined(str(source), each.path))) for each in _all((item.id,))
                    if each.path.startswith("//")])


_WHEN = ((handlers.save_pre, _before_saving), (handlers.save_post, _after_saving),
         (handlers.save_post_fail, _after_saving), (handlers.blend_import_post, _after_import))


def register() -> None:
    """Register the handlers."""
    for when, act in _WHEN:
        when.append(act)


def unregister() -> None:
    """Unregister the handlers."""
    for when, act in _WHEN:
        if act in when:
            when.remove(act)
