"""The order of chips on the shelf: as in the library, or first favourites, clips that fit next, or similar clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final
from weakref import WeakKeyDictionary

import bpy
import numpy as np

from ...core.classes.after import costs, stacked
from ...core.classes.matching import distances
from ...core.score_editor.commands import Playable
from ...core.score_editor.layout import Layout
from ...core.score_editor.shelf import FAVOURITES
from ..guard import guarded
from ..language import say
from ..scores import score_blocks, score_tree
from . import shelf
from .shelf_search import Known, Search

BY_BLOCK: Final = ("FITS", "LIKE")
"""Orders by comparison with the clip of a block."""
MOST: Final = 200
"""Number of clips that are sorted; nobody looks farther down."""
AT_ONCE: Final = 4_000
"""Number of clips that are compared in one drawing; as many take about 20 ms."""
_MOST_RANKINGS: Final = 4
_rankings: WeakKeyDictionary[Search, dict[tuple[str, str], Ranking]] = WeakKeyDictionary()
"""By search; then by order, and the name of the clip with which others are compared."""


def ordered(armature_object: bpy.types.Object, tree: score_tree.TaktScoreTree,
            playables: Sequence[Playable], *, at_once: int | None = None) -> tuple[tuple[Playable, ...], str]:
    """Return chips in the editor's order, and why that is impossible, "" if it is possible.

    at_once: how many clips are compared at most, as in a drawing, which is repeated if more are left.
    """
    if tree.shelf_order == "LIBRARY":
        return tuple(playables), ""
    if tree.shelf_order == "FAVOURITES":
        return tuple(replace(each, shelf_group=FAVOURITES) if each.is_favourite else each for each in playables), ""
    search, block = shelf.search_of(armature_object), clip_of_block(armature_object, tree)
    ranking = None if search is None or block is None else _ranking(search, tree.shelf_order, block)
    if ranking is None or search is None:
        return tuple(playables), "Select a block that plays a clip of the library" if block is None else (
            f"Nothing is known of '{block}' yet")
    if not ranking.take(search.known.copy(), at_once) and not bpy.app.timers.is_registered(_draw_again):
        bpy.app.timers.register(_draw_again)
    away = np.array(list(map(ranking.away.get, playables)), dtype=np.float64)
    best = np.argsort(away, kind="stable")[:min(MOST, int(np.isfinite(away).sum()))].tolist()
    return tuple(replace(playables[at], shelf_group=say(ranking.title)) for at in best), ""


class Ranking:
    """The distances of clips from a wanted one: by the cost of the seam after it, or by their motion.

    They are completed as clips become known: only new ones are compared, and not too many in one drawing. away: the
    distance of each clip compared so far. title: of the group on the shelf.
    """

    def __init__(self, wanted: Known, title: str, *, is_after: bool) -> None:
        """Begin without clips. is_after: compare by the seam from the wanted clip's end to the others' beginnings."""
        self._wanted, self._is_after, self.title = wanted, is_after, title
        self.away: dict[Playable, float] = {}
        self._done = 0

    def take(self, known: Mapping[Playable, Known], at_once: int | None) -> bool:
        """Compare at most so many new clips, which are last in the mapping; return whether none is left."""
        new = list(islice(known.items(), self._done, None if at_once is None else self._done + at_once))
        if new:
            found = (costs(self._wanted.end, stacked([each.start for _, each in new])) if self._is_after else
                     distances(self._wanted.moments, np.stack([each.moments for _, each in new])))
            self.away |= zip((playable for playable, _ in new), found.tolist(), strict=True)
            self._done += len(new)
        return self._done == len(known)


def _ranking(search: Search, order: str, block: str) -> Ranking | None:
    """Return the ranking for a clip by its name, begun if needed; None if nothing is known of the clip yet."""
    found = _rankings.setdefault(search, {})
    if (order, block) not in found:
        known = search.known.copy()
        wanted = _named(known, block)
        if wanted is None:
            return None
        if len(found) >= _MOST_RANKINGS:
            found.clear()
        found[order, block] = Ranking(known[wanted], _title(order, wanted.title), is_after=order == "FITS")
    return found[order, block]


def _title(order: str, title: str) -> str:
    if order == "FITS":
        return f"Fits after {title}"
    return f"Like {title}"


@guarded(None)
def _draw_again() -> None:
    score_tree.redraw()


def clip_of_block(armature_object: bpy.types.Object, tree: score_tree.TaktScoreTree) -> str | None:
    """Return the full name of the last clip of the selected block, or else of the score, None if there is none."""
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
