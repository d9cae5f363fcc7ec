"""Clips of gaits in place: they travel where a score sends them somewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...clips.clip import Clip
from ...clips.in_place import travelling
from ...maths.arrays import BoolArray
from ...pha.sequence import Sequence
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton


def with_travelling(sequence: Sequence, clips: tuple[Clip, ...],
                    maps: Callable[[Skeleton], SkeletonMap]) -> tuple[Sequence, tuple[Clip, ...]]:
    """Return a sequence whose gaits in place travel on their paths, and the clips that it plays, these among them.

    clips: those of the sequence. maps: finds the roles of a skeleton's joints. Clips in lanes stay in place.
    """
    is_sent = _sent(sequence)
    if not is_sent.any():
        return sequence, clips
    more: dict[int, Clip] = {}
    for number in np.unique(sequence.clip[is_sent]).tolist():
        made = clips[number].derived(_travelling, maps(clips[number].skeleton))
        if made is not None:
            more[number] = made
    if not more:
        return sequence, clips
    clip = np.where(sequence.clip >= len(clips), sequence.clip + len(more), sequence.clip)
    for at, number in enumerate(more):
        clip[is_sent & (sequence.clip == number)] = len(clips) + at
    found = sequence.with_more_clips(tuple(sequence.clips[number] for number in more), clip)
    return found, (*clips, *more.values())


def _sent(sequence: Sequence) -> BoolArray:
    """Return which segments (S,) are to lead somewhere, and play a clip."""
    found = np.zeros(len(sequence), dtype=np.bool_)
    for way in sequence.ways:
        if way.going.role and way.inside is None:
            found[way.first:way.after] = True
    return found & (sequence.clip >= 0) & (sequence.clip < len(sequence.clips))


def _travelling(clip: Clip, found: SkeletonMap) -> Clip | None:
    return travelling(clip, found, found.up(np.array((0.0, 1.0, 0.0))))
