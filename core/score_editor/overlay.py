"""The overlay during a gesture: the gap where something would land, and words at the mouse."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .contact_lines import draw_contacts
from .drop import Drop
from .hit import Hit, Part, reach_of_seams
from .layout import Layout
from .picture import Layer, Pen, in_lines
from .stripes import SEAM_PX, TITLE_PX, Stripes
from .theme import Theme
from .tweak_row import draw_hovered
from .view import View
from .weights import stroke, weight_line

_PAD_PX, _ABOVE_PX, _WIDE_PX, _RADIUS_PX = 6.0, 16.0, 3.0, 3.0
_SEAM_ALPHA = 0.2


class AtMouse(NamedTuple):
    """The words at the mouse, which is at x, y.

    words: above it; refusal: shown instead, in the colour of errors. carried: the title of the dragged item, at its
    right.
    """

    x: float
    y: float
    words: str = ""
    refusal: str = ""
    carried: str = ""


def overlay(layout: Layout, view: View, theme: Theme, at_mouse: AtMouse, *, gap: Drop | None = None,
            hovered: Hit | None = None) -> Layer:
    """Draw the gap into which an item would go, the words at the mouse, and the part under the mouse.

    hovered: the part whose edge, handle or transition is highlighted.
    """
    pen, px, size = Pen(), view.scale, theme.size_px * view.scale
    stripes = Stripes.of(layout, view)
    if hovered is not None:
        _hovered(pen, layout, view, theme, stripes, hovered)
    if gap is not None and gap.lane < len(stripes.lane_low):
        low, high = stripes.boxes(np.array((gap.lane,)), np.array((gap.depth,)))
        at = float(view.x(np.array((gap.tick,)))[0])
        pen.upright_lines(np.array((at,)), float(low[0]) - 2.0 * px, float(high[0]) + 2.0 * px,
                          theme.error if at_mouse.refusal else theme.mixed(1.0), _WIDE_PX * px)
    if at_mouse.carried:
        wide, left = theme.measure(at_mouse.carried, size) + 2.0 * _PAD_PX * px, at_mouse.x + 8.0 * px
        box = (left, at_mouse.y - TITLE_PX * px, left + wide, at_mouse.y)
        pen.rectangle(box, theme.mixed(0.45, 0.8), radius=_RADIUS_PX * px, outline=theme.mixed(0.9), outline_px=px)
        pen.text(at_mouse.carried, box[0] + _PAD_PX * px, box[1] + 0.3 * TITLE_PX * px, size, theme.text)
    _words(pen, view, theme, at_mouse)
    return pen.layer()


def height_of_words(words: str, view: View, theme: Theme) -> float:
    """Return how tall the ground of words at the mouse is, in pixels."""
    lines = in_lines(words, view.width - 2.0 * _PAD_PX * view.scale, theme.size_px * view.scale, theme.measure)
    return len(lines) * TITLE_PX * view.scale


def _words(pen: Pen, view: View, theme: Theme, at_mouse: AtMouse) -> None:
    """Write words on their own background above the mouse, in lines that fit into the window."""
    px, size, words = view.scale, theme.size_px * view.scale, at_mouse.refusal or at_mouse.words
    if not words:
        return
    pad, row = _PAD_PX * px, TITLE_PX * px
    lines = in_lines(words, view.width - 2.0 * pad, size, theme.measure)
    wide, tall = max(theme.measure(line, size) for line in lines) + 2.0 * pad, len(lines) * row
    left = min(max(at_mouse.x - wide / 2.0, 0.0), max(view.width - wide, 0.0))
    bottom = min(at_mouse.y + _ABOVE_PX * px, max(view.height - tall, 0.0))
    pen.rectangle((left, bottom, left + wide, bottom + tall), theme.mixed(0.02, 0.95), radius=_RADIUS_PX * px,
                  outline=theme.error if at_mouse.refusal else theme.mixed(0.5), outline_px=px)
    for number, line in enumerate(reversed(lines)):
        pen.text(line, left + pad, bottom + (number + 0.3) * row, size, theme.text)


def _hovered(pen: Pen, layout: Layout, view: View, theme: Theme, stripes: Stripes, hovered: Hit) -> None:
    """Highlight the edge or transition that would be dragged, or the handle in a box's corner."""
    boxes, px = layout.boxes, view.scale
    if hovered.voice is not None and hovered.voice < len(layout.voices):
        line = weight_line(layout.voices[hovered.voice], view, stripes)
        pen.triangles(stroke(line, 1.5 * px), np.tile(theme.selected, (18, 1)))
        x, y = line[2 if hovered.is_right else 1].tolist()
        pen.rectangle((x - 4.0 * px, y - 4.0 * px, x + 4.0 * px, y + 4.0 * px), theme.selected, radius=4.0 * px)
    if hovered.contact is not None and layout.contacts is not None and hovered.contact < len(layout.contacts):
        draw_contacts(pen, layout.contacts, view, theme, stripes, only=hovered.contact)
    if hovered.tweak is not None and layout.tweaks is not None and hovered.tweak < len(layout.tweaks):
        draw_hovered(pen, float(layout.tweaks[hovered.tweak]), view, theme, stripes,
                     is_chosen=layout.chosen is not None and bool(layout.chosen[hovered.tweak]))
    if hovered.seam is not None and hovered.seam < len(layout.seams.tick):
        left, right = (float(side[hovered.seam]) for side in reach_of_seams(layout.seams, view))
        foot = float(stripes.box_low[layout.seams.lane[hovered.seam]])
        pen.rectangle((left, foot, right, foot + SEAM_PX * px), (*theme.selected[:3], _SEAM_ALPHA), radius=2.0 * px,
                      outline=theme.selected, outline_px=px)
    if hovered.box is None or hovered.box >= len(boxes):
        return
    box = hovered.box
    low, high = (float(side[0]) for side in stripes.boxes(boxes.lane[box:box + 1], boxes.depth[box:box + 1]))
    right = float(view.x(boxes.end[box:box + 1])[0])
    if hovered.part is Part.RIGHT_EDGE:
        pen.upright_lines(np.array((right - px,)), low, high, theme.selected, 2.0 * px)
    elif hovered.part is Part.REPEAT:
        pen.rectangle((right - 15.0 * px, high - 12.0 * px, right - 5.0 * px, high - 2.0 * px), theme.selected,
                      radius=2.0 * px)
