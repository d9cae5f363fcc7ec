"""The canvas of the score editor: an empty node tree of Takt's own kind, so that Blender gives it an editor.

The tree stores the state of the editor: which character's score is shown, the selection, and the zoom at the time of
saving. The score itself stays in its Text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from ...core.score_editor.grid import Meter
from ...core.score_editor.layout import BoxId, Layout
from ...core.score_editor.selection import followed
from .. import language, properties
from ..active_character import active_armature
from ..guard import guarded

NAME = "Takt Score"
_KEPT = 256
_chosen: dict[tuple[int, str], str] = {}
"""The last selections, by the session_uid of the canvas and the texts. Undo does not restore selections, so they are
restored with the texts from here."""


def _has_score(_tree: bpy.types.NodeTree, ob: bpy.types.Object) -> bool:
    return ob.type == "ARMATURE" and properties.character(ob).text is not None


def _changed(_tree: bpy.types.NodeTree, _context: bpy.types.Context) -> None:
    redraw()
SHELF_ORDERS = (
    ("LIBRARY", "Library", "By files and folders", "ASSET_MANAGER", 0),
    ("FITS", "What Fits After", "First the clips that fit best after the selected block, or after the last block if "
                                "none is selected", "SNAP_ON", 1),
    ("LIKE", "More Like This", "First the clips whose motion is most like that of the selected block, or of the last "
                               "block if none is selected", "OUTLINER_OB_ARMATURE", 2),
    ("FAVOURITES", "Favourites First", "First your favourites, then the others by files and folders", "SOLO_ON", 3),
)
"""The orders of chips on the shelf."""


class TaktScoreTree(bpy.types.NodeTree):
    """Show a score as blocks in time, and edit it"""

    bl_idname = "TaktScoreTree"
    bl_label = NAME
    bl_icon = "NLA"
    bl_use_group_interface = False  # no sockets

    if TYPE_CHECKING:
        character: bpy.types.Object | None
        selected: str
        first_tick: float
        pixels_per_tick: float
        scrolled: float
        has_shelf: bool
        search: str
        shelf_order: str
        fields: bpy.types.PropertyGroup  # see score_fields.py
    else:
        character: PointerProperty(
            type=bpy.types.Object, name="Character", poll=_has_score,
            description="Whose score is shown; none: that of the active character")
        selected: StringProperty(options={"HIDDEN"})
        first_tick: FloatProperty(options={"HIDDEN"})
        pixels_per_tick: FloatProperty(options={"HIDDEN"})  # 0: the whole score; at a UI scale of 1
        scrolled: FloatProperty(options={"HIDDEN"})
        has_shelf: BoolProperty(name="Library", default=True, update=_changed,
                                description="Show below the score what can be dragged into it")
        search: StringProperty(name="Search", update=_changed, options={"TEXTEDIT_UPDATE"},
                               description="Show only what has all these words in its name, its file's or among what "
                                           "it is, as in: walk, turning left, slow")
        shelf_order: EnumProperty(name="Order", update=_changed, items=SHELF_ORDERS,
                                  description="Which clips come first on the shelf")


def tree_of(context: bpy.types.Context) -> TaktScoreTree | None:
    """Return the canvas of a context's editor, or None if it is not a score editor."""
    return tree_of_space(context.space_data)


def tree_of_space(space: bpy.types.Space | None) -> TaktScoreTree | None:
    """Return the canvas of an editor, or None if it is not a score editor."""
    if not isinstance(space, bpy.types.SpaceNodeEditor) or space.tree_type != TaktScoreTree.bl_idname:
        return None
    return cast(TaktScoreTree | None, space.node_tree)


def is_score_editor(space: bpy.types.Space | None) -> bool:
    """Return whether an editor is a score editor."""
    return isinstance(space, bpy.types.SpaceNodeEditor) and space.tree_type == TaktScoreTree.bl_idname


