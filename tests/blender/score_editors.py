"""Score editors without a screen: an area shown as one, laid out as its first drawing would."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from takt.bridge import score_blocks, score_tree
from takt.core.score_editor.layout import BoxId, Layout
from takt.preview.score_editor import windows

context: Any = bpy.context


@contextmanager
def editing() -> Iterator[Layout]:
    """Turn an area into a score editor, and be in it."""
    window = context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda each: each.width * each.height)
    area.ui_type = score_tree.TaktScoreTree.bl_idname
    score_tree.give_trees()
    with context.temp_override(window=window, screen=window.screen, area=area, region=main_region(area)):
        yield looked_into()


def looked_into() -> Layout:
    """Do what a drawing leads to."""
    armature_object = score_tree.character_of(score_tree.tree_of(bpy.context), bpy.context)
    assert armature_object is not None
    layout = score_blocks.refresh(armature_object).layout
    assert layout is not None
    windows.look_into(bpy.context, layout)
    return layout


def main_region(area: bpy.types.Area) -> bpy.types.Region:
    return next(region for region in area.regions if region.type == "WINDOW")


def choose(layout: Layout, *titles: str) -> None:
    """Select the first box of each title."""
    tree = score_tree.tree_of(bpy.context)
    assert tree is not None
    score_tree.select(tree, layout, [named(layout, title) for title in titles])


def named(layout: Layout, title: str) -> BoxId:
    return layout.id_of(layout.boxes.titles.index(title))
