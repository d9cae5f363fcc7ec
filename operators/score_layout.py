"""How the settings of a score are laid out, in the adjust panel, the file browser and the sidebar alike."""

import bpy

from ..bridge.properties import ScoreSettings, TaktCharacter


def draw_settings(layout: bpy.types.UILayout, settings: ScoreSettings) -> None:
    """Draw the settings, labels left and values right."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    column.prop(settings, "library")
    if isinstance(settings, TaktCharacter) and len(settings.procedures):
        layout.template_list("TAKT_UL_procedures", "", settings, "procedures", settings, "procedure_index", rows=3)
    else:
        column.prop(settings, "procedure")
    column = layout.column()
    column.prop(settings, "method")
    column.prop(settings, "curve")
    column = layout.column()
    column.prop(settings, "root_motion")
    column.prop(settings, "lock_feet")
    column.prop(settings, "loop")
    column = layout.column()
    column.prop(settings, "key_mode")
    column.prop(settings, "rotations")
    column.prop(settings, "markers_wanted")
    header, body = layout.panel("TAKT_fine_settings", default_closed=True)
    header.label(text="Blending")
    if body is not None:
        column = body.column()
        for name in ("interpolation", "translation", "pace", "joint_time", "speed", "joint_limits"):
            column.prop(settings, name)
    header, body = layout.panel("TAKT_clip_files", default_closed=True)
    header.label(text="Clip Files")
    if body is not None:
        column = body.column()
        for name in ("load_format", "bvh_up", "bvh_forward"):
            column.prop(settings, name)
