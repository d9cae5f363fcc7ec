"""Tweak: new keys are differences above the score, and move with their blocks."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ..bridge.actions.below_own_actions import has_own_action
from ..bridge.active_character import active_armature
from ..bridge.reports import refuse, report
from ..bridge.tweaking import tweaks
from .tweak_base import ForScoreAction, score_plays


class TAKT_OT_tweak(ForScoreAction, bpy.types.Operator):
    """Set keys on top of the score's motion. They move with its blocks and its tempo"""

    bl_idname = "takt.tweak"
    bl_label = "Tweak"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        add_layer: bool
    else:
        add_layer: BoolProperty(name="Add Layer", options={"SKIP_SAVE"},
                                description="Begin another layer of tweaks above the existing ones")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Assign an Action of tweaks above the score's."""
        armature_object = active_armature(context)
        assert armature_object is not None  # poll has checked it
        animation = armature_object.animation_data
        assigned = None if animation is None else animation.action
        layers, silent = [action for _, action in tweaks.layers_of(armature_object)], None
        if not self.add_layer:
            silent = tweaks.chosen_silent(armature_object)
        if assigned is not None and assigned in layers and not self.add_layer and silent is None:
            if not assigned.is_editable:
                return self._begin(context, armature_object, assigned)
            report(self, {"INFO"}, f"Keys that you set land in '{assigned.name}' already; + begins another layer")
            return {"FINISHED"}
        if assigned is not None and has_own_action(armature_object) and assigned not in layers:
            return refuse(self, f"'{assigned.name}' is assigned, which is neither the score's nor a layer of tweaks: "
                                "unassign it or push it down (Push Down Action), then tweak")
        if layers and not self.add_layer:
            action = silent or layers[-1]
            return (self._go_on(armature_object, action) if action.is_editable else
                    self._begin(context, armature_object, action))
        if not layers and not score_plays(self, context, armature_object):
            return {"CANCELLED"}
        return self._begin(context, armature_object)

    def _begin(self, context: bpy.types.Context, armature_object: bpy.types.Object,
               linked: bpy.types.Action | None = None) -> "set[Any]":
        """Begin a layer. linked: the Action in which keys would land if it were not linked."""
        action = tweaks.begin(armature_object, f"{armature_object.name} tweaks")
        assert context.scene is not None
        tweaks.look(armature_object, context.scene)  # so that the undo step has the layout by which keys are set
        if linked is not None:
            report(self, {"INFO"}, f"'{linked.name}' is linked from another file: keys that you set land in "
                                   f"'{action.name}' now, a layer above it")
        else:
            report(self, {"INFO"}, f"Keys that you set land in '{action.name}' now, as changes of what the score plays")
        return {"FINISHED"}

    def _go_on(self, armature_object: bpy.types.Object, action: bpy.types.Action) -> "set[Any]":
        """Assign a layer again."""
        if tweaks.is_in_strip(armature_object, action):
            return refuse(self, f"'{action.name}' lies in a strip of the NLA: edit it there (Tab on the strip), or "
                                "begin another layer (+)")
        tweaks.push_down(armature_object)  # the score's new Action, or another layer
        tweaks.assign(armature_object, action)
        report(self, {"INFO"}, f"Keys that you set land in '{action.name}' again")
        return {"FINISHED"}
