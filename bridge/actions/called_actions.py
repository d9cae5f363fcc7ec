"""Actions that scores call by name: they get a user, and renaming one renames its calls.

So they are saved and appended with the character. Changes are written into the undo step of the renaming, or after it:
see following.
"""

from __future__ import annotations

import bpy
from bpy.app import handlers

from ...core.errors import TaktError
from ...core.pha.refactoring import with_clip_renamed
from ...core.pha.text import Text
from .. import changes, properties, versions
from ..guard import guarded
from ..scores import score, texts

_known: dict[int, dict[str, int]] = {}
"""By the session_uid of the armature's object: the Actions that its score has called in this session, as session_uid by
name."""


def look_after(armature_object: bpy.types.Object) -> None:
    """Update calls of renamed Actions in an armature's score, and the users of all called ones."""
    character, performance = properties.character(armature_object), score.known_performance(armature_object)
    known = _known.setdefault(armature_object.session_uid, {})
    if not armature_object.is_editable:
        return
    for each in character.called:
        if each.action is not None and each.action.name != each.name:
            _rename(character.text, each.name, each.action.name)
            each.name = each.action.name
    actions = bpy.data.actions
    for old in [name for name in known if name not in actions]:  # undo may restore only the Action's name
        for action in (action for action in actions if action.session_uid == known[old]):
            _rename(character.text, old, action.name)
    if performance is None:
        return
    for name in performance.actions & {*actions.keys()}:
        known[name] = actions[name].session_uid
        held = character.called.get(name)
        if held is None or held.action is None:
            held = held or character.called.add()
            held.name, held.action = name, actions[name]
    if performance.error is None:
        for index in reversed(range(len(character.called))):
            if character.called[index].name not in performance.actions:
                character.called.remove(index)


def _rename(text: bpy.types.Text | None, old: str, new: str) -> None:
    said = "" if text is None or not text.is_editable else text.as_string()
    if text is None or old not in said:
        return
    try:
        edited = with_clip_renamed(Text.of(said), old, new)
    except TaktError:  # the text is incomplete while it is typed
        return
    if str(edited.text) != said:
        texts.replace(text, str(edited.text))
        changes.score()


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
@guarded(None)
def _before_saving(*_: object) -> None:
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE" and versions.saved_settings(ob, properties.NAME) is not None:
            look_after(ob)


def register() -> None:
    """Start checking called Actions before each save."""
    handlers.save_pre.append(_before_saving)


def unregister() -> None:
    """Stop checking called Actions before each save."""
    handlers.save_pre.remove(_before_saving)
    _known.clear()
