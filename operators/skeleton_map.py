"""Skeleton map: find out what the bones are, and save the list as the user has corrected it."""

from typing import Any

import bpy

from ..bridge import joint_map
from ..bridge.active_character import ForArmature, active_armature
from ..bridge.reports import refuse
from ..core.errors import TaktError


class TAKT_OT_find_map(ForArmature, bpy.types.Operator):
    """Find out which bone is which joint of the body: by names, by shape, or from a map file in the library"""

    bl_idname = "takt.find_map"
    bl_label = "Find Joints"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Fill the list."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll saw to it
        try:
            found = joint_map.fill(armature_object)
        except TaktError as error:
            return refuse(self, str(error))
        for warning in found.warnings:
            self.report({"WARNING"}, f"'{armature_object.name}': {warning}")
        self.report({"INFO"} if found.is_sure else {"WARNING"},
                    f"'{armature_object.name}': {len(found.joint_of)} joints found, {found.certainty:.0%} certain"
                    + ("" if found.is_sure else "; correct the list"))
        return {"FINISHED"}


class TAKT_OT_save_map(ForArmature, bpy.types.Operator):
    """Save the list in the library, for all characters with this rig"""

    bl_idname = "takt.save_map"
    bl_label = "Save Map"
    bl_options = {"REGISTER"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write the file."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll saw to it
        try:
            path = joint_map.save(armature_object)
        except TaktError as error:
            return refuse(self, str(error))
        self.report({"INFO"}, f"Saved {path}")
        return {"FINISHED"}
