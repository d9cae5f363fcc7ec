"""Common parts of operators that open one file: where it may be dropped, and opening it at once."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy_extras.io_utils import ImportHelper, poll_file_object_drop

from ..bridge.active_character import active_armature, armature_problem


class OpensDroppedFile(ImportHelper):
    """A base class beside Blender's own."""

    if TYPE_CHECKING:
        filepath: str

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Open the file."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Open a dropped file at once; otherwise ask for a file."""
        if self.filepath:
            return self.execute(context)
        result: set[Any] = super().invoke(context, event)
        return result


def may_drop_on_character(context: bpy.types.Context | None) -> bool:
    """Return whether files may be dropped here for the active character: in a viewport, and it can take a score."""
    return (context is not None and poll_file_object_drop(context)
            and not armature_problem(active_armature(context)))
