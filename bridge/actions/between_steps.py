"""Actions assigned between two undo steps, as when an Action is written in the background.

If two steps store the same state of an object, undo keeps the object as it is, with its pointers. An Action that was
assigned after the newer step is in neither step: Blender frees it, and the dangling pointer crashes Blender. So before
undo and redo, such a character's Action is unassigned. Afterwards, a character that undo kept gets the Action of the
step: that Action if it exists, else its previous one.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import bpy

from .. import properties
from .action_users import object_slot, strips_of

_MARK: Final = "takt_kept_by_undo"
"""A property of the object that undo removes, unless undo keeps the object."""


class _Has(NamedTuple):
    """The Actions of a character by their session_uid, 0 for none: the score's own, and the one that is assigned."""

    own: int
    assigned: int


_before: dict[int, _Has] = {}
"""The Actions of characters before they got another one since the last undo, by the characters' session_uid."""
_let_go: dict[int, tuple[_Has, list[str]]] = {}
"""Their Actions just before undo, with the paths of the strips that played their own Action."""


@contextmanager
def noted(armature_object: bpy.types.Object) -> Iterator[None]:
    """Record whether an armature gets another Action within this block, which makes no undo step."""
    had = _has(armature_object)
    yield
    if _has(armature_object) != had:
        _before.setdefault(armature_object.session_uid, had)


def let_go() -> None:
    """Unassign the score's Actions of the recorded characters, which may not exist after undo."""
    _let_go.clear()
    for armature_object in _objects(_before):
        character, animation = properties.character(armature_object), armature_object.animation_data
        own = character.action
        if own is None or animation is None or animation.use_tweak_mode:
            continue
        has, strips = _has(armature_object), [each for each in strips_of(animation) if each.action == own]
        _let_go[armature_object.session_uid] = has, [each.path_from_id() for each in strips]
        armature_object[_MARK] = True
        for strip in strips:
            strip.action = None
        if has.assigned == has.own:
            animation.action = None
        character.action = None


def take_again() -> None:
    """Assign the Actions of the current step to the characters that undo has kept."""
    actions: dict[int, bpy.types.Action] = {each.session_uid: each for each in bpy.data.actions}
    for armature_object in _objects(_let_go):
        if armature_object.get(_MARK) is None:
            continue  # the character agrees with its step
        del armature_object[_MARK]
        (had, paths), before = _let_go[armature_object.session_uid], _before[armature_object.session_uid]
        is_there = had.own in actions
        own = actions.get(had.own if is_there else before.own)
        properties.character(armature_object).action = own
        animation = armature_object.animation_data
        if animation is None:
            continue
        if own is not None:
            strips: list[Any] = [armature_object.path_resolve(each) for each in paths]
            for strip in strips:
                strip.action, strip.action_slot = own, object_slot(own)
        if had.assigned == had.own:
            animation.action = assigned = own if is_there else actions.get(before.assigned)
            if assigned is not None:
                animation.action_slot = object_slot(assigned)
    _before.clear()
    _let_go.clear()


def forget() -> None:
    """Clear all records, after another file was opened."""
    _before.clear()
    _let_go.clear()


def _has(armature_object: bpy.types.Object) -> _Has:
    own, animation = properties.character(armature_object).action, armature_object.animation_data
    assigned = None if animation is None else animation.action
    return _Has(0 if own is None else own.session_uid, 0 if assigned is None else assigned.session_uid)


def _objects(uids: Container[int]) -> Iterator[bpy.types.Object]:
    if _before:
        yield from [ob for ob in bpy.data.objects if ob.session_uid in uids]
