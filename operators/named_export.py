"""Base of operators that write a file with the character's name as default."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ExportHelper

from ..bridge.active_character import active_armature
from ..core.library.whole_files import name_of_file


class NamedAsCharacter(ExportHelper):
    """A base class beside Blender's own; the operator defines the ending of its files."""

    if TYPE_CHECKING:
        filename_ext: str
        filepath: str

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the file."""
        armature_object = active_armature(context)
        if not self.filepath and armature_object is not None:
            self.filepath = bpy.path.ensure_ext(name_of_file(self.name_for(armature_object)), self.filename_ext)
        found: set[Any] = super().invoke(context, event)
        return found

    def name_for(self, armature_object: bpy.types.Object) -> str:
        """Return the default name of a character's file, without its ending."""
        return armature_object.name
