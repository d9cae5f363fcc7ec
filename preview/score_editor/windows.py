"""The state of each score editor: kept as long as its area exists, never saved.

A changed view is also written to the tree, so that a file opens as it was left. But several editors of one tree each
have their own view, and undo, which restores the tree, does not change it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import bpy

from ...bridge import properties
from ...bridge.scores import score_blocks, score_tree
from ...bridge.scores.score_tree import TaktScoreTree
from ...core.pha.open_scores import Scores
from ...core.score_editor.commands import Playable
from ...core.score_editor.gestures import why_not
from ...core.score_editor.hit import Hit
from ...core.score_editor.layout import BoxId, Layout
from ...core.score_editor.picture import Picture
from ...core.score_editor.shelf import Shelf
from ...core.score_editor.theme import Theme
from ...core.score_editor.view import View
from .canvas import Poured


@dataclass(frozen=True, eq=False)
class Hover:
    """The part under the mouse at x and y; numbers of boxes are those of the layout.

    refusal: why it cannot be dragged here, or "".
    """

    layout: Layout
    over: Hit
    x: float
    y: float
    refusal: str = ""

    @classmethod
    def at(cls, layout: Layout, over: Hit, x: float, y: float, scores: Scores | None, before: Hover | None) -> Hover:
        """Return the part under the mouse; before: the previous one, which is mostly the same."""
        if before is not None and before.layout is layout and before.over.is_on_the_same(over):
            return cls(layout, over, x, y, before.refusal)
        return cls(layout, over, x, y, "" if scores is None else why_not(layout, over, scores))


class Chip(NamedTuple):
    """The playable under the mouse on the shelf, the position where the mouse entered it, and when."""

    playable: Playable
    x: float
    y: float
    since_s: float


@dataclass(eq=False)
class Window:
    """An editor: its view, and its last picture with all that this depends on.

    mouse: its position in the editor, None outside. hover: the part under it. shelf: as last drawn (shelf_drawn), with
    all on which the positions of chips depend (shelf_arranged), scrolled by shelf_px in the search and order
    shelf_seeks. chip: under the mouse. front: draws in front of everything during a gesture. pulled: the dragged box.
    has_tab: its sidebar was switched to Takt's tab. shows: the score's character, and its Text.
    """

    view: View
    mouse: tuple[float, float] | None = None
    hover: Hover | None = None
    shelf: Shelf | None = None
    shelf_drawn: tuple[object, Poured] | None = None
    shelf_arranged: tuple[Any, ...] | None = None
    shelf_px: float = 0.0
    shelf_seeks: tuple[object, ...] | None = None
    chip: Chip | None = None
    front: Callable[[Theme], Picture] | None = None
    pulled: BoxId | None = None
    drawn: tuple[object, Poured] | None = None
    has_tab: bool = False
    shows: tuple[int, int] = (0, 0)

    def seek(self, *what: object) -> None:
        """Scroll the shelf to its beginning if another search or order is shown than before."""
        if what != self.shelf_seeks:
            self.shelf_seeks, self.shelf_px = what, 0.0

    def point(self, now_s: float) -> bool:
        """Take the chip that is under the mouse now; return whether it is another one."""
        before = self.chip
        playable = None if self.shelf is None or self.mouse is None else self.shelf.at(*self.mouse)
        if playable is None or self.mouse is None:
            self.chip = None
        elif before is None or before.playable != playable:
            self.chip = Chip(playable, *self.mouse, now_s)
        return self.chip != before

    def leave(self) -> bool:
        """Forget what was under the mouse, which has left the editor; return whether there was anything."""
        was_over = self.hover is not None or self.chip is not None
        self.mouse = self.hover = self.chip = None
        return was_over


_TAB = "Takt"
_EMPTY_TICKS = 16.0
"""Length shown of an empty score."""
_windows: dict[int, Window] = {}
"""The states of editors, by the editors' addresses."""


def window_of(space: bpy.types.Space) -> Window | None:
    """Return the state of an editor, or None before its first drawing."""
    return _windows.get(space.as_pointer())


