"""Calls grow with the call that is stretched within them: earlier calls stay, later ones move along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import IntArray
from ..pha.document import number
from ..pha.edits import SetAttribute
from ..pha.values import spelled_within
from .boxes import Kind, ancestors
from .change import given
from .layout import Layout

_WHOLE = 1e-9
_EXACT = 1e-6


@dataclass(frozen=True)
class _Around:
    """A call around the stretched one.

    run: ticks of the layout in one of its repetitions. share: by how many ticks it grows for each tick by which one
    repetition of the stretched call grows. duration: as in the text.
    """

    box: int
    run: float
    share: float
    duration: float


@dataclass(frozen=True)
class Growth:
    """The effect of a box's length on the calls around it, innermost first.

    These keep their scale, so nothing else in them becomes longer or shorter. reach: how many ticks the box's right
    edge moves for each tick by which one repetition grows, since earlier repetitions grow too.
    """

    around: tuple[_Around, ...]
    reach: float

    @classmethod
    def of(cls, layout: Layout, box: int) -> Growth | None:
        """Return the growth around a box, or None unless all around it are calls of this file with plain numbers."""
        boxes, around = layout.boxes, []
        reach = share = float(boxes.repeat[box])
        for outer in ancestors(boxes.parent, box):
            words = given(layout, outer, "duration")
            duration = None if words is None else number(words)
            if (duration is None or boxes.kind[outer] != Kind.PROCEDURE
                    or boxes.document[outer] != boxes.document[box]):
                return None
            run = float(boxes.length[outer] / boxes.repeat[outer])
            reach += share * float(np.floor((boxes.begin[box] - boxes.begin[outer]) / run + _WHOLE))
            around.append(_Around(outer, run, share, duration))
            share *= float(boxes.repeat[outer])
        return cls(tuple(around), reach)


def edits(layout: Layout, changes: Iterable[tuple[int, float]]) -> tuple[SetAttribute, ...]:
    """Return edits that make calls grow and shrink with their contents; all other calls keep their length.

    changes: boxes, each with the ticks of the layout that are added beside it in the same procedure, or removed if
    negative. Returns nothing if anything but calls of this file with plain numbers is around, or nothing would be left.
    """
    boxes, grown = layout.boxes, dict[int, tuple[float, float]]()
    for box, more in changes:
        growth = Growth.of(layout, box)
        if growth is None:
            return ()
        for each in growth.around:
            element = int(boxes.element[each.box])
            duration, by = grown.get(element, (each.duration, 1.0))
            grown[element] = duration, by + each.share * more / float(boxes.repeat[box]) / each.run
    if any(by <= _EXACT for _, by in grown.values()):
        return ()
    return tuple(SetAttribute(element, "duration", spelled_within(duration * by, _EXACT))
                 for element, (duration, by) in grown.items() if abs(by - 1.0) > _EXACT)


def lengths(layout: Layout, document: int, elements: Iterable[int], among: IntArray) -> dict[int, float]:
    """Return a box for each element, with the length of its call in ticks of the procedure that contains it.

    among: boxes that are preferred to others of the same element. Elements that play nothing are left out.
    """
    boxes, found = layout.boxes, dict[int, float]()
    for element in elements:
        own = np.flatnonzero((boxes.element == element) & (boxes.document == document))
        box = next((box for box in (*own[np.isin(own, among)].tolist(), *own.tolist())), None)
        if box is not None:
            found[box] = float(boxes.length[box] / boxes.scale[box])
    return found


def without(layout: Layout, lengths: Mapping[int, float]) -> tuple[tuple[int, float], ...]:
    """Return removed boxes with the change of length of each, for edits; lengths: see lengths()."""
    return tuple((box, -ticks * float(layout.boxes.scale[box])) for box, ticks in lengths.items())
