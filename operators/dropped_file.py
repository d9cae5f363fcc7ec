"""What operators that open one file have in common: a file that was dropped is opened at once."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ImportHelper


class OpensDroppedFile(ImportHelper):
    """An operator's base beside Blender's own."""

    if TYPE_CHECKING:
        filepath: str

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Open the file."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Open a file that was dropped at once; else ask for one."""
        if self.filepath:
            return self.execute(context)
        result: set[Any] = super().invoke(context, event)
        return result
