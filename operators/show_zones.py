"""Show Zones: the preview, with a colour for each bone."""

from typing import Any

import bpy

from ..preview import life
from ..preview.character import armature_of, bound_meshes


class TAKT_OT_show_zones(bpy.types.Operator):
    """Colour the selected characters by the bones that move them, in all 3D viewports; pressed again, stop that"""

    bl_idname = "takt.show_zones"
    bl_label = "Zones"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there are zones to show, or to stop showing."""
        if are_shown() or _bound(context):
            return True
        cls.poll_message_set("Select a character whose meshes are bound: Auto-bind to Skeleton")
        return False

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Switch over."""
        if are_shown():
            life.stop()
            life.show("SHADED")
        else:
            life.show("ZONES")
            if not life.is_running():
                life.start(_bound(context))
        return {"FINISHED"}


def are_shown() -> bool:
    """Tell whether the preview is on and shows zones."""
    return life.is_running() and life.picture() == "ZONES"


def _bound(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the armatures of the selected characters and the active one that move a mesh, each once."""
    chosen = [*context.selected_objects, *([context.object] if context.object else [])]
    armatures = dict.fromkeys(armature for ob in chosen if (armature := armature_of(ob)) is not None)
    assert context.scene is not None
    return [armature for armature in armatures if bound_meshes(context.scene, armature)]
