"""Scrub: press or drag on the ruler to go to a time."""

from typing import Any

import bpy
import numpy as np

from ...core.score_editor.gestures import hit, press_of
from ...preview import life
from ...preview.score_editor.life import frame_at, tick_now
from .base import InScoreEditor, editor_of, found_editor, is_given_up


class TAKT_OT_score_scrub(InScoreEditor, bpy.types.Operator):
    """Go to a time of the score"""

    bl_idname = "takt.score_scrub"
    bl_label = "Scrub"
    bl_options = {"BLOCKING", "UNDO_GROUPED"}
    bl_undo_group = "Scrub"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start on the ruler; pass events elsewhere on."""
        editor = found_editor(context)
        if press_of(hit(editor.layout, editor.view, event.mouse_region_x, event.mouse_region_y)) != "scrub":
            return {"PASS_THROUGH"}
        scene = context.scene
        assert context.window_manager is not None and scene is not None
        tick = tick_now(editor.armature, scene, editor.layout)
        self._before_s = float(editor.layout.seconds(np.array((tick,)))[0])
        self._frame, self._subframe = scene.frame_current, scene.frame_subframe
        self._go(context, event)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse until its button is released; if cancelled, restore the time."""
        if editor_of(context) is None:  # the text was deleted
            return {"CANCELLED"}
        if is_given_up(event):
            self._go_back(context)
            return {"CANCELLED"}
        if event.type == "MOUSEMOVE":
            self._go(context, event)
        is_over = event.type == "LEFTMOUSE" and event.value == "RELEASE"
        return {"FINISHED"} if is_over else {"RUNNING_MODAL"}

    def _go(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        editor, scene = found_editor(context), context.scene
        assert scene is not None
        tick = min(max(editor.view.tick_at(float(event.mouse_region_x)), 0.0), editor.layout.ticks)
        if _has_own_clock():
            _play_from(float(editor.layout.seconds(np.array((tick,)))[0]))
        else:
            frame = frame_at(editor.armature, scene, editor.layout, tick)
            scene.frame_set(int(frame), subframe=frame % 1.0 if scene.show_subframe else 0.0)
        if context.area is not None:
            context.area.tag_redraw()

    def _go_back(self, context: bpy.types.Context) -> None:
        assert context.scene is not None
        if _has_own_clock():
            _play_from(self._before_s)
        else:
            context.scene.frame_set(self._frame, subframe=self._subframe)


def _has_own_clock() -> bool:
    """Return whether the player's own clock runs instead of the scene's."""
    return life.is_running() and not life.choices().player.follows_timeline


def _play_from(time_s: float) -> None:
    life.choices().player.go_to(time_s, life.now_s())
    life.changed()
