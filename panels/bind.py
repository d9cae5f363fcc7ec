"""The panel that binds meshes to the armature."""

from typing import Any

import bpy

from ..bridge.active_character import active_armature
from ..bridge.language import say
from ..bridge.meshes import bend, idle_bones
from ..bridge.meshes.bind_selection import already_bound, left_behind, selection
from ..core.errors import some_of
from ..operators.auto_bind import TAKT_OT_auto_bind
from ..operators.bend_report import TAKT_OT_bend_report
from ..operators.bend_test import TAKT_OT_bend_in_turn, TAKT_OT_bend_test
from ..operators.fit_skeleton import TAKT_OT_fit_skeleton
from ..operators.improve_weights import TAKT_OT_improve_weights
from ..operators.show_zones import TAKT_OT_show_zones, are_shown
from ..operators.use_bones import TAKT_OT_select_idle_bones, TAKT_OT_use_bones
from .sidebar import SidebarPanel, draw_reasons, draw_words

_NAMES_SHOWN = 3
_REPORT_SHARE = 0.4
"""Share of a row; the longer name beside it has the rest."""


class TAKT_PT_bind(SidebarPanel):
    """Bind the selected meshes, and look at the result."""

    bl_label = "Bind"
    manual = "binding-in-blender"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the buttons."""
        assert self.layout is not None
        armature_object = active_armature(context)
        row = self.layout.row(align=True)
        row.operator(TAKT_OT_fit_skeleton.bl_idname, icon="ARMATURE_DATA")
        adjusted: Any = row.operator(TAKT_OT_fit_skeleton.bl_idname, text="", icon="EMPTY_AXIS")
        adjusted.adjust = True
        self.layout.operator(TAKT_OT_auto_bind.bl_idname, text=say("Auto-bind"), translate=False, icon="BONE_DATA")
        chosen, meshes = selection(context)
        if chosen is not None and (bound := already_bound(meshes, chosen)):
            draw_words(self.layout, context, f"Replaces the weights of {some_of(bound, _NAMES_SHOWN)}"
                       "; F9: Keep Existing", "INFO")
        if chosen is not None and (left := dict.fromkeys(
                ob.name for some in left_behind(context, meshes, chosen) for ob in some)):
            draw_words(self.layout, context, f"Moved by {chosen.name} then, no longer by "
                       f"{some_of(list(left), _NAMES_SHOWN)}; to keep both, select both", "INFO")
        if armature_object is not None:
            draw_idle(self.layout, context, armature_object)
        is_bent = armature_object is not None and bend.is_bent(armature_object)
        row = self.layout.row(align=True)
        row.operator(TAKT_OT_show_zones.bl_idname, icon="COLOR", depress=are_shown())
        row.operator(TAKT_OT_bend_test.bl_idname, icon="CON_ROTLIKE", depress=is_bent)
        row.operator(TAKT_OT_bend_in_turn.bl_idname, text="", icon="PLAY")
        row = self.layout.split(factor=_REPORT_SHARE, align=True)
        row.operator(TAKT_OT_bend_report.bl_idname, icon="TEXT")
        row.operator_menu_enum(TAKT_OT_improve_weights.bl_idname, "what")
        if armature_object is not None and (found := bend.last_report(armature_object)):
            column = self.layout.box().column(align=True)
            for line in found:
                draw_words(column, context, line)
        draw_reasons(self.layout, context, TAKT_OT_auto_bind, TAKT_OT_show_zones, TAKT_OT_bend_test)


def draw_idle(layout: bpy.types.UILayout, context: bpy.types.Context, armature_object: bpy.types.Object) -> None:
    """Draw the bones without vertices since the last binding, with the reasons, and those the user has marked."""
    idle = idle_bones.last_idle(armature_object)
    chosen = [bone.name for bone in idle_bones.chosen_bones(armature_object)]
    if not idle and not chosen:
        return
    box = layout.box()
    if idle:
        column = box.column(align=True)
        column.label(text=say("Bones without Vertices"), icon="BONE_DATA", translate=False)
        for why, names in idle:
            draw_words(column, context, f"{some_of(names, _NAMES_SHOWN)}: {why}")
        row = box.row(align=True)
        row.operator(TAKT_OT_select_idle_bones.bl_idname, icon="RESTRICT_SELECT_OFF")
        row.operator(TAKT_OT_use_bones.bl_idname)
    if chosen:
        row = box.row(align=True)
        draw_words(row, context, f"Always used: {some_of(chosen, _NAMES_SHOWN)}")
        button: Any = row.operator(TAKT_OT_use_bones.bl_idname, text="", icon="X")
        button.used = False
