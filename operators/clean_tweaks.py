"""Clean Tweaks: keys that change nothing are removed."""

from typing import Any

import bpy

from ..bridge.active_character import active_armature
from ..bridge.reports import report
from ..bridge.tweaking import tweak_extraction, tweaks
from .tweak_base import ForTweaks


class TAKT_OT_clean_tweaks(ForTweaks, bpy.types.Operator):
    """Remove keys that change nothing from all layers of tweaks, unless the key beside them changes something"""

    bl_idname = "takt.clean_tweaks"
    bl_label = "Clean"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Remove them, and ease the remaining ones again."""
        armature_object = active_armature(context)
        assert armature_object is not None and context.scene is not None  # poll has checked it
        count = sum(tweak_extraction.clean(action) for _, action in tweaks.layers_of(armature_object)
                    if action.is_editable)
        if count:
            tweaks.look(armature_object, context.scene)
        report(self, {"INFO"}, f"{count} keys that changed nothing were removed" if count else
                    "Every key changes something, or stands beside one that does")
        return {"FINISHED"} if count else {"CANCELLED"}
