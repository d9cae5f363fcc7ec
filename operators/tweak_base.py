"""What operators on tweaks have in common."""

import bpy

from ..bridge import tweaks
from ..bridge.active_character import ForScore, active_armature


class ForTweaks(ForScore):
    """An operator that wants a character with tweaks."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there are none."""
        reason, armature_object = super().problem(context), active_armature(context)
        if reason or armature_object is None:
            return reason
        return "" if tweaks.has_tweaks(armature_object) else "There are no tweaks yet: Tweak begins a layer of them"
