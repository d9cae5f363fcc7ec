"""Skeleton map: find the joints of bones, and save the map as corrected by the user."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, StringProperty

from ..bridge.active_character import ForArmature, active_armature
from ..bridge.reports import refuse, report
from ..bridge.rigs import joint_map
from ..core.errors import TaktError
from ..core.skeletons.maps import SUFFIX


class TAKT_OT_find_map(ForArmature, bpy.types.Operator):
    """Find out which bone is which joint of the body: by names, by shape, or from a map file in the library"""

    bl_idname = "takt.find_map"
    bl_label = "Find Joints"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Fill the list."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        try:
            found = joint_map.fill(armature_object)
        except TaktError as error:
            return refuse(self, str(error))
        for warning in found.warnings:
            report(self, {"WARNING"}, f"'{armature_object.name}': {warning}")
        report(self, {"INFO"} if found.is_sure else {"WARNING"},
                    f"'{armature_object.name}': {len(found.joint_of)} joints found, {found.certainty:.0%} certain"
                    + ("" if found.is_sure else "; correct the list"))
        return {"FINISHED"}


class TAKT_OT_save_map(ForArmature, bpy.types.Operator):
    """Save the list in the library, for all characters with this rig; without a library, where you choose"""

    bl_idname = "takt.save_map"
    bl_label = "Save Map"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        filepath: str
        filter_glob: str
        check_existing: bool
    else:
        filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"},
                                 description="Where the map is saved; empty: in the character's library")
        filter_glob: StringProperty(default=f"*{SUFFIX}", options={"HIDDEN"})
        check_existing: BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the file if there is no library."""
        armature_object = active_armature(context)
        assert armature_object is not None and context.window_manager is not None  # poll has checked it
        if self.filepath or joint_map.place_of_file(armature_object) is not None:
            return self.execute(context)
        self.filepath = str(joint_map.proposed_file(armature_object))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write the file."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        chosen = Path(bpy.path.abspath(self.filepath)) if self.filepath else None
        path = chosen or joint_map.place_of_file(armature_object)
        if path is None:
            return refuse(self, "there is no library to save the map in: name a file. In this .blend the list is kept "
                                "with the character")
        path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
        try:
            joint_map.save(armature_object, path)
        except TaktError as error:
            return refuse(self, str(error))
        report(self, {"INFO"}, f"Saved {path}" + (": it applies to the clips beside it, and wherever the folder is "
                                                  "one of the libraries" if chosen else ""))
        return {"FINISHED"}
