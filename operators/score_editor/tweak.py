"""Keys of tweaks in their row below the lanes: select, move, copy, delete."""

from typing import Any

import bpy
import numpy as np

from ...bridge.language import say
from ...bridge.reports import report
from ...bridge.scores.score_tree import meter_of
from ...bridge.tweaking import tweak_moments, tweaks
from ...core.maths.arrays import FloatArray
from ...core.score_editor import grid
from ...core.score_editor.hints import sentence
from ...core.score_editor.overlay import AtMouse, overlay
from ...core.score_editor.picture import Pen, Picture
from ...core.score_editor.stripes import Stripes
from ...core.score_editor.theme import Theme
from ...core.score_editor.tweak_row import draw_tweaks, pulled
from ...preview import life
from ...preview.score_editor.life import frames_at, show_tweaks, tick_of_frame
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
"""A press with less movement of the mouse is a click: it selects these keys, and the playhead goes to them."""
_LINKED = "these keys are in a linked layer: make it local first (Object > Relations)"


class TAKT_OT_score_tweak(Gesture, bpy.types.Operator):
    """Select keys of tweaks, or move the selected ones to another time; Shift: copy them, Ctrl: snap to frames"""

    bl_idname = "takt.score_tweak"
    bl_label = "Move Tweak"
    bl_options = {"REGISTER", "BLOCKING", "UNDO"}

    _frames: FloatArray
    """The scene's frames of the moments that move, (S,): all selected ones if the pressed one is among them."""
    _pressed: int
    """The number of the pressed one among them."""
    _taken: tweak_moments.Taken | None
    """Their keys, None: the mouse has not moved yet."""
    _to: FloatArray
    """The ticks to which the moments are dragged, (S,)."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start on keys."""
        found = _below(context, event)
        if found is None:
            return {"PASS_THROUGH"}
        editor, frame = found
        locked = tweak_moments.why_locked(editor.armature)
        if locked:
            return refuse(self, locked, is_pressed=True)
        chosen = editor.chosen
        self._frames = chosen if frame in chosen else np.array((frame,))
        self._pressed = int(np.argmin(np.abs(self._frames - frame)))
        self._start, self._taken, self._said, self._refusal = float(event.mouse_region_x), None, "", ""
        self._mouse, self._is_copy = (self._start, float(event.mouse_region_y)), bool(event.shift)
        self._is_adding = self._is_copy
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
        view, meter = editor.view, meter_of(editor.armature)
        if self._taken is None:
            if abs(self._mouse[0] - self._start) < _FARTHER_PX * view.scale:
                return
            self._taken = tweak_moments.Taken(editor.armature, self._frames)
        tick = view.tick_at(self._mouse[0])
        assert context.scene is not None
        tick = tick_of_frame(editor.armature, context.scene, editor.layout, tick) if is_free else grid.snapped(
            tick, view, meter)
        self._to = pulled(_ticks_of(editor, self._frames), self._pressed, min(max(tick, 0.0), editor.layout.ticks),
                          editor.layout.ticks)
        self._said, self._refusal = self._words(editor, context.scene, self._taken)
        show_in_front(context, self._front)

    def _words(self, editor: Editor, scene: bpy.types.Scene | None, taken: tweak_moments.Taken) -> tuple[str, str]:
        """Return where the keys would go, and why they cannot go there, or ""."""
        assert scene is not None
        if not len(taken):
            return "", sentence(_LINKED)
        to, count = meter_of(editor.armature).bar(float(self._to[self._pressed])), len(self._frames)
        met = taken.in_the_way(frames_at(editor.armature, scene, editor.layout, self._to), is_copy=self._is_copy)
        if count > 1:
            return f"{count} moments, {'a copy at' if self._is_copy else 'to'} {to}", "" if met is None else _full(*met)
        if met is not None:
            return f"{'A copy at' if self._is_copy else 'To'} {to}, in place of the keys there", ""
        return f"{'A copy at' if self._is_copy else 'To'} {to}", ""

    def _let_go(self, context: bpy.types.Context) -> "set[Any]":
        editor, scene = found_editor(context), context.scene
        assert scene is not None
        if self._taken is None:
            self._click(editor, scene)
            return {"CANCELLED"}  # the score is unchanged, so there is no undo step
        if self._refusal:
            return refuse(self, self._refusal, is_pressed=True)
        to = frames_at(editor.armature, scene, editor.layout, self._to)
        tweak_moments.move(editor.armature, self._frames, to, is_copy=self._is_copy)
        written(editor, scene)
        editor.select(editor.selected if len(self._frames) > 1 else (), to)
        return {"FINISHED"}

    def _click(self, editor: Editor, scene: bpy.types.Scene) -> None:
        """Select the pressed moment alone, and go there; with Shift, select it too, or no more."""
        pressed = self._frames[self._pressed:self._pressed + 1]
        if self._is_adding:
            editor.select(editor.selected, np.setxor1d(editor.chosen, pressed))
        else:
            editor.select((), pressed)
            scene.frame_set(round(float(pressed[0])))

    def _front(self, theme: Theme) -> Picture:
        editor = found_editor(bpy.context)
        pen, view, layout = Pen(), editor.view, editor.layout
        stripes, all_of_them = Stripes.of(layout, view), np.ones(len(self._to), dtype=np.bool_)
        draw_tweaks(pen, _ticks_of(editor, self._frames), view, theme, stripes, silent=all_of_them)
        draw_tweaks(pen, self._to, view, theme, stripes, chosen=all_of_them)
        at_mouse = AtMouse(*self._mouse, say(self._said), say(self._refusal))
        return Picture((pen.layer(), overlay(layout, view, theme, at_mouse)))


