"""Bend Test: bend joints slightly to see leaks between zones, and restore the pose exactly."""

import math
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import FloatProperty

from ..bridge.active_character import active_armature, armature_problem
from ..bridge.language import say
from ..bridge.meshes import bend
from ..bridge.reports import GreyWithReason, report

_ANGLE_RAD = math.radians(25.0)
_JOINT_S = 0.5
"""Time in which one joint bends and returns."""
_STEP_S = 1.0 / 24.0
_LOOKING_AROUND = frozenset({"MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "TRACKPADPAN", "TRACKPADZOOM",
                             "NDOF_MOTION", "MOUSEMOVE", "MOUSEROTATE", "MOUSESMARTZOOM"})


class _Bending(GreyWithReason, bpy.types.Operator):
    """The common base of both operators; not registered."""

    if TYPE_CHECKING:
        angle: float
    else:
        angle: FloatProperty(name="Angle", description="How far each joint bends", subtype="ANGLE",
                             default=_ANGLE_RAD, min=math.radians(-120.0), max=math.radians(120.0))

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why no joint can be bent or restored."""
        return _problem(context)


class TAKT_OT_bend_test(_Bending):
    """Bend all joints a little, to see which skin follows the wrong bone. Press again to restore the pose"""

    bl_idname = "takt.bend_test"
    bl_label = "Bend Test"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Bend, or restore."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None  # poll has checked it
        if bend.is_bent(armature_object):
            bend.put_back(armature_object, scene)
        else:
            joints = bend.bend_all(armature_object, self.angle, scene.frame_current_final)
            report(self, {"INFO"}, f"{joints} joints of '{armature_object.name}' are bent; "
                                  "press Bend Test again to put them back")
        return {"FINISHED"}


class TAKT_OT_bend_in_turn(_Bending):
    """Bend one joint after the other, and restore each. Esc stops"""

    bl_idname = "takt.bend_in_turn"
    bl_label = "Bend Joints in Turn"
    bl_options = {"REGISTER"}

    _timer: bpy.types.Timer

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Start with the first joint."""
        armature_object, manager, scene = active_armature(context), context.window_manager, context.scene
        assert armature_object is not None and manager is not None and scene is not None  # poll has checked it
        if bend.is_bent(armature_object):
            bend.put_back(armature_object, scene)
        self._armature_uid = armature_object.session_uid  # the object may be freed between two events
        self._bent = ""
        self._names = [bone.name for bone in bend.bendable(armature_object)]
        bend.keep(armature_object, bend.bendable(armature_object), scene.frame_current_final)
        self._timer = manager.event_timer_add(_STEP_S, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Bend joints; meanwhile only the view can be changed."""
        number, share = divmod(self._timer.time_duration / _JOINT_S, 1.0)
        armature_object = self._bent_armature()
        if event.type == "ESC" or number >= len(self._names) or armature_object is None:
            self.cancel(context)
            return {"CANCELLED"}  # all is restored: no undo step
        if event.type == "TIMER":
            self._pose(context, armature_object, int(number), share)
        return {"PASS_THROUGH"} if event.type in _LOOKING_AROUND else {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Restore everything; Blender also calls it when the window is closed."""
        assert context.window_manager is not None and context.scene is not None
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        armature_object = self._bent_armature()
        if armature_object is not None:
            bend.put_back(armature_object, context.scene)

    def _bent_armature(self) -> bpy.types.Object | None:
        """Return the armature, or None if it was removed or its pose was restored in between."""
        found = next((ob for ob in bpy.data.objects if ob.session_uid == self._armature_uid), None)
        return found if found is not None and bend.is_bent(found) else None

    def _pose(self, context: bpy.types.Context, armature_object: bpy.types.Object, number: int, share: float) -> None:
        """Bend the current joint, and straighten the previous ones, since slow drawing skips some."""
        assert context.workspace is not None
        name = self._names[number]
        if self._bent not in {"", name}:
            bend.bend(armature_object, self._bent, 0.0)
        self._bent = name
        bend.bend(armature_object, name, self.angle * math.sin(2.0 * math.pi * share))
        context.workspace.status_text_set(say(f"Bending {name}   Esc: Stop"))


def _problem(context: bpy.types.Context) -> str:
    """Return why no joint can be bent, or ""; fast enough for every redraw."""
    armature_object = active_armature(context)
    reason = armature_problem(armature_object)
    if reason or armature_object is None or bend.is_bent(armature_object):
        return reason
    data: Any = armature_object.data
    if data.pose_position == "REST":
        return f"'{armature_object.name}' is shown in its rest position: switch it to Pose Position"
    if not bend.bendable(armature_object):
        return f"'{armature_object.name}' has no joint to bend: a deforming bone with a parent and no constraint"
    return ""
