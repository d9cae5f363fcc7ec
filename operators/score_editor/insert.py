"""Insert clips and procedures into the score: dragged from the shelf, chosen from a menu, or dropped as files."""

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...bridge import saved_enums
from ...bridge.language import say
from ...bridge.reports import report, words_of
from ...bridge.scores import score_edits
from ...bridge.scores.score_blocks import Blocks
from ...bridge.shelf import shelf
from ...core.errors import EditError, FileError
from ...core.score_editor.change import Proposal
from ...core.score_editor.commands import Playable, insert
from ...core.score_editor.drop import Drop, drop_at
from ...core.score_editor.hints import sentence
from ...core.score_editor.layout import Layout
from ...core.score_editor.overlay import AtMouse, overlay
from ...core.score_editor.picture import Picture
from ...core.score_editor.theme import Theme
from ...core.score_editor.view import View
from ...preview.score_editor.windows import is_on_shelf, show_in_front, window_of
from .base import (
    Editor,
    Gesture,
    InScoreEditor,
    carry_out,
    clears_up,
    editor_of,
    found_editor,
    fresh_editor,
    is_given_up,
    refuse,
    write_text,
)
from .calls import NO_GAP, gap_now


class TAKT_OT_score_shelf(Gesture, bpy.types.Operator):
    """Drag a clip or a procedure from the library into the score"""

    bl_idname = "takt.score_shelf"
    bl_label = "Insert Call"
    bl_options = {"REGISTER", "BLOCKING", "UNDO"}  # so that F9 shows this operator, not the one before

    _playable: Playable
    _proposal: Proposal
    _gap: Drop | None
    _text: score_edits.New | None
    _blocks: Blocks
    """The blocks on which the proposal was tried."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Start on a chip; a press left of all chips asks for a folder, elsewhere on the shelf it does nothing."""
        window = None if context.space_data is None else window_of(context.space_data)
        if window is None or window.shelf is None or not is_on_shelf(context, float(event.mouse_region_y)):
            return {"PASS_THROUGH"}
        playable = window.shelf.at(float(event.mouse_region_x), float(event.mouse_region_y))
        if playable is None and event.mouse_region_x < window.view.left:
            return cast("set[Any]", bpy.ops.takt.add_clip_folder("INVOKE_DEFAULT"))  # type: ignore[attr-defined]
        if playable is None:
            return {"CANCELLED"}
        try:
            playable = shelf.read(found_editor(context).armature, playable)
        except (FileError, OSError) as error:
            return refuse(self, words_of(error))
        assert context.window_manager is not None
        self._playable, self._proposal, self._gap, self._text = playable, Proposal(), None, None
        self._mouse = float(event.mouse_region_x), float(event.mouse_region_y)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    @clears_up
    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Follow the mouse; if cancelled, or released over the shelf, nothing changes."""
        if editor_of(context) is None:  # the text was deleted
            show_in_front(context, None)
            return {"CANCELLED"}
        if is_given_up(event):
            show_in_front(context, None)
            return {"CANCELLED"}
        if event.type == "MOUSEMOVE":
            self._mouse = float(event.mouse_region_x), float(event.mouse_region_y)
            self._follow(context)
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            show_in_front(context, None)
            if self._proposal.refusal:
                report(self, {"WARNING"}, sentence(self._proposal.refusal))
            if self._text is None:
                return {"CANCELLED"}
            return self._write(context, self._text)
        return {"RUNNING_MODAL"}

    def _write(self, context: bpy.types.Context, text: score_edits.New) -> "set[Any]":
        editor = found_editor(context)
        try:
            score_edits.check_unchanged(editor.armature, self._blocks)
        except EditError as error:
            return refuse(self, sentence(str(error)))
        write_text(self, context, editor, text, self._proposal)
        tell_cut_off(self, self._playable)
        return {"FINISHED"}

    def _follow(self, context: bpy.types.Context) -> None:
        editor = found_editor(context)
        gap = None if is_on_shelf(context, self._mouse[1]) else drop_at(editor.layout, editor.view, *self._mouse)
        if gap != self._gap:
            self._gap, self._text, self._proposal = gap, None, Proposal()
            if gap is not None:
                self._try(editor, gap)
        show_in_front(context, partial(self._front, editor.layout, editor.view))

    def _try(self, editor: Editor, gap: Drop) -> None:
        self._blocks = editor.blocks
        try:
            self._proposal = insert(editor.layout, gap, self._playable, editor.scores)
            if self._proposal.change is not None and not self._proposal.refusal:
                self._text, _ = score_edits.attempted(editor.armature, editor.blocks, self._proposal.change)
        except EditError as error:
            self._proposal = Proposal(hint=self._proposal.hint, refusal=str(error))

    def _front(self, layout: Layout, view: View, theme: Theme) -> Picture:
        at_mouse = AtMouse(*self._mouse, say(self._proposal.hint), say(self._proposal.refusal), self._playable.title)
        return Picture((overlay(layout, view, theme, at_mouse, gap=self._gap),))


_NOTHING = ("|", "Nothing to Play", "There are no clips and no other procedures", "NONE", 0)
"""The item of an empty list, since Blender needs one even if no score is open."""
_items: list[tuple[str, str, str, str, int]] = []
"""Blender keeps no copies of the texts of a menu that is made when it is shown."""


def _choices(_operator: Any, context: bpy.types.Context | None) -> list[tuple[str, str, str, str, int]]:
    """Return the items, each with a fixed number, since the list grows while the library is read."""
    editor = None if context is None else editor_of(context)
    _items[:] = [_NOTHING] if editor is None else [
        (f"{each.src}|{each.name}", each.full_name,
         each.problem or (f"{each.duration_s:.3g} s" if each.is_read else "Not read yet"), "NONE",
         saved_enums.number(f"{each.src}|{each.name}"))
        for each in shelf.playables(editor.armature)] or [_NOTHING]
    return _items


class InsertsWhatIsChosen(InScoreEditor):
    """Shows a search list, `what`, and inserts a call of the chosen item.

    Each operator names it as bl_property itself: Blender does not look for that in base classes.
    """

    bl_label = "Insert Call"

    if TYPE_CHECKING:
        what: str
        is_chosen: bool
    else:
        is_chosen: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Ask for the item."""
        assert context.window_manager is not None
        self.is_chosen = True
        context.window_manager.invoke_search_popup(cast(bpy.types.Operator, self))
        return {"INTERFACE"}  # no undo step before an item is chosen


