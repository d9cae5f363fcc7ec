"""The part of a layout that a window shows: from ticks to pixels and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..maths.arrays import FloatArray

LABEL_PX, RULER_PX, MARGIN_PX = 84.0, 36.0, 14.0
"""Pixels at an interface scale of 1: width of labels, height of the ruler, and margin when framing."""
_NARROW_PX = 260.0
"""A window narrower than this shows no labels of lanes."""
_MOST_LEVELS, _STRIP_LEVELS = 8, 3
"""Boxes deeper than this are shown only when their procedure is opened; in a strip, not at all."""
_LEAST_PX_PER_TICK, _MOST_PX_PER_TICK = 1e-6, 1e7
_FARTHEST_PX = 1e5
"""Greatest distance from the window in pixels: farther positions are limited to it, so that screens can draw them."""


class Opened(NamedTuple):
    """A box that is open, as it was when opened: only deeper boxes of its lane are shown.

    depth: of its contents; begin, end: ticks.
    """

    lane: int
    depth: int
    begin: float
    end: float
    title: str


@dataclass(frozen=True)
class View:
    """The part of a layout in a window of width × height pixels.

    Pixels count from its lower left corner, as in Blender. first_tick: at the right of the lanes' labels;
    scroll_px: how far the lanes are scrolled up; scale: of the interface, 1 by default. is_strip: without ruler, music
    and labels, and with fewer levels. opened: the box whose contents are shown; None: all boxes.
    """

    width: float
    height: float
    first_tick: float = 0.0
    px_per_tick: float = 40.0
    scroll_px: float = 0.0
    scale: float = 1.0
    is_strip: bool = False
    opened: Opened | None = None

    @property
    def left(self) -> float:
        """The x at which the lanes begin."""
        return LABEL_PX * self.scale if self.width >= _NARROW_PX * self.scale and not self.is_strip else 0.0

    @property
    def levels(self) -> int:
        """The number of levels of nested boxes that are shown."""
        return _STRIP_LEVELS if self.is_strip else _MOST_LEVELS

    @property
    def last_tick(self) -> float:
        """The tick at the right edge."""
        return self.tick_at(max(self.width, self.left + 1.0))

    def x(self, ticks: FloatArray) -> FloatArray:
        """Return the x of ticks (N,); far outside of the window it is limited to a fixed distance."""
        x = self.left + (ticks - self.first_tick) * self.px_per_tick
        return np.asarray(np.minimum(np.maximum(x, -_FARTHEST_PX), _FARTHEST_PX))  # much faster than np.clip

    def tick_at(self, x: float) -> float:
        """Return the tick at a pixel."""
        return self.first_tick + (x - self.left) / self.px_per_tick

    def zoomed(self, factor: float, x: float) -> View:
        """Return the view with ticks made wider by a factor; the tick at pixel x stays in place.

        >>> view = View(800, 300).zoomed(2.0, 400.0)
        >>> view.px_per_tick, view.tick_at(400.0) == View(800, 300).tick_at(400.0)
        (80.0, True)
        """
        wide = float(np.clip(self.px_per_tick * factor, _LEAST_PX_PER_TICK, _MOST_PX_PER_TICK))
        return replace(self, px_per_tick=wide, first_tick=self.tick_at(x) - (x - self.left) / wide)

    def panned(self, right_px: float, up_px: float = 0.0) -> View:
        """Return the view moved by pixels; the lanes are never scrolled below their top."""
        return replace(self, first_tick=self.first_tick - right_px / self.px_per_tick,
                       scroll_px=max(self.scroll_px + up_px, 0.0))

    def scrolled_within(self, score_px: float, shelf_px: float) -> View:
        """Return the view with lanes scrolled up at most until their lower end is at the upper edge of the shelf.

        score_px: height of ruler and lanes; shelf_px: height that the shelf covers.

        >>> View(800, 300, scroll_px=90.0).scrolled_within(280.0, 70.0).scroll_px
        50.0
        """
        most = max(score_px + shelf_px - self.height, 0.0)
        return self if self.scroll_px <= most else replace(self, scroll_px=most)

    def framed(self, begin: float, end: float) -> View:
        """Return the view that shows all between two ticks, with a margin on both sides."""
        margin = MARGIN_PX * self.scale
        room = max(self.width - self.left - 2.0 * margin, 1.0)
        wide = float(np.clip(room / max(end - begin, 1e-9), _LEAST_PX_PER_TICK, _MOST_PX_PER_TICK))
        return replace(self, px_per_tick=wide, first_tick=begin - margin / wide, scroll_px=0.0)

    def following(self, begin: float, end: float) -> View:
        """Return the view moved so that the tick `begin` is seen, and `end` too if there is room for both.

        If the beginning is seen already, the view stays.

        >>> view = View(884.0, 300.0)
        >>> view.first_tick, view.last_tick, view.following(19.0, 30.0) == view
        (0.0, 20.0, True)
        >>> moved = view.following(40.0, 44.0)
        >>> 24.0 < moved.first_tick < 40.0 and moved.last_tick > 44.0, view.following(-50.0, 90.0).first_tick < -50.0
        (True, True)
        """
        if self.first_tick <= begin < self.last_tick:
            return self
        margin, room = MARGIN_PX * self.scale / self.px_per_tick, self.last_tick - self.first_tick
        is_long, is_before = end - begin + 2.0 * margin > room, begin < self.first_tick
        return replace(self, first_tick=begin - margin if is_long or is_before else end + margin - room)

    def resized(self, width: float, height: float, scale: float) -> View:
        """Return the view for a window of another size; its first tick stays."""
        return replace(self, width=width, height=height, scale=scale,
                       px_per_tick=self.px_per_tick * scale / self.scale)
