"""Common parts of the score editor's operators: the editor of a context, and writing proposals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

import bpy
import numpy as np

from ...bridge import reports
from ...bridge.reports import GreyWithReason, report
from ...bridge.scores import score_blocks, score_edits, score_tree, texts
from ...bridge.scores.score_blocks import Blocks
from ...bridge.tweaking import tweak_selection, tweak_waiting
from ...core.errors import EditError
from ...core.maths.arrays import FloatArray
from ...core.pha.open_scores import Scores
from ...core.score_editor.change import Proposal
from ...core.score_editor.gestures import hit
from ...core.score_editor.hints import sentence
from ...core.score_editor.hit import Hit
from ...core.score_editor.layout import BoxId, Layout
from ...core.score_editor.view import View
from ...preview import life
from ...preview.score_editor import windows
from ...preview.score_editor.life import show_tweaks

_Gesture = TypeVar("_Gesture", bound=bpy.types.Operator)
_NO_FRAMES = np.zeros(0)
_Modal = Callable[[_Gesture, bpy.types.Context, bpy.types.Event], "set[Any]"]


@dataclass(frozen=True, eq=False)
class Editor:
    """The editor of a context, with the score that it shows."""

    tree: score_tree.TaktScoreTree
    armature: bpy.types.Object
    blocks: Blocks
    layout: Layout
    view: View

    @property
    def selected(self) -> frozenset[BoxId]:
        """The selected boxes that still exist."""
        layout, selected = self.layout, score_tree.selection(self.tree, self.blocks.selectable)
        return frozenset(layout.id_of(box) for box in layout.found(selected).tolist())

    @property
    def chosen(self) -> FloatArray:
        """The frames of the selected moments of tweaks, (N,)."""
        return tweak_selection.frames_of(self.armature)

    def select(self, boxes: Iterable[BoxId], tweaks: FloatArray = _NO_FRAMES) -> None:
        """Select only these boxes and moments of tweaks, and redraw, since keys do not redraw by a mouse move."""
        layout = self.blocks.selectable
        assert layout is not None  # one is shown
        score_tree.select(self.tree, layout, boxes)
        tweak_selection.choose(self.armature, tweaks)
        show_tweaks(self.armature, bpy.context.scene)
        score_tree.redraw()

    @property
    def scores(self) -> Scores:
        """The texts that may be changed; raise EditError if they have mistakes."""
        if self.blocks.scores is None or self.blocks.error is not None:
            raise EditError("the score has mistakes; correct them in its text first")
        return self.blocks.scores


class InScoreEditor(GreyWithReason):
    """An operator that needs a score editor with a score."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return what is missing; then the operator passes the event on."""
        if not score_tree.is_score_editor(context.space_data):
            return "Only in the score editor"
        if context.region is None or context.region.type != "WINDOW":
            return "Only over the score"
        return "" if editor_of(context) is not None else "No score is shown: choose a character that has one"


class Gesture(InScoreEditor):
    """An operator that runs while a button is down, and may draw in front of the score."""

    def cancel(self, _context: bpy.types.Context) -> None:
        """Restore everything: Blender calls it when the window is closed or another file opened."""
        windows.show_nothing_in_front()
        texts.propose_nothing()
        life.changed()


class WithSelection(InScoreEditor):
    """An operator that needs selected blocks."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return what is missing."""
        reason = super().problem(context)
        return reason or ("" if found_editor(context).selected else "Select blocks first")


