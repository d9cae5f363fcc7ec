"""Vertical positions of the editor's rows: ruler, music, main lane, other lanes, tweaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .layout import Layout, Untaken
from .view import RULER_PX, View

TITLE_PX, BODY_PX, SEAM_PX, GAP_PX, MUSIC_PX, INSET_PX = 20.0, 20.0, 22.0, 8.0, 44.0, 1.5
"""Pixels at an interface scale of 1: height of a box's title; least height of an innermost box of the main lane below
that; height of the transitions at the foot of the boxes; gap between lanes; height of the music; and how much narrower
each box is than the one around it.
"""
CONTACT_PX = 10.0
"""Height of the line of one foot below the main lane's boxes."""
TWEAK_PX = 18.0
"""Height of the row below all lanes that shows keys of tweaks."""
UNTAKEN_PX = 4.0
"""Half the size of the mark for an element that does not play this time."""


@dataclass(frozen=True, eq=False)
class Stripes:
    """Heights of the rows in pixels from the window's lower edge; each row lies between low and high.

    music: None if a score has none. lane_low, lane_high: (L,). box_low: (L,) lower edge of the boxes, in the main lane
    above the lines of foot contacts; contacts: these lines, or None; tweaks: the row of their keys below all lanes, or
    None if there is none. levels: (L,) greatest number of nested boxes in each lane; tops: (L,) depth of the uppermost
    boxes. most: number of levels that are shown; px: a pixel at an interface scale of 1.
    """

    ruler: tuple[float, float]
    music: tuple[float, float] | None
    contacts: tuple[float, float] | None
    tweaks: tuple[float, float] | None
    lane_low: FloatArray
    lane_high: FloatArray
    box_low: FloatArray
    levels: IntArray
    tops: IntArray
    most: int
    px: float

    @classmethod
    def of(cls, layout: Layout, view: View) -> Stripes:
        """Return the rows of a layout, one below the other."""
        px, boxes = view.scale, layout.boxes
        tops, levels = (np.full(len(layout.lanes), least) for least in (0, 1))
        inside = view.opened
        if inside is not None and ((boxes.lane == inside.lane) & (boxes.depth >= inside.depth)).any():
            tops[inside.lane] = inside.depth
        np.maximum.at(levels, boxes.lane, np.minimum(boxes.depth - tops[boxes.lane] + 1, view.levels))
        ruler = (view.height - (0.0 if view.is_strip else RULER_PX * px), view.height)
        top, music = ruler[0] - (0.0 if view.is_strip else GAP_PX / 2.0 * px) + view.scroll_px, None
        if layout.music is not None and not view.is_strip:
            music = (top - MUSIC_PX * px, top)
            top = music[0] - GAP_PX * px
        feet = np.zeros(len(layout.lanes))
        if layout.contacts is not None and (not view.is_strip or layout.contacts.has_room(view.px_per_tick / px)):
            feet[0] = (2.0 * CONTACT_PX + GAP_PX / 2.0) * px
        body = np.where(np.arange(len(levels)) == 0, BODY_PX, 0.0)  # other lanes than the main one are lower
        heights = (levels * TITLE_PX + body + SEAM_PX) * px + feet
        high = top - np.cumsum(heights + GAP_PX * px) + heights + GAP_PX * px
        low, contacts = high - heights, None
        if feet[0]:
            contacts = (float(low[0]) + GAP_PX / 4.0 * px, float(low[0] + feet[0]) - GAP_PX / 4.0 * px)
        tweaks = None
        if layout.tweaks is not None and not view.is_strip:
            tweaks = (float(low[-1]) - (GAP_PX + TWEAK_PX) * px, float(low[-1]) - GAP_PX * px)
        return cls(ruler, music, contacts, tweaks, low, high, low + feet, levels, tops, view.levels, px)

    def shows(self, lane: IntArray, depth: IntArray) -> BoolArray:
        """Return which boxes are shown, (N,): not those around the open box, nor those that are too deep."""
        level = depth - self.tops[lane]
        return np.asarray((level >= 0) & (level < self.most))

    def boxes(self, lane: IntArray, depth: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return low and high of boxes, (N,) each."""
        level = depth - self.tops[lane]
        return self.box_low[lane] + level * INSET_PX * self.px, self.lane_high[lane] - level * TITLE_PX * self.px

    def lane_at(self, y: float) -> int | None:
        """Return the lane at a height, or None between lanes and outside of them."""
        found = np.flatnonzero((self.lane_low <= y) & (y <= self.lane_high))
        return int(found[0]) if len(found) and y < self.ruler[0] else None

    @property
    def height(self) -> float:
        """Total height with the ruler; more than the window's if the rows can be scrolled."""
        return self.ruler[1] - (float(self.lane_low[-1]) if self.tweaks is None else self.tweaks[0])


def untaken_at(each: Untaken, view: View, stripes: Stripes) -> tuple[float, float]:
    """Return the centre pixel of the mark for an element that does not play this time."""
    x, level = float(view.x(np.array((each.tick,)))[0]), int(each.depth - stripes.tops[each.lane])
    return x, float(stripes.lane_high[each.lane]) - (level * TITLE_PX + UNTAKEN_PX) * view.scale
