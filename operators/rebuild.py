"""Rebuild: make the Action anew after the score or its settings were edited."""

from typing import Any

import bpy

from ..bridge import properties, score
from ..bridge.active_character import ForScore, active_armature
from ..bridge.reports import refuse
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
        motion = score.motion_of(armature_object)
        if motion is None:
            return refuse(self, str(score.error_of(armature_object)))
        write_motion(self, context, armature_object, motion, character.frame_start)
        return {"FINISHED"}
