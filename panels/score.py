"""The panel of the score that the active armature plays."""

from pathlib import Path
from typing import Any

import bpy

from ..bridge import properties, score
from ..bridge.active_character import active_armature, armature_problem
from ..bridge.score_layout import draw_settings
from ..core.errors import FileError, Problem, TaktError
from ..operators.edit_score import TAKT_OT_edit_score
from ..operators.import_pha import TAKT_OT_import_pha
from ..operators.new_score import TAKT_OT_new_score
from ..operators.rebuild import TAKT_OT_rebuild
from .sidebar import SidebarPanel, draw_words

_PROBLEMS_SHOWN = 4


class TAKT_UL_procedures(bpy.types.UIList):
    """The procedures of a score with their lengths."""

    def draw_item(self, _context: Any, layout: Any, _data: Any, item: Any, _icon: Any, _active_data: Any,
                  _active_property: Any, _index: Any = 0, _flag: Any = 0) -> None:
        """Draw a name, and at the right its length."""
        split = layout.split(factor=0.5)
        split.label(text=item.name)
        row = split.row()
        row.alignment = "RIGHT"
        row.label(text=f"{item.ticks:g} ticks, {round(item.seconds, 2):g} s")


class TAKT_PT_score(SidebarPanel):
    """Choose, set and rebuild the score."""

    bl_label = "Score"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the score and its settings, or what is missing."""
        layout, armature_object = self.layout, active_armature(context)
        assert layout is not None
        row = layout.row(align=True)
        row.operator(TAKT_OT_import_pha.bl_idname, text="Import Score…", icon="IMPORT")
        row.operator(TAKT_OT_new_score.bl_idname, text="New", icon="ADD")
        if armature_object is None or armature_problem(armature_object):
            return
        character = properties.character(armature_object)
        layout.template_ID(character, "text", open="text.open")
        if character.text is None:
            return
        draw_settings(layout, character)
        row = layout.row(align=True)
        row.operator(TAKT_OT_rebuild.bl_idname, icon="FILE_REFRESH")
        row.operator(TAKT_OT_edit_score.bl_idname, text="", icon="TEXT")
        if error := score.error_of(armature_object):
            _draw_error(layout, error, context, character)


def _draw_error(layout: bpy.types.UILayout, error: TaktError, context: bpy.types.Context,
                character: properties.TaktCharacter) -> None:
    """Draw the first problems, each below its file and line, in lines that fit."""
    problems = error.problems if isinstance(error, FileError) else (Problem(str(error)),)
    for problem in problems[:_PROBLEMS_SHOWN]:
        path, line = problem.place.path, problem.place.line
        name = "Score" if path is None else path.name
        column = layout.box().column(align=True)
        if line is None:
            column.label(text=name, icon="ERROR")
        else:
            row = column.row()
            row.alignment = "LEFT"
            show: Any = row.operator(TAKT_OT_edit_score.bl_idname, text=f"{name}, line {line}", icon="ERROR",
                                     emboss=False)
            show.line = line
            if path is not None and path != Path(bpy.path.abspath(character.filepath)):
                show.filepath = str(path)
        draw_words(column, context, problem.message)
    if len(problems) > _PROBLEMS_SHOWN:
        layout.label(text=f"and {len(problems) - _PROBLEMS_SHOWN} more")

