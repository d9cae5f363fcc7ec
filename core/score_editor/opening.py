"""An open box: its contents are the uppermost row of its lane, in place; the boxes around it are hidden."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..maths.arrays import IntArray
from .layout import Layout
from .stripes import Stripes
from .view import Opened, View

_SLACK = 1e-9


def opened(layout: Layout, view: View, box: int) -> View:
    """Return the view of a box's contents, filling the window; for a clip, which has none, the clip itself."""
    boxes = layout.boxes
    view = view.framed(float(boxes.begin[box]), float(boxes.end[box]))
    if not ((boxes.parent == box) & (boxes.lane == boxes.lane[box])).any():
        return view
    return replace(view, opened=Opened(int(boxes.lane[box]), int(boxes.depth[box]) + 1, float(boxes.begin[box]),
                                       float(boxes.end[box]), boxes.titles[box]))


def closed(layout: Layout, view: View) -> View | None:
    """Return the view of the box around the open one, or None if that is the whole score."""
    inside, boxes = view.opened, layout.boxes
    if inside is None or inside.depth < 2:
        return None
    around = np.flatnonzero((boxes.lane == inside.lane) & (boxes.depth == inside.depth - 2)
                            & (boxes.begin <= inside.begin + _SLACK) & (boxes.end > inside.begin + _SLACK))
    return opened(layout, view, int(around[0])) if len(around) else None


def is_open(layout: Layout, view: View, box: int) -> bool:
    """Return whether a box is the open one or around it."""
    inside, boxes = view.opened, layout.boxes
    return (inside is not None and boxes.lane[box] == inside.lane and boxes.depth[box] < inside.depth
            and bool(boxes.begin[box] <= inside.begin + _SLACK < boxes.end[box]))


def outermost(layout: Layout, view: View) -> IntArray:
    """Return the boxes (N,) of the uppermost row: those in the open box, or else those of all lanes."""
    boxes, inside = layout.boxes, view.opened
    if inside is None:
        return np.flatnonzero(boxes.depth == 0)
    top = Stripes.of(layout, view).tops[inside.lane]
    return np.flatnonzero((boxes.lane == inside.lane) & (boxes.depth == top) & (boxes.begin >= inside.begin - _SLACK)
                          & (boxes.begin < inside.end - _SLACK))
