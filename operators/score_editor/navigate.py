"""Zoom and pan, with the wheel and the middle mouse button as in Blender's other timelines."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ...preview.score_editor.windows import change_view, is_on_shelf, scroll_shelf
from .base import InScoreEditor, found_editor

_STEP = 1.2
_DRAG = 1.006
"""Zoom for a step of the wheel, and for a pixel that is dragged at an interface scale of 1."""
_WHEEL_PX = 60.0
_MOST_STEPS = 200
"""Number of steps from the farthest view to the nearest one."""


class TAKT_OT_score_zoom(InScoreEditor, bpy.types.Operator):
    """Zoom the score around the mouse"""

    bl_idname = "takt.score_zoom"
    bl_label = "Zoom"

    if TYPE_CHECKING:
        steps: int
    else:
        steps: IntProperty(name="Steps", default=1, min=-_MOST_STEPS, max=_MOST_STEPS,
                           description="Steps to zoom in; negative steps zoom out")

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Zoom around the mouse; over the shelf, scroll that."""
        view = found_editor(context).view
        if is_on_shelf(context, float(event.mouse_region_y)):
            scroll_shelf(context, -self.steps * _WHEEL_PX * view.scale)
            return {"FINISHED"}
        change_view(context, view.zoomed(_STEP ** self.steps, max(float(event.mouse_region_x), view.left)))
        return {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Zoom around the middle."""
        view = found_editor(context).view
        change_view(context, view.zoomed(_STEP ** self.steps, (view.left + view.width) / 2.0))
        return {"FINISHED"}


class TAKT_OT_score_pan(InScoreEditor, bpy.types.Operator):
    """Pan the view of the score"""

    bl_idname = "takt.score_pan"
    bl_label = "Pan View"
    bl_options = {"BLOCKING", "GRAB_CURSOR"}

    if TYPE_CHECKING:
        mode: str
    else:
        mode: EnumProperty(items=[
            ("DRAG", "Drag", "Go along with the mouse"), ("ZOOM", "Zoom", "Zoom with the mouse"),
            ("TRACKPAD", "Trackpad", "Go along with two fingers"),
            ("LEFT", "Left", ""), ("RIGHT", "Right", ""), ("UP", "Up", ""), ("DOWN", "Down", "")],
            options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start following the mouse; do a step of the wheel or the trackpad at once."""
        view = found_editor(context).view
        if self.mode in ("DRAG", "ZOOM"):
            assert context.window_manager is not None
            self._view, self._start = view, (event.mouse_x, event.mouse_y)
            self._middle = float(event.mouse_region_x)
            self._button = event.type
            context.window_manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}
        wheel = _WHEEL_PX * view.scale
        right, up = {"LEFT": (wheel, 0.0), "RIGHT": (-wheel, 0.0), "UP": (0.0, -wheel), "DOWN": (0.0, wheel)}.get(
            self.mode, (float(event.mouse_x - event.mouse_prev_x), float(event.mouse_y - event.mouse_prev_y)))
        change_view(context, view.panned(right, up))
        return {"FINISHED"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse until its button is released."""
        if event.type in (self._button, "ESC"):
            if event.type == "ESC":
                change_view(context, self._view)
            return {"FINISHED"} if event.type == "ESC" or event.value == "RELEASE" else {"RUNNING_MODAL"}
        if event.type == "MOUSEMOVE":
            right, up = float(event.mouse_x - self._start[0]), float(event.mouse_y - self._start[1])
            view = self._view
            change_view(context, view.panned(right, up) if self.mode == "DRAG"
                        else view.zoomed(_DRAG ** ((right + up) / view.scale), self._middle))
        return {"RUNNING_MODAL"}
