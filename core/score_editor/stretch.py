"""How long a call must be so that its box becomes as long as it is pulled, and what its repeats add up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .boxes import Kind, ancestors
from .change import given
from .layout import Layout

_WHOLE = 1e-9
_MOST_SHARE = 0.98
"""So much of what has a given length can one of its parts become."""


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
        """Look at what is around a box."""
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
        """Whether there is nothing else, so that it is always as long as its procedure is called to be."""
        return self.others is not None and self.others <= _WHOLE * self.alike * self.length

    def limited(self, wanted: float) -> float:
        """Return what of a wanted length one repetition can reach, so that something is left for the others."""
        if self.others is None:
            return wanted
        return min(wanted, _MOST_SHARE * (self.others + self.alike * self.length) / self.alike)

    def needed(self, wanted: float) -> float:
        """Return by what to multiply the call's ticks so that one repetition becomes as long as is wanted.

        Where n alike of length l lie beside others of length o, and all of it stays w = n·l + o long, each is w·y ÷
        (o + n·y) long when its ticks make it y; so y = wanted·o ÷ (w − n·wanted).
        """
        if self.others is None:
            return wanted / self.length
        whole = self.others + self.alike * self.length
        wanted = self.limited(wanted)
        return wanted * self.others / (whole - self.alike * wanted) / self.length


def _has_given_length(layout: Layout, around: int, box: int) -> bool:
    """Return whether a box around another stays as long as it is when that one becomes longer.

    A block of lanes without a duration is as long as its longest lane, which is the one that is not stretched.
    """
    boxes = layout.boxes
    if boxes.kind[around] == Kind.TOGETHER:
        is_stretched = abs(boxes.scale[box] / boxes.scale[around] - 1.0) > _WHOLE
        return given(layout, around, "duration") is not None or bool(is_stretched)
    return bool(boxes.kind[around] == Kind.PROCEDURE)
