"""Foot contacts of a score as laid out: those of its clips, and the steps at seams."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ..clips.released import Released
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..playing.moments import own_time_s
from ..playing.motion import Motion
from ..playing.sources import Sources
from ..playing.transitions.seams import time_stretch

SIDES = "lr"
_NONE = np.zeros(0)
_ROOM_PX = 4.0
_SLACK_S = 1e-3
"""Times are kept with a few digits."""
_NO_NUMBERS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Contacts:
    """N contacts of the main row and M steps, in ticks.

    begin, end, foot, is_on: (N,); foot: 0 is left, 1 is right; is_on: not switched off.
    segment: (N,) its segment; clip: (N,) index into clips, the names; own_foot: (N,) its foot in the clip before
    mirroring; own_s: (N, 2) begin and end of the whole contact in the clip, in seconds.
    step_begin, step_end, step_foot: (M,).
    """

    begin: FloatArray
    end: FloatArray
    foot: IntArray
    is_on: BoolArray
    segment: IntArray
    clips: tuple[str, ...]
    clip: IntArray
    own_foot: IntArray
    own_s: FloatArray
    step_begin: FloatArray
    step_end: FloatArray
    step_foot: IntArray

    def __len__(self) -> int:
        return len(self.begin)

    @classmethod
    def none(cls) -> Contacts:
        """Return no contacts, for a score that plays none or whose contacts are not known yet."""
        return cls(_NONE, _NONE, _NO_NUMBERS, np.zeros(0, dtype=np.bool_), _NO_NUMBERS, (), _NO_NUMBERS, _NO_NUMBERS,
                   np.zeros((0, 2)), _NONE, _NONE, _NO_NUMBERS)

    def has_room(self, px_per_tick: float) -> bool:
        """Return whether most are wide enough to be told apart and clicked, at this width of a tick at scale 1."""
        return len(self) > 0 and float(np.median(self.end - self.begin)) * px_per_tick >= _ROOM_PX

    def shifted(self, ticks: FloatArray) -> Contacts:
        """Return the same contacts with each segment moved by ticks (S,); steps are left out, since they may change."""
        by = ticks[self.segment]
        return replace(self, begin=self.begin + by, end=self.end + by, step_begin=_NONE, step_end=_NONE,
                       step_foot=_NO_NUMBERS)

    def switched(self, contact: int, released: Iterable[Released]) -> tuple[Released, ...]:
        """Return the switched-off contacts after one of these contacts is switched on or off."""
        clip, side = self.clips[int(self.clip[contact])], SIDES[int(self.own_foot[contact])]
        begin_s, end_s = self.own_s[contact].tolist()
        others = tuple(each for each in released if (each.clip, each.side) != (clip, side)
                       or not begin_s - _SLACK_S <= each.at_s <= end_s + _SLACK_S)
        return (*others, Released(clip, side, (begin_s + end_s) / 2.0)) if self.is_on[contact] else others


def contacts_of(motion: Motion) -> Contacts | None:
    """Return the foot contacts of a motion, or None if it locks no feet; segments: of one round of each call."""
    if motion.feet is None:
        return None
    sequence, layout, sources = motion.sequence, motion.row.layout, motion.row.sources
    tick_s = sequence.origins.places.documents[0].tick_s
    each = [_of_source(sources, number) for number in range(len(sources.clips))]
    first, counts = np.cumsum([0, *map(len, each)]), np.array([len(rows) for rows in each])[sequence.clip]
    segment = np.repeat(np.arange(len(sequence)), counts)
    own = np.arange(len(segment)) - np.repeat(np.cumsum(counts) - counts, counts) + first[sequence.clip[segment]]
    rows = np.concatenate(each)[own]
    stretch = time_stretch(layout.end_s - layout.begin_s, sequence, sources.clips)[segment, None]
    later_s = own_time_s(motion)
    spans = ((layout.begin_s - later_s)[segment, None] + rows[:, :2] * stretch) / tick_s
    foot, is_mirrored = rows[:, 2].astype(np.int64), np.zeros(len(sequence), np.bool_)
    if sequence.is_mirrored is not None:
        is_mirrored = sequence.is_mirrored
    steps = motion.feet.steps
    steps_s = np.array([step[1:3] for step in steps]).reshape(-1, 2)
    steps_s = steps_s - later_s[motion.row.segment_at(np.maximum(steps_s.mean(axis=1), 0.0))][:, None]
    shown = sequence.in_one_round()[1][segment]
    return Contacts(spans[:, 0], spans[:, 1], foot, rows[:, 3] > 0.0, shown, sequence.clips, sequence.clip[segment],
                    np.where(is_mirrored[segment], 1 - foot, foot), rows[:, 4:], steps_s[:, 0] / tick_s,
                    steps_s[:, 1] / tick_s, np.array([SIDES.index(step[0]) for step in steps], dtype=np.int64))


def _of_source(sources: Sources, number: int) -> FloatArray:
    """Return the contacts of a segment's source, (K, 6).

    Columns: begin and end; foot; 1 if not switched off; begin and end of the contact in the whole clip.
    """
    excerpt, rows = sources.excerpts.get(number), [np.zeros((0, 6))]
    for foot, side in enumerate(SIDES):
        found = (sources.clips[number].contacts or {}).get(side)
        if found is None:
            continue
        for name, is_on in (("stands", 1.0), ("released", 0.0)):
            spans: FloatArray = getattr(found, name)
            own = spans
            if excerpt is not None and len(spans):
                whole: FloatArray = getattr((excerpt.whole.contacts or {})[side], name)
                at_s = excerpt.own_times(spans.mean(axis=1))
                at = ((whole[:, 0] <= at_s[:, None]) & (at_s[:, None] <= whole[:, 1])).argmax(axis=1)
                own = excerpt.of_clip(whole)[at]
            rows.append(np.column_stack((spans, np.full(len(spans), float(foot)), np.full(len(spans), is_on), own)))
    return np.concatenate(rows)
