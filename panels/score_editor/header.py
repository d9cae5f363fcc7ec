"""The header of the score editor, which replaces the node editor's, and its menus."""

from typing import Any, cast

import bpy

from ...bridge import properties
from ...bridge.actions import action
from ...bridge.guard import guarded
from ...bridge.language import say
from ...bridge.reports import edit_mode_problem
from ...bridge.scores import following, score_tree
from ...bridge.tweaking import tweak_waiting
from ...preview import life
from ..sidebar import draw_choices

_NATIVE: list[Any] = []
"""The node editor's own function that draws its header, while ours is in its place."""


def register() -> None:
    """Draw before the node editor's header, whose buttons for nodes are of no use here."""
    drawn = bpy.types.NODE_HT_header._dyn_ui_initialize()  # type: ignore[attr-defined]  # what append() itself calls
    native = drawn[0]
    _NATIVE.append(native)
    drawn[0] = _draw
    cast(Any, bpy.types.NODE_MT_add).append(_draw_add)


def unregister() -> None:
    """Restore the node editor's header."""
    cast(Any, bpy.types.NODE_MT_add).remove(_draw_add)
    drawn = bpy.types.NODE_HT_header._dyn_ui_initialize()  # type: ignore[attr-defined]
    drawn[drawn.index(_draw)] = _NATIVE.pop()


@guarded(None)
def _draw(header: Any, context: bpy.types.Context) -> None:
    if score_tree.is_score_editor(context.space_data):
        draw_header(header.layout, context)
    else:
        _NATIVE[0](header, context)


@guarded(None)
def _draw_add(menu: Any, context: bpy.types.Context) -> None:
    if score_tree.is_score_editor(context.space_data):
        menu.layout.operator_context = "INVOKE_REGION_WIN"
        menu.layout.operator("takt.score_add", text=say("Clip or Procedure…"), icon="VIEWZOOM", translate=False)
        menu.layout.operator("takt.score_add_asset", text=say("Asset…"), icon="ASSET_MANAGER", translate=False)
        menu.layout.separator()
        draw_clip_sources(menu.layout)
        menu.layout.separator()
        menu.layout.operator("takt.choose_music", text=say("Music…"), icon="FILE_SOUND", translate=False)


