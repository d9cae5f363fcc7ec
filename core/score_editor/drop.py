"""The gap between calls in which something dropped on a layout lands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import IntArray
from .boxes import Kind
from .layout import Layout
from .stripes import TITLE_PX, Stripes
from .view import View

_HOLDS = (Kind.PROCEDURE, Kind.LOOP, Kind.CONDITION, Kind.TOGETHER)


@dataclass(frozen=True)
class Drop:
    """A gap among the calls of a procedure.

    document, parent: the number of its file and of the element that holds the calls; index: the child in front of
    which it is. tick, lane, depth: where it lies. scale: ticks of the layout in one tick there; holder: the name of its
    container. beside: a box in the same procedure, or −1 if that is empty.
    """

    document: int
    parent: int
    index: int
    tick: float
    lane: int
    depth: int
    scale: float
    holder: str
    beside: int

    def grows(self, ticks: float) -> tuple[tuple[int, float], ...]:
        """Return the change for growth.edits when a call of so many ticks of the procedure is put in here."""
        return () if self.beside < 0 else ((self.beside, ticks * self.scale),)

    def words(self, taken_before: int = 0) -> str:
        """Return the place as words, after so many calls in front of it are taken out of its container."""
        return f"place {self.index + 1 - taken_before} of {self.holder}"


def drop_at(layout: Layout, view: View, x: float, y: float) -> Drop | None:
    """Return the gap between boxes that is nearest to a pixel.

    At the height of a box's title, the gap is beside the box; below the title, it is inside the box. None if the layout
    has no box and no empty procedure.
    """
    stripes = Stripes.of(layout, view)
    if not len(layout.boxes):
        return _in_empty(layout)
    middles = (stripes.box_low + stripes.lane_high) / 2.0
    lane = stripes.lane_at(y)
    lane = int(np.argmin(np.abs(middles - y))) if lane is None else lane
    level = int((stripes.lane_high[lane] - y) / (TITLE_PX * view.scale)) + int(stripes.tops[lane])
    tick = view.tick_at(x)
    beside = _siblings(layout, _container(layout, lane, level, tick), lane, tick)
    return beside_of(layout, _nearest(layout, beside, tick), tick)


def beside_of(layout: Layout, box: int, tick: float) -> Drop:
    """Return the gap before or after a box, whichever is nearer to a tick."""
    boxes = layout.boxes
    is_behind = tick > boxes.begin[box] + boxes.length[box] / 2.0
    document, element = int(boxes.document[box]), int(boxes.element[box])
    text = layout.documents[document].text
    parent = text.parent(element)
    index = list(text.children(parent)).index(element) + is_behind
    at = boxes.end[box] if is_behind else boxes.begin[box]
    return Drop(document, parent, index, float(at), int(boxes.lane[box]), int(boxes.depth[box]),
                float(boxes.scale[box]), _holder(layout, document, parent), box)


def procedure_name(layout: Layout, document: int, element: int) -> str:
    """Return the name of the procedure that an element is or belongs to."""
    text = layout.documents[document].text
    while text.shape.depths[element] > 1:
        element = text.parent(element)
    return text.shape.attributes[element].get("name", "")


def _holder(layout: Layout, document: int, parent: int) -> str:
    """Return the name of a container of calls: its procedure, in a lane with the part of the body before it."""
    shape, name = layout.documents[document].text.shape, procedure_name(layout, document, parent)
    if shape.tags[parent] != "lane":
        return name
    return f"{shape.attributes[parent].get('body', 'whole')} in {name}"


def _in_empty(layout: Layout) -> Drop | None:
    document = layout.documents[0]
    tags, attributes = document.text.shape.tags, document.text.shape.attributes
    for element in document.text.children(0):
        if tags[element] == "procedure" and attributes[element].get("name") == layout.procedure:
            number = len(list(document.text.children(element)))
            return Drop(0, element, number, 0.0, 0, 0, 1.0, layout.procedure, -1)
    return None


def _container(layout: Layout, lane: int, level: int, tick: float) -> int:
    """Return the innermost box around a point that can hold calls, or −1."""
    boxes = layout.boxes
    around = np.flatnonzero((boxes.lane == lane) & (boxes.depth < level) & np.isin(boxes.kind, _HOLDS)
                            & (boxes.begin <= tick) & (tick < boxes.end))
    return int(around[np.argmax(boxes.depth[around])]) if len(around) else -1


def _siblings(layout: Layout, container: int, lane: int, tick: float) -> IntArray:
    """Return the boxes directly inside of a container, in the repetition that plays at a tick."""
    boxes = layout.boxes
    inside = np.flatnonzero((boxes.parent == container) & (boxes.lane == lane))
    if container < 0 or not len(inside):
        return inside if len(inside) else np.flatnonzero((boxes.lane == lane) & (boxes.depth == boxes.depth[
            boxes.lane == lane].min(initial=0)))
    one = boxes.length[container] / boxes.repeat[container]
    cycle = np.floor((tick - boxes.begin[container]) / one)
    first = boxes.begin[container] + cycle * one
    middle = boxes.begin[inside] + boxes.length[inside] / 2.0
    now = inside[(first <= middle) & (middle < first + one)]
    return now if len(now) else inside


def _nearest(layout: Layout, among: IntArray, tick: float) -> int:
    boxes = layout.boxes
    if not len(among):
        among = np.arange(len(boxes))
    away = np.maximum(boxes.begin[among] - tick, tick - boxes.end[among])
    return int(among[np.argmin(np.where(away < 0.0, away - 1.0, away))])
