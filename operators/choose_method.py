"""Choose a Transition Method from its diagram, as the field does."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..bridge import properties
from ..bridge.active_character import ForArmature, active_armature
from ..bridge.language import say
from ..bridge.scores.score_tree import character_of, tree_of
from ..core.playing.transitions.methods import TRANSITION_METHODS
from ..preview import life


class TAKT_OT_choose_method(ForArmature, bpy.types.Operator):
    """Use this method for transitions"""

    bl_idname = "takt.choose_method"
    bl_label = "Transition Method"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        method: str
    else:
        method: StringProperty(default="LEAD", options={"HIDDEN"})

    @classmethod
    def description(cls, _context: bpy.types.Context, told: Any) -> str:
        """Return what the method does."""
        return say(TRANSITION_METHODS[told.method].description)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Set it for the character whose score is shown, or for the active one."""
        tree = tree_of(context)
        armature_object = character_of(tree, context) if tree is not None else active_armature(context)
        if armature_object is None or self.method not in TRANSITION_METHODS:
            return {"CANCELLED"}
        properties.character(armature_object).method = self.method
        life.changed()
        return {"FINISHED"}
