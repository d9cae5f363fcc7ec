"""The panel that switches the preview and plays it."""

from typing import Any, cast

import bpy

from ..bridge.language import say
from ..bridge.scores.score import error_of, last_good
from ..operators.player import TAKT_OT_player, watched_character
from ..operators.preview import TAKT_OT_preview
from ..operators.render_film import TAKT_OT_render_film
from ..preview import life
from ..preview.modes import MODES
from ..preview.player_clocks import is_timeline_playing
from .sidebar import SidebarPanel, draw_edited_by_hand, draw_reasons, draw_words


class TAKT_PT_preview(SidebarPanel):
    """Watch characters as their score plays them."""

    bl_label = "Preview"
    manual = "preview"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the switch, the choice of picture and the player."""
        layout, manager = self.layout, context.window_manager
        assert layout is not None and manager is not None
        running = life.is_running()
        layout.operator(TAKT_OT_preview.bl_idname, text=say("Preview"), icon="HIDE_OFF" if running else "HIDE_ON",
                        depress=running, translate=False)
        if life.error():
            draw_words(layout, context, life.error(), "ERROR")
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        grid.prop(manager, "takt_picture", expand=True)
        if running:
            _draw_watched(layout, context)
            _draw_player(layout, manager, context)
        layout.operator(TAKT_OT_render_film.bl_idname, text=say("Render Film…"), icon="RENDER_ANIMATION",
                        translate=False)
        draw_reasons(layout, context, TAKT_OT_preview, TAKT_OT_render_film)


class TAKT_PT_preview_more(SidebarPanel):
    """What else the preview shows."""

    bl_label = "Show"
    bl_parent_id = "TAKT_PT_preview"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the choices."""
        layout, manager = self.layout, context.window_manager
        assert layout is not None and manager is not None
        grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
        for name in ("see_through", "skeleton", "paths", "strip", "ways"):
            grid.prop(manager, f"takt_{name}", toggle=True)
        layout.use_property_split = True
        layout.use_property_decorate = False
        for first, second in (("ghosts", "ghost_step_s"), ("copies", "phase_s")):
            column = layout.column(align=True)
            column.prop(manager, f"takt_{first}")
            row = column.row()
            row.active = getattr(manager, f"takt_{first}") > (1 if first == "copies" else 0)
            row.prop(manager, f"takt_{second}")
        layout.prop(manager, "takt_compare")


def _draw_watched(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw notes on what the picture of the watched character leaves out."""
    watched = watched_character(context)
    if watched is None:
        return
    character, armature_object = watched
    draw_edited_by_hand(layout, context, armature_object)
    if MODES[life.picture()].is_of_bone:
        bone = cast(bpy.types.Armature, armature_object.data).bones.active
        layout.label(text=bone.name if bone else say("Click a bone in Pose Mode"), icon="BONE_DATA", translate=False)
    if character.not_shown:
        draw_words(layout, context, f"Not in the preview, since they work on the posed mesh: "
                                    f"{', '.join(character.not_shown)}", "INFO")
    simplified = character.simplified() if _shows_nodes(context) else []
    if simplified:
        draw_words(layout, context, f"Not all nodes of these materials are in the preview: {', '.join(simplified)}",
                   "INFO")
    if error_of(armature_object) is not None and last_good(character.uid) is not None:
        draw_words(layout, context, "The score has errors; this is what it was before", "ERROR")


def _shows_nodes(context: bpy.types.Context) -> bool:
    space = context.space_data
    return isinstance(space, bpy.types.SpaceView3D) and space.shading.type in ("MATERIAL", "RENDERED")


def _draw_player(layout: bpy.types.UILayout, manager: bpy.types.WindowManager, context: bpy.types.Context) -> None:
    choices = life.choices()
    player = choices.player
    timeline = player.follows_timeline
    playing = is_timeline_playing(context) if timeline else player.is_playing
    row = layout.row(align=True)
    row.scale_x = row.scale_y = 1.2
    row.alignment = "CENTER"
    _button(row, "RESTART", "REW")
    _button(row, "STEP_BACK", "FRAME_PREV")
    _button(row, "BACKWARDS", "PLAY_REVERSE", player.backwards)
    _button(row, "PLAY", "PAUSE" if playing else "PLAY", playing)
    _button(row, "STEP_ON", "FRAME_NEXT")
    _button(row, "STOP", "SNAP_FACE", player.at_rest)
    column = layout.column(align=True)
    column.row(align=True).prop(manager, "takt_clock", expand=True)
    if not timeline:
        row = column.row(align=True)
        _button(row, "SLOWER", "REMOVE")
        row.prop(manager, "takt_speed", text=say("Speed"), translate=False)
        _button(row, "FASTER", "ADD")
    row = layout.row(align=True)
    _button(row, "FROM_HERE", "TRIA_RIGHT_BAR", text="From Here")
    _button(row, "TO_HERE", "TRIA_LEFT_BAR", text="To Here")
    if _has_fragment(context):
        _button(row, "WHOLE", "X", pressed=True)
    row = layout.row(align=True)
    row.prop(manager, "takt_transitions", toggle=True)
    _button(row, "ALONE", "SOLO_ON" if choices.alone else "SOLO_OFF", bool(choices.alone), text="Clip Alone")


def _has_fragment(context: bpy.types.Context) -> bool:
    player = life.choices().player
    if player.follows_timeline:
        return context.scene is not None and context.scene.use_preview_range
    return player.fragment is not None


def _button(row: bpy.types.UILayout, action: str, icon: str, pressed: bool = False, text: str = "") -> None:
    properties: Any = row.operator(TAKT_OT_player.bl_idname, text=say(text), icon=cast(Any, icon), depress=pressed,
                                   translate=False)
    properties.action = action
