"""The panel of the score that the active armature plays."""

import bpy

from ..bridge import properties, score
from ..operators.edit_score import TAKT_OT_edit_score
from ..operators.import_pha import TAKT_OT_import_pha
from ..operators.play_score import active_armature, armature_problem
from ..operators.rebuild import TAKT_OT_rebuild
from ..operators.score_layout import draw_settings
from .sidebar import SidebarPanel


class TAKT_PT_score(SidebarPanel):
    """Choose, set and rebuild the score."""

    bl_label = "Score"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the score and its settings, or what is missing."""
        layout, armature_object = self.layout, active_armature(context)
        assert layout is not None
        layout.operator(TAKT_OT_import_pha.bl_idname, text="Import Score…", icon="IMPORT")
        if armature_object is None or armature_problem(armature_object):
            return
        character = properties.character(armature_object)
        layout.template_ID(character, "text", open="text.open")
        column = layout.column()
        column.active = character.text is not None
        draw_settings(column, character)
        row = layout.row(align=True)
        row.operator(TAKT_OT_rebuild.bl_idname, icon="FILE_REFRESH")
        row.operator(TAKT_OT_edit_score.bl_idname, text="", icon="TEXT")
        for line in score.error_of(armature_object).splitlines():
            layout.label(text=line, icon="ERROR")
