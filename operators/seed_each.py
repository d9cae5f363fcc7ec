"""Randomize Seeds: a crowd plays one score with different picks."""

from typing import Any

import bpy

from ..bridge import properties
from ..bridge.reports import GreyWithReason, report


class TAKT_OT_seed_each(GreyWithReason, bpy.types.Operator):
    """Give each selected character its own seed, counted up from the active one, so that picks differ"""

    bl_idname = "takt.seed_each"
    bl_label = "Randomize Seeds"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there are no characters to give seeds to."""
        is_crowd = len(_dancers(context)) > 1
        return "" if is_crowd else "Select two or more characters whose scores have random picks"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Number the characters, the active one first, the others by name."""
        dancers = _dancers(context)
        first = properties.character(dancers[0]).seed
        for number, dancer in enumerate(dancers):
            properties.character(dancer).seed = first + number
        report(self, {"INFO"}, f"{len(dancers)} characters have seeds {first} to {first + len(dancers) - 1}")
        return {"FINISHED"}


def _dancers(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the selected armatures whose scores have picks, the active one first."""
    found = [ob for ob in context.selected_objects if ob.type == "ARMATURE" and ob.is_editable
             and properties.character(ob).text is not None and properties.character(ob).has_picks]
    return sorted(found, key=lambda ob: (ob != context.active_object, ob.name))
