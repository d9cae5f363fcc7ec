"""The strip along the bottom of a viewport: the score editor's picture of the played motion, smaller."""

from dataclasses import dataclass
from typing import cast

import bpy
import numpy as np

from ..bridge import language
from ..core.playing.motion import Motion
from ..core.playing.why import straying, why
from ..core.score_editor import strip
from ..core.score_editor.contact_lines import said_of_contact
from ..core.score_editor.picture import Picture
from ..core.score_editor.theme import Theme
from ..core.score_editor.view import View
from .score_editor.canvas import Poured

_MARGIN_PX = 12.0
"""Margin around the strip, at a UI scale of 1."""


@dataclass(frozen=True)
class Bounds:
    """The place of a strip in its region, in pixels: its lower left corner, and its size by its view."""

    left: float
    bottom: float
    view: View

    def inside(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of the region in the strip's pixels."""
        return x - self.left, y - self.bottom

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point of the region is on the strip."""
        x, y = self.inside(x, y)
        return 0.0 <= x <= self.view.width and 0.0 <= y <= self.view.height


@dataclass(eq=False)
class ViewportStrip:
    """A drawn strip: its motion, the layout, and the parts that do not change with time."""

    motion: Motion
    laid_out: strip.Strip
    _drawn: tuple[tuple[Bounds, Theme, str], Poured] | None = None

    @classmethod
    def of(cls, motion: Motion) -> "ViewportStrip":
        """Return the strip of a motion."""
        return cls(motion, strip.Strip.of(motion))

    def bounds_in(self, context: bpy.types.Context) -> Bounds:
        """Return its place in the context's region: at the bottom, between toolbar, sidebar and adjust panel."""
        assert context.area is not None and context.region is not None and context.preferences is not None
        scale = context.preferences.system.ui_scale
        left, right = 0.0, float(context.region.width)
        for region in context.area.regions:
            if region.type in ("TOOLS", "UI", "HUD") and region.width > 1 and _overlaps(context, region):
                if region.type == "HUD" or region.alignment == "LEFT":
                    left = max(left, float(region.x + region.width - context.region.x))
                else:
                    right = min(right, float(context.region.width - region.width))
        margin = _MARGIN_PX * scale
        return Bounds(left + margin, margin, self.laid_out.view(max(right - left - 2.0 * margin, 1.0), scale))

    def time_s(self, bounds: Bounds, x: float) -> float:
        """Return the time at a pixel of the region."""
        return self.laid_out.time_s(bounds.view, x - bounds.left)

    def boxes_at(self, bounds: Bounds, x: float, y: float) -> tuple[int, ...]:
        """Return the box of the layout at a pixel of the region and those around it, innermost first."""
        return self.laid_out.boxes_at(bounds.view, *bounds.inside(x, y))

    def missed_at(self, bounds: Bounds, x: float, y: float) -> str:
        """Return what the motion misses of the scene at a pixel of the region, "" if nothing."""
        return self.laid_out.missed_at(bounds.view, *bounds.inside(x, y))

    def contact_at(self, bounds: Bounds, x: float, y: float) -> int | None:
        """Return the foot contact at a pixel of the region, or None."""
        return self.laid_out.contact_at(bounds.view, *bounds.inside(x, y))

    def words_of_contact(self, contact: int) -> str:
        """Return a text that says what a contact is and what a click on it does."""
        contacts = self.laid_out.layout.contacts
        return "" if contacts is None else said_of_contact(contacts, contact)

    def words_at(self, time_s: float) -> str:
        """Return a text of what plays at a time: procedures and clip; for a transition, the reason of its length."""
        sequence, layout = self.motion.sequence, self.motion.layout
        segment = self.motion.segment_at(time_s)
        path = " › ".join(sequence.paths[int(sequence.path[segment])])
        words = f"{time_s:.2f} s   {path} › {sequence.clips[int(sequence.clip[segment])]}"
        if said := straying(self.motion, segment):
            words += f", {said}"
        crossed = np.flatnonzero((layout.window_begin_s < time_s) & (time_s < layout.window_end_s))
        return f"{words}\n{why(self.motion, int(crossed[0])).in_brief}" if len(crossed) else words

    def draw(self, bounds: Bounds, theme: Theme, now_s: float, fragment: tuple[float, float] | None,
             pointed: strip.Pointed | None) -> None:
        """Draw it and the playhead. Parts that are not played are dimmed.

        pointed: the point under the mouse; its x in the region, its words in English.
        """
        depends_on = bounds, theme, language.locale()
        if self._drawn is None or self._drawn[0] != depends_on:
            layers = self.laid_out.lasting(bounds.view, theme)
            self._drawn = depends_on, Poured.of(_moved(Picture(layers), bounds))
        self._drawn[1].draw()
        if pointed is not None:
            pointed = pointed._replace(x=pointed.x - bounds.left, words=theme.say(pointed.words))
        passing = self.laid_out.passing(bounds.view, theme, now_s, fragment, pointed)
        Poured.of(_moved(Picture((passing,)), bounds)).draw()


def _moved(picture: Picture, bounds: Bounds) -> Picture:
    return Picture(tuple(layer.moved(bounds.left, bounds.bottom) for layer in picture.layers))


def _overlaps(context: bpy.types.Context, region: bpy.types.Region) -> bool:
    """Return whether a region covers the viewport; a closed adjust panel keeps its size, in the corner."""
    window = cast(bpy.types.Region, context.region)
    if region.type == "HUD" and region.y <= window.y:
        return False
    return region.x < window.x + window.width and region.x + region.width > window.x
