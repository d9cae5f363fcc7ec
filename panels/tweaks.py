"""The layers of tweaks in the panel of the score."""

from typing import Any

import bpy

from ..bridge import properties
from ..bridge.language import say
from ..bridge.tweaking import tweak_auto_keying, tweak_waiting, tweaked_motion, tweaks
from ..operators.tweak import TAKT_OT_tweak
from ..operators.tweak_call import TAKT_OT_tweak_call
from .sidebar import draw_words


class TAKT_UL_tweaks(bpy.types.UIList):
    """The layers of tweaks, the lowest first. Silent ones have a closed eye."""

    def draw_item(self, _context: Any, layout: Any, data: Any, item: Any, _icon: Any, _active_data: Any,
                  _active_property: Any, _index: Any = 0, _flag: Any = 0) -> None:
        """Draw a name, that of the Action if it has another one, and whether the layer plays."""
        armature_object, action = data.id_data, item.action
        is_heard = action is not None and tweaked_motion.influence(armature_object, action) > 0.0
        row = layout.row(align=True)
        names = row.row()
        names.active = is_heard
        names.prop(item, "name", text="", emboss=False, icon="ACTION")
        if action is not None and action.name != item.name:
            names.label(text=action.name, translate=False)
        icon, track = "HIDE_OFF" if is_heard else "HIDE_ON", tweaks.track_of(armature_object, action)
        if track is None:
            row.label(text="", icon=icon)
        else:
            row.prop(track, "mute", text="", icon=icon, emboss=False)


def draw_auto_keying(layout: bpy.types.UILayout, context: bpy.types.Context, armature_object: bpy.types.Object) -> str:
    """Draw whether Auto Keying keys the selected bones, in one row, so that selecting moves no button under the mouse.

    Return why it does not key some, to be drawn below all buttons; "" if it keys all.
    """
    if not tweak_auto_keying.may_leave_out(context, armature_object):
        return ""
    no_key = tweak_auto_keying.why_no_key(context, armature_object)
    layout.label(text=say("Auto Keying: press I once first" if no_key else "Auto Keying keys the selected bones"),
                 translate=False, icon="INFO" if no_key else "CHECKMARK")
    return no_key


def draw_tweaks(layout: bpy.types.UILayout, context: bpy.types.Context, armature_object: bpy.types.Object,
                character: properties.TaktCharacter) -> None:
    """Draw the layers of tweaks, the easing of the chosen one, and their problems."""
    row = layout.row(align=True)
    row.operator(TAKT_OT_tweak.bl_idname, icon="POSE_HLT")
    if not tweaks.has_tweaks(armature_object):
        return
    add: Any = row.operator(TAKT_OT_tweak.bl_idname, text="", icon="ADD")
    add.add_layer = True
    for told in filter(None, (tweaks.problem(armature_object), tweak_waiting.words(armature_object))):
        draw_words(layout, context, told, "ERROR")  # above the list, since that ends far down in the sidebar
    layout.template_list("TAKT_UL_tweaks", "", character, "tweaks", character, "tweaks_index", rows=2)
    if 0 <= character.tweaks_index < len(character.tweaks):
        layer = character.tweaks[character.tweaks_index]
        column = layout.column(align=True)
        column.prop(layer, "action", text="")
        column.prop(layer, "ease_in")
        column.prop(layer, "ease_out")
        row = column.row(align=True)
        row.prop(layer, "holds", toggle=True)
        row.prop(layer, "is_last", toggle=True)
        fields = column.column(align=True)
        fields.use_property_split, fields.use_property_decorate = True, False
        fields.prop_search(layer, "procedure", character, "procedures")
        if layer.procedure:
            fields.operator(TAKT_OT_tweak_call.bl_idname)
        fields.prop(layer, "body")
        column.operator("takt.breakdown")
        row = column.row(align=True)
        row.operator("takt.bake_tweaks")
        row.operator("takt.clean_tweaks")
        row = column.row(align=True)
        row.operator("takt.save_tweaks")
        row.operator("takt.load_tweaks")
