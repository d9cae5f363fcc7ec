"""Hit tests: the part of the editor at a point."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from ..maths.arrays import FloatArray
from .boxes import Kind
from .contact_lines import contact_at
from .layout import Layout, Seams
from .stripes import SEAM_PX, TITLE_PX, UNTAKEN_PX, Stripes, untaken_at
from .tweak_row import tweak_at
from .view import View
from .weights import HANDLE_PX, counts_wholly, handle_at

EDGE_PX, _OUTSIDE_PX, _HANDLE_PX, _LEAST_FOR_HANDLE_PX = 5.0, 2.0, 16.0, 48.0
"""Pixels at an interface scale of 1: distances inside and outside of a box at which its edge can be grabbed; size of
the handle of repeats, and least width of a box that has one."""


class Part(Enum):
    """A part of the editor."""

    BODY = "BODY"
    RIGHT_EDGE = "RIGHT_EDGE"
    REPEAT = "REPEAT"
    SEAM = "SEAM"
    UNTAKEN = "UNTAKEN"
    WEIGHT = "WEIGHT"
    CONTACT = "CONTACT"
    TWEAK = "TWEAK"
    RULER = "RULER"
    MUSIC = "MUSIC"
    LANE = "LANE"
    LABEL = "LABEL"
    EMPTY = "EMPTY"


@dataclass(frozen=True)
class Hit:
    """The part at a point.

    box: its number in the layout, for BODY, RIGHT_EDGE and REPEAT, else None; seam: for SEAM; untaken: for UNTAKEN;
    voice: for WEIGHT; is_right: whether it is the end of the lane; contact: for CONTACT; tweak: for TWEAK. lane: at the
    point, or None. x, y: the pixel, for WEIGHT. tick: the time at the point.
    """

    part: Part
    tick: float
    box: int | None = None
    seam: int | None = None
    lane: int | None = None
    untaken: int | None = None
    voice: int | None = None
    is_right: bool = False
    contact: int | None = None
    tweak: int | None = None
    x: float = 0.0
    y: float = 0.0

    def is_on_the_same(self, other: Hit) -> bool:
        """Return whether this and another point show the same hint and highlight."""
        return (self.part, self.box, self.seam, self.contact, self.tweak, self.voice, self.is_right) == (
            other.part, other.box, other.seam, other.contact, other.tweak, other.voice, other.is_right)


def reach_of_seams(seams: Seams, view: View) -> tuple[FloatArray, FloatArray]:
    """Return the left and right limits, in pixels (T,), for grabbing transitions at the foot of their lane."""
    slack, middle = EDGE_PX * view.scale, view.x(seams.tick)
    return np.minimum(view.x(seams.begin), middle - slack), np.maximum(view.x(seams.end), middle + slack)


@dataclass(frozen=True, eq=False)
class Point:
    """A pixel of a view, with its tick and lane; lane: None between lanes.

    box, edge: the innermost drawn box around it, and the box whose right edge is near, if that is no further out. Boxes
    that are too narrow to be drawn count as the one around them.
    """

    layout: Layout
    view: View
    x: float
    y: float

    @cached_property
    def stripes(self) -> Stripes:
        """The positions of the editor's rows."""
        return Stripes.of(self.layout, self.view)

    @cached_property
    def tick(self) -> float:
        """The tick at the pixel."""
        return self.view.tick_at(self.x)

    @cached_property
    def lane(self) -> int | None:
        """The lane at the pixel."""
        return self.stripes.lane_at(self.y)

    @property
    def near(self) -> float:
        """The distance from the pixel, in ticks, within which handles are looked for."""
        return 2.0 * HANDLE_PX * self.view.scale / self.view.px_per_tick

    @property
    def edge(self) -> int | None:
        """The box whose right edge is at the pixel."""
        return self._boxes[0]

    @property
    def box(self) -> int | None:
        """The box around the pixel."""
        return self._boxes[1]

    @cached_property
    def _boxes(self) -> tuple[int | None, int | None]:
        boxes, view, tick, stripes, px = self.layout.boxes, self.view, self.tick, self.stripes, self.view.scale
        assert self.lane is not None
        slack, outside = EDGE_PX * px / view.px_per_tick, _OUTSIDE_PX * px / view.px_per_tick
        level = int((stripes.lane_high[self.lane] - self.y) / (TITLE_PX * px))
        here = np.flatnonzero((boxes.lane == self.lane) & (boxes.depth <= level + stripes.tops[self.lane])
                              & (boxes.begin <= tick) & (tick <= boxes.end + outside)
                              & (boxes.length * view.px_per_tick >= 2.0 * px) & stripes.shows(boxes.lane, boxes.depth))
        inside = here[tick < boxes.end[here]]
        at_edge = here[tick >= boxes.end[here] - np.minimum(slack, boxes.length[here] / 4.0)]
        box = int(inside[np.argmax(boxes.depth[inside])]) if len(inside) else None
        if not len(at_edge):
            return None, box
        deepest = at_edge[boxes.depth[at_edge] == boxes.depth[at_edge].max()]
        edge = int(deepest[np.argmin(np.abs(boxes.end[deepest] - tick))])
        return (edge if box is None or boxes.depth[edge] >= boxes.depth[box] else None), box


