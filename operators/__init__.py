"""One file for each thing a user can do."""

from typing import Any

import bpy

from .auto_bind import TAKT_OT_auto_bind

_CLASSES = (TAKT_OT_auto_bind,)


def register() -> None:
    """Make the operators known to Blender and put them into its menus."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_object_parent.append(_draw_in_parent_menu)  # type: ignore[arg-type]  # the stubs forget the menu


def unregister() -> None:
    """Take the operators out of Blender's menus and out of Blender."""
    bpy.types.VIEW3D_MT_object_parent.remove(_draw_in_parent_menu)  # type: ignore[arg-type]
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)


def _draw_in_parent_menu(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.operator(TAKT_OT_auto_bind.bl_idname, icon="BONE_DATA")
