"""Change the lists of libraries: that in the preferences, and that of the score."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ..bridge import changes, libraries, properties
from ..bridge.active_character import active_armature, score_problem
from ..bridge.reports import GreyWithReason


class TAKT_OT_change_libraries(GreyWithReason, bpy.types.Operator):
    """Add a library, remove the chosen one, or change the order in which they are searched"""

    bl_idname = "takt.change_libraries"
    bl_label = "Change Libraries"
    bl_options = {"REGISTER", "INTERNAL"}

    if TYPE_CHECKING:
        action: str
    else:
        action: EnumProperty(name="Action", description="What to do with the list of libraries", items=(
            ("ADD", "Add", "Add a library at the end"),
            ("REMOVE", "Remove", "Forget the chosen library; its folder stays"),
            ("UP", "Up", "Search the chosen library earlier"), ("DOWN", "Down", "Search the chosen library later")))

    @classmethod
    def problem(cls, _context: bpy.types.Context) -> str:
        """Return why there are no preferences to change."""
        return "Takt is not installed as an extension" if libraries.kept() is None else ""

    def execute(self, _context: bpy.types.Context) -> "set[Any]":
        """Change the list; an entry that cannot be moved or removed stays."""
        kept = libraries.kept()
        assert kept is not None  # poll has checked it
        index, count = kept.library_index, len(kept.libraries)
        if self.action == "ADD":
            kept.libraries.add()
            kept.library_index = count
        elif not 0 <= index < count:
            return {"CANCELLED"}
        elif self.action == "REMOVE":
            kept.libraries.remove(index)
            kept.library_index = max(0, min(index, count - 2))
        else:
            to = index + (1 if self.action == "DOWN" else -1)
            if not 0 <= to < count:
                return {"CANCELLED"}
            kept.libraries.move(index, to)
            kept.library_index = to
        return {"FINISHED"}


class TAKT_OT_forget_folder(GreyWithReason, bpy.types.Operator):
    """Remove this folder from the search for the score's clips; the folder itself stays"""

    bl_idname = "takt.forget_folder"
    bl_label = "Forget Folder"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    if TYPE_CHECKING:
        index: int
    else:
        index: IntProperty(name="Folder", description="Which of the folders, counted from 0", options={"SKIP_SAVE"})

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there are no folders."""
        return score_problem(active_armature(context))

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Remove the folder from the search."""
        armature_object = active_armature(context)
        assert armature_object is not None
        folders = properties.character(armature_object).folders
        if not 0 <= self.index < len(folders):
            return {"CANCELLED"}
        folders.remove(self.index)
        changes.score()
        return {"FINISHED"}
