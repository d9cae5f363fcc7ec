"""The header of the score editor, in place of the node editor's, and its menus."""

from typing import Any

import bpy

from ...bridge import properties, score_tree
from ...bridge.score_tree import TaktScoreTree

_NATIVE: list[Any] = []
"""The node editor's own way to draw its header, while ours goes before it."""


def register() -> None:
    """Go before the node editor's header: what it has for nodes means nothing here."""
    drawn = bpy.types.NODE_HT_header._dyn_ui_initialize()  # type: ignore[attr-defined]  # what append() itself calls
    native = drawn[0]
    _NATIVE.append(native)
    drawn[0] = _draw


def unregister() -> None:
    """Leave the header to the node editor again."""
    drawn = bpy.types.NODE_HT_header._dyn_ui_initialize()  # type: ignore[attr-defined]
    drawn[drawn.index(_draw)] = _NATIVE.pop()


def _draw(header: Any, context: bpy.types.Context) -> None:
    if score_tree.is_score_editor(context.space_data):
        draw_header(header.layout, context)
    else:
        _NATIVE[0](header, context)


def draw_header(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draw menus, whose score is shown, and which Text that is."""
    layout.template_header()
    row = layout.row(align=True)
    for menu in (TAKT_MT_score_view, TAKT_MT_score_select, bpy.types.NODE_MT_add, TAKT_MT_score_edit):
        row.menu(menu.__name__)
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
    layout.separator_spacer()
