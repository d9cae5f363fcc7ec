"""Scrub: press or drag on the ruler, and the character goes there."""

from typing import Any

import bpy
import numpy as np

from ...core.score_editor.hit import Part, hit
from ...preview import life
from ...preview.score_editor.life import frame_at
from .base import InScoreEditor, found_editor


class TAKT_OT_score_scrub(InScoreEditor, bpy.types.Operator):
    """Go to a time of the score"""

    bl_idname = "takt.score_scrub"
    bl_label = "Scrub"
    bl_options = {"BLOCKING", "UNDO_GROUPED"}
    bl_undo_group = "Scrub"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Begin on the ruler; leave what is pressed elsewhere to others."""
        editor = found_editor(context)
        if hit(editor.layout, editor.view, event.mouse_region_x, event.mouse_region_y).part is not Part.RULER:
            return {"PASS_THROUGH"}
        assert context.window_manager is not None
        self._go(context, event)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse until its button is let go."""
        if event.type == "MOUSEMOVE":
            self._go(context, event)
        is_over = event.type in ("LEFTMOUSE", "ESC") and event.value in ("RELEASE", "PRESS")
        return {"FINISHED"} if is_over else {"RUNNING_MODAL"}

    def _go(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        editor, scene, player = found_editor(context), context.scene, life.choices().player
        assert scene is not None
        tick = min(max(editor.view.tick_at(float(event.mouse_region_x)), 0.0), editor.layout.ticks)
        if life.is_running() and not player.follows_timeline:
            player.go_to(float(editor.layout.seconds(np.array((tick,)))[0]), life.now_s())
            life.changed()
        else:
            frame = frame_at(editor.armature, scene, editor.layout, tick)
            scene.frame_set(int(frame), subframe=frame % 1.0 if scene.show_subframe else 0.0)
        if context.area is not None:
            context.area.tag_redraw()
