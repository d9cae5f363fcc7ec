"""Show Zones: the preview, with a colour for each bone."""

from typing import Any

import bpy

from ..bridge.reports import GreyWithReason
from ..preview import life
from .preview import bound_armatures


class TAKT_OT_show_zones(GreyWithReason, bpy.types.Operator):
    """Colour the selected characters by the bones that move them, in all 3D viewports. Press again to stop"""

    bl_idname = "takt.show_zones"
    bl_label = "Zones"
    bl_options = {"REGISTER"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why zones cannot be shown or hidden."""
        is_any = are_shown() or bound_armatures(context)
        return "" if is_any else "Select a character whose meshes are bound: Auto-bind to Skeleton"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Switch zones on or off."""
        if are_shown():
            life.stop()
            life.show("SHADED")
        else:
            life.show("ZONES")
            if not life.is_running():
                life.start(bound_armatures(context))
        return {"FINISHED"}


def are_shown() -> bool:
    """Return whether the preview is on and shows zones."""
    return life.is_running() and life.picture() == "ZONES"
