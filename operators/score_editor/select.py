"""Select blocks: all, none, inverted, or with a box."""

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.props import EnumProperty

from ...bridge.tweaking import tweak_moments
from ...core.maths.arrays import FloatArray, IntArray
from ...core.score_editor.gestures import press_of
from ...core.score_editor.layout import BoxId, Layout
from ...core.score_editor.opening import outermost
from ...core.score_editor.picture import Pen, Picture
from ...core.score_editor.stripes import Stripes
from ...core.score_editor.theme import Theme
from ...core.score_editor.tweak_row import tweaks_within
from ...core.score_editor.view import View
from ...preview.score_editor.windows import show_in_front
from .base import Editor, Gesture, InScoreEditor, clears_up, editor_of, found_editor, hit_in_score, is_given_up


class TAKT_OT_score_select(InScoreEditor, bpy.types.Operator):
    """Select blocks of the score, or keys of tweaks if the mouse is over their row"""

    bl_idname = "takt.score_select"
    bl_label = "Select"
    bl_options = {"REGISTER"}  # the score is unchanged: no undo step

    if TYPE_CHECKING:
        which: str
    else:
        which: EnumProperty(name="Blocks", description="What to select", options={"SKIP_SAVE"}, items=[
            ("ALL", "All", "Select all blocks"), ("NONE", "None", "Select nothing"),
            ("INVERT", "Invert", "Select what is not selected")])

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Select keys of tweaks if the mouse is over their row, else blocks."""
        editor = found_editor(context)
        layout, row = editor.layout, Stripes.of(editor.layout, editor.view).tweaks
        if row is None or layout.tweaks is None or not row[0] <= event.mouse_region_y <= row[1]:
            return self.execute(context)
        frames, before = tweak_moments.frames_of(editor.armature), editor.chosen
        assert frames is not None
        editor.select((), {"ALL": frames, "NONE": frames[:0], "INVERT": np.setdiff1d(frames, before)}[self.which])
        return {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Select the outermost blocks, which stand for all within them."""
        editor = found_editor(context)
        before, layout = editor.selected, editor.layout
        row = {layout.id_of(box) for box in outermost(layout, editor.view).tolist()}
        editor.select({"ALL": row, "NONE": set(), "INVERT": row - before}[self.which])
        return {"FINISHED"}


class TAKT_OT_score_box_select(Gesture, bpy.types.Operator):
    """Select the blocks and keys of tweaks in a box; with Shift, others stay selected"""

    bl_idname = "takt.score_box_select"
    bl_label = "Box Select"
    bl_options = {"REGISTER", "BLOCKING"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start where there is no block; pass events elsewhere on."""
        editor = found_editor(context)
        self._start = float(event.mouse_region_x), float(event.mouse_region_y)
        found = hit_in_score(context, editor, *self._start)
        if found is None or press_of(found) != "box_select":
            return {"PASS_THROUGH"}
        self._before, self._end = editor.selected if event.shift else frozenset[BoxId](), self._start
        self._keys_before = editor.chosen if event.shift else np.zeros(0)
        assert context.window_manager is not None
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    @clears_up
    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse until its button is released; if cancelled, restore the selection."""
        editor = editor_of(context)
        if editor is None or is_given_up(event):
            show_in_front(context, None)
            return {"CANCELLED"}
        if event.type == "MOUSEMOVE":
            self._end = float(event.mouse_region_x), float(event.mouse_region_y)
            show_in_front(context, self._band)
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            show_in_front(context, None)
            found = boxes_within(editor.layout, editor.view, self._start, self._end)
            editor.select(self._before | {editor.layout.id_of(box) for box in found.tolist()},
                          np.union1d(self._keys_before, self._keys_within(editor)))
            return {"FINISHED"}
        return {"RUNNING_MODAL"}

    def _keys_within(self, editor: Editor) -> FloatArray:
        """Return the frames of the moments of tweaks in the box, (N,)."""
        frames, ticks = tweak_moments.frames_of(editor.armature), editor.layout.tweaks
        if frames is None or ticks is None or len(frames) != len(ticks):
            return np.zeros(0)
        stripes = Stripes.of(editor.layout, editor.view)
        return frames[tweaks_within(ticks, editor.view, stripes, self._start, self._end)]

    def _band(self, theme: Theme) -> Picture:
        (left, low), (right, high) = self._start, self._end
        pen = Pen()
        pen.rectangle((min(left, right), min(low, high), max(left, right), max(low, high)), (*theme.text[:3], 0.08),
                      outline=(*theme.text[:3], 0.6), outline_px=1.0)
        return Picture((pen.layer(),))


def boxes_within(layout: Layout, view: View, start: tuple[float, float], end: tuple[float, float]) -> IntArray:
    """Return the boxes (N,) whose titles lie in the rectangle between two corners, without those inside others."""
    boxes = layout.boxes
    stripes = Stripes.of(layout, view)
    _, high = stripes.boxes(boxes.lane, boxes.depth)
    left, right = view.x(boxes.begin), view.x(boxes.end)
    is_within = ((left < max(start[0], end[0])) & (right > min(start[0], end[0]))
                 & (high > min(start[1], end[1])) & (high - view.scale < max(start[1], end[1]))
                 & stripes.shows(boxes.lane, boxes.depth))
    return np.flatnonzero(is_within & ~np.append(is_within, False)[boxes.parent])
