"""Draw the part of a layout that is in view; boxes too narrow to be told apart are drawn as one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from . import grid
from .boxes import Kind
from .contact_lines import draw_contacts
from .grid import Meter
from .hints import is_far, is_natural, is_told, short
from .lanes import Voice
from .layout import BoxId, Layout
from .picture import Colour, Layer, Pen, Picture, clipped
from .stripes import SEAM_PX, TITLE_PX, UNTAKEN_PX, Stripes, untaken_at
from .theme import Theme
from .tweak_row import draw_tweaks
from .view import RULER_PX, View
from .weights import counts_wholly, stroke, weight_line

_RADIUS_PX, _GAP_PX, _PAD_PX, _LEAST_PX, _LEAST_TEXT_PX = 3.0, 1.0, 5.0, 3.0, 22.0
"""At an interface scale of 1. Boxes narrower than the least are drawn as one with their neighbours."""
_CURVE = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 9))
_SCROLLBAR_PX = 5.0
_MOST_DEPTH = 1 << 20
_MOST_MARKS = 200
"""Greatest number of marks that are drawn one by one; more would cover each other."""
_INVITATION = "Drag clips here from the library, or press Shift+A to search for one"
_NOBODY: frozenset[BoxId] = frozenset()


@dataclass(frozen=True)
class Marked:
    """Elements that are drawn in a special way.

    selected: with an edge in the theme's colour; other boxes of the same elements have a fainter one. active: the last
    selected one; hovered: has handles. errors, warnings: elements with mistakes, as ids of any of their boxes.
    missed: elements whose place or target in the scene the motion does not reach; they get the edges of errors.
    is_stale: the text has mistakes, and the layout is of the last text without any.
    """

    selected: frozenset[BoxId] = _NOBODY
    active: BoxId | None = None
    hovered: BoxId | None = None
    errors: frozenset[BoxId] = _NOBODY
    warnings: frozenset[BoxId] = _NOBODY
    missed: frozenset[BoxId] = _NOBODY
    is_stale: bool = False


def picture(layout: Layout, view: View, theme: Theme | None = None, marked: Marked | None = None, *,
            meter: Meter | None = None, playhead: float | None = None) -> Picture:
    """Draw the part of a layout that a view shows.

    playhead: tick of the playhead; None: none is drawn.
    """
    theme, meter = theme or Theme(), meter or Meter()
    drawing = _Drawing(layout, view, theme, marked or Marked(), meter, Stripes.of(layout, view))
    layers = drawing.ground().layer(), drawing.boxes().layer(), drawing.front().layer()
    return Picture(layers if playhead is None else (*layers, playhead_layer(playhead, view, theme, meter)))


def boxes_layer(layout: Layout, view: View, theme: Theme, marked: Marked | None = None) -> Layer:
    """Draw only the boxes and transitions."""
    return _Drawing(layout, view, theme, marked or Marked(), Meter(), Stripes.of(layout, view)).boxes().layer()


def playhead_layer(tick: float, view: View, theme: Theme, meter: Meter) -> Layer:
    """Draw the playhead at a tick, with its bar and beat, above all else."""
    pen, low, high = Pen(), view.height - RULER_PX * view.scale, view.height
    x = float(view.x(np.array((tick,)))[0])
    if not view.left - 1.0 <= x <= view.width:
        return pen.layer()
    size, pad = theme.size_px * view.scale, _PAD_PX * view.scale
    pen.upright_lines(np.array((x,)), 0.0, low, theme.accent, 2.0 * view.scale)
    words = meter.bar(max(tick, 0.0))
    half, middle = theme.measure(words, size) / 2.0 + pad, low + (high - low) * 0.7
    pen.rectangle((x - half, middle - 0.8 * size, x + half, middle + 0.8 * size), theme.accent,
                  radius=_RADIUS_PX * view.scale)
    pen.text(words, x - half + pad, middle - 0.35 * size, size, (1.0, 1.0, 1.0, 1.0))
    return pen.layer()


def scrollbar_layer(view: View, theme: Theme, score_px: float, shelf_px: float) -> Layer:
    """Draw a scroll bar at the right if ruler and lanes are higher than the room above the shelf.

    score_px, shelf_px: see View.scrolled_within.
    """
    pen, ruler, wide = Pen(), RULER_PX * view.scale, _SCROLLBAR_PX * view.scale
    lanes, seen = score_px - ruler, view.height - shelf_px - ruler
    if 0.0 < seen < lanes:
        high = view.height - ruler - view.scroll_px / lanes * seen
        pen.rectangle((view.width - 1.5 * wide, high - seen / lanes * seen, view.width - 0.5 * wide, high),
                      theme.mixed(0.7, 0.6), radius=wide / 2.0)
    return pen.layer()


@dataclass(frozen=True, eq=False)
class _Drawing:
    layout: Layout
    view: View
    theme: Theme
    marked: Marked
    meter: Meter
    stripes: Stripes

    @property
    def _size(self) -> float:
        return self.theme.size_px * self.view.scale

    @cached_property
    def _lines(self) -> tuple[FloatArray, IntArray]:
        """The ticks of the lines of bars and beats, and the rank of each."""
        return grid.lines(self.view, self.meter)

    def _say(self, words: str) -> str:
        return self.theme.say(words)

    # Behind the boxes

    def ground(self) -> Pen:
        """Draw the lanes and the lines of bars and beats."""
        pen, view, theme, stripes = Pen(), self.view, self.theme, self.stripes
        pen.rectangle((0.0, 0.0, view.width, view.height), theme.ground)
        lanes = np.stack(np.broadcast_arrays(view.left, stripes.lane_low, view.width, stripes.lane_high), axis=-1)
        pen.rectangles(lanes, theme.mixed(0.06))
        for row in (stripes.music, stripes.tweaks):
            if row is not None:
                pen.rectangle((view.left, row[0], view.width, row[1]), theme.mixed(0.06))
        voices = [voice for voice in self._voices() if voice.depth == 0]
        lane = np.array([voice.lane for voice in voices], dtype=np.int64)
        left, right = (np.maximum(view.x(np.array(ticks, dtype=np.float64)), view.left) for ticks in (
            [voice.begin for voice in voices], [voice.begin + voice.length for voice in voices]))
        pen.rectangles(np.stack((left, stripes.box_low[lane], right, stripes.lane_high[lane]), axis=-1),
                       theme.mixed(0.12))
        ticks, rank = self._lines
        shades = np.array([theme.mixed(share) for share in (0.09, 0.13, 0.28)])
        pen.upright_lines(view.x(ticks), 0.0, stripes.ruler[0], shades[rank], max(round(view.scale), 1.0))
        if self.layout.contacts is not None and stripes.contacts is not None:
            draw_contacts(pen, self.layout.contacts, view, theme, stripes)
        if self.layout.tweaks is not None:
            draw_tweaks(pen, self.layout.tweaks, view, theme, stripes, silent=self.layout.silent,
                        chosen=self.layout.chosen)
        return pen

    # The boxes

    def boxes(self) -> Pen:
        """Draw boxes, their titles, and the transitions at their lower edge."""
        pen, layout = Pen(), self.layout
        chosen = self._seen()
        boxes = layout.boxes
        left, right = self._edges(chosen)
        low, high = self.stripes.boxes(boxes.lane[chosen], boxes.depth[chosen])
        corners = np.stack((left, low, np.maximum(right - _GAP_PX * self.view.scale, left + 1.0), high), axis=-1)
        is_leaf = np.isin(boxes.kind[chosen], (Kind.CLIP, Kind.WAIT))
        fill = self.theme.fills(boxes.colour[chosen], boxes.depth[chosen], is_leaf)
        is_wait = boxes.kind[chosen] == Kind.WAIT
        fill[is_wait, 3] = 0.15
        if self.marked.is_stale:
            fill[:, :3] = fill[:, :3] * 0.35 + fill[:, :3].mean(axis=1, keepdims=True) * 0.65
        dark = np.concatenate((fill[:, :3] * 0.6, np.ones((len(fill), 1))), axis=1)
        pen.rectangles(corners, fill, radius=_RADIUS_PX * self.view.scale, outline=dark, outline_px=self.view.scale)
        self._cycles(pen, chosen, corners)
        self._seams(pen)
        self._weights(pen)
        self._untaken(pen)
        self._titles(pen, chosen, corners)
        self._edges_of_marked(pen)
        if not len(boxes):
            self._invitation(pen)
        return pen

    def _invitation(self, pen: Pen) -> None:
        """Write in the row of an empty score what to do first."""
        first, size = float(self.view.x(np.zeros(1))[0]), self._size
        x = max(first, self.view.left) + 2.0 * _PAD_PX * self.view.scale
        words = clipped(_INVITATION, self.view.width - x, size, self.theme.measure)
        y = float(self.stripes.lane_low[0] + self.stripes.lane_high[0]) / 2.0
        pen.text(words, x, y - 0.35 * size, size, self.theme.faint)

    def _seen(self) -> IntArray:
        """Return the boxes to draw: those in view; of neighbours that are too narrow, only one."""
        boxes, view = self.layout.boxes, self.view
        width = boxes.length * view.px_per_tick
        is_seen = ((boxes.begin < view.last_tick) & (boxes.end > view.first_tick)
                   & self.stripes.shows(boxes.lane, boxes.depth))
        is_wide = width >= _LEAST_PX * view.scale
        small = np.flatnonzero(is_seen & ~is_wide)
        outside = boxes.parent[small]
        is_shown = (outside >= 0) & self.stripes.shows(boxes.lane[outside], boxes.depth[outside])
        small = small[~is_shown | (width[outside] >= 4.0 * _LEAST_PX * view.scale)]
        column = np.floor(boxes.begin[small] * (view.px_per_tick / (_LEAST_PX * view.scale)))
        cell = (boxes.lane[small] * _MOST_DEPTH + boxes.depth[small]) + 1j * column
        _, first = np.unique(cell, return_index=True)
        return np.sort(np.concatenate((np.flatnonzero(is_seen & is_wide), small[first])))

    def _edges(self, chosen: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the left and right edges of boxes in whole pixels, so that all gaps are alike, clipped to the view."""
        boxes, view = self.layout.boxes, self.view
        outside = 4.0 * _RADIUS_PX * view.scale
        left, right = (np.round(view.x(ticks)) for ticks in (boxes.begin[chosen], boxes.end[chosen]))
        inset = np.round(boxes.depth[chosen] * view.scale) * (right - left > 12.0 * view.scale)
        right = np.maximum(right, left + _LEAST_PX * view.scale)
        return (np.clip(left + np.minimum(inset, 2.0 * view.scale), view.left - outside, view.width + outside),
                np.clip(right, view.left - outside, view.width + outside))

    def _cycles(self, pen: Pen, chosen: IntArray, corners: FloatArray) -> None:
        """Draw a line where each repetition begins, if repetitions are wide enough."""
        boxes, view = self.layout.boxes, self.view
        is_even = boxes.kind[chosen] <= Kind.PROCEDURE  # rounds of a loop may differ
        each = boxes.length[chosen] / boxes.repeat[chosen] * view.px_per_tick
        for at in np.flatnonzero(is_even & (boxes.repeat[chosen] > 1) & (each >= 4.0 * view.scale)).tolist():
            box = int(chosen[at])
            wide = boxes.length[box] / boxes.repeat[box]
            first = max(int((view.first_tick - boxes.begin[box]) / wide), 1)
            last = min(int((view.last_tick - boxes.begin[box]) / wide) + 1, int(boxes.repeat[box]) - 1)
            ticks = boxes.begin[box] + np.arange(first, last + 1) * wide
            high = float(corners[at, 3]) - (0.0 if boxes.kind[box] == Kind.CLIP else TITLE_PX * view.scale)
            pen.upright_lines(view.x(ticks), float(corners[at, 1]), high, (0.0, 0.0, 0.0, 0.3), view.scale)

    def _titles(self, pen: Pen, chosen: IntArray, corners: FloatArray) -> None:
        """Write names and repeats; at the right the speed of clips, and the length of outermost boxes."""
        boxes, view, size = self.layout.boxes, self.view, self._size
        pad = _PAD_PX * view.scale
        left = np.maximum(corners[:, 0], view.left) + pad
        room = np.minimum(corners[:, 2], view.width) - left - pad
        for at in np.flatnonzero(room >= _LEAST_TEXT_PX * view.scale - 2.0 * pad).tolist():
            box, x, y = int(chosen[at]), float(left[at]), float(corners[at, 3]) - 0.7 * TITLE_PX * view.scale
            repeat = f" ×{boxes.repeat[box]}" if boxes.repeat[box] > 1 else ""
            free = float(room[at]) - self._speed(pen, box, x, y, float(room[at]))
            words = clipped(boxes.titles[box], free - self._width(repeat), size, self.theme.measure)
            colour = self._words_on(box)
            pen.text(words + repeat if words else "", x, y, size, colour)
            length = short(float(boxes.length[box]))
            wide = self._width(length)
            if boxes.depth[box] == self.stripes.tops[boxes.lane[box]] and words == boxes.titles[box] and (
                    self._width(words + repeat) + wide + 3.0 * pad < free):
                pen.text(length, x + free - wide, y, size, (*colour[:3], 0.7))

    def _speed(self, pen: Pen, box: int, x: float, y: float, room: float) -> float:
        """Write the speed of a clip at the right of its box if it is shown; return the width that this takes."""
        speed, gap = float(self.layout.boxes.speed[box]), 2.0 * _PAD_PX * self.view.scale
        if not is_told(speed) or is_natural(self.layout, box):
            return 0.0
        name, number = self._width(self.layout.boxes.titles[box]), f"×{short(speed, 2)}"
        words = self._say(f"speed {number}")
        if name + self._width(words) + gap > room:
            words = number
        wide = self._width(words)
        if wide > room or (not is_far(speed) and name + wide + gap > room):
            return 0.0
        colour = self.theme.warning if is_far(speed) else (*self._words_on(box)[:3], 0.7)
        pen.text(words, x + room - wide, y, self._size, colour)
        return wide + gap

    def _words_on(self, box: int) -> Colour:
        return self.theme.text if self.theme.is_dark else (0.05, 0.05, 0.05, 1.0)

    def _width(self, words: str) -> float:
        return self.theme.measure(words, self._size) if words else 0.0

    def _seams(self, pen: Pen) -> None:
        """Draw the windows of transitions, automatic ones fainter; none if they are no wider than their line."""
        seams, view = self.layout.seams, self.view
        begin, end = view.x(seams.begin), view.x(seams.end)
        seen = np.flatnonzero((end >= view.left) & (begin <= view.width) & (end - begin >= 1.5 * view.scale))
        if not len(seen):
            return
        low = self.stripes.box_low[seams.lane[seen]] + 2.0 * view.scale
        begin, end, middle = begin[seen, None], end[seen, None], view.x(seams.tick[seen])[:, None]
        middle = np.clip(middle, begin, end)
        share = np.linspace(0.0, 1.0, len(_CURVE))
        x = np.concatenate((begin + (middle - begin) * share, middle + (end - middle) * share), axis=1)
        y = low[:, None] + np.concatenate((_CURVE, _CURVE[::-1])) * (SEAM_PX - 2.0) * view.scale
        foot = np.broadcast_to(low[:, None], y.shape)
        bottom, top = np.stack((x, foot), axis=-1), np.stack((x, y), axis=-1)
        corners = np.stack((bottom[:, :-1], bottom[:, 1:], top[:, 1:], bottom[:, :-1], top[:, 1:], top[:, :-1]), axis=2)
        alpha = np.where(seams.is_automatic[seen], 0.55, 1.0)
        colours = np.concatenate((np.tile(self.theme.transition[:3], (len(seen), 1)), alpha[:, None]), axis=1)
        each = corners.shape[1] * corners.shape[2]
        pen.triangles(corners.reshape(-1, 2), np.repeat(colours, each, axis=0))

    def _voices(self) -> list[Voice]:
        """Return the lanes of blocks in view; if there are too many, only some of them."""
        seen = self.layout.voices_between(self.view.first_tick, self.view.last_tick)
        return [self.layout.voices[number] for number in seen[::len(seen) // _MOST_MARKS + 1].tolist()]

    def _weights(self, pen: Pen) -> None:
        """Draw the weight of each lane of a block, unless it is 1 from end to end."""
        view = self.view
        for voice in self._voices():
            if not counts_wholly(voice) and voice.depth >= self.stripes.tops[voice.lane]:
                corners = stroke(weight_line(voice, view, self.stripes), 1.5 * view.scale)
                pen.triangles(corners, np.tile(self.theme.mixed(0.9), (len(corners), 1)))

    def _untaken(self, pen: Pen) -> None:
        """Draw a small mark for each element that does not play this time."""
        view = self.view
        seen = self.layout.untaken_between(view.first_tick, view.last_tick)
        for number in seen[::len(seen) // _MOST_MARKS + 1].tolist():
            each = self.layout.untaken[number]
            x, y = untaken_at(each, view, self.stripes)
            if self.stripes.shows(np.array((each.lane,)), np.array((each.depth,)))[0]:
                half = UNTAKEN_PX * view.scale
                corners = np.array(((x - half, y), (x, y - half), (x + half, y), (x - half, y), (x + half, y),
                                    (x, y + half)))
                pen.triangles(corners, np.tile(self.theme.mixed(0.65), (6, 1)))

    def _edges_of_marked(self, pen: Pen) -> None:
        """Draw edges around selected boxes, their other boxes, and those with problems; the latter inside if both."""
        layout, marked, theme, px = self.layout, self.marked, self.theme, self.view.scale
        selected = layout.found(marked.selected)
        boxes = layout.boxes
        same = np.zeros(len(boxes), np.bool_)
        for box in selected.tolist():
            same[layout.occurrences_of(box)] = True
        same[selected] = False
        faint: Colour = (*theme.selected[:3], 0.45)
        for ids, colour in ((marked.warnings, theme.warning), (marked.errors | marked.missed, theme.error)):
            numbers = self._of_elements(ids)
            is_selected = np.isin(numbers, selected)
            self._outline(pen, numbers[~is_selected], colour, 2.0 * px)
            self._outline(pen, numbers[is_selected], colour, 2.0 * px, inset=2.0 * px)
        self._outline(pen, np.flatnonzero(same), faint, 2.0 * px)
        self._outline(pen, selected, theme.selected, 2.0 * px)
        if marked.active is not None and (active := layout.find(marked.active)) is not None:
            self._outline(pen, np.array((active,)), theme.mixed(1.0), px)

    def _of_elements(self, ids: frozenset[BoxId]) -> IntArray:
        boxes = self.layout.boxes
        if not ids:
            return np.zeros(0, np.int64)
        wanted = np.array([document + 1j * element for document, element, _ in ids])
        return np.flatnonzero(np.isin(boxes.document + 1j * boxes.element, wanted))

    def _outline(self, pen: Pen, numbers: IntArray, colour: Colour, wide: float, inset: float = 0.0) -> None:
        if not len(numbers):
            return
        boxes = self.layout.boxes
        numbers = numbers[self.stripes.shows(boxes.lane[numbers], boxes.depth[numbers])]
        left, right = self._edges(numbers)
        low, high = self.stripes.boxes(boxes.lane[numbers], boxes.depth[numbers])
        corners = np.stack((left + inset, low + inset, right - inset, high - inset), axis=-1)
        corners = corners[(right > self.view.left) & (left < self.view.width)]
        pen.rectangles(corners, (0.0, 0.0, 0.0, 0.0), radius=_RADIUS_PX * self.view.scale, outline=colour,
                       outline_px=wide)

    # Before the boxes

    def front(self) -> Pen:
        """Draw the ruler and the names of the lanes."""
        pen, view, theme, stripes = Pen(), self.view, self.theme, self.stripes
        low, high = stripes.ruler
        pen.rectangle((0.0, low, view.width, high), theme.mixed(0.03))
        if view.left > 0.0:
            pen.rectangle((0.0, 0.0, view.left, high), theme.mixed(0.03))
            for lane, name in enumerate(self.layout.lanes):
                is_open = view.opened is not None and view.opened.lane == lane and stripes.tops[lane] > 0
                self._label(pen, f"‹ {view.opened.title}" if is_open and view.opened is not None else name,
                            float(stripes.box_low[lane] + stripes.lane_high[lane]) / 2.0)
            if stripes.music is not None:
                self._label(pen, self._say("music"), sum(stripes.music) / 2.0)
            if stripes.contacts is not None:
                self._label(pen, self._say("feet"), sum(stripes.contacts) / 2.0)
            if stripes.tweaks is not None:
                self._label(pen, self._say("tweaks"), sum(stripes.tweaks) / 2.0)
            self._label(pen, self._say("bar"), low + (high - low) * 0.7)
        self._ruler(pen)
        return pen

    def _label(self, pen: Pen, name: str, y: float) -> None:
        pad = 2.0 * _PAD_PX * self.view.scale
        words = clipped(name, self.view.left - 2.0 * pad, self._size, self.theme.measure)
        pen.text(words, pad, y - 0.35 * self._size, self._size, self.theme.mixed(0.8))

    def _ruler(self, pen: Pen) -> None:
        view, theme, (low, high) = self.view, self.theme, self.stripes.ruler
        ticks, names = grid.bar_labels(view, self.meter)
        up, down, beside = low + (high - low) * 0.58, low + (high - low) * 0.16, 3.0 * view.scale
        size, left, bars, beats = self._size, view.left - 1.0, theme.mixed(0.9), theme.faint
        for x, name in zip(view.x(ticks).tolist(), names, strict=True):
            if x >= left:
                pen.text(name, x + beside, up, size, beats if "." in name else bars)
        begin_s, end_s = self.layout.seconds(np.array((max(view.first_tick, 0.0), view.last_tick))).tolist()
        times, names = grid.second_labels(view, begin_s, end_s)
        for x, name in zip(view.x(self.layout.ticks_at(times)).tolist(), names, strict=True):
            pen.text(name, x + beside, down, 0.82 * size, theme.faint)
        ticks, rank = self._lines
        for which, share in ((1, 0.08), (2, 0.14)):  # below the words
            pen.upright_lines(view.x(ticks[rank == which]), low, low + (high - low) * share, theme.mixed(0.4),
                              max(round(view.scale), 1.0))
