"""New Score: a Text with an empty procedure, which the active armature plays from now on."""

from typing import Any

import bpy

from ..bridge import properties
from ..bridge.active_character import ForArmature, active_armature

_EMPTY = """<?xml version="1.0" encoding="UTF-8"?>
<pha version="2" tickLength="1">
  <procedure name="main">
  </procedure>
</pha>
"""


class TAKT_OT_new_score(ForArmature, bpy.types.Operator):
    """Begin a score for the active armature: an empty procedure, into which clips are inserted"""

    bl_idname = "takt.new_score"
    bl_label = "New Score"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Make the Text; the score that was played before stays in the file."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll saw to it
        character = properties.character(armature_object)
        text = bpy.data.texts.new(f"{armature_object.name}.pha")
        text.from_string(_EMPTY)
        character.filepath = ""
        character.procedure = "main"
        character.text = text
        self.report({"INFO"}, f"'{armature_object.name}' plays '{text.name}', which is empty: insert clips")
        return {"FINISHED"}
