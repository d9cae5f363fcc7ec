"""Drag blocks, their edges, their repeats and their transitions: shown during the drag, written at its end."""

from contextlib import suppress
from typing import Any

import bpy

from ...bridge.language import say
from ...bridge.reports import report
from ...bridge.scores import score_edits, score_music, texts
from ...bridge.scores.score_blocks import Blocks
from ...bridge.scores.score_tree import meter_of
from ...core.errors import EditError, TaktError
from ...core.score_editor import drag
from ...core.score_editor.change import Proposal
from ...core.score_editor.gestures import begin, press_of
from ...core.score_editor.hints import sentence
from ...core.score_editor.hit import Hit
from ...core.score_editor.layout import BoxId, Layout
from ...core.score_editor.nudge_beat import NudgeBeat
from ...core.score_editor.overlay import AtMouse, overlay
from ...core.score_editor.picture import Picture
from ...core.score_editor.theme import Theme
from ...core.score_editor.view import View
from ...preview import life
from ...preview.score_editor.windows import is_on_shelf, show_in_front
from .base import (
    Editor,
    Gesture,
    clears_up,
    editor_of,
    found_editor,
    fresh_editor,
    hit_in_score,
    is_given_up,
    refuse,
    write_text,
)

_NO_PLACE = Proposal(refusal="the shelf is not part of the score; release the mouse above the shelf")
_FARTHER_PX = 3.0
"""A press with less movement of the mouse is a click."""


