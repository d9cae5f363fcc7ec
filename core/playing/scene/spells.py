"""How long bodies go on sitting: clips that end and begin with folded legs, one after another, stay on their seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.thresholds import EASE_S
from ...maths.arrays import BoolArray, FloatArray
from ...pha.ways import Way
from ..feet.seats import SITS, STANDS, Thighs
from ..row import Row
from .ways import edges_s

_SLOWEST: Final = 0.1
"""A clip that plays even slower is seen as if it played at this pace, since transitions and feet do not slow down."""


@dataclass(frozen=True, eq=False)
class Spells:
    """Which clips of a row go on sitting, whatever their transitions do.

    thighs: of the body. begins, ends: (S,) how far legs are folded in the first and in the last pose of each segment's
    own clip, in leg lengths; see Thighs.
    """

    row: Row
    thighs: Thighs
    begins: FloatArray
    ends: FloatArray

    @classmethod
    def of(cls, row: Row, thighs: Thighs) -> Spells:
        """Look at the clips of a row."""
        clips, at = np.unique(row.sequence.clip, return_inverse=True)
        begins, ends = (thighs.seen(row.sources.sample(clips, times_s))[1][at] / thighs.leg
                        for times_s in (np.zeros(len(clips)), row.sources.durations_s[clips]))
        return cls(row, thighs, begins, ends)

    @property
    def stays(self) -> BoolArray:
        """Whether legs are folded in the last pose before each seam, and in the first one after it, (S − 1,)."""
        return (self.ends[:-1] > STANDS) & (self.begins[1:] > STANDS)

    def paces(self, times_s: FloatArray) -> FloatArray:
        """Return how fast clips play at times (F,), against their own pace; 1 if faster, or if they are but a pose.

        A body that sits down slowly does not rest, though it is slow.
        """
        tempo = self.row.sides.tempo[self.row.segment_at(times_s)]
        return np.where(tempo > 0.0, np.clip(tempo, _SLOWEST, 1.0), 1.0)

    def stays_at(self, times_s: FloatArray) -> BoolArray:
        """Return when a transition leads from one clip that sits to another, at times (F,), and when feet ease into it.

        Legs may be almost straight for a moment then.
        """
        layout = self.row.layout
        begin_s, end_s = (each[:-1][self.stays, None] for each in (layout.window_begin_s, layout.window_end_s))
        return np.asarray(((times_s >= begin_s - EASE_S) & (times_s <= end_s + EASE_S)).any(axis=0))

    def sits_at(self, times_s: FloatArray) -> BoolArray:
        """Return when a clip plays that begins and ends with folded legs, or such a transition, at times (F,)."""
        sits = np.minimum(self.begins, self.ends) > STANDS
        return np.asarray(sits[self.row.segment_at(times_s)] | self.stays_at(times_s))

    def ends_folded(self, way: Way) -> bool:
        """Return whether the last clip of a way ends with folded legs."""
        return way.inside is None and bool(self.ends[way.after - 1] > SITS)

    def until_s(self, way: Way, after: Way | None) -> float:
        """Return until when a body goes on sitting that a way has brought to its seat: at least to the way's end.

        after: the next way, which may lead elsewhere.
        """
        _, end_s = edges_s(way, self.row)
        if not self.ends_folded(way):
            return end_s
        last = way.after - 1 + int(np.append(~self.stays[way.after - 1:], True).argmax())
        return max(end_s, min(float(self.row.layout.end_s[last]), np.inf if after is None else
                              edges_s(after, self.row)[0]))
