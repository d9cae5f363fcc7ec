"""The panel that switches the preview and plays it."""

from typing import Any, cast

import bpy

from ..bridge.score import error_of
from ..operators.player import TAKT_OT_player, watched_character
from ..operators.preview import TAKT_OT_preview
from ..operators.render_film import TAKT_OT_render_film
from ..preview import life
from .sidebar import SidebarPanel


class TAKT_PT_preview(SidebarPanel):
    """Watch characters as their score plays them."""

    bl_label = "Preview"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the switch, the choice of picture and the player."""
        layout, manager = self.layout, context.window_manager
        assert layout is not None and manager is not None
        running = life.is_running()
        layout.operator(TAKT_OT_preview.bl_idname, text="Preview", icon="HIDE_OFF" if running else "HIDE_ON",
                        depress=running)
        if life.error():
            layout.label(text=life.error(), icon="ERROR")
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        grid.prop(manager, "takt_picture", expand=True)
        if running:
            _draw_player(layout, manager, context)


class TAKT_PT_preview_more(SidebarPanel):
    """What else the preview shows."""

    bl_label = "Show"
    bl_parent_id = "TAKT_PT_preview"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the choices."""
        layout, manager = self.layout, context.window_manager
        assert layout is not None and manager is not None
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in ("see_through", "skeleton", "paths", "strip"):
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
        layout.operator(TAKT_OT_render_film.bl_idname, text="Render Film…", icon="RENDER_ANIMATION")


def _draw_player(layout: bpy.types.UILayout, manager: bpy.types.WindowManager, context: bpy.types.Context) -> None:
    choices = life.choices()
    player = choices.player
    timeline = player.follows_timeline
    playing = bool(context.screen and context.screen.is_animation_playing) if timeline else player.is_playing
    row = layout.row(align=True)
    row.scale_x = row.scale_y = 1.2
    row.alignment = "CENTER"
    _button(row, "RESTART", "REW")
    _button(row, "STEP_BACK", "FRAME_PREV")
    own = row.row(align=True)
    own.enabled = not timeline
    _button(own, "BACKWARDS", "PLAY_REVERSE", player.backwards and not timeline)
    _button(row, "PLAY", "PAUSE" if playing else "PLAY", playing)
    _button(row, "STEP_ON", "FRAME_NEXT")
    _button(row, "STOP", "SNAP_FACE", player.at_rest)
    row = layout.row(align=True)
    row.prop(manager, "takt_follows_timeline", toggle=True, icon="TIME")
    own = row.row(align=True)
    own.enabled = not timeline
    _button(own, "SLOWER", "REMOVE")
    own.prop(manager, "takt_speed", text="")
    _button(own, "FASTER", "ADD")
    row = layout.row(align=True)
    row.enabled = not timeline
    _button(row, "FROM_HERE", "TRIA_RIGHT_BAR", text="From Here")
    _button(row, "TO_HERE", "TRIA_LEFT_BAR", text="To Here")
    _button(row, "WHOLE", "X", player.fragment is not None)
    row = layout.row(align=True)
    row.prop(manager, "takt_transitions", toggle=True)
    _button(row, "ALONE", "SOLO_ON" if choices.alone else "SOLO_OFF", bool(choices.alone), text="Clip Alone")
    watched = watched_character(context)
    if watched is not None and error_of(watched[1]) is not None and watched[0].last_good is not None:
        layout.label(text="Plays what was before the errors", icon="INFO")


def _button(row: bpy.types.UILayout, action: str, icon: str, pressed: bool = False, text: str = "") -> None:
    properties: Any = row.operator(TAKT_OT_player.bl_idname, text=text, icon=cast(Any, icon), depress=pressed)
    properties.action = action