class TAKT_OT_score_drag(Gesture, bpy.types.Operator):
    """Select a block, or drag it, its edge, its repeats or a transition; Ctrl: copy it, or no snapping; Shift: trim"""

    bl_idname = "takt.score_drag"
    bl_label = "Edit Score"
    bl_options = {"REGISTER", "BLOCKING", "UNDO"}  # so that F9 shows this operator, not the one before

    _blocks: Blocks
    _view: View
    _hit: Hit
    _drag: drag.Drag | None
    _pulled: BoxId | None
    _proposal: Proposal
    _text: score_edits.New | None = None
    """The proposal that was tried out and would be written."""
    _is_away: bool = False
    """Whether the carried blocks are over the shelf."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start on a part that can be dragged; pass events elsewhere on."""
        editor = fresh_editor(context)
        self._start = self._mouse = float(event.mouse_region_x), float(event.mouse_region_y)
        found = hit_in_score(context, editor, *self._start)
        if found is None or press_of(found) != "drag":
            return {"PASS_THROUGH"}
        self._hit = found
        self._blocks, self._view, self._drag = editor.blocks, editor.view, None
        box = self._box(editor.layout)
        self._pulled = None if box is None else editor.layout.id_of(box)
        self._proposal, self._text, self._is_adding = Proposal(), None, bool(event.shift)
        assert context.window_manager is not None
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    @clears_up
    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse; Esc, the right button and undo restore everything."""
        if editor_of(context) is None:  # the text was deleted
            show_in_front(context, None)
            texts.propose_nothing()
            return {"CANCELLED"}
        if is_given_up(event):
            self._end(context)
            return {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            return self._let_go(context, event)
        if event.type in ("MOUSEMOVE", "LEFT_CTRL", "RIGHT_CTRL"):
            if event.type == "MOUSEMOVE":
                self._mouse = float(event.mouse_region_x), float(event.mouse_region_y)
            self._follow(context, is_free=bool(event.ctrl))
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write the proposal."""
        if self._text is None:
            return refuse(self, "Only the mouse can do that")
        editor = found_editor(context)
        try:
            score_edits.check_unchanged(editor.armature, self._blocks)
        except EditError as error:
            return refuse(self, sentence(str(error)))
        write_text(self, context, editor, self._text, self._proposal)
        if isinstance(self._drag, NudgeBeat) and context.scene is not None:
            with suppress(TaktError):  # it is reported when the score plays
                score_music.play_along(editor.armature, context.scene)
        return {"FINISHED"}

    def _follow(self, context: bpy.types.Context, *, is_free: bool) -> None:
        editor = found_editor(context)
        if self._drag is None:
            farther = max(abs(now - then) for now, then in zip(self._mouse, self._start, strict=True))
            if farther < _FARTHER_PX * self._view.scale or self._blocks.layout is None or self._blocks.scores is None:
                return
            self._drag = begin(self._blocks.layout, self._hit, self._blocks.scores,
                               selected=editor.selected, meter=meter_of(editor.armature), trims=self._is_adding)
        if self._drag is None:
            return
        self._is_away = isinstance(self._drag, drag.Carry) and is_on_shelf(context, self._mouse[1])
        proposal = _NO_PLACE if self._is_away else self._drag.to(editor.view, *self._mouse, is_free=is_free)
        if proposal.change != self._proposal.change or proposal.refusal:
            self._text = None
            proposal = self._tried(editor.armature, proposal)
        self._proposal = proposal
        show_in_front(context, self._front, self._pulled)

    def _tried(self, armature_object: bpy.types.Object, proposal: Proposal) -> Proposal:
        """Show the result of a proposal; for carried blocks only their new place."""
        if proposal.change is None or proposal.refusal:
            score_edits.take_back(armature_object)
            return proposal
        try:
            if isinstance(self._drag, drag.Carry):
                self._text, _ = score_edits.attempted(armature_object, self._blocks, proposal.change)
            else:
                self._text = score_edits.try_out(armature_object, self._blocks, proposal.change)
                life.changed()
        except EditError as error:
            score_edits.take_back(armature_object)
            return Proposal(hint=proposal.hint, refusal=str(error))
        return proposal

    def _let_go(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        if self._drag is None:
            self._end(context)
            return self._click(context)
        question, refusal = self._proposal.question, self._proposal.refusal
        self._end(context)
        self._select_pulled(found_editor(context))
        if refusal:
            report(self, {"WARNING"}, sentence(refusal))
        if self._text is None:
            return {"CANCELLED"}
        if question:
            assert context.window_manager is not None
            return context.window_manager.invoke_confirm(self, event, title=say("Replace Expression"),
                                                         message=say(question))
        return self.execute(context)

    def _click(self, context: bpy.types.Context) -> "set[Any]":
        """Select the block, or toggle its selection with Shift; the score is unchanged, so there is no undo step."""
        editor = found_editor(context)
        box = self._box(editor.layout)
        if box is None:
            return {"CANCELLED"}
        clicked = {editor.layout.id_of(box)}
        if self._is_adding:
            editor.select(editor.selected ^ clicked, editor.chosen)
        else:
            editor.select(clicked)
        return {"CANCELLED"}

    def _select_pulled(self, editor: Editor) -> None:
        """Select the block whose edge, repeats or transition were dragged; its other boxes stay selected.

        Carried blocks are selected when they are written. No keys of tweaks stay selected.
        """
        if self._pulled is not None and self._pulled not in editor.selected:
            editor.select(editor.selected if isinstance(self._drag, drag.Carry) else {self._pulled})

    def _box(self, layout: Layout) -> int | None:
        """Return the pressed box; for a transition, the box whose call gives its length."""
        return self._hit.box if self._hit.seam is None else layout.owner_of_transition(self._hit.seam)

    def _end(self, context: bpy.types.Context) -> None:
        """Show the written score again, with nothing in front of it."""
        show_in_front(context, None)
        if self._drag is not None:
            score_edits.take_back(found_editor(context).armature)
            life.changed()

    def _front(self, theme: Theme) -> Picture:
        layout, view, proposal = self._blocks.layout, self._view, self._proposal
        assert layout is not None
        carried = self._drag if isinstance(self._drag, drag.Carry) else None
        gap = None if carried is None or self._is_away else carried.drop(view, *self._mouse)
        title = "" if carried is None else layout.boxes.titles[carried.box]
        at_mouse = AtMouse(*self._mouse, say(proposal.hint), say(proposal.refusal), title)
        return Picture((overlay(layout, view, theme, at_mouse, gap=gap),))
