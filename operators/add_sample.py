"""Add Sample Dancer: a character to begin with, bound, with the sample dance."""

from typing import Any

import bpy

from ..bridge import properties
from ..bridge.reports import GreyWithReason, report
from ..samples import dancer


class TAKT_OT_add_sample(GreyWithReason, bpy.types.Operator):
    """Add a character that is bound and plays a dance, to try everything with"""

    bl_idname = "takt.add_sample"
    bl_label = "Add Sample Dancer"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why nothing can be added."""
        return "" if context.mode == "OBJECT" else "Go to Object Mode first"

    def execute(self, _context: bpy.types.Context) -> "set[Any]":
        """Build the character, bind it and play the dance, as a user would."""
        armature_object, _ = dancer.bound_dancer()
        dancer.play()
        text = properties.character(armature_object).text
        if text is not None:
            text.filepath = ""  # the user's edits must not be saved over the sample
        report(self, {"INFO"}, "Press Preview, then play")
        return {"FINISHED"}
