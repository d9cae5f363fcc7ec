"""The segments of rows of one score, row after row, as a layout needs them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from .origins import Origins
from .rows import Rows
from .sequence import Sequence
from .ways import Way


@dataclass(frozen=True, eq=False)
class Segments:
    """S segments of N rows.

    edges: (N + 1,) the first segment of each row, then S. clip, length_s, transition_s: (S,), and part, see Sequence.
    start_s, end_s: (S,) from the begin of the row on. origins: of all. ways: by the number of a segment among all.
    """

    clips: tuple[str, ...]
    edges: IntArray
    clip: IntArray
    start_s: FloatArray
    end_s: FloatArray
    length_s: FloatArray
    transition_s: FloatArray
    part: FloatArray | None
    origins: Origins
    ways: tuple[Way, ...]
    clip_s: Mapping[str, float]

    def __len__(self) -> int:
        return len(self.clip)

    @classmethod
    def of(cls, rows: SequenceOf[Sequence]) -> Segments:
        """Return the segments of rows of one score; those of Rows are joined already."""
        if isinstance(rows, Rows):
            return cls(rows.clips, rows.edges, rows.clip, rows.start_s, rows.end_s, rows.length_s, rows.transition_s,
                       rows.part, rows.origins, rows.ways, rows.clip_s)
        edges = np.cumsum([0, *map(len, rows)])
        clip, start_s, length_s, transition_s = (
            np.concatenate([getattr(row, name) for row in rows])
            for name in ("clip", "start_s", "length_s", "transition_s"))
        part = None if rows[0].part is None else np.concatenate([row.part for row in rows if row.part is not None])
        end_s = np.append(start_s[1:], 0.0)
        end_s[edges[1:] - 1] = [row.duration_s for row in rows]
        ways = [way.from_segment(-first) for row, first in zip(rows, edges.tolist(), strict=False) for way in row.ways]
        return cls(rows[0].clips, edges, clip, start_s, end_s, length_s, transition_s, part,
                   Origins.joined([row.origins for row in rows]), tuple(ways), rows[0].clip_s)

    @property
    def row(self) -> IntArray:
        """The row of each, (S,)."""
        return np.repeat(np.arange(len(self.edges) - 1), np.diff(self.edges))

    def speeds(self) -> FloatArray:
        """Return the speed of each relative to its clip's natural speed, (S,); NaN: unknown.

        This uses the lengths in the score: changes of tempo are not counted, and calls that are repeated to fit their
        way are unknown.
        """
        natural = np.array([self.clip_s.get(name, 0.0) for name in self.clips])
        is_clip = (self.clip >= 0) & (self.clip < len(self.clips))
        for way in self.ways:
            if way.going.fits:
                is_clip[way.first:way.after] = False
        played = np.where(is_clip, natural[np.where(is_clip, self.clip, 0)] if len(natural) else 0.0, 0.0)
        if self.part is not None:
            played *= np.abs(self.part[:, 1] - self.part[:, 0])
        known = (played > 0.0) & (self.length_s > 0.0)
        return np.asarray(np.divide(played, self.length_s, out=np.full(len(self), np.nan), where=known))
