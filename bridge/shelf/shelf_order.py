"""In which order chips lie on the shelf: as in the library, or first favourites, what fits, or what is alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import bpy
import numpy as np

from ...core.classes.after import costs, stacked
from ...core.classes.matching import distances
from ...core.score_editor.commands import Playable
from ...core.score_editor.layout import Layout
from ...core.score_editor.shelf import FAVOURITES
from ..scores import score_blocks, score_tree
from . import shelf
from .shelf_search import Known

MOST: Final = 200
"""Number of clips that are sorted; nobody looks farther down."""


def ordered(armature_object: bpy.types.Object, tree: score_tree.TaktScoreTree,
            playables: Sequence[Playable]) -> tuple[tuple[Playable, ...], str]:
    """Return chips in the editor's order, and a description of the order, "" for the library's own."""
    if tree.shelf_order == "LIBRARY":
        return tuple(playables), ""
    if tree.shelf_order == "FAVOURITES":
        return tuple(replace(each, shelf_group=FAVOURITES) if each.is_favourite else each for each in playables), ""
    known = shelf.known(armature_object)
    block = clip_of_block(armature_object, tree)
    wanted = None if block is None else _named(known, block)
    if wanted is None:
        return tuple(playables), "Select a block that plays a clip of the library" if block is None else (
            f"Nothing is known of '{block}' yet")
    among = [each for each in playables if each in known]
    if tree.shelf_order == "FITS":
        away = costs(known[wanted].end, stacked([known[each].start for each in among]))
        title = f"Fits after {wanted.title}"
    else:
        away = distances(known[wanted].moments, np.stack([known[each].moments for each in among]) if among else
                         np.zeros((0, *known[wanted].moments.shape)))
        title = f"Like {wanted.title}"
    best = np.argsort(away, kind="stable")[:MOST].tolist()
    return tuple(replace(among[at], shelf_group=title) for at in best), ""


def clip_of_block(armature_object: bpy.types.Object, tree: score_tree.TaktScoreTree) -> str | None:
    """Return the full name of the last clip of the selected block, or of the score, None if there is none."""
    blocks = score_blocks.shown(armature_object)
    layout = None if blocks is None else blocks.layout
    if blocks is None or layout is None or not layout.rows or not len(layout.rows[0]):
        return None
    selected = layout.found(score_tree.selection(tree, blocks.selectable))
    end = float(layout.boxes.end[selected].max()) if len(selected) else layout.ticks
    return _clip_before(layout, end)


def _clip_before(layout: Layout, tick: float) -> str | None:
    """Return the clip of the main row that ends at a tick, or plays then."""
    row = layout.rows[0]
    begins = row.start_s / layout.tick_s
    at = int(np.searchsorted(begins, tick - 1e-6, side="left")) - 1
    clip = int(row.clip[max(at, 0)])
    return row.clips[clip] if 0 <= clip < len(row.clips) else None


def _named(known: Mapping[Playable, Known], clip: str) -> Playable | None:
    return next((each for each in known if clip in (each.full_name, each.src)), None)