def look_into(context: bpy.types.Context, layout: Layout) -> Window:
    """Return an editor with its view resized to its region; the first time, with the saved view.

    If a character plays another score than before, all of it is shown. A view that shows a whole score still does so
    after the region was resized.
    """
    space, region = context.space_data, context.region
    assert space is not None and region is not None and context.preferences is not None
    scale = context.preferences.system.ui_scale or 1.0  # 0 without a screen
    width = region.width - covered_px(context)
    found = _windows.get(space.as_pointer())
    if found is None:
        view = _saved(cast(bpy.types.SpaceNodeEditor, space).node_tree, View(width, region.height, scale=scale), layout)
        found = _windows[space.as_pointer()] = Window(view)
    elif (found.view.width, found.view.height, found.view.scale) != (width, region.height, scale):
        was_whole = found.view == whole(found.view, layout)  # in a narrow area the sidebar may first have hidden all
        found.view = found.view.resized(width, region.height, scale)
        if was_whole:
            found.view = whole(found.view, layout)
    armature_object = score_tree.character_of(score_tree.tree_of(context), context)
    if armature_object is not None:
        text, before = properties.character(armature_object).text, found.shows
        now = armature_object.session_uid, 0 if text is None else text.session_uid
        if now != before and score_blocks.is_current(armature_object):
            found.shows = now
            if before[0] == now[0]:
                found.view = whole(found.view, layout)
    return found


def change_view(context: bpy.types.Context, view: View) -> None:
    """Change the view of an editor, and store it in its tree."""
    space = cast(bpy.types.SpaceNodeEditor, context.space_data)
    window = _windows[space.as_pointer()]
    window.view = view
    tree = cast(TaktScoreTree | None, space.node_tree)
    if tree is not None and tree.is_editable:
        tree.first_tick, tree.scrolled = view.first_tick, view.scroll_px / view.scale
        tree.pixels_per_tick = view.px_per_tick / view.scale
    if context.area is not None:
        context.area.tag_redraw()


def covered_px(context: bpy.types.Context) -> int:
    """Return the width of the region that the sidebar covers, at its right, in pixels."""
    assert context.area is not None and context.region is not None
    own = context.region
    return max((own.x + own.width - region.x for region in context.area.regions
                if region.type == "UI" and region.width > 1 and region.x < own.x + own.width
                and region.alignment != "LEFT"), default=0)


def open_tab(area: bpy.types.Area) -> None:
    """Switch an editor's sidebar to Takt's tab on first sight: the node editor's own tabs are of no use here."""
    window = None if area.spaces.active is None else _windows.get(area.spaces.active.as_pointer())
    sidebar = next((region for region in area.regions if region.type == "UI" and region.width > 1), None)
    if window is None or window.has_tab or sidebar is None or sidebar.active_panel_category in ("", "UNSUPPORTED"):
        return
    with suppress(TypeError):  # an area that had another editor until now has not drawn its panels yet
        sidebar.active_panel_category = cast(Any, _TAB)  # the stubs know none of the tabs
        window.has_tab = True
    sidebar.tag_redraw()


def forget_closed(spaces: set[int]) -> None:
    """Remove the state of closed editors; spaces: the addresses of open ones."""
    for gone in _windows.keys() - spaces:
        del _windows[gone]


def _saved(tree: bpy.types.NodeTree | None, view: View, layout: Layout) -> View:
    saved = cast(TaktScoreTree | None, tree)
    if saved is None or saved.pixels_per_tick <= 0.0:
        return whole(view, layout)
    return replace(view, first_tick=saved.first_tick, px_per_tick=saved.pixels_per_tick * view.scale,
                   scroll_px=saved.scrolled * view.scale)


def whole(view: View, layout: Layout) -> View:
    """Return the view of a whole score, or of some bars if it is empty."""
    return replace(view, opened=None).framed(0.0, layout.ticks if len(layout) else _EMPTY_TICKS)


def show_in_front(context: bpy.types.Context, front: Callable[[Theme], Picture] | None,
                  pulled: BoxId | None = None) -> None:
    """Draw something in front of all else, and mark a box; None ends that."""
    assert context.space_data is not None and context.area is not None
    window = window_of(context.space_data)
    if window is not None:
        window.front, window.pulled = front, pulled
        if front is not None:
            window.chip = None  # the mouse has left the shelf, and its new position is unknown until it moves
    context.area.tag_redraw()


def show_nothing_in_front() -> None:
    """End the drawing in front of all else in all editors."""
    for window in _windows.values():
        window.front, window.pulled = None, None


def is_on_shelf(context: bpy.types.Context, y: float) -> bool:
    """Return whether a height in the editor is on its shelf."""
    window = None if context.space_data is None else window_of(context.space_data)
    return window is not None and window.shelf is not None and y <= window.shelf.height


def scroll_shelf(context: bpy.types.Context, by_px: float) -> None:
    """Scroll the shelf by pixels to the right, or to the left if negative."""
    assert context.space_data is not None and context.area is not None
    window = window_of(context.space_data)
    if window is not None and window.shelf is not None:
        window.shelf_px = min(max(window.shelf_px + by_px, 0.0), window.shelf.farthest)
    context.area.tag_redraw()
