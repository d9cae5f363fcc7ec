"""Rebuild: make the Action anew after the score or its settings were edited."""

from typing import Any

import bpy

from ..bridge import properties, score
from ..bridge.active_character import ForScore, active_armature
from ..bridge.read_progress import reading
from ..bridge.reports import refuse_score
from ..bridge.write_motion import write_motion


class TAKT_OT_rebuild(ForScore, bpy.types.Operator):
    """Make the Action of the active armature anew from its score; clip files that have changed are read again"""

    bl_idname = "takt.rebuild"
    bl_label = "Rebuild"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Perform the score first, then write everything."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll saw to it
        character = properties.character(armature_object)
        assert character.text is not None
        score.forget(armature_object)
        with reading(context) as formats:
            performance = score.performed(armature_object, formats)
        if performance.motion is not None:
            write_motion(self, context, armature_object, performance.motion, character.frame_start)
        if performance.error is not None:
            refuse_score(self, performance.error)
        return {"CANCELLED"} if performance.motion is None else {"FINISHED"}
