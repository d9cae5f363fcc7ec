"""Actions that are assets, of the open file and of the asset libraries in the preferences, and appending them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import bpy

from ...core.errors import FileError

_MOST_FILES: Final = 500
"""Greatest number of files of libraries that are searched for assets."""
_names: dict[tuple[str, int], tuple[str, ...]] = {}
"""Names of the Actions in each examined file, by path and time of change."""
_brought: dict[tuple[str, str], int] = {}
"""The session_uid of each Action that was appended in this session, by file and name."""


class ActionAsset(NamedTuple):
    """An Action that is an asset; path: of its file, "" for the open one. library: its name.

    origin: words that tell it from others with its name: the clip from which it was made, or library and file.
    """

    path: str
    name: str
    library: str = ""
    origin: str = ""


def found() -> list[ActionAsset]:
    """Return the Actions that are assets: those of the open file, then those of the libraries."""
    own = [ActionAsset("", action.name, origin=action.asset_data.description.partition("\n")[0])
           for action in bpy.data.actions if action.asset_data is not None]
    return own + [ActionAsset(str(path), name, library, f"{library}, {path.stem}")
                  for library, path in _files() for name in _names_in(path)]


def bring(asset: ActionAsset) -> bpy.types.Action:
    """Return the Action of an asset; an Action of another file is appended, once.

    Raises FileError if it no longer exists, OSError if its file cannot be read.
    """
    kept = _brought.get((asset.path, asset.name))
    there = next((action for action in bpy.data.actions if action.session_uid == kept), None)
    own = bpy.data.actions.get(asset.name) if not asset.path else there
    if own is not None:
        return own
    if not asset.path:
        raise FileError.at(f"holds no Action '{asset.name}' that is an asset")
    libraries: Any = bpy.data.libraries
    with libraries.load(asset.path, link=False, assets_only=True) as (inside, wanted):
        wanted.actions = [name for name in inside.actions if name == asset.name]
    if not wanted.actions or wanted.actions[0] is None:
        raise FileError.at(f"holds no Action '{asset.name}' that is an asset", Path(asset.path))
    new: bpy.types.Action = wanted.actions[0]
    new.use_fake_user = True
    _brought[asset.path, asset.name] = new.session_uid
    return new


def _files() -> Iterator[tuple[str, Path]]:
    """Yield the .blend files of the asset libraries, with the libraries' names; without the open file."""
    assert bpy.context.preferences is not None
    asset_libraries: Any = bpy.context.preferences.filepaths.asset_libraries
    left = _MOST_FILES
    for library in asset_libraries:
        for folder, inner, names in os.walk(bpy.path.abspath(library.path)):
            inner.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if name.endswith(".blend") and str(path) != bpy.data.filepath:
                    if not left:
                        return
                    left -= 1
                    yield library.name, path


def _names_in(path: Path) -> tuple[str, ...]:
    """Return the names of a file's Actions that are assets; empty if it cannot be read."""
    libraries: Any = bpy.data.libraries
    try:
        key = str(path), path.stat().st_mtime_ns
        if key not in _names:
            with libraries.load(str(path), assets_only=True) as (inside, _):
                _names[key] = tuple(inside.actions)
    except OSError:
        return ()
    return _names[key]
