"""An expanded score: segments one after another, and blocks of lanes. Gustaitis et al. 2007, §3.2 and §5.4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..errors import Place
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.body_parts import NamedBody
from .origins import Origins
from .ways import AimedAt, Way

WAIT = -1
"""In place of a clip's number: no clip is played, and the previous pose is held."""


@dataclass(frozen=True, eq=False)
class Paths(SequenceOf[tuple[str, ...]]):
    """Paths from the started procedure down to others, as tuples of names; each is made when it is needed.

    parents: (P,) the path that each continues, −1 for the first; procedures: (P,) its last procedure, or −1
    for a lane; names: of all procedures.
    """

    parents: IntArray
    procedures: IntArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.parents)

    def __getitem__(self, index: int) -> tuple[str, ...]:  # type: ignore[override]  # no slices
        steps: list[str] = []
        at = range(len(self))[index]
        while at >= 0:
            if self.procedures[at] >= 0:
                steps.append(self.names[self.procedures[at]])
            at = int(self.parents[at])
        return tuple(reversed(steps))


@dataclass(frozen=True, eq=False)
class Marks:
    """M starts of procedures in order of time: the first segment of each, its path, its run in the origins."""

    segment: IntArray
    path: IntArray
    run: IntArray


@dataclass(frozen=True, eq=False)
class Sequence:
    """S segments one after another.

    clips: full names of the clips; clip: (S,) the clip of each segment; WAIT: none, the previous pose is held;
    from the number of clips on: a block. start_s, length_s: (S,) seconds; transition_s: (S,) the
    transition after each segment, NaN: automatic. path: (S,) index into paths: the procedures that led to the segment.
    origins: the calls that led to each segment and each mark.
    is_loop: the first segment follows the last one.
    is_mirrored, is_reversed: (S,); part: (S, 2) the shares of its clip between which a segment plays.
    ways: calls with a destination in the scene; aims: elements that aim at something there.
    blocks: of the whole score, including nested ones; only the outermost sequence has them.
    clip_s: natural lengths of clips in seconds, by name, if known.
    """

    clips: tuple[str, ...]
    clip: IntArray
    start_s: FloatArray
    length_s: FloatArray
    transition_s: FloatArray
    path: IntArray
    paths: Paths
    marks: Marks
    origins: Origins
    is_loop: bool = False
    is_mirrored: BoolArray | None = None
    is_reversed: BoolArray | None = None
    part: FloatArray | None = None
    blocks: tuple[Block, ...] = ()
    ways: tuple[Way, ...] = ()
    aims: tuple[AimedAt, ...] = ()
    clip_s: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.clip)

    @cached_property
    def duration_s(self) -> float:
        """The total length of all segments."""
        return float(np.add.reduce(self.length_s))  # as sum(), in half of the time: each lane needs it

    def played_clips(self) -> set[str]:
        """Return the names of the played clips, including lanes; self must be the sequence that has the blocks."""
        return set(self._played_clips(self))

    def _played_clips(self, row: Sequence) -> Iterator[str]:
        for clip in np.unique(row.clip).tolist():
            if clip >= len(self.clips):
                for lane in self.blocks[clip - len(self.clips)].lanes:
                    if lane.sequence is not None:
                        yield from self._played_clips(lane.sequence)
            elif clip != WAIT:
                yield self.clips[clip]

    def first_call(self, clip: int) -> Place | None:
        """Return the place of the first call of a clip, by its number, here or in lanes; None if none is known."""
        rows = (self, *(lane.sequence for block in self.blocks for lane in block.lanes if lane.sequence is not None))
        calls = (row.origins.of_segment(segment) for row in rows
                 for segment in np.flatnonzero(row.clip == clip)[:1].tolist())
        return next((steps[-1].place for steps in calls if steps), None)

    def repeated(self, counts: Mapping[Way, int]) -> Sequence:
        """Return the sequence with more rounds, by a factor, of ways that do not overlap, in the same time."""
        index, copy, share = [], [], []
        at = 0
        for way, count in sorted(counts.items(), key=lambda item: item[0].first):
            for first, after, times in ((at, way.first, 1), (way.first, way.after, count)):
                index.append(np.tile(np.arange(first, after), times))
                copy.append(np.repeat(np.arange(times), after - first))
                share.append(np.full(times * (after - first), 1.0 / times))
            at = way.after
        rest = np.arange(at, len(self))
        index, copy, share = ([*parts, more] for parts, more in (
            (index, rest), (copy, np.zeros_like(rest)), (share, np.ones(len(rest)))))
        taken = self._taken(np.concatenate(index), np.concatenate(copy), np.concatenate(share))
        ends = np.isin(np.concatenate(index), [way.after - 1 for way in counts])
        copies = np.concatenate(copy)
        taken.transition_s[ends & (np.append(copies[1:], 0) > copies)] = np.nan
        edges = np.append(np.flatnonzero(copies == 0), len(taken))
        return taken._numbered(edges, edges, counts)

    def in_one_round(self) -> tuple[Sequence, IntArray]:
        """Return the sequence with one round of each way in the time of all, and each segment's new number, (S,)."""
        number, share = np.arange(len(self)), np.ones(len(self))
        if all(way.rounds == 1 for way in self.ways):
            return self, number
        for way in self.ways:
            one = (way.after - way.first) // way.rounds
            if way.rounds > 1:
                number[way.first:way.after] = way.first + np.arange(way.after - way.first) % one
                share[way.first:way.first + one] = way.rounds
        kept = number == np.arange(len(self))
        position, index = (np.cumsum(kept) - 1)[number], np.flatnonzero(kept)
        taken = self._taken(index, np.zeros_like(index), share[index])
        taken.transition_s[position] = self.transition_s  # that after the last round remains
        counts = dict.fromkeys(self.ways, 1)
        return taken._numbered(position, np.append(0, position + 1), counts), position

    def _numbered(self, first: IntArray, after: IntArray, counts: Mapping[Way, int]) -> Sequence:
        """Return the sequence with marks, ways and aims moved to new segments; after: by the next segment's number."""
        return replace(
            self, marks=replace(self.marks, segment=first[self.marks.segment]),
            ways=tuple(way._replace(first=int(first[way.first]), after=int(after[way.after]), rounds=counts.get(way, 1))
                       for way in self.ways),
            aims=tuple(aim._replace(first=int(first[aim.first])) for aim in self.aims))

    def _taken(self, index: IntArray, copy: IntArray, share: FloatArray) -> Sequence:
        """Return the segments index (N,), each as repetition copy (N,) and with its length times share (N,)."""
        length_s = self.length_s[index] * share
        segments = self.origins.segments.at(index)
        origins = replace(self.origins, segments=replace(segments, repetition=(segments.repetition + copy).astype(
            np.int32)))
        return replace(
            self, clip=self.clip[index], start_s=np.cumsum(length_s) - length_s, length_s=length_s,
            transition_s=self.transition_s[index], path=self.path[index], origins=origins,
            is_mirrored=None if self.is_mirrored is None else self.is_mirrored[index],
            is_reversed=None if self.is_reversed is None else self.is_reversed[index],
            part=None if self.part is None else self.part[index])

    def of_used_clips(self) -> tuple[Sequence, IntArray]:
        """Return the sequence with only the clips that it or its blocks play, and their old numbers, ascending."""
        rows = [self, *(lane.sequence for block in self.blocks for lane in block.lanes if lane.sequence is not None)]
        clips = len(self.clips)
        used = np.unique(np.concatenate([np.unique(row.clip) for row in rows]))
        used = used[(used >= 0) & (used < clips)]
        names = tuple(self.clips[i] for i in used)
        if not self.blocks and (self.clip >= 0).all():
            return self.with_clips(names, np.searchsorted(used, self.clip)), used

        def renumbered(row: Sequence) -> Sequence:
            clip = np.where(row.clip < 0, WAIT, np.searchsorted(used, row.clip))
            return row.with_clips(names, np.where(row.clip >= clips, row.clip - clips + len(used), clip))

        return replace(renumbered(self), blocks=self._changed_blocks(renumbered)), used

    def with_clips(self, clips: tuple[str, ...], clip: IntArray) -> Sequence:
        """Return the sequence with new clips and clip numbers."""
        return replace(self, clips=clips, clip=clip)

    def with_more_clips(self, names: tuple[str, ...], clip: IntArray) -> Sequence:
        """Return the sequence with further clips added, some of which its segments play; clip: (S,) their numbers."""
        more, own = len(names), len(self.clips)

        def renumbered(row: Sequence) -> Sequence:
            return row.with_clips((*row.clips, *names), np.where(row.clip >= own, row.clip + more, row.clip))

        return replace(self.with_clips((*self.clips, *names), clip), blocks=self._changed_blocks(renumbered))

    def without_transitions(self) -> Sequence:
        """Return the sequence with hard cuts between segments."""
        return replace(self, transition_s=np.zeros(len(self)),
                       blocks=self._changed_blocks(lambda row: row.without_transitions()))

    def _changed_blocks(self, change: Callable[[Sequence], Sequence]) -> tuple[Block, ...]:
        return tuple(replace(block, lanes=tuple(
            lane if lane.sequence is None else replace(lane, rows=(change(lane.sequence),), row=0)
            for lane in block.lanes)) for block in self.blocks)


@dataclass(frozen=True, eq=False)
class Lane:
    """The motion of a part of the body during a block.

    body, fade, mode: as in the score; masks: the parts of the body that the score has named.
    weight, weight_end: at the block's ends. ease_in_s, ease_out_s: NaN: automatic.
    rows: the rows among which the one that it plays has the number `row`; None: nothing plays.
    """

    body: str
    mode: str
    fade: float
    masks: Mapping[str, NamedBody]
    weight: float
    weight_end: float
    ease_in_s: float
    ease_out_s: float
    rows: SequenceOf[Sequence] | None
    row: int = 0

    @cached_property
    def sequence(self) -> Sequence | None:
        """What it plays, from the block's start on; None: nothing."""
        return None if self.rows is None else self.rows[self.row]

    def weight_at(self, share: float) -> float:
        """Return the weight at a share of the block."""
        return self.weight + share * (self.weight_end - self.weight)


@dataclass(frozen=True, eq=False)
class Block:
    """A `together`: lanes that play at once, for length_s."""

    lanes: tuple[Lane, ...]
    length_s: float
