"""Operators that write a file which is called as the character to begin with."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ..bridge.active_character import active_armature


class NamedAsCharacter(ExportHelper):
    """An operator's base beside Blender's own; it says which ending its files have."""

    if TYPE_CHECKING:
        filename_ext: str
        filepath: str

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the file."""
        armature_object = active_armature(context)
        if not self.filepath and armature_object is not None:
            self.filepath = bpy.path.ensure_ext(bpy.path.clean_name(self.name_for(armature_object)), self.filename_ext)
        found: set[Any] = super().invoke(context, event)
        return found

    def name_for(self, armature_object: bpy.types.Object) -> str:
        """Return what a character's file is called, without its ending."""
        return armature_object.name
