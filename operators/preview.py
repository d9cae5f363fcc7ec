"""Preview: draw bound characters with Takt's own shaders instead of Blender's."""

from typing import Any

import bpy

from ..bridge.reports import GreyWithReason, refuse
from ..preview import life
from ..preview.character import armature_of, bound_meshes

_PROGRESS_STEPS = 100


class TAKT_OT_preview(GreyWithReason, bpy.types.Operator):
    """Draw the selected characters as their score plays them, in all 3D viewports, without the Action"""

    bl_idname = "takt.preview"
    bl_label = "Preview"
    bl_options = {"REGISTER"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why the preview cannot be switched on or off."""
        is_any = life.is_running() or _armatures(context)
        return "" if is_any else "Select an armature, or a mesh that is bound to one"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Switch the preview on or off."""
        if life.is_running():
            life.stop()
            return {"FINISHED"}
        assert context.scene is not None
        bound = bound_armatures(context)
        if not bound:
            names = ", ".join(repr(armature.name) for armature in _armatures(context))
            return refuse(self, f"No mesh of this scene follows {names}. Bind one first: Auto-bind to Skeleton")
        life.start(bound)
        window_manager, layer = context.window_manager, context.view_layer
        assert window_manager is not None and layer is not None
        window_manager.progress_begin(0.0, _PROGRESS_STEPS)
        try:
            life.read_large_meshes(layer, lambda share: window_manager.progress_update(share * _PROGRESS_STEPS))
            life.get_ready(context.scene, layer)
        finally:
            window_manager.progress_end()
        return {"FINISHED"}


def bound_armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the selected characters that have a visible mesh."""
    assert context.scene is not None
    return [armature for armature in _armatures(context) if bound_meshes(context.scene, armature)]


def _armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the armatures of all selected characters and the active one, each once."""
    chosen = [*context.selected_objects, *([context.object] if context.object else [])]
    return list({armature: None for ob in chosen if (armature := armature_of(ob)) is not None})
