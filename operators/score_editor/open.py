"""Open the score editor; in it, open a block: its line of the text, and the contents of its procedure.

Opening blocks does not change the score, so there is no undo step.
"""

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty

from ...bridge.active_character import ForScore
from ...bridge.reports import report
from ...bridge.scores import linked_texts, score_lines, score_tree, texts
from ...core.errors import EditError, FileError
from ...core.score_editor.drag import automatic_again
from ...core.score_editor.hints import sentence
from ...core.score_editor.hit import Part
from ...core.score_editor.opening import closed, is_open, opened
from ...preview.score_editor.windows import change_view, whole
from .base import Editor, InScoreEditor, WithSelection, carry_out, found_editor, fresh_editor, hit_in_score, refuse

_SHARE = 0.45
"""Share of the 3D viewport's height that becomes the editor's."""


class TAKT_OT_score_editor(ForScore, bpy.types.Operator):
    """Show the score as blocks below the 3D viewport, where it can be edited with the mouse"""

    bl_idname = "takt.score_editor"
    bl_label = "Open Score Editor"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Split the viewport, unless a score editor is open in this window."""
        window, area = context.window, context.area
        if window is None or area is None:
            return {"CANCELLED"}
        known = [other for other in window.screen.areas if score_tree.is_score_editor(other.spaces.active)]
        if not known:
            before = {other.as_pointer() for other in window.screen.areas}
            bpy.ops.screen.area_split(direction="HORIZONTAL", factor=_SHARE)
            new = [other for other in window.screen.areas if other.as_pointer() not in before]
            lower = min((area, *new), key=lambda other: other.y)
            lower.ui_type = cast(Any, score_tree.TaktScoreTree.bl_idname)
            score_tree.give_trees()
        return {"FINISHED"}


class TAKT_OT_score_open_file(WithSelection, bpy.types.Operator):
    """Open the file of the selected block as a Text, so that it can be edited here and in a Text Editor"""

    bl_idname = "takt.score_open_file"
    bl_label = "Open File"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Load the file unless it is open, and show the block's line."""
        editor = found_editor(context)
        box = int(editor.layout.found(editor.selected)[0])
        path = editor.layout.documents[int(editor.layout.boxes.document[box])].path
        if path is not None and texts.text_of(path) is None:
            try:
                linked_texts.open_text(path)
            except FileError as error:
                return refuse(self, str(error))
        editor = fresh_editor(context)
        if not score_lines.show(context, editor.armature, editor.layout, (box,)):
            return refuse(self, f"{'The text' if path is None else path.name} has mistakes; correct them in it first")
        name = "The text" if path is None else f"'{path.name}'"
        report(self, {"INFO"}, f"{name} is open: its blocks can be changed now. Save it in a Text Editor, since other "
                              "scores read the file")
        return {"FINISHED"}


class TAKT_OT_score_open(InScoreEditor, bpy.types.Operator):
    """Show what the block calls, and its line in the text. Use again to go back to the procedure around it"""

    bl_idname = "takt.score_open"
    bl_label = "Open Block"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        at_mouse: bool
    else:
        at_mouse: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Open the block under the mouse, or else the selected one."""
        if not self.at_mouse:
            return self.execute(context)
        editor = found_editor(context)
        found = hit_in_score(context, editor, float(event.mouse_region_x), float(event.mouse_region_y))
        if found is None or found.part is Part.SEAM or found.box is None:
            return {"PASS_THROUGH"}
        return self._open(context, editor, found.box)

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Open the selected block; if it is open already, or none is selected, show what is around the open one."""
        editor = found_editor(context)
        layout, view = editor.layout, editor.view
        chosen = layout.found(editor.selected)
        box = int(chosen[0]) if len(chosen) else None
        if box is None or is_open(layout, view, box):
            change_view(context, closed(layout, view) or whole(view, layout))
            return {"FINISHED"}
        return self._open(context, editor, box)

    def _open(self, context: bpy.types.Context, editor: Editor, box: int) -> "set[Any]":
        change_view(context, opened(editor.layout, editor.view, box))
        editor.select([editor.layout.id_of(box)])
        score_lines.show(context, editor.armature, editor.layout, (box,))
        return {"FINISHED"}


class TAKT_OT_score_automatic(InScoreEditor, bpy.types.Operator):
    """Make the length of the transition automatic again"""

    bl_idname = "takt.score_automatic"
    bl_label = "Automatic Transition"
    bl_options = {"REGISTER", "UNDO"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Reset the transition under the mouse; pass events elsewhere on."""
        editor = fresh_editor(context)
        found = hit_in_score(context, editor, float(event.mouse_region_x), float(event.mouse_region_y))
        if found is None or found.part is not Part.SEAM or found.seam is None:
            return {"PASS_THROUGH"}
        try:
            proposal = automatic_again(editor.layout, found.seam, editor.scores)
        except EditError as error:
            return refuse(self, sentence(str(error)))
        return carry_out(self, context, editor, proposal) if proposal.change or proposal.refusal else {"CANCELLED"}
