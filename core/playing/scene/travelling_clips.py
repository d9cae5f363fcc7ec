"""Clips of gaits in place that travel where a score sends them somewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...clips.clip import Clip
from ...clips.in_place import travelling
from ...maths.arrays import BoolArray, FloatArray
from ...pha.sequence import Sequence as Segments
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton

_UP = (0.0, 1.0, 0.0)


def with_travelling(sequence: Segments, clips: tuple[Clip, ...],
                    maps: Callable[[Skeleton], SkeletonMap]) -> tuple[Segments, tuple[Clip, ...]]:
    """Return a sequence whose gaits in place travel on their ways, and the clips that it plays, these among them.

    clips: those of the sequence. maps: tells what the joints of a skeleton are.
    """
    is_sent = _sent(sequence)
    if not is_sent.any():
        return sequence, clips
    names, found, clip = list(sequence.clips), list(clips), sequence.clip.copy()
    clip[clip >= len(clips)] += _MOST_MORE
    for number in np.unique(sequence.clip[is_sent]).tolist():
        made = clips[number].derived(_travelling, maps(clips[number].skeleton))
        if made is not None:
            clip[is_sent & (sequence.clip == number)] = len(found)
            names.append(names[number])
            found.append(made)
    clip[clip >= _MOST_MORE] += len(found) - len(clips) - _MOST_MORE
    return sequence.with_clips(tuple(names), clip), tuple(found)


_MOST_MORE = 1 << 40


def _sent(sequence: Segments) -> BoolArray:
    """Return which segments (S,) are to lead somewhere, and play a clip."""
    found = np.zeros(len(sequence), dtype=np.bool_)
    for way in sequence.ways:
        if way.going.role and way.inside is None:
            found[way.first:way.after] = True
    return found & (sequence.clip >= 0) & (sequence.clip < len(sequence.clips))


def _travelling(clip: Clip, found: SkeletonMap) -> Clip | None:
    up: FloatArray = found.up(np.array(_UP))
    return travelling(clip, found, up)