def draw_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw menus, the choices of character and Text, and the switches of the preview and the shelf."""
    layout.template_header()
    row = layout.row(align=True)
    row.menu("TAKT_MT_score_view")
    row.menu("TAKT_MT_score_select")
    row.menu("NODE_MT_add", text=say("Add"), translate=False)
    row.menu("TAKT_MT_score_edit")
    layout.separator_spacer()
    tree = score_tree.tree_of(context)
    if tree is None:
        return
    shown = score_tree.character_of(tree, context)
    row = layout.row(align=True)
    row.prop(tree, "character", text="", icon="ARMATURE_DATA",
             placeholder=shown.name if shown is not None else "Character")
    if shown is not None:
        row.prop(properties.character(shown), "text", text="")
        if following.problem(shown):
            row.label(text=say("Action Is Older"), icon="ERROR", translate=False)
            if following.problem(shown) == action.EDITED_BY_HAND:
                draw_choices(row.row(align=True), shown)
        tweak = row.row(align=True)
        tweak.context_pointer_set("active_object", shown)
        tweak.operator("takt.tweak", text="", icon="POSE_HLT")
        if count := len(tweak_waiting.waiting(shown)):
            row.label(text=say(f"Tweaks Without Block: {count}"), icon="ERROR", translate=False)
        if edit_mode_problem(context):
            row.label(text=say("Locked by Edit Mode"), icon="LOCKED", translate=False)
    layout.separator_spacer()
    running = life.is_running()
    layout.operator("takt.preview", text="", icon="HIDE_OFF" if running else "HIDE_ON", depress=running)
    row = layout.row(align=True)
    if tree.has_shelf:
        row.prop(tree, "search", text="", icon="VIEWZOOM")
        row.prop(tree, "shelf_order", text="", icon_only=True)
        row.menu("TAKT_MT_score_clips", text="", icon="ADD")
    row.prop(tree, "has_shelf", text="", icon="ASSET_MANAGER")


class TAKT_MT_score_view(bpy.types.Menu):
    """What is seen of the score"""

    bl_label = "View"

    def draw(self, context: bpy.types.Context | None) -> None:
        """Draw the menu."""
        assert context is not None and context.space_data is not None
        layout = _invoking(self)
        layout.prop(context.space_data, "show_region_ui")
        layout.separator()
        layout.operator("takt.score_frame", text=say("Frame All"), translate=False)
        _with(layout.operator("takt.score_frame", text=say("Frame Selected"), translate=False), only_selected=True)
        _with(layout.operator("takt.score_zoom", text=say("Zoom In"), translate=False), steps=2)
        _with(layout.operator("takt.score_zoom", text=say("Zoom Out"), translate=False), steps=-2)
        layout.separator()
        layout.menu("INFO_MT_area")


def draw_clip_sources(layout: bpy.types.UILayout) -> None:
    """Draw the ways to add clips to the shelf."""
    layout.operator("takt.add_clip_folder", text=say("Clip Folder…"), icon="FILE_FOLDER", translate=False)
    layout.operator("takt.add_clip_files", text=say("Clip Files…"), icon="FILE", translate=False)


class TAKT_MT_score_clips(bpy.types.Menu):
    """Clips for the shelf"""

    bl_label = "Clips for the Shelf"

    def draw(self, _context: bpy.types.Context | None) -> None:
        """Draw the menu."""
        assert self.layout is not None
        self.layout.operator_context = "INVOKE_REGION_WIN"
        draw_clip_sources(self.layout)
        self.layout.separator()
        self.layout.operator("takt.favourite_clip", icon="SOLO_OFF")
        self.layout.operator("takt.tag_clip", text=say("Tags of Clip…"), icon="BOOKMARKS", translate=False)
        self.layout.operator("takt.mark_clip_assets", text=say("Mark Clips as Assets…"), icon="ASSET_MANAGER",
                             translate=False)


class TAKT_MT_score_select(bpy.types.Menu):
    """Which blocks are selected"""

    bl_label = "Select"

    def draw(self, _context: bpy.types.Context | None) -> None:
        """Draw the menu."""
        layout = _invoking(self)
        for which, label in (("ALL", say("All")), ("NONE", say("None")), ("INVERT", say("Invert"))):
            _with(layout.operator("takt.score_select", text=label, translate=False), which=which)


class TAKT_MT_score_edit(bpy.types.Menu):
    """What is done with the selected blocks"""

    bl_label = "Block"

    def draw(self, _context: bpy.types.Context | None) -> None:
        """Draw the menu."""
        layout = _invoking(self)
        for name in ("duplicate", "copy", "paste", "delete"):
            layout.operator(f"takt.score_{name}")
        layout.separator()
        for name in ("split", "mirror", "reverse"):
            layout.operator(f"takt.score_{name}")
        layout.operator_menu_enum("takt.score_beside", "body")
        layout.separator()
        for name in ("group", "dissolve", "single", "open"):
            layout.operator(f"takt.score_{name}")
        layout.separator()
        layout.operator_context = "INVOKE_REGION_WIN"
        _with(layout.operator("takt.save_clip", text=say("Save as Clip…"), translate=False), source="BLOCKS")
        layout.operator_context = "EXEC_REGION_WIN"
        layout.separator()
        for edge, label in (("SELECTED", say("Loop Selected")), ("NONE", say("Play Whole Score"))):
            _with(layout.operator("takt.score_loop", text=label, translate=False), edge=edge)


CLASSES = (TAKT_MT_score_clips, TAKT_MT_score_view, TAKT_MT_score_select, TAKT_MT_score_edit)


def _invoking(menu: bpy.types.Menu) -> bpy.types.UILayout:
    """Return a menu's layout; its operators act on the score's region instead of the header."""
    assert menu.layout is not None
    menu.layout.operator_context = "EXEC_REGION_WIN"
    return menu.layout


def _with(operator: Any, **settings: Any) -> None:
    """Set properties of an operator that a button starts."""
    for name, value in settings.items():
        setattr(operator, name, value)
