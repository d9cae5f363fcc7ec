"""Preview: draw bound characters by Takt's own shaders, in place of Blender's."""

from typing import Any

import bpy

from ..preview import life
from ..preview.character import armature_of, bound_meshes
from ..preview.shader import PICTURES


class TAKT_OT_preview(bpy.types.Operator):
    """Draw the selected characters as their score plays them, in all 3D viewports, without the Action"""

    bl_idname = "takt.preview"
    bl_label = "Preview"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there is something to switch on or off."""
        if life.is_running() or _armatures(context):
            return True
        cls.poll_message_set("Select an armature, or a mesh that is bound to one")
        return False

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Switch over."""
        if life.is_running():
            life.stop()
            return {"FINISHED"}
        assert context.scene is not None
        bound = [armature for armature in _armatures(context) if bound_meshes(context.scene, armature)]
        if not bound:
            names = ", ".join(repr(armature.name) for armature in _armatures(context))
            self.report({"ERROR"}, f"No mesh of this scene follows {names}. Bind one first: Auto-bind to Skeleton")
            return {"CANCELLED"}
        life.start(bound)
        return {"FINISHED"}


def _armatures(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Return the armatures of all selected characters and the active one, each once."""
    chosen = [*context.selected_objects, *([context.object] if context.object else [])]
    return list({armature: None for ob in chosen if (armature := armature_of(ob)) is not None})


def register_picture() -> None:
    """Let the interface choose the picture. It is kept by the preview, so nothing of it is saved in files."""
    bpy.types.WindowManager.takt_picture = bpy.props.EnumProperty(  # type: ignore[attr-defined]  # made here
        name="Picture", description="What the preview shows", items=_PICTURES,
        get=lambda _: PICTURES.index(life.picture()), set=lambda _, number: life.show(PICTURES[number]))


def unregister_picture() -> None:
    """Switch the preview off and take the choice away."""
    life.stop()
    del bpy.types.WindowManager.takt_picture  # type: ignore[attr-defined]  # made above


_PICTURES = [
    ("SHADED", "Surface", "The surface in its material's colour"),
    ("ZONES", "Zones", "A colour for each bone, blended by weight: how softly the zones of influence meet"),
]
