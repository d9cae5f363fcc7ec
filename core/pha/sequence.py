"""What a score plays: segments one after another, and blocks of lanes. Gustaitis et al. 2007, §3.2 and §5.4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field, replace

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.body_parts import NamedBody
from .origins import Origins

WAIT = -1
"""Instead of a clip's number: none is played, the pose before the segment is held."""


@dataclass(frozen=True, eq=False)
class Paths(SequenceOf[tuple[str, ...]]):
    """Paths from the started procedure down to others, as tuples of names, made when asked for.

    parents: (P,) the path that each continues, −1 for the first; procedures: (P,) its last procedure, −1: none,
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
    """Where procedures start, (M,) in order of time: the first segment of each, its path, its run in the origins."""

    segment: IntArray
    path: IntArray
    run: IntArray


@dataclass(frozen=True, eq=False)
class Sequence:
    """S segments one after another.

    clips: full names of the clips; clip: (S,) which of them each segment plays; WAIT: none, the pose before it is held;
    from the number of clips on: a block. start_s, length_s: (S,) seconds; transition_s: (S,) the
    transition after each segment, NaN: automatic. path: (S,) index into paths: the procedures that led to the segment.
    origins: the calls that led to each segment and each mark.
    is_loop: after the last segment the first one follows.
    is_mirrored, is_reversed: (S,); part: (S, 2) the shares of its clip between which a segment plays.
    blocks: those of the whole score, also those within blocks; only the outermost sequence has them.
    clip_s: how long clips are by nature, in seconds by name, where that is known.
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
    clip_s: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.clip)

    @property
    def duration_s(self) -> float:
        """The lengths of all segments together."""
        return float(self.length_s.sum())

    def speeds(self) -> FloatArray:
        """Return how many times as fast as by nature each segment plays its clip, (S,); NaN where none is known.

        As far as the score's lengths tell; a tempo that changes is not counted.
        """
        natural = np.array([self.clip_s.get(name, 0.0) for name in self.clips])
        is_clip = (self.clip >= 0) & (self.clip < len(self.clips))
        whole = np.where(is_clip, natural[np.where(is_clip, self.clip, 0)] if len(natural) else 0.0, 0.0)
        played = whole if self.part is None else whole * np.abs(self.part[:, 1] - self.part[:, 0])
        known = (played > 0.0) & (self.length_s > 0.0)
        return np.asarray(np.divide(played, self.length_s, out=np.full(len(self), np.nan), where=known))

    def of_used_clips(self) -> tuple[Sequence, IntArray]:
        """Return the same with only the clips that are played, also in blocks, and which these are, ascending."""
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
        """Return the same segments with other numbers for their clips."""
        return replace(self, clips=clips, clip=clip)

    def without_transitions(self) -> Sequence:
        """Return the same segments with one cutting straight to the next."""
        return replace(self, transition_s=np.zeros(len(self)),
                       blocks=self._changed_blocks(lambda row: row.without_transitions()))

    def _changed_blocks(self, change: Callable[[Sequence], Sequence]) -> tuple[Block, ...]:
        return tuple(replace(block, lanes=tuple(
            lane if lane.sequence is None else replace(lane, sequence=change(lane.sequence)) for lane in block.lanes))
            for block in self.blocks)


@dataclass(frozen=True, eq=False)
class Lane:
    """What a part of the body plays during a block.

    body, fade, mode: as the score says; masks: the parts of the body that the score has named itself.
    weight, weight_end: how much it counts at the block's ends. ease_in_s, ease_out_s: NaN: automatic.
    sequence: what it plays, from the block's start on; None: nothing.
    """

    body: str
    mode: str
    fade: float
    masks: Mapping[str, NamedBody]
    weight: float
    weight_end: float
    ease_in_s: float
    ease_out_s: float
    sequence: Sequence | None


@dataclass(frozen=True, eq=False)
class Block:
    """A `together`: lanes that play at once, for length_s."""

    lanes: tuple[Lane, ...]
    length_s: float
