"""A motion as a strip: the editor's boxes and transitions, smaller, over the motion's own time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..errors import Problem
from ..maths.arrays import FloatArray
from ..playing.motion import Motion
from .boxes import ancestors
from .contact_lines import draw_contacts
from .contacts import contacts_of
from .drawing import Marked, boxes_layer
from .gestures import hit
from .hit import Part
from .layout import BoxId, Layout, lay_out, windows_of
from .picture import Colour, Layer, Pen, TextAt
from .problems import problems_of_boxes
from .stripes import TITLE_PX, Stripes
from .theme import Theme
from .view import View

_SMALLER, _TEXT_PX, _EDGE_PX, _PAD_PX = 0.68, 10.5, 4.0, 4.0
"""Scale relative to the editor, text size, edge and padding in pixels, at an interface scale of 1."""
_GROUND, _DIMMED = 0.85, 0.65
_LINE_ROWS = 1.2
"""Line height of titles of boxes, relative to the text."""


class Pointed(NamedTuple):
    """The point under the mouse: x in pixels, lines of words to show above it, and the contact there, if any."""

    x: float
    words: str
    contact: int | None = None


@dataclass(frozen=True, eq=False)
class Strip:
    """A motion laid out for a strip.

    ticks, times_s: (2 S,) begin and end of each of the S segments, in the layout and in the motion. Transitions that
    take time of their own lie at one tick. missed: warnings of boxes whose place or target in the scene the motion
    does not reach.
    """

    layout: Layout
    ticks: FloatArray
    times_s: FloatArray
    missed: Mapping[BoxId, Problem]

    @classmethod
    def of(cls, motion: Motion) -> Strip:
        """Return the strip of a motion."""
        sequence = motion.sequence
        layout = lay_out(sequence.in_one_round()[0], windows_s=windows_of(motion), contacts=contacts_of(motion))
        edges = np.append(sequence.start_s, sequence.duration_s) / layout.tick_s
        times_s = np.stack((motion.layout.begin_s, motion.layout.end_s), axis=-1).ravel()
        return cls(layout, np.stack((edges[:-1], edges[1:]), axis=-1).ravel(), np.maximum.accumulate(times_s),
                   problems_of_boxes(layout, [each for each in motion.problems if each.is_missed]))

    @property
    def duration_s(self) -> float:
        """Duration of the motion."""
        return float(self.times_s[-1])

    def view(self, width: float, scale: float) -> View:
        """Return the view of a strip of this width at an interface scale; the strip sets the height."""
        view = View(width, 0.0, px_per_tick=width / self.layout.ticks, scale=scale * _SMALLER, is_strip=True)
        return replace(view, height=Stripes.of(self.layout, view).height)

    def x(self, view: View, time_s: float) -> float:
        """Return the x of a time of the motion, in pixels."""
        return float(np.interp(time_s, self.times_s, self.ticks)) * view.px_per_tick

    def time_s(self, view: View, x: float) -> float:
        """Return the time of the motion at a pixel, or the nearest end if it is outside of the strip."""
        return float(np.interp(x / view.px_per_tick, self.ticks, self.times_s))

    def boxes_at(self, view: View, x: float, y: float) -> tuple[int, ...]:
        """Return the box at a pixel and those around it, innermost first; empty if nothing is there.

        At a transition, this is the box of the call that gives its length.
        """
        found = hit(self.layout, view, x, y)
        box = found.box
        if found.part is Part.SEAM and found.seam is not None:
            owner = self.layout.owner_of_transition(found.seam)
            row, segment = self.layout.seams.row[found.seam], self.layout.seams.segment[found.seam]
            box = self._box_of(int(segment)) if owner is None and row == 0 else owner
        return () if box is None else (box, *ancestors(self.layout.boxes.parent, box))

    def missed_at(self, view: View, x: float, y: float) -> str:
        """Return what the box at a pixel, or the innermost around it, misses of the scene; "" if nothing."""
        ids = (self.layout.id_of(box)._replace(occurrence=0) for box in self.boxes_at(view, x, y))
        return next((self.missed[each].message for each in ids if each in self.missed), "")

    def contact_at(self, view: View, x: float, y: float) -> int | None:
        """Return the contact at a pixel, or None."""
        return hit(self.layout, view, x, y).contact

    def _box_of(self, segment: int) -> int:
        """Return the innermost box that plays a segment of the main row."""
        boxes, row = self.layout.boxes, self.layout.rows[0]
        tick = (row.start_s[segment] + row.length_s[segment] / 2.0) / self.layout.tick_s
        around = np.flatnonzero((boxes.lane == 0) & (boxes.begin <= tick) & (tick < boxes.end))
        return int(around[np.argmax(boxes.depth[around])])

    # Drawing, in pixels from the strip's lower left corner

    def lasting(self, view: View, theme: Theme) -> tuple[Layer, ...]:
        """Draw the parts that do not change with time."""
        pen, edge = Pen(), _EDGE_PX / _SMALLER * view.scale
        pen.rectangle((-edge, -edge, view.width + edge, view.height + edge), (*theme.ground[:3], _GROUND))
        self._draw_contacts(pen, view, theme)
        small = replace(theme, size_px=_TEXT_PX / _SMALLER)
        return pen.layer(), boxes_layer(self.layout, view, small, Marked(missed=frozenset(self.missed)))

    def passing(self, view: View, theme: Theme, now_s: float, fragment_s: tuple[float, float] | None,
                pointed: Pointed | None) -> Layer:
        """Draw the playhead with its time, dim the part that is not played, and write words above the mouse's x."""
        pen, px = Pen(), view.scale / _SMALLER
        for begin, end in () if fragment_s is None else ((0.0, fragment_s[0]), (fragment_s[1], self.duration_s)):
            pen.rectangle((self.x(view, begin), 0.0, self.x(view, end), view.height), (*theme.ground[:3], _DIMMED))
        if pointed is not None and pointed.contact is not None:
            self._draw_contacts(pen, view, theme, pointed.contact)
        x = self.x(view, now_s)
        pen.rectangle((x - px, -_EDGE_PX * px, x + px, view.height + _EDGE_PX * px), theme.accent)
        row, size = TITLE_PX * view.scale, _TEXT_PX * px
        time = TextAt(f"{now_s:.2f}", x, view.height + 0.5 * row, size, (1.0, 1.0, 1.0, 1.0))
        _tag(pen, view, theme, time, theme.accent)
        if pointed is not None:
            for number, line in enumerate(reversed(pointed.words.splitlines())):
                y = view.height + (2.0 + _LINE_ROWS * number) * row
                _tag(pen, view, theme, TextAt(line, pointed.x, y, size, theme.text), (*theme.ground[:3], _GROUND))
        return pen.layer()

    def _draw_contacts(self, pen: Pen, view: View, theme: Theme, only: int | None = None) -> None:
        stripes = Stripes.of(self.layout, view)
        if self.layout.contacts is not None and stripes.contacts is not None:
            draw_contacts(pen, self.layout.contacts, view, theme, stripes, only)


def _tag(pen: Pen, view: View, theme: Theme, text: TextAt, ground: Colour) -> None:
    """Write a text on a box, centred at its x but kept within the strip."""
    pad, wide = _PAD_PX * view.scale / _SMALLER, theme.measure(text.words, text.size)
    left = min(max(text.x - wide / 2.0, 0.0), max(view.width - wide, 0.0))
    pen.rectangle((left - pad, text.y - pad, left + wide + pad, text.y + text.size), ground)
    pen.text(text.words, left, text.y, text.size, text.colour)