def character_of(tree: TaktScoreTree | None, context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the character whose score is shown: the chosen, else the active, else the first one with a score."""
    chosen = tree.character if tree is not None else None
    active = active_armature(context)
    scene = context.scene
    candidates = (chosen, active, *(scene.objects if scene is not None and active is None else ()))
    return next((ob for ob in candidates if ob is not None and ob.type == "ARMATURE"
                 and properties.character(ob).text is not None), None)


def meter_of(armature_object: bpy.types.Object) -> Meter:
    """Return the meter of a character's score."""
    return Meter(properties.character(armature_object).ticks_per_bar)


def selection(tree: TaktScoreTree | None, layout: Layout | None) -> frozenset[BoxId]:
    """Return the selected boxes of a layout; empty if the selection was made in another score."""
    if tree is None or layout is None:
        return frozenset()
    texts, _, boxes = _chosen.get((tree.session_uid, layout.texts), tree.selected).partition(" ")
    return _read(boxes) if boxes and layout.texts == texts else frozenset()


def select(tree: TaktScoreTree, layout: Layout, boxes: Iterable[BoxId]) -> None:
    """Select these boxes of a layout and no others."""
    tree.selected = " ".join((layout.texts, *(".".join(map(str, box)) for box in sorted(boxes))))
    _chosen.pop(key := (tree.session_uid, layout.texts), None)
    _chosen[key] = tree.selected
    while len(_chosen) > _KEPT:
        del _chosen[next(iter(_chosen))]


def follow(before: Layout, after: Layout, cursor: int | None) -> None:
    """Move the selection from one layout of a score to the next; see core's `followed`."""
    if before.texts == after.texts:
        return
    for tree in trees():
        selected = selection(tree, before)
        if selected and tree.is_editable and (tree.session_uid, after.texts) not in _chosen:
            select(tree, after, followed(selected, before, after, cursor))


@lru_cache(maxsize=32)
def _read(boxes: str) -> frozenset[BoxId]:
    return frozenset(BoxId(*map(int, box.split("."))) for box in boxes.split())


def trees() -> Iterator[TaktScoreTree]:
    """Yield all canvases of the file."""
    for tree in bpy.data.node_groups:
        if tree.bl_idname == TaktScoreTree.bl_idname:
            yield cast(TaktScoreTree, tree)


def areas() -> Iterator[tuple[bpy.types.Window, bpy.types.Area]]:
    """Yield the score editors that are open, with their windows."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if is_score_editor(area.spaces.active):
                yield window, area


def is_shown_in(window: bpy.types.Window | None, armature_object: bpy.types.Object) -> bool:
    """Return whether a score editor in a window shows the score of a character, or of another one that plays it too."""
    trees = (cast(bpy.types.SpaceNodeEditor, area.spaces.active).node_tree for there, area in areas()
             if there == window)
    shown = (character_of(cast("TaktScoreTree | None", tree), bpy.context) for tree in trees)
    text = properties.character(armature_object).text
    return any(each is not None and properties.character(each).text == text for each in shown)


def redraw() -> None:
    """Redraw all score editors."""
    for _, area in areas():
        area.tag_redraw()


@guarded(None)
def give_trees() -> None:
    """Give a tree to each score editor without one, and hide parts of its interface that are for nodes only."""
    for _, area in areas():
        space = cast(bpy.types.SpaceNodeEditor, area.spaces.active)
        if space.node_tree is None:
            space.node_tree = _free_tree()
            space.show_region_toolbar = space.show_region_ui = False
            space.overlay.show_context_path = False
            area.tag_redraw()


def _free_tree() -> bpy.types.NodeTree:
    """Return the first existing tree, or a new one, which is kept with the file."""
    for tree in trees():
        if tree.library is None:
            return tree
    new = bpy.data.node_groups.new(NAME, cast(Any, TaktScoreTree.bl_idname))
    assert new is not None
    new.use_fake_user = True
    return new


def register() -> None:
    """Register the kind of tree, which Blender lists among its editors."""
    language.register_class(TaktScoreTree)


def unregister() -> None:
    """Unregister the kind of tree, and remove its trees, which are useless without it.

    An editor of an unknown kind would report an error at each drawing. So visible score editors become Text Editors
    with the score's Text."""
    shown = {area.as_pointer(): character_of(tree_of_space(area.spaces.active), bpy.context) for _, area in areas()}
    for screen in bpy.data.screens:
        for area in screen.areas:
            for space in area.spaces:  # including earlier editors of the area
                if is_score_editor(space):
                    cast(bpy.types.SpaceNodeEditor, space).tree_type = "ShaderNodeTree"
            if area.as_pointer() in shown:
                _show_text(area, shown[area.as_pointer()])
    for tree in [tree for tree in trees() if tree.library is None]:
        bpy.data.node_groups.remove(tree)
    _chosen.clear()
    bpy.utils.unregister_class(TaktScoreTree)


def _show_text(area: bpy.types.Area, armature_object: bpy.types.Object | None) -> None:
    area.type = "TEXT_EDITOR"
    if armature_object is not None:
        cast(bpy.types.SpaceTextEditor, area.spaces.active).text = properties.character(armature_object).text
