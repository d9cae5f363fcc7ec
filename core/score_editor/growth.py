"""Calls that grow with what is pulled within them: all before it stays, all later moves along."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..pha.document import number
from .boxes import Kind, ancestors
from .change import given
from .layout import Layout

_WHOLE = 1e-9


@dataclass(frozen=True)
class _Around:
    """A call around what is pulled.

    run: ticks of the layout that one repetition of it lasts. share: by how many times the growth of one repetition of
    what is pulled it becomes longer. duration: as the text says it.
    """

    box: int
    run: float
    share: float
    duration: float


@dataclass(frozen=True)
class Growth:
    """What the length of a box's call does to the calls around it, the innermost first.

    They keep their scale, so nothing else in them becomes longer or shorter. reach: by how many times the growth of one
    repetition the box's right edge moves, since earlier repetitions grow, too.
    """

    around: tuple[_Around, ...]
    reach: float

    @classmethod
    def of(cls, layout: Layout, box: int) -> Growth | None:
        """Look at what is around a box; None where something else than calls of this file, with numbers, is."""
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

    def durations(self, more: float) -> list[tuple[int, float]]:
        """Return the boxes around and what their calls' durations become as one repetition grows by so many ticks."""
        return [(each.box, each.duration * (1.0 + each.share * more / each.run)) for each in self.around]
