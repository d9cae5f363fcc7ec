"""Save Score, Reload Score: between the Text of the active armature's score and its linked file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty

from ..bridge import properties
from ..bridge.active_character import active_armature, score_problem
from ..bridge.reports import GreyWithReason, refuse, report
from ..bridge.scores import linked_texts
from ..core.errors import TaktError


class _ScoreFile(GreyWithReason, bpy.types.Operator):
    """The common base of both operators; not registered."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no file."""
        armature_object = active_armature(context)
        if reason := score_problem(armature_object):
            return reason
        assert armature_object is not None
        text = properties.character(armature_object).text
        is_linked = text is not None and text.filepath
        return "" if is_linked else "The score is kept in the .blend alone: save it from a Text Editor first"

    def _text(self, context: bpy.types.Context) -> bpy.types.Text:
        armature_object = active_armature(context)
        assert armature_object is not None
        text = properties.character(armature_object).text
        assert text is not None  # poll has checked it
        return text


class TAKT_OT_save_score(_ScoreFile):
    """Write the score into its file"""

    bl_idname = "takt.save_score"
    bl_label = "Save Score"
    bl_options = {"REGISTER"}

    if TYPE_CHECKING:
        overwrite: bool
    else:
        overwrite: BoolProperty(name="Overwrite", options={"SKIP_SAVE"},
                                description="Save even if the file was changed outside Blender")

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Write the file."""
        text = self._text(context)
        try:
            linked_texts.save(text, overwrite=self.overwrite)
        except TaktError as error:
            return refuse(self, str(error))
        report(self, {"INFO"}, f"Saved {Path(bpy.path.abspath(text.filepath))}")
        return {"FINISHED"}


class TAKT_OT_reload_score(_ScoreFile):
    """Reload the score from its file, and discard what was typed here"""

    bl_idname = "takt.reload_score"
    bl_label = "Reload Score"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Read the file."""
        try:
            linked_texts.reload(self._text(context))
        except TaktError as error:
            return refuse(self, str(error))
        return {"FINISHED"}
