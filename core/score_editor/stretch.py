"""The duration of a call that makes its box as long as it is dragged, and the total of its repeats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .boxes import Kind, ancestors
from .change import given
from .layout import Layout

_WHOLE = 1e-9
_MOST_SHARE = 0.98
"""Greatest share of a fixed length that one of its parts can take."""


@dataclass(frozen=True)
class Room:
    """The room in which a box can be stretched, in ticks of the layout.

    length: one repetition of the box's call. others: the length of everything else in the same run of the procedure
    or lane, if the caller decides how long that run is; None if the box may have any length, and later boxes move.
    alike: how many calls of the same kind the run has.
    """

    length: float
    others: float | None
    alike: float

    @classmethod
    def of(cls, layout: Layout, box: int) -> Room:
        """Return the room of a box."""
        boxes = layout.boxes
        length = float(boxes.length[box] / boxes.repeat[box])
        around = next((i for i in ancestors(boxes.parent, box) if _has_given_length(layout, i, box)), None)
        if around is None:
            return cls(length, None, 1.0)
        begin, whole = float(boxes.begin[around]), float(boxes.length[around] / boxes.repeat[around])
        same = layout.occurrences_of(box)
        cycle = np.floor((boxes.begin[box] - begin) / whole + _WHOLE)
        first = begin + cycle * whole
        same = same[(boxes.begin[same] >= first - _WHOLE * whole) & (boxes.end[same] <= first + whole * (1.0 + _WHOLE))
                    & (boxes.lane[same] == boxes.lane[box])]
        alike = float(boxes.repeat[same].sum())
        return cls(length, max(whole - alike * length, 0.0), alike)

    @property
    def is_filled(self) -> bool:
        """Whether nothing else is in the run, so that the box always fills its procedure."""
        return self.others is not None and self.others <= _WHOLE * self.alike * self.length

    def limited(self, wanted: float) -> float:
        """Return the length, at most as wanted, that one repetition can have while the others keep some room."""
        if self.others is None:
            return wanted
        return min(wanted, _MOST_SHARE * (self.others + self.alike * self.length) / self.alike)

    def needed(self, wanted: float) -> float:
        """Return the factor for the call's ticks that makes one repetition as long as wanted.

        Take n equal calls of length l beside others of length o, in a run that stays w = n·l + o long. If the ticks of
        the equal calls give them y each, each becomes w·y ÷ (o + n·y) long. So y = wanted·o ÷ (w − n·wanted).
        """
        if self.others is None:
            return wanted / self.length
        whole = self.others + self.alike * self.length
        wanted = self.limited(wanted)
        return wanted * self.others / (whole - self.alike * wanted) / self.length


def _has_given_length(layout: Layout, around: int, box: int) -> bool:
    """Return whether a box keeps its length when a box within it becomes longer.

    A block of lanes without a duration is as long as its longest lane, so it grows.
    """
    boxes = layout.boxes
    if boxes.kind[around] == Kind.TOGETHER:
        is_stretched = abs(boxes.scale[box] / boxes.scale[around] - 1.0) > _WHOLE
        return given(layout, around, "duration") is not None or bool(is_stretched)
    return bool(boxes.kind[around] == Kind.PROCEDURE)
