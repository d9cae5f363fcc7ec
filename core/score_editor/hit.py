"""What lies under the mouse."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

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
"""At an interface scale of 1: how far from an edge inside and outside of its box it can be caught; the handle of
repeats, and how wide a box must be to have one."""


class Part(Enum):
    """What part of the editor a point belongs to."""

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
    """What a point belongs to.

    box: its number in the layout, of BODY, RIGHT_EDGE and REPEAT, else None; seam: of SEAM; untaken: of UNTAKEN; voice:
    of WEIGHT; is_right: whether it is the end where that goes out; contact: of CONTACT; tweak: of TWEAK. lane: where it
    is on one. x, y: the pixel, of WEIGHT. tick: the time at the point.
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
        """Tell whether the same is shown of it as of another point."""
        return (self.part, self.box, self.seam, self.contact, self.tweak, self.voice, self.is_right) == (
            other.part, other.box, other.seam, other.contact, other.tweak, other.voice, other.is_right)

    @property
    def cursor(self) -> str:
        """How the mouse should look, as Blender names it."""
        return _CURSORS.get(self.part, "DEFAULT")


_CURSORS = {Part.RIGHT_EDGE: "MOVE_X", Part.REPEAT: "MOVE_X", Part.SEAM: "MOVE_X", Part.WEIGHT: "SCROLL_XY",
            Part.RULER: "SCROLL_X", Part.MUSIC: "MOVE_X", Part.TWEAK: "MOVE_X", Part.CONTACT: "HAND"}


def hit(layout: Layout, view: View, x: float, y: float) -> Hit:
    """Return what lies at a pixel of a view.

    Of boxes within each other the innermost that is there; what is too narrow to be drawn counts as the one around it.
    """
    stripes, tick = Stripes.of(layout, view), view.tick_at(x)
    if y >= stripes.ruler[0]:
        return Hit(Part.RULER, tick)
    if x < view.left:
        return Hit(Part.LABEL, tick, lane=stripes.lane_at(y))
    if stripes.music is not None and stripes.music[0] <= y <= stripes.music[1]:
        return Hit(Part.MUSIC, tick)
    lane = stripes.lane_at(y)
    if lane is None:
        tweak = None if layout.tweaks is None else tweak_at(layout.tweaks, view, stripes, x, y)
        return Hit(Part.EMPTY if tweak is None else Part.TWEAK, tick, tweak=tweak)
    if stripes.contacts is not None and layout.contacts is not None and lane == 0 and y <= stripes.contacts[1]:
        contact = contact_at(layout.contacts, view, stripes, x, y)
        return Hit(Part.LANE if contact is None else Part.CONTACT, tick, lane=lane, contact=contact)
    seam = _seam(layout, view, stripes, lane, x, y)
    if seam is not None:
        return Hit(Part.SEAM, tick, seam=seam, lane=lane)
    near = 2.0 * HANDLE_PX * view.scale / view.px_per_tick
    for number in layout.voices_between(tick - near, tick + near).tolist():
        voice = layout.voices[number]
        is_shown = voice.lane == lane and voice.depth >= stripes.tops[lane] and (
            voice.depth == 0 or not counts_wholly(voice))
        is_right = handle_at(voice, view, stripes, x, y) if is_shown else None
        if is_right is not None:
            return Hit(Part.WEIGHT, tick, lane=lane, voice=number, is_right=is_right, x=x, y=y)
    for number in layout.untaken_between(tick - near, tick + near).tolist():
        at_x, at_y = untaken_at(layout.untaken[number], view, stripes)
        if max(abs(x - at_x), abs(y - at_y)) <= UNTAKEN_PX * view.scale:
            return Hit(Part.UNTAKEN, tick, lane=lane, untaken=number)
    return _box(layout, view, stripes, lane, x, y)


def reach_of_seams(seams: Seams, view: View) -> tuple[FloatArray, FloatArray]:
    """Return from where to where transitions can be caught at the foot of their lane, (T,) pixels each."""
    slack, middle = EDGE_PX * view.scale, view.x(seams.tick)
    return np.minimum(view.x(seams.begin), middle - slack), np.maximum(view.x(seams.end), middle + slack)


def _seam(layout: Layout, view: View, stripes: Stripes, lane: int, x: float, y: float) -> int | None:
    """Return the seam whose transition is at a point at the foot of a lane, the nearest one."""
    if y > stripes.box_low[lane] + SEAM_PX * view.scale:
        return None
    left, right = reach_of_seams(layout.seams, view)
    near = np.flatnonzero((left <= x) & (x <= right) & (layout.seams.lane == lane))
    return int(near[np.argmin(np.abs(view.x(layout.seams.tick[near]) - x))]) if len(near) else None


def _box(layout: Layout, view: View, stripes: Stripes, lane: int, x: float, y: float) -> Hit:
    boxes, tick, px = layout.boxes, view.tick_at(x), view.scale
    slack, outside = EDGE_PX * px / view.px_per_tick, _OUTSIDE_PX * px / view.px_per_tick
    level = int((stripes.lane_high[lane] - y) / (TITLE_PX * px))
    here = np.flatnonzero((boxes.lane == lane) & (boxes.depth <= level + stripes.tops[lane]) & (boxes.begin <= tick)
                          & (tick <= boxes.end + outside) & (boxes.length * view.px_per_tick >= 2.0 * px)
                          & stripes.shows(boxes.lane, boxes.depth))
    inside = here[tick < boxes.end[here]]
    at_edge = here[tick >= boxes.end[here] - np.minimum(slack, boxes.length[here] / 4.0)]
    box = int(inside[np.argmax(boxes.depth[inside])]) if len(inside) else None
    if len(at_edge):
        deepest = at_edge[boxes.depth[at_edge] == boxes.depth[at_edge].max()]
        edge = int(deepest[np.argmin(np.abs(boxes.end[deepest] - tick))])
        if box is None or boxes.depth[edge] >= boxes.depth[box]:
            return Hit(Part.RIGHT_EDGE, tick, edge, lane=lane)
    if box is None:
        return Hit(Part.LANE, tick, lane=lane)
    return Hit(Part.REPEAT if _is_on_handle(layout, view, stripes, box, x, y) else Part.BODY, tick, box, lane=lane)


def _is_on_handle(layout: Layout, view: View, stripes: Stripes, box: int, x: float, y: float) -> bool:
    """Tell whether a point is in the upper right corner of a box, where its repeats are pulled."""
    boxes, px = layout.boxes, view.scale
    left, right = view.x(np.array((boxes.begin[box], boxes.end[box]))).tolist()
    high = float(stripes.boxes(boxes.lane[box:box + 1], boxes.depth[box:box + 1])[1][0])
    is_call = boxes.kind[box] in (Kind.CLIP, Kind.PROCEDURE, Kind.LOOP)
    return (is_call and right - left >= _LEAST_FOR_HANDLE_PX * px
            and right - (_HANDLE_PX + EDGE_PX) * px <= x and y >= high - _HANDLE_PX * px)