class TAKT_OT_score_delete_tweak(InScoreEditor, bpy.types.Operator):
    """Delete the selected keys of tweaks, or those below the mouse"""

    bl_idname = "takt.score_delete_tweak"
    bl_label = "Delete Tweak"
    bl_options = {"REGISTER", "UNDO"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Delete the keys under the mouse, and with them all selected ones if they are among these.

        With none under the mouse, delete the selected ones, unless blocks are selected; pass the event on if there are
        none.
        """
        found = _below(context, event)
        editor = found_editor(context)
        frames = editor.chosen
        if found is not None and found[1] not in frames:
            frames = np.array((found[1],))
        elif found is None and editor.selected:
            frames = np.zeros(0)
        if not len(frames) or context.scene is None:
            return {"PASS_THROUGH"}
        locked = tweak_moments.why_locked(editor.armature)
        if locked:
            return refuse(self, locked, is_pressed=True)
        count = tweak_moments.remove(editor.armature, frames)
        if not count:
            return refuse(self, sentence(_LINKED), is_pressed=True)
        written(editor, context.scene)
        frame, moments = float(frames[0]), len(frames)
        report(self, {"INFO"}, f"Deleted {count} keys of tweaks at frame {frame:.5g}" if moments == 1 else
               f"Deleted {count} keys of tweaks at {moments} moments")
        return {"FINISHED"}


def _full(bone: str, frame: float) -> str:
    """Return why several moments cannot move where a bone has a key."""
    return f"'{bone}' has a key at frame {frame:.5g} already: only a single moment replaces keys"


def _ticks_of(editor: Editor, frames: FloatArray) -> FloatArray:
    """Return the ticks of moments at frames (S,)."""
    known, ticks = tweak_moments.frames_of(editor.armature), editor.layout.tweaks
    assert known is not None and ticks is not None
    return ticks[np.minimum(np.searchsorted(known, frames), len(ticks) - 1)]


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


def written(editor: Editor, scene: bpy.types.Scene) -> None:
    """Ease and tie the changed keys, and show them."""
    tweaks.look(editor.armature, scene)
    show_tweaks(editor.armature, scene)
    life.changed()
