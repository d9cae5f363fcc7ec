"""Operators on the selected blocks by a key or from a menu; each is one edit of the text."""

from typing import Any

import bpy

from ...bridge.reports import report
from ...bridge.tweaking import tweak_moments
from ...core.errors import EditError
from ...core.score_editor import commands
from ...core.score_editor.change import Proposal
from ...core.score_editor.drop import Drop, beside_of, drop_at
from ...core.score_editor.stripes import Stripes
from ...preview.score_editor.life import tick_now
from .base import Editor, OfSelection, Proposing, WithSelection, found_editor
from .tweak import written

NO_GAP = Proposal(refusal="nothing can be put here")


class TAKT_OT_score_delete(OfSelection, bpy.types.Operator):
    """Remove the selected blocks, and the selected keys of tweaks"""

    bl_idname = "takt.score_delete"
    bl_label = "Delete"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Remove both; keys of removed blocks wait for these."""
        result = super().execute(context)
        editor = found_editor(context)
        if result == {"FINISHED"} and len(editor.chosen) and context.scene is not None:
            tweak_moments.remove(editor.armature, editor.chosen)
            written(editor, context.scene)
        return result

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose to remove them."""
        return commands.remove(editor.layout, editor.selected, editor.scores)


class TAKT_OT_score_duplicate(OfSelection, bpy.types.Operator):
    """Insert copies of the selected blocks after them"""

    bl_idname = "takt.score_duplicate"
    bl_label = "Duplicate"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose copies."""
        return commands.duplicate(editor.layout, editor.selected, editor.scores)


class TAKT_OT_score_group(OfSelection, bpy.types.Operator):
    """Make a new procedure of the selected blocks, which follow each other"""

    bl_idname = "takt.score_group"
    bl_label = "Make Procedure"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose a procedure."""
        return commands.group(editor.layout, editor.selected, editor.scores)


class TAKT_OT_score_dissolve(OfSelection, bpy.types.Operator):
    """Replace the selected call of a procedure by what the procedure calls"""

    bl_idname = "takt.score_dissolve"
    bl_label = "Dissolve Procedure"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, _context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose its calls."""
        return commands.dissolve(editor.layout, only_box(editor), editor.scores)


class TAKT_OT_score_copy(WithSelection, bpy.types.Operator):
    """Copy the selected blocks, as text, for this score or another one"""

    bl_idname = "takt.score_copy"
    bl_label = "Copy"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Copy them to the clipboard."""
        editor = found_editor(context)
        assert context.window_manager is not None
        context.window_manager.clipboard = commands.copied(editor.layout, editor.selected)
        report(self, {"INFO"}, "Copied")
        return {"FINISHED"}


class TAKT_OT_score_paste(Proposing, bpy.types.Operator):
    """Paste the copied blocks after the selected block, or at the playhead"""

    bl_idname = "takt.score_paste"
    bl_label = "Paste"
    bl_options = {"REGISTER", "UNDO"}

    def propose(self, context: bpy.types.Context, editor: Editor) -> Proposal:
        """Propose the clipboard's calls."""
        gap = gap_now(context)
        assert context.window_manager is not None
        if gap is None:
            return NO_GAP
        return commands.paste(editor.layout, gap, context.window_manager.clipboard, editor.scores)


def gap_now(context: bpy.types.Context) -> Drop | None:
    """Return the gap for an insertion without the mouse: after the last selected block, else at the playhead."""
    editor = found_editor(context)
    layout, view, selected = editor.layout, editor.view, editor.layout.found(editor.selected)
    if len(selected):
        last = int(selected[layout.boxes.end[selected].argmax()])
        return beside_of(layout, last, float(layout.boxes.end[last]))
    assert context.scene is not None
    x = view.left + (tick_now(editor.armature, context.scene, layout) - view.first_tick) * view.px_per_tick
    return drop_at(layout, view, x, float(Stripes.of(layout, view).lane_high[0]) - 1.0)


def only_box(editor: Editor) -> int:
    """Return the only selected box; raise EditError if there are more."""
    selected = editor.layout.found(editor.selected)
    if len({(int(editor.layout.boxes.document[box]), int(editor.layout.boxes.element[box])) for box in selected}) != 1:
        raise EditError("select a single procedure")
    return int(selected[0])
