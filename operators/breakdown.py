"""Breakdown: a pose between two blocks, or two keys of tweaks, set as a tweak."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import FloatProperty

from ..bridge.active_character import active_armature
from ..bridge.language import say
from ..bridge.reports import refuse, report
from ..bridge.scores import score
from ..bridge.tweaking import breakdown, tweaks
from ..bridge.tweaking.breakdown import Poses
from .tweak_base import ForTweaks

_ACROSS_PX = 400.0
"""Mouse distance from the earlier pose to the later one, at an interface scale of 1."""
_STEP = 0.1


class TAKT_OT_breakdown(ForTweaks, bpy.types.Operator):
    """Pose selected bones between two blocks or keys, as a tweak: drag left for the earlier, right for the later"""

    bl_idname = "takt.breakdown"
    bl_label = "Breakdown"
    bl_options = {"REGISTER", "UNDO", "BLOCKING", "GRAB_CURSOR"}

    if TYPE_CHECKING:
        share: float
    else:
        share: FloatProperty(name="Factor", subtype="FACTOR", default=0.5, soft_min=0.0, soft_max=1.0, min=-1.0,
                             max=2.0,
                             description="0 is the earlier pose, 1 the later one; values beyond go on in the same "
                                         "direction")

    _poses: Poses
    _begun_at: float | None
    """The mouse position at which the share is 0.5; None before the first movement, which may come from elsewhere."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why nothing can be broken down."""
        if reason := super().problem(context):
            return reason
        armature_object = active_armature(context)
        assert armature_object is not None  # otherwise a reason was returned
        if armature_object.mode != "POSE":
            return "Go to Pose Mode, and select the bones"
        animation = armature_object.animation_data
        layers = [action for _, action in tweaks.layers_of(armature_object)]
        if animation is None or animation.action not in layers:
            return "No layer of tweaks is assigned: Tweak assigns it"
        if not animation.action.is_editable:
            return f"'{animation.action.name}' is linked: make it local first (Object > Relations)"
        return "" if context.selected_pose_bones_from_active_object else "Select bones"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Set the pose, and keys of it."""
        if not self._begin(context):
            return {"CANCELLED"}
        return self._done(context)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start in the middle between both poses, and follow the mouse."""
        if not self._begin(context):
            return {"CANCELLED"}
        self._begun_at = None
        assert context.window_manager is not None
        context.window_manager.modal_handler_add(self)
        self._show(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse; a click or Enter sets the keys, Esc and the right button cancel."""
        if event.type in ("ESC", "RIGHTMOUSE"):
            self._poses.give_back()
            self._clear(context)
            return {"CANCELLED"}
        if event.type in ("LEFTMOUSE", "RET", "NUMPAD_ENTER") and event.value == "PRESS":
            self._clear(context)
            return self._done(context)
        if event.type in ("MOUSEMOVE", "LEFT_CTRL", "RIGHT_CTRL"):
            if self._begun_at is None:
                self._begun_at = event.mouse_x - (self.share - 0.5) * self._across(context)
            share = 0.5 + (event.mouse_x - self._begun_at) / self._across(context)
            self.share = round(share / _STEP) * _STEP if event.ctrl else share
            self._show(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Cancel: Blender calls it when the window is closed or another file opened."""
        self._poses.give_back()
        self._clear(context)

    def _begin(self, context: bpy.types.Context) -> bool:
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        motion = score.motion_of(armature_object)
        if motion is None:
            refuse(self, f"The score cannot be played: {score.error_of(armature_object) or 'it holds nothing yet'}")
            return False
        found = breakdown.around(breakdown.key_poses(armature_object, scene, motion), scene.frame_current)
        if found is None:
            refuse(self, "The current frame is not between two blocks or keys: go to one that is")
            return False
        self._moments = found
        self._poses = Poses.of(context.selected_pose_bones_from_active_object, scene, *found)
        return True

    def _done(self, context: bpy.types.Context) -> "set[Any]":
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        self._poses.show(self.share)
        self._poses.key(scene.frame_current)
        tweaks.look(armature_object, scene)
        earlier, later = self._moments
        report(self, {"INFO"}, f"{self.share:.0%} from frame {earlier} to {later}, as a tweak at {scene.frame_current}")
        return {"FINISHED"}

    def _show(self, context: bpy.types.Context) -> None:
        self._poses.show(self.share)
        if context.workspace is not None:
            context.workspace.status_text_set(say(f"Breakdown: {self.share:.0%} from frame {self._moments[0]} to "
                                              f"{self._moments[1]}   Ctrl: Steps   Enter: Set Keys   Esc: Cancel"))

    def _clear(self, context: bpy.types.Context) -> None:
        if context.workspace is not None:
            context.workspace.status_text_set(None)

    @staticmethod
    def _across(context: bpy.types.Context) -> float:
        assert context.preferences is not None
        return _ACROSS_PX * context.preferences.system.ui_scale
