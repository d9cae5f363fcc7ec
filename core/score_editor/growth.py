"""Calls that grow with what is pulled within them: all before it stays, all later moves along."""

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
    """A call around what is pulled.

    run: ticks of the layout that one repetition of it lasts. share: how many ticks it
    grows for each tick by which one repetition of what is pulled grows. duration: as the text says it.
    """

    box: int
    run: float
    share: float
    duration: float


@dataclass(frozen=True)
class Growth:
    """What the length of a box's call does to the calls around it, the innermost first.

    They keep their scale, so nothing else in them becomes longer or shorter. reach: how many ticks the
    box's right edge moves for each tick by which one repetition grows, since earlier repetitions grow, too.
    """

    around: tuple[_Around, ...]
    reach: float

    @classmethod
    def of(cls, layout: Layout, box: int) -> Growth | None:
        """Look at what is around a box, or None if something else than calls of this file, with numbers, is."""
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
    """Return edits that let calls grow and shrink with what comes into them and goes; all else keeps its length.

    changes: boxes beside which, in the same procedure, so many ticks of the layout come, or go where they are negative.
    Nothing where something else than calls of this file, with numbers, is around, or where nothing would be left.
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
    """Return a box of each of some elements, and how many ticks its call lasts, of the procedure in which it stands.

    among: boxes that are taken rather than others of the same element. Elements that play nothing are left out.
    """
    boxes, found = layout.boxes, dict[int, float]()
    for element in elements:
        own = np.flatnonzero((boxes.element == element) & (boxes.document == document))
        box = next((box for box in (*own[np.isin(own, among)].tolist(), *own.tolist())), None)
        if box is not None:
            found[box] = float(boxes.length[box] / boxes.scale[box])
    return found


def without(layout: Layout, lengths: Mapping[int, float]) -> tuple[tuple[int, float], ...]:
    """Return boxes that go, with their lengths (see lengths), for edits."""
    return tuple((box, -ticks * float(layout.boxes.scale[box])) for box, ticks in lengths.items())
