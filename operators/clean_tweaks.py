"""Clean Tweaks: keys that change nothing are removed."""

from typing import Any

import bpy

from ..bridge.active_character import active_armature
from ..bridge.reports import report
from ..bridge.tweaking import tweak_extraction, tweaks
from ..core.errors import some_of
from .tweak_base import ForTweaks

_SHOWN = 6


class TAKT_OT_clean_tweaks(ForTweaks, bpy.types.Operator):
    """Remove keys that change nothing from all layers of tweaks, unless the key beside them changes something"""

    bl_idname = "takt.clean_tweaks"
    bl_label = "Clean"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Remove them, and ease the remaining ones again."""
        armature_object = active_armature(context)
        assert armature_object is not None and context.scene is not None  # poll has checked it
        actions = [action for _, action in tweaks.layers_of(armature_object)]
        linked = [action.name for action in actions if not action.is_editable]
        count = sum(tweak_extraction.clean(action) for action in actions if action.is_editable)
        if count:
            tweaks.look(armature_object, context.scene)
            report(self, {"INFO"}, "1 key that changed nothing was removed" if count == 1 else
                                   f"{count} keys that changed nothing were removed")
        elif len(linked) < len(actions):
            report(self, {"INFO"}, "Every key changes something, or stands beside one that does")
        if linked:
            report(self, {"WARNING"}, "Linked from another file, so none of their keys was removed: "
                                      f"{some_of(tuple(linked), _SHOWN)}")
        return {"FINISHED"} if count else {"CANCELLED"}