# Each function returns its part at a point, or None. gestures.py lists them in the order in which they are tried.

def on_ruler(at: Point) -> Hit | None:
    """Return a hit on the ruler."""
    return Hit(Part.RULER, at.tick) if at.y >= at.stripes.ruler[0] else None


def on_label(at: Point) -> Hit | None:
    """Return a hit on the labels at the left of the lanes."""
    return Hit(Part.LABEL, at.tick, lane=at.lane) if at.x < at.view.left else None


def on_music(at: Point) -> Hit | None:
    """Return a hit on the row of the music."""
    music = at.stripes.music
    return Hit(Part.MUSIC, at.tick) if music is not None and music[0] <= at.y <= music[1] else None


def on_tweak(at: Point) -> Hit | None:
    """Return a hit on a key of tweaks in the row below the lanes."""
    ticks = at.layout.tweaks if at.lane is None else None
    tweak = None if ticks is None else tweak_at(ticks, at.view, at.stripes, at.x, at.y)
    return None if tweak is None else Hit(Part.TWEAK, at.tick, tweak=tweak)


def beside_lanes(at: Point) -> Hit | None:
    """Return a hit above, below or between lanes."""
    return Hit(Part.EMPTY, at.tick) if at.lane is None else None


def on_contact(at: Point) -> Hit | None:
    """Return a hit on a contact, or on the lane if its lines of contacts have none near."""
    stripes, contacts = at.stripes, at.layout.contacts
    if stripes.contacts is None or contacts is None or at.lane != 0 or at.y > stripes.contacts[1]:
        return None
    contact = contact_at(contacts, at.view, stripes, at.x, at.y)
    return Hit(Part.LANE if contact is None else Part.CONTACT, at.tick, lane=at.lane, contact=contact)


def on_seam(at: Point) -> Hit | None:
    """Return a hit on the nearest transition at the foot of its lane."""
    seams, view, lane = at.layout.seams, at.view, at.lane
    if lane is None or at.y > at.stripes.box_low[lane] + SEAM_PX * view.scale:
        return None
    left, right = reach_of_seams(seams, view)
    near = np.flatnonzero((left <= at.x) & (at.x <= right) & (seams.lane == lane))
    if not len(near):
        return None
    return Hit(Part.SEAM, at.tick, seam=int(near[np.argmin(np.abs(view.x(seams.tick[near]) - at.x))]), lane=lane)


def on_weight(at: Point) -> Hit | None:
    """Return a hit on the handle of a lane's weight."""
    for number in at.layout.voices_between(at.tick - at.near, at.tick + at.near).tolist():
        voice = at.layout.voices[number]
        is_shown = voice.lane == at.lane and voice.depth >= at.stripes.tops[voice.lane] and (
            voice.depth == 0 or not counts_wholly(voice))
        is_right = handle_at(voice, at.view, at.stripes, at.x, at.y) if is_shown else None
        if is_right is not None:
            return Hit(Part.WEIGHT, at.tick, lane=at.lane, voice=number, is_right=is_right, x=at.x, y=at.y)
    return None


def on_untaken(at: Point) -> Hit | None:
    """Return a hit on the mark of an element that did not play."""
    for number in at.layout.untaken_between(at.tick - at.near, at.tick + at.near).tolist():
        x, y = untaken_at(at.layout.untaken[number], at.view, at.stripes)
        if max(abs(at.x - x), abs(at.y - y)) <= UNTAKEN_PX * at.view.scale:
            return Hit(Part.UNTAKEN, at.tick, lane=at.lane, untaken=number)
    return None


def on_edge(at: Point) -> Hit | None:
    """Return a hit on the right edge of a box."""
    return None if at.edge is None else Hit(Part.RIGHT_EDGE, at.tick, at.edge, lane=at.lane)


def on_repeat(at: Point) -> Hit | None:
    """Return a hit on the upper right corner of a box, the handle for repeats."""
    if at.box is None:
        return None
    boxes, box, view, px = at.layout.boxes, at.box, at.view, at.view.scale
    left, right = view.x(np.array((boxes.begin[box], boxes.end[box]))).tolist()
    high = float(at.stripes.boxes(boxes.lane[box:box + 1], boxes.depth[box:box + 1])[1][0])
    is_on_handle = (boxes.kind[box] in (Kind.CLIP, Kind.PROCEDURE, Kind.LOOP)
                    and right - left >= _LEAST_FOR_HANDLE_PX * px and right - (_HANDLE_PX + EDGE_PX) * px <= at.x
                    and at.y >= high - _HANDLE_PX * px)
    return Hit(Part.REPEAT, at.tick, box, lane=at.lane) if is_on_handle else None


def on_box(at: Point) -> Hit | None:
    """Return a hit on the innermost box."""
    return None if at.box is None else Hit(Part.BODY, at.tick, at.box, lane=at.lane)


def on_lane(at: Point) -> Hit | None:
    """Return a hit on the lane itself."""
    return Hit(Part.LANE, at.tick, lane=at.lane)
