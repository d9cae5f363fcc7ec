"""A score goes from one character to another, with all settings by which it is played."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from .. import changes, properties
from ..actions import action
from ..actions.below_own_actions import is_score_heard
from ..active_character import armature_problem
from ..scene import cast
from . import following


def give(source_object: bpy.types.Object, other: bpy.types.Object) -> None:
    """Let a character play another one's score; as after New Score, it gets an Action of its own as soon as it plays.

    The Action that it played stays in the file.
    """
    source, character = properties.character(source_object), properties.character(other)
    if character.action == source.action:  # a copy of the other character
        character.action = None
    action.put_aside(other)
    for name in ("text", "filepath", "frame_start", *properties.SETTING_NAMES, *properties.ACTION_NAMES):
        setattr(character, name, getattr(source, name))
    cast.copy(source, character)
    character.folders.clear()
    for folder in source.folders:
        character.folders.add().path = folder.path
    character.version = properties.VERSION
    following.want_action(other)
    changes.score()


def plays_as(armature_object: bpy.types.Object, source: properties.TaktCharacter) -> bool:
    """Return whether an armature has a score and plays its Action too, if there is one; a copy may have lost that."""
    own = properties.character(armature_object)
    has_action = own.action is not None and is_score_heard(armature_object)
    return own.text == source.text and (has_action or source.action is None)


def characters(scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Yield the armatures of a scene that can play a score, sorted by name."""
    for ob in sorted(scene.objects, key=lambda ob: ob.name):
        if ob.type == "ARMATURE" and not armature_problem(ob):
            yield ob
