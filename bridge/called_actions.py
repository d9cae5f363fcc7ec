"""Actions that scores call, by their names: saved with the file, and called as they are when they are renamed.

What is written lies in the undo step of the renaming, or behind it: see following.
"""

from __future__ import annotations

import bpy

from ..core.errors import TaktError
from ..core.pha.refactoring import with_clip_renamed
from ..core.pha.text import Text
from . import changes, properties, score, texts

_known: dict[int, dict[str, int]] = {}
"""The Actions that each score plays, by name: their session_uid. By that of the armature's object."""


def look_after(armature_object: bpy.types.Object) -> None:
    """Keep the Actions that the score of an armature plays, and let it call those that were renamed by their names."""
    text, actions = properties.character(armature_object).text, bpy.data.actions
    known = _known.setdefault(armature_object.session_uid, {})
    for name in score.played_actions(armature_object):
        if name in actions:
            action = actions[name]
            known[name] = action.session_uid
            if not action.users and action.is_editable:
                action.use_fake_user = True  # Blender saves nothing that nobody uses
    gone = [name for name in known if name not in actions]
    if gone and text is not None and text.is_editable:
        called = {action.session_uid: action.name for action in actions}
        for old in gone:
            new = called.get(known.pop(old))
            if new is not None:
                _rename(text, old, new)


def forget() -> None:
    """Know no Actions any longer."""
    _known.clear()


def _rename(text: bpy.types.Text, old: str, new: str) -> None:
    said = text.as_string()
    try:
        edited = with_clip_renamed(Text.of(said), old, new)
    except TaktError:  # half a word is typed just now
        return
    if str(edited.text) != said:
        texts.replace(text, str(edited.text))
        changes.score()