class TAKT_OT_score_add(InsertsWhatIsChosen, bpy.types.Operator):
    """Search for a clip or a procedure, and put it after the selected block, or at the playhead"""

    bl_idname = "takt.score_add"
    bl_property = "what"
    bl_options = {"REGISTER", "UNDO"}

    if not TYPE_CHECKING:
        what: EnumProperty(name="Call", items=_choices, options={"SKIP_SAVE"},
                           description="The clip or procedure to insert")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Insert it."""
        editor = fresh_editor(context)
        playable = next((each for each in shelf.playables(editor.armature) if f"{each.src}|{each.name}" == self.what),
                        None)
        if playable is None:
            return carry_out(self, context, editor, Proposal(refusal="choose what is to be played"),
                             is_pressed=self.is_chosen)
        try:
            playable = shelf.read(editor.armature, playable)
        except (FileError, OSError) as error:
            return refuse(self, words_of(error), is_pressed=self.is_chosen)
        return insert_at(self, context, editor, gap_now(context), playable, is_pressed=self.is_chosen)


def insert_at(operator: bpy.types.Operator, context: bpy.types.Context, editor: Editor, gap: Drop | None,
              playable: Playable, *, is_pressed: bool = False) -> "set[Any]":
    """Insert an item into a gap; is_pressed: see refuse."""
    try:
        proposal = NO_GAP if gap is None else insert(editor.layout, gap, playable, editor.scores)
    except EditError as error:
        proposal = Proposal(refusal=str(error))
    result = carry_out(operator, context, editor, proposal, inserted=playable.title, is_pressed=is_pressed)
    if "FINISHED" in result:
        tell_cut_off(operator, playable)
    return result


def tell_cut_off(operator: bpy.types.Operator, playable: Playable) -> None:
    """Warn if the clip's file is incomplete."""
    if playable.cut_off:
        report(operator, {"WARNING"}, f"{playable.src}: {playable.cut_off}")
