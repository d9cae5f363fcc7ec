"""Handlers of Blender's notifications: edits, undo and other files. All are forwarded to `changes`."""

from __future__ import annotations

from typing import Any, Final, Literal, cast

import bpy
from bpy.app import handlers

from . import changes, guard
from .actions import between_steps
from .guard import guarded
from .meshes.shape import is_reading

_DATA: Final[tuple[Literal["MESH", "ARMATURE", "MATERIAL", "KEY"], ...]] = ("MESH", "ARMATURE", "MATERIAL", "KEY")
"""Types of data whose edits are counted, as Blender names them; their classes are below."""
_CLASSES: Final = (bpy.types.Mesh, bpy.types.Armature, bpy.types.Material, bpy.types.Key)


@handlers.persistent  # type: ignore[untyped-decorator]  # the stubs give it no types
@guarded(None)
def _after_update(_: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if is_reading():
        return
    changes.scene()
    changes.score()  # constraints are settings too, and which ones act as limits is not known here
    _note_edits(depsgraph)
    _note_shapes(depsgraph)


@handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _after_frame(_: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not is_reading():
        _note_edits(depsgraph)


def _note_edits(depsgraph: bpy.types.Depsgraph) -> None:
    """Note edited data and Actions. Posing and playback evaluate only objects; any edit of a mesh names its data."""
    if depsgraph.id_type_updated("ACTION"):
        for update in depsgraph.updates:
            if isinstance(update.id, bpy.types.Action):
                changes.action(cast(bpy.types.ID, update.id.original).session_uid)
    if not any(depsgraph.id_type_updated(kind) for kind in _DATA):
        return
    for update in depsgraph.updates:
        if isinstance(update.id, _CLASSES):
            changes.data(cast(bpy.types.ID, update.id.original).session_uid)


def _note_shapes(depsgraph: bpy.types.Depsgraph) -> None:
    """Note watched objects whose shape after modifiers may have changed; frame changes do not count."""
    if not changes.watched() or not depsgraph.id_type_updated("OBJECT"):
        return
    for update in depsgraph.updates:
        if update.is_updated_geometry and isinstance(update.id, bpy.types.Object):
            uid = cast(bpy.types.ID, update.id.original).session_uid
            if uid in changes.watched():
                changes.data(uid)


@handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _before_undo(*_: object) -> None:
    between_steps.let_go()


@handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _after_undo(*_: object) -> None:
    between_steps.take_again()
    changes.everything()


@handlers.persistent  # type: ignore[untyped-decorator]
@guarded(None)
def _after_load(*_: object) -> None:
    between_steps.forget()
    changes.everything()
    guard.forget()


def _all() -> list[tuple[list[Any], Any]]:
    return [(handlers.depsgraph_update_post, _after_update), (handlers.frame_change_post, _after_frame),
            (handlers.undo_pre, _before_undo), (handlers.redo_pre, _before_undo),
            (handlers.undo_post, _after_undo), (handlers.redo_post, _after_undo), (handlers.load_post, _after_load)]


def register() -> None:
    """Register the handlers."""
    changes.everything()
    for handler, function in _all():
        handler.append(function)


def unregister() -> None:
    """Unregister the handlers."""
    for handler, function in _all():
        if function in handler:
            handler.remove(function)
