"""Keys of tweaks in their row below the lanes: move, copy, delete."""

from typing import Any

import bpy
import numpy as np

from ...bridge.language import say
from ...bridge.reports import report
from ...bridge.scores.score_tree import meter_of
from ...bridge.tweaking import tweak_moments, tweaks
from ...core.score_editor import grid
from ...core.score_editor.overlay import AtMouse, overlay
from ...core.score_editor.picture import Pen, Picture
from ...core.score_editor.stripes import Stripes
from ...core.score_editor.theme import Theme
from ...core.score_editor.tweak_row import draw_tweaks
from ...preview import life
from ...preview.score_editor.life import frame_at, show_tweaks
from ...preview.score_editor.windows import show_in_front
from .base import (
    Editor,
    Gesture,
    InScoreEditor,
    clears_up,
    editor_of,
    found_editor,
    fresh_editor,
    hit_in_score,
    is_given_up,
    refuse,
)

_FARTHER_PX = 3.0
"""A press with less movement of the mouse is a click: the playhead goes to these keys."""


class TAKT_OT_score_tweak(Gesture, bpy.types.Operator):
    """Move the keys of a tweak to another time; Shift: copy them, Ctrl: do not snap to beats"""

    bl_idname = "takt.score_tweak"
    bl_label = "Move Tweak"
    bl_options = {"REGISTER", "BLOCKING", "UNDO"}

    _frame: float
    """The scene's frame of the keys."""
    _to: float | None
    """The tick to which the keys are dragged, None: they have not moved yet."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start on keys."""
        found = _below(context, event)
        if found is None:
            return {"PASS_THROUGH"}
        editor, self._frame = found
        locked = tweak_moments.why_locked(editor.armature)
        if locked:
            return refuse(self, locked, is_pressed=True)
        self._start, self._to = float(event.mouse_region_x), None
        self._mouse, self._is_copy = (self._start, float(event.mouse_region_y)), bool(event.shift)
        assert context.window_manager is not None
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    @clears_up
    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse; Esc and the right button cancel."""
        if editor_of(context) is None or is_given_up(event):
            show_in_front(context, None)
            return {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            show_in_front(context, None)
            return self._let_go(context)
        if event.type in ("MOUSEMOVE", "LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT"):
            if event.type == "MOUSEMOVE":
                self._mouse = float(event.mouse_region_x), float(event.mouse_region_y)
            self._is_copy = bool(event.shift)
            self._follow(context, is_free=bool(event.ctrl))
        return {"RUNNING_MODAL"}

    def _follow(self, context: bpy.types.Context, *, is_free: bool) -> None:
        editor = found_editor(context)
        view, layout = editor.view, editor.layout
        if self._to is None and abs(self._mouse[0] - self._start) < _FARTHER_PX * view.scale:
            return
        tick = view.tick_at(self._mouse[0])
        tick = tick if is_free else grid.snapped(tick, view, meter_of(editor.armature))
        self._to = min(max(tick, 0.0), layout.ticks)
        self._said = f"{'A copy at' if self._is_copy else 'To'} {meter_of(editor.armature).bar(self._to)}"
        show_in_front(context, self._front)

    def _let_go(self, context: bpy.types.Context) -> "set[Any]":
        editor, scene = found_editor(context), context.scene
        assert scene is not None
        if self._to is None:
            scene.frame_set(round(self._frame))
            return {"CANCELLED"}
        to = frame_at(editor.armature, scene, editor.layout, self._to)
        tweak_moments.move(editor.armature, self._frame, to, is_copy=self._is_copy)
        _written(editor, scene)
        return {"FINISHED"}

    def _front(self, theme: Theme) -> Picture:
        editor = found_editor(bpy.context)
        pen, view, layout = Pen(), editor.view, editor.layout
        if self._to is not None:
            draw_tweaks(pen, np.zeros(0), view, theme, Stripes.of(layout, view), chosen=self._to)
        return Picture((pen.layer(), overlay(layout, view, theme, AtMouse(*self._mouse, say(self._said)))))


class TAKT_OT_score_delete_tweak(InScoreEditor, bpy.types.Operator):
    """Delete the keys of a tweak below the mouse"""

    bl_idname = "takt.score_delete_tweak"
    bl_label = "Delete Tweak"
    bl_options = {"REGISTER", "UNDO"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Delete the keys under the mouse; pass the event on if there are none."""
        found = _below(context, event)
        if found is None or context.scene is None:
            return {"PASS_THROUGH"}
        editor, frame = found
        locked = tweak_moments.why_locked(editor.armature)
        if locked:
            return refuse(self, locked, is_pressed=True)
        count = tweak_moments.remove(editor.armature, frame)
        _written(editor, context.scene)
        report(self, {"INFO"}, f"Deleted {count} keys of tweaks at frame {frame:.5g}")
        return {"FINISHED"}


def _below(context: bpy.types.Context, event: bpy.types.Event) -> tuple[Editor, float] | None:
    """Return the editor, and the frame of the keys under the mouse; None: there are none."""
    editor = fresh_editor(context)
    if show_tweaks(editor.armature, context.scene):
        editor = found_editor(context)
    found = hit_in_score(context, editor, float(event.mouse_region_x), float(event.mouse_region_y))
    frames = tweak_moments.frames_of(editor.armature)
    if found is None or found.tweak is None or frames is None:
        return None
    return editor, float(frames[found.tweak])


def _written(editor: Editor, scene: bpy.types.Scene) -> None:
    """Ease and tie the changed keys, and show them."""
    tweaks.look(editor.armature, scene)
    show_tweaks(editor.armature, scene)
    life.changed()
