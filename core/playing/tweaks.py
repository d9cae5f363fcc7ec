"""Tweaks: differences above a score's motion, tied to moments of the music, and their times for a sequence.

The keys of a tweak belong to blocks. After an edit of the score, a key moves with its block and keeps its share of it.
Between keys in the same block, or in neighbouring blocks, the difference is interpolated. It is faded in before a row
of blocks with keys, and faded out after it. So a single key makes a bump, not a lasting offset.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..clips.tracks import Tracks
from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.body_parts import BodyMasks
from ..skeletons.maps import SkeletonMap
from .block_names import UNCHANGED, Block, Lineage
from .differences import Differences
from .moments import Timeline

EASE_S: Final = 0.2
"""Default fade of a tweak, in seconds."""
MOST_EASE_S: Final = 60.0
"""Longest one. Blender evaluates every frame between the ends of a tweak."""
IDENTITY: Final = {"rotation": rot.IDENTITY, "translation": np.zeros(3), "scale": np.ones(3)}
"""The neutral difference of each channel."""


@dataclass(frozen=True, eq=False)
class TweakKeys:
    """N keys of one channel, in any order.

    joint: (N,) index into the tweak's joints. block: (N,) index into its blocks. share: (N,) of the block, 0 to 1;
    below 0 before the first block of a score, above 1 after the last. values: (N, C) differences.

    Raises TaktError if the arrays differ in length, or if a share or a value is not finite.
    """

    joint: IntArray
    block: IntArray
    share: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        rows = len(self.joint)
        if self.values.ndim != 2 or not rows == len(self.block) == len(self.share) == len(self.values):
            raise TaktError(f"keys of tweaks have {rows} joints, {len(self.block)} blocks, {len(self.share)} shares "
                            f"and values {self.values.shape}; expected as many of each")
        if not (np.isfinite(self.share).all() and np.isfinite(self.values).all()):
            raise TaktError("shares and values of a tweak's keys must be finite")

    def __len__(self) -> int:
        return len(self.joint)

    @classmethod
    def none(cls, channel: str) -> TweakKeys:
        """Return no keys of a channel."""
        numbers = np.zeros(0, dtype=np.int64)
        return cls(numbers, numbers, np.zeros(0), np.zeros((0, len(IDENTITY[channel]))))

    def at(self, chosen: BoolArray | IntArray) -> TweakKeys:
        """Return some of them."""
        return TweakKeys(self.joint[chosen], self.block[chosen], self.share[chosen], self.values[chosen])


@dataclass(frozen=True, eq=False)
class Tweak:
    """One layer of differences.

    joints: the names of the joints that have keys. blocks: those that have keys, each once; in a tweak of a procedure,
    a block is named by the calls inside the procedure. rotations, translations, scales: for their spaces see
    Differences. weight: 0 to 1. body: the part of the body on which it acts, as in a lane; "" for the whole body.
    is_over_procedure: it acts in every call of the procedure. ease_in_s, ease_out_s: durations of its fades. holds:
    the last key is held instead of faded out. is_last: it is added after foot lock.

    Raises TaktError if keys name joints or blocks that do not exist, or if a weight or a time is out of range.
    """

    name: str
    joints: tuple[str, ...]
    blocks: tuple[Block, ...]
    rotations: TweakKeys = field(default_factory=lambda: TweakKeys.none("rotation"))
    translations: TweakKeys = field(default_factory=lambda: TweakKeys.none("translation"))
    scales: TweakKeys = field(default_factory=lambda: TweakKeys.none("scale"))
    weight: float = 1.0
    is_muted: bool = False
    is_solo: bool = False
    body: str = ""
    is_over_procedure: bool = False
    ease_in_s: float = EASE_S
    ease_out_s: float = EASE_S
    holds: bool = False
    is_last: bool = False

    def __post_init__(self) -> None:
        for channel, keys in self.channels.items():
            if keys.values.shape[1] != len(IDENTITY[channel]):
                raise TaktError(f"tweak {self.name!r}: found {keys.values.shape[1]} numbers for each {channel}, "
                                f"expected {len(IDENTITY[channel])}")
            for what, index, there in (("joints", keys.joint, self.joints), ("blocks", keys.block, self.blocks)):
                if len(index) and not 0 <= index.min() <= index.max() < len(there):
                    raise TaktError(f"tweak {self.name!r}: keys name {what} from {index.min()} to {index.max()}, but "
                                    f"there are {len(there)}")
        if not 0.0 <= self.weight <= 1.0:
            raise TaktError(f"tweak {self.name!r}: found the weight {self.weight}, expected 0 to 1")
        for what, seconds in (("ease in", self.ease_in_s), ("ease out", self.ease_out_s)):
            if not (np.isfinite(seconds) and seconds >= 0.0):
                raise TaktError(f"tweak {self.name!r}: found an {what} of {seconds} s, expected 0 or more")

    @property
    def channels(self) -> dict[str, TweakKeys]:
        """Its keys by channel: rotation, translation, scale."""
        return {"rotation": self.rotations, "translation": self.translations, "scale": self.scales}

    def placed(self, timeline: Timeline, body: SkeletonMap, lineage: Lineage = UNCHANGED) -> Differences:
        """Return the differences that the tweak adds to a motion with a given timeline.

        Keys of blocks that were removed are left out, and so are joints that the skeleton lacks. lineage: the elements'
        numbers in the score in which the blocks were named, see Timeline.find.
        """
        segments = _segments(self, timeline, lineage)
        joint = np.array([body.skeleton.index_of.get(name, -1) for name in self.joints], dtype=np.int64)
        turns, shifts, factors = (self._tracks(channel, keys, timeline, segments, joint)
                                  for channel, keys in self.channels.items())
        mask = BodyMasks({}, body).of(self.body, 0.0) if self.body else np.ones(len(body.skeleton))
        return Differences(turns, shifts, factors, mask * (0.0 if self.is_muted else self.weight))

    def _tracks(self, channel: str, keys: TweakKeys, timeline: Timeline, segments: list[IntArray],
                joint: IntArray) -> Tracks:
        counts = np.array([len(each) for each in segments], dtype=np.int64)
        starts, number = np.cumsum(counts) - counts, counts[keys.block]
        row = np.repeat(np.arange(len(keys)), number)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        segment = np.concatenate([np.zeros(0, np.int64), *segments])[starts[keys.block[row]] + nth]
        there = joint[keys.joint[row]] >= 0
        row, segment = row[there], segment[there]
        placed = Placed(joint[keys.joint[row]], segment, timeline.times(segment, keys.share[row]), keys.values[row])
        return placed.eased(IDENTITY[channel], self.ease_in_s, self.ease_out_s, self.holds).tracks()


@dataclass(frozen=True, eq=False)
class Placed:
    """N keys of one channel in time. joint, segment: (N,); times_s: (N,); values: (N, C)."""

    joint: IntArray
    segment: IntArray
    times_s: FloatArray
    values: FloatArray

    def eased(self, identity: FloatArray, ease_in_s: float, ease_out_s: float, holds: bool) -> Placed:
        """Return the keys sorted by joint and time, with neutral keys around each row of blocks.

        A key of a joint continues the row of the key before if it is in the same block or in the next one. It also
        does if there is no time to fade out and in between them. holds: only the first row is faded in, and nothing
        is faded out.
        """
        if not len(self.joint):
            return self
        order = np.lexsort((self.times_s, self.joint))
        keys = Placed(self.joint[order], self.segment[order], self.times_s[order], self.values[order])
        is_apart = (np.abs(np.diff(keys.segment)) > 1) & (np.diff(keys.times_s) > ease_in_s + ease_out_s)
        is_cut = (np.diff(keys.joint) != 0) | (is_apart & (not holds))
        first = np.flatnonzero(np.append(True, is_cut))
        last = np.flatnonzero(np.append(is_cut, True)[:0 if holds else None])
        around = np.concatenate((first, np.arange(len(order)), last))
        rank = np.repeat((0, 1, 2), (len(first), len(order), len(last)))
        times_s = keys.times_s[around] + np.array((-ease_in_s, 0.0, ease_out_s))[rank]
        values = np.where((rank == 1)[:, None], keys.values[around], identity)
        order = np.lexsort((rank, times_s, keys.joint[around]))
        return Placed(keys.joint[around][order], keys.segment[around][order], times_s[order], values[order])

    def tracks(self) -> Tracks:
        """Return keys sorted by joint and time as tracks."""
        joints, starts = np.unique(self.joint, return_index=True)
        return Tracks(joints, np.append(starts, len(self.joint)), self.times_s, self.values)


def heard(tweaks: Iterable[Tweak]) -> tuple[Tweak, ...]:
    """Return the tweaks that act: solo ones if there are any, else all; muted ones never act."""
    tweaks = tuple(tweaks)
    chosen = [tweak for tweak in tweaks if tweak.is_solo] or tweaks
    return tuple(tweak for tweak in chosen if not tweak.is_muted)


def _segments(tweak: Tweak, timeline: Timeline, lineage: Lineage) -> list[IntArray]:
    """Return for each block of a tweak the segments that play it."""
    if tweak.is_over_procedure:
        return timeline.find_everywhere(tweak.blocks, lineage)
    return [np.array([] if found is None else [found], dtype=np.int64)
            for found in timeline.find(tweak.blocks, lineage)]
