"""Bones without vertices: select them, and mark them as bones that move skin."""

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty

from ..bridge.active_character import active_armature, armature_problem
from ..bridge.language import say
from ..bridge.meshes import idle_bones
from ..bridge.reports import GreyWithReason, refuse, report
from ..core.errors import some_of

_NAMES_SHOWN = 5


class TAKT_OT_select_idle_bones(GreyWithReason, bpy.types.Operator):
    """Go to Pose Mode and select the bones that the last Auto-bind left without vertices"""

    bl_idname = "takt.select_idle_bones"
    bl_label = "Show"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there are no such bones."""
        armature_object = active_armature(context)
        reason = armature_problem(armature_object)
        if not reason and armature_object is not None and not armature_object.visible_get():
            reason = f"'{armature_object.name}' is hidden: show it first"
        if not reason and armature_object is not None and not idle_bones.idle_bones(armature_object):
            reason = "The last Auto-bind left no bone without vertices"
        return reason

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Select them."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        bones = idle_bones.idle_bones(armature_object)
        idle_bones.select(context, armature_object, bones)
        hidden = idle_bones.hidden_bones(bones)
        if hidden:
            report(self, {"WARNING"}, f"Not shown by their bone collections: {some_of(hidden, _NAMES_SHOWN)}")
        else:
            report(self, {"INFO"}, f"Bones without vertices selected: {len(bones)}")
        return {"FINISHED"}


class TAKT_OT_use_bones(GreyWithReason, bpy.types.Operator):
    """Use bones in the next Auto-bind: those selected in Pose Mode, else all that the last one left without vertices"""

    bl_idname = "takt.use_bones"
    bl_label = "Use These Bones"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        used: bool
    else:
        used: BoolProperty(
            name="Use", description="Off: Auto-bind decides again about all bones that were switched on",
            default=True, options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """Return the tooltip; the button that undoes it has another one."""
        return say((cls.__doc__ or "") if properties.used else
                   "Let Auto-bind decide again about the bones that were switched on by Use These Bones")

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why no bone can be marked or unmarked."""
        armature_object = active_armature(context)
        reason = armature_problem(armature_object)
        if reason or armature_object is None:
            return reason
        if not cast(bpy.types.Armature, armature_object.data).is_editable:
            return (f"The bones of '{armature_object.name}' are linked from another file; "
                    "make them local (Object > Relations > Make Local)")
        if not (idle_bones.selected_bones(armature_object) or idle_bones.idle_bones(armature_object)
                or idle_bones.chosen_bones(armature_object)):
            return "Select bones in Pose Mode that are to move skin"
        return ""

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Store it with the bones."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        if not self.used:
            bones = idle_bones.chosen_bones(armature_object)
            idle_bones.choose(bones, chosen=False)
            report(self, {"INFO"}, f"Auto-bind decides again about {len(bones)} bones: bind again")
            return {"FINISHED"}
        bones = idle_bones.selected_bones(armature_object) or idle_bones.idle_bones(armature_object)
        still = [bone.name for bone in bones if not bone.use_deform]
        bones = [bone for bone in bones if bone.use_deform]
        if not bones:
            return refuse(self, f"Deform is off for {some_of(still, _NAMES_SHOWN)}: switch it on in the properties of "
                                "the bones" if still else "Select bones in Pose Mode that are to move skin")
        idle_bones.choose(bones, chosen=True)
        told = f"Auto-bind will use {some_of([bone.name for bone in bones], _NAMES_SHOWN)}: bind again"
        if still:
            told += f". Deform is off for {some_of(still, _NAMES_SHOWN)}"
        report(self, {"WARNING"} if still else {"INFO"}, told)
        return {"FINISHED"}
