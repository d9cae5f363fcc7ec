"""Draw the settings of a score in the same way in the adjust panel, the file browser and the sidebar."""

from collections.abc import Mapping
from typing import Any, Final, Literal

import bpy

from ...core.playing.transitions.methods import TRANSITION_METHODS
from ..language import say
from ..properties import ScoreSettings, TaktCharacter
from ..scene import cast

_ICONS: Final[Mapping[str, Literal["EMPTY_AXIS", "CURVE_PATH", "OBJECT_DATA", "MESH_GRID", "ARMATURE_DATA"]]] = {
    "place": "EMPTY_AXIS", "path": "CURVE_PATH", "prop": "OBJECT_DATA", "floor": "MESH_GRID",
    "person": "ARMATURE_DATA"}
"""Icons of the kinds of objects that play roles."""
METHODS_PANEL = "TAKT_PT_transition_methods"
"""Identifier of the popover with a picture of each method."""
_PARTS = (
    ("blending", "Blending", ("interpolation", "translation", "pace", "joint_time", "speed", "joint_limits")),
    ("clip_files", "Clip Files", ("library", "load_format", "bvh_up", "bvh_forward")),
    ("action", "Action", ("key_mode", "rotations", "mute_constraints", "markers_wanted")),
)
"""Subpanels that are closed at first: identifier, label, settings."""


def draw_settings(layout: bpy.types.UILayout, settings: ScoreSettings) -> None:
    """Draw the settings, labels left and values right."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    column = layout.column()
    if isinstance(settings, TaktCharacter) and len(settings.procedures):
        column.template_list("TAKT_UL_procedures", "", settings, "procedures", settings, "procedure_index", rows=3)
        _draw_parameters(layout, settings)
        _draw_cast(layout, settings)
        column = layout.column()
    else:
        column.prop(settings, "procedure")
    row = column.row(align=True)
    row.prop(settings, "method")
    if isinstance(settings, TaktCharacter):
        row.popover(METHODS_PANEL, text="", icon="IMAGE_DATA")
    for name in ("curve", "fit", "root_motion", "lock_feet", "keep_contacts", "loop"):
        _draw(column, settings, name)
    for identifier, label, names in _PARTS:
        header, body = layout.panel(f"TAKT_{identifier}", default_closed=True)
        header.label(text=say(label), translate=False)
        if body is not None:
            column = body.column()
            for name in names:
                _draw(column, settings, name)
                if name == "library" and isinstance(settings, TaktCharacter):
                    draw_folders(column, settings)


def draw_folders(column: bpy.types.UILayout, character: TaktCharacter) -> None:
    """Draw the folders that are searched after the library, with buttons to move, remove and add them."""
    for index, folder in enumerate(character.folders):
        row = column.row(align=True)
        row.prop(folder, "path", text="" if index else say("Also"), translate=False)
        if len(character.folders) > 1:
            up: Any = row.operator("takt.move_folder", text="", icon="TRIA_UP")
            down: Any = row.operator("takt.move_folder", text="", icon="TRIA_DOWN")
            up.index, up.direction, down.index, down.direction = index, "UP", index, "DOWN"
        forget: Any = row.operator("takt.forget_folder", text="", icon="X")
        forget.index = index
    column.operator("takt.add_clip_folder", text=say("Add Clip Folder…"), icon="FILE_FOLDER", translate=False)


def _draw_parameters(layout: bpy.types.UILayout, character: TaktCharacter) -> None:
    """Draw the parameters of the played procedure, and the seed if the score picks at random, with keying buttons."""
    fields = [each for each in character.parameters if each.is_here]
    if not fields and not character.has_picks:
        return
    column = layout.column()
    column.use_property_decorate = True
    for field in fields:
        column.prop(field, "truth" if field.is_truth else "number", text=field.name, translate=False)
    if character.has_picks:
        row = column.row(align=True)
        row.prop(character, "seed")
        row.operator("takt.seed_each", text="", icon="COMMUNITY")


def _draw_cast(layout: bpy.types.UILayout, character: TaktCharacter) -> None:
    """Draw the roles of the score, each with the object that plays it."""
    roles = [each for each in character.cast if each.is_here]
    if not roles:
        return
    header, body = layout.panel("TAKT_cast", default_closed=False)
    header.label(text=say("Cast"), translate=False)
    if body is None:
        return
    for role in roles:
        column = body.column(align=True)
        column.alert = bool(cast.absence(role))
        column.prop(role, "target", text=role.name, icon=_ICONS.get(role.kind, "OBJECT_DATA"), translate=False)
        if column.alert and role.target is not None:
            column.label(text=say("In no scene: choose another object" if cast.unread(role.target) is None else
                                  "File not read: choose another object"), icon="ERROR", translate=False)
        elif column.alert:
            row = column.row(align=True)
            row.label(text=say("Deleted: choose another object"), icon="ERROR", translate=False)
            row.prop(role, "leave_empty", text="", icon="X", emboss=False)
        if role.kind == "floor":
            column.prop(role, "collection")


def matters(settings: ScoreSettings, name: str) -> bool:
    """Return whether a setting has an effect with the chosen method."""
    return TRANSITION_METHODS[settings.method].uses(name)


def _draw(column: bpy.types.UILayout, settings: ScoreSettings, name: str) -> None:
    row = column.row()
    row.active = matters(settings, name)
    row.prop(settings, name)
