"""Set Reference Pose: the pose in which a character is compared with the bodies of clips."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ..bridge.active_character import ForArmature, active_armature
from ..bridge.reports import refuse
from ..bridge.rigs import armature, joint_map
from ..core.errors import TaktError
from ..core.skeletons.skeleton import Pose

_SOURCES = (("CURRENT", "Current Pose", "The pose in which the character is shown now"),
            ("FRAME", "Pose of a Frame…", "The pose that its animation has at a frame"),
            ("REST", "Rest Pose", "Clear the reference pose: the rest pose is used, turned upright if it leans"))


class TAKT_OT_set_reference_pose(ForArmature, bpy.types.Operator):
    """Choose the reference pose, in which the character stands upright with straight arms and legs"""

    bl_idname = "takt.set_reference_pose"
    bl_label = "Set Reference Pose"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        source: str
        frame: int
    else:
        source: EnumProperty(name="From", items=_SOURCES, description="Where the pose is taken from")
        frame: IntProperty(name="Frame", description="The frame at which the animation has the pose")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Ask for the frame if one is needed."""
        if self.source != "FRAME":
            return self.execute(context)
        assert context.scene is not None and context.window_manager is not None
        self.frame = context.scene.frame_current
        result: set[Any] = context.window_manager.invoke_props_popup(self, event)
        return result

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the options."""
        assert self.layout is not None
        self.layout.prop(self, "source")
        if self.source == "FRAME":
            self.layout.prop(self, "frame")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Read the pose, and store it if the body stands in it."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        frame = self.frame if self.source == "FRAME" else scene.frame_current
        words = f"that of frame {frame}" if self.source == "FRAME" else "one that was set by hand"
        try:
            pose = None if self.source == "REST" else _pose_at(context, scene, armature_object, frame)
            joint_map.set_pose(armature_object, pose, words)
        except TaktError as error:
            return refuse(self, f"'{armature_object.name}': {error}")
        return {"FINISHED"}


def _pose_at(context: bpy.types.Context, scene: bpy.types.Scene, armature_object: bpy.types.Object,
             frame: int) -> Pose:
    """Return the pose at a frame; at the current frame the visible one, including changes without keys."""
    skeleton, now = armature.read_skeleton(armature_object), scene.frame_current
    if frame == now:
        assert context.view_layer is not None
        context.view_layer.update()
        return armature.read_pose(armature_object, skeleton)
    scene.frame_set(frame)
    try:
        return armature.read_pose(armature_object, skeleton)
    finally:
        scene.frame_set(now)