class Proposing(InScoreEditor):
    """An operator that writes its proposal."""

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write the proposal, or report why it cannot be done."""
        editor = fresh_editor(context)
        return carry_out(cast(bpy.types.Operator, self), context, editor, self.proposed(context, editor))

    def proposed(self, context: bpy.types.Context, editor: Editor) -> Proposal:
        """Return the proposal, or the reason why it cannot be done."""
        try:
            return self.propose(context, editor)
        except EditError as error:
            return Proposal(refusal=str(error))

    def propose(self, context: bpy.types.Context, editor: Editor) -> Proposal:
        """Return the proposal; raise EditError if it cannot be done."""
        raise NotImplementedError


class OfSelection(Proposing, WithSelection):
    """An operator that changes the selected blocks."""


def editor_of(context: bpy.types.Context) -> Editor | None:
    """Return the editor of a context, or None if it shows no score."""
    tree = score_tree.tree_of(context)
    armature_object = score_tree.character_of(tree, context)
    if tree is None or armature_object is None or context.space_data is None:
        return None
    blocks, window = score_blocks.shown(armature_object), windows.window_of(context.space_data)
    if blocks is None or blocks.layout is None or window is None:
        return None
    return Editor(tree, armature_object, blocks, blocks.layout, window.view)


def found_editor(context: bpy.types.Context) -> Editor:
    """Return the editor, which poll has checked."""
    editor = editor_of(context)
    assert editor is not None
    return editor


def fresh_editor(context: bpy.types.Context) -> Editor:
    """Return the editor with the layout of the current text."""
    score_blocks.refresh(found_editor(context).armature)
    return found_editor(context)


def hit_in_score(context: bpy.types.Context, editor: Editor, x: float, y: float) -> Hit | None:
    """Return the part of the score at a pixel of the region, or None if the shelf covers it."""
    return None if windows.is_on_shelf(context, y) else hit(editor.layout, editor.view, x, y)


def refuse(operator: bpy.types.Operator, error: str, *, is_pressed: bool = False) -> "set[Any]":
    """Report why something cannot be done, and cancel.

    After a key or a button this goes to the status bar, since an error popup would take the next key.
    is_pressed: whether a key or button was pressed, though Blender takes it for a call from a script.
    """
    if not is_pressed and not operator.options.is_invoke:
        return reports.refuse(operator, error)
    report(operator, {"WARNING"}, error)
    return {"CANCELLED"}


def carry_out(operator: bpy.types.Operator, context: bpy.types.Context, editor: Editor,
              proposal: Proposal, *, inserted: str = "", is_pressed: bool = False) -> "set[Any]":
    """Write a proposal, select its blocks, and report; or report why it cannot be done, see refuse.

    inserted: the name of what is inserted; like the names of blocks, it keeps its case in reports.
    """
    names = (*editor.layout.boxes.titles, inserted)
    if proposal.refusal or proposal.change is None:
        wrong = proposal.refusal or proposal.hint or "nothing would change"
        return refuse(operator, sentence(wrong, names), is_pressed=is_pressed)
    try:
        new = score_edits.texts_after(editor.armature, editor.blocks, proposal.change)
    except EditError as error:
        return refuse(operator, sentence(str(error), names), is_pressed=is_pressed)
    write_text(operator, context, editor, new, proposal)
    if proposal.selects:
        _follow(context)
    if proposal.hint:
        report(operator, {"INFO"}, sentence(proposal.hint.strip(), names))
    return {"FINISHED"}


def _follow(context: bpy.types.Context) -> None:
    """Move the view to the selected blocks if it does not show where they begin."""
    editor = found_editor(context)
    layout = editor.layout
    chosen = layout.found(editor.selected)
    if len(chosen):
        begin, end = float(layout.boxes.begin[chosen].min()), float(layout.boxes.end[chosen].max())
        windows.change_view(context, editor.view.following(begin, end))


def write_text(operator: bpy.types.Operator, context: bpy.types.Context, editor: Editor, new: score_edits.New,
               proposal: Proposal) -> None:
    """Write the texts of a proposal, and select its blocks; warn if the Action is not updated."""
    waited = tweak_waiting.waiting(editor.armature)
    stays = score_edits.write(context, editor.armature, new)
    if proposal.selects is not None:
        editor = found_editor(context)
        editor.select((BoxId(*box) for box in proposal.selects), editor.chosen)
    life.changed()
    score_tree.redraw()
    if stays:
        report(operator, {"WARNING"}, sentence(stays))
    if len(tweak_waiting.waiting(editor.armature)) > len(waited):
        report(operator, {"WARNING"}, sentence(tweak_waiting.words(editor.armature)))


def clears_up(modal: "_Modal[_Gesture]") -> "_Modal[_Gesture]":
    """Return a modal that removes its drawing and its proposal if it ends by an exception."""
    @wraps(modal)
    def guarded(operator: _Gesture, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        try:
            return modal(operator, context, event)
        except Exception:
            windows.show_in_front(context, None)
            texts.propose_nothing()
            raise

    return guarded


def is_given_up(event: bpy.types.Event) -> bool:
    """Return whether an event cancels a gesture: Esc, the right button or undo."""
    is_undo = event.type == "Z" and (event.ctrl or event.oskey)
    return event.value == "PRESS" and (event.type in ("ESC", "RIGHTMOUSE") or is_undo)
