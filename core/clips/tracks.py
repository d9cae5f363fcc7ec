"""Tracks: keys of joints, packed one track after another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray, merged


@dataclass(frozen=True, eq=False)
class Tracks:
    """Keys of T joints, packed one track after another.

    joints: (T,) the joint each track moves, each at most once.
    starts: (T + 1,) where each track's keys begin; every track has at least one key.
    times_s: (N,) key times, ascending within a track.
    values: (N, C) the value of each key.
    Before its first key a track holds the value of that key, and after its last key the value of the last.
    """

    joints: IntArray
    starts: IntArray
    times_s: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        tracks, keys = len(self.joints), len(self.times_s)
        if self.starts.shape != (tracks + 1,) or self.starts[0] != 0 or self.starts[-1] != keys:
            raise TaktError("starts must go from 0 to the number of keys, with one entry more than there are tracks")
        if (np.diff(self.starts) < 1).any():
            raise TaktError("a track without keys")
        if len(np.unique(self.joints)) != tracks:
            raise TaktError("two tracks move the same joint")
        if self.values.ndim != 2 or len(self.values) != keys:
            raise TaktError(f"values has shape {self.values.shape}, expected ({keys}, C)")
        if not (np.isfinite(self.times_s).all() and np.isfinite(self.values).all()):
            raise TaktError("key times and values must be finite")
        falls = np.diff(self.times_s) < 0.0
        falls[self.starts[1:-1] - 1] = False
        if falls.any():
            raise TaktError("key times must ascend within a track")

    @classmethod
    @cache
    def empty(cls, channels: int) -> Tracks:
        """Return an empty set of tracks."""
        return cls(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0), np.zeros((0, channels)))

    @classmethod
    def uniform(cls, joints: IntArray, times_s: FloatArray, values: FloatArray) -> Tracks:
        """Pack tracks that all have the same key times: times_s (F,), values (F, T, C)."""
        frames, tracks, channels = values.shape
        return cls(np.asarray(joints, dtype=np.int64), np.arange(tracks + 1) * frames, np.tile(times_s, tracks),
                   np.ascontiguousarray(np.swapaxes(values, 0, 1)).reshape(tracks * frames, channels))

    def __len__(self) -> int:
        return len(self.joints)

    @property
    def channels(self) -> int:
        """The number of components of a key's value."""
        return int(self.stored[0].shape[1])

    @cached_property
    def stored(self) -> tuple[FloatArray, ...]:
        """The arrays (…, C) that store the values of keys: the packed one, or those from which it would be packed."""
        return (self.values,)

    @cached_property
    def places(self) -> IntArray:
        """The stored array that holds each track's values, and its first row there, (T, 2)."""
        return np.stack((np.zeros(len(self), np.int64), self.starts[:-1]), axis=1)

    def keys(self, track: int) -> tuple[FloatArray, FloatArray]:
        """Return the times (N,) and values (N, C) of one track."""
        begin, end = self.starts[track:track + 2].tolist()
        which, first = self.places[track].tolist()
        return self.times_s[begin:end], self.stored[which][first:first + end - begin]

    def with_others(self, others: Tracks) -> Tracks:
        """Return the tracks with others added, which replace those of the same joints; sorted by joint.

        Values are packed only when `values` is read. Until then, those of a few joints are read from where they are
        stored.
        """
        return _Layered.of(self, others)

    def of_joints(self, joints: BoolArray) -> Tracks:
        """Return the tracks of some joints, given by a mask (J,)."""
        kept, counts = joints[self.joints], np.diff(self.starts)
        keys = np.repeat(kept, counts)
        return Tracks(self.joints[kept], np.append(0, np.cumsum(counts[kept])), self.times_s[keys], self.values[keys])

    def closed(self, end_s: float) -> Tracks:
        """Return the tracks of a loop: each that ends before end_s gets its first key again at end_s."""
        last = self.starts[1:] - 1
        open_ends = self.times_s[last] < end_s if len(self) else np.zeros(0, dtype=np.bool_)
        at, first = self.starts[1:][open_ends], self.starts[:-1][open_ends]
        starts = self.starts + np.concatenate(((0,), np.cumsum(open_ends)))
        return Tracks(self.joints, starts, np.insert(self.times_s, at, end_s),
                      np.insert(self.values, at, self.values[first], axis=0))

    @cached_property
    def shared_times(self) -> FloatArray | None:
        """The key times (K,) of every track if all tracks have the same, as in files of frames."""
        counts = np.diff(self.starts)
        if not len(counts) or (counts != counts[0]).any():
            return None
        own = self.times_s.reshape(len(counts), -1)
        return own[0] if (own == own[0]).all() else None

    @cached_property
    def by_times(self) -> tuple[tuple[FloatArray, IntArray], ...]:
        """The different arrays of key times (K,), each with the tracks (N,) that have exactly these times."""
        if self.shared_times is not None:
            return ((self.shared_times, np.arange(len(self))),)
        found = dict[bytes, list[int]]()
        for track, (begin, end) in enumerate(pairwise(self.starts.tolist())):
            found.setdefault(self.times_s[begin:end].tobytes(), []).append(track)
        return tuple((self.times_s[self.starts[tracks[0]]:self.starts[tracks[0] + 1]], np.array(tracks))
                     for tracks in found.values())

    @cached_property
    def _kind(self) -> IntArray:
        """The index of each track's key times among the different arrays of times, (T,)."""
        kind = np.zeros(len(self), np.int64)
        for number, (_, tracks) in enumerate(self.by_times):
            kind[tracks] = number
        return kind

    def alike(self, some: IntArray) -> tuple[tuple[FloatArray, IntArray], ...]:
        """Return the different arrays of key times (K,) of some tracks (N,), each with the tracks that have them."""
        kind = self._kind[some]
        return tuple((self.by_times[number][0], some[kind == number]) for number in sorted({*kind.tolist()}))

    @cached_property
    def different_times(self) -> FloatArray:
        """All different key times (U,), ascending."""
        return merged(np.zeros(0), *(times for times, _ in self.by_times))

    @cached_property
    def _grid(self) -> tuple[FloatArray, IntArray]:
        """All different key times (U,), and for each track the last key at or before each: (T, U + 1).

        One search over the shared times then finds the key of every track: no loop over tracks, and
        exact, since key times are compared as they are. Column 0 stands for "before the first time".
        """
        times = self.different_times
        track = np.repeat(np.arange(len(self)), np.diff(self.starts))
        key = np.full((len(self), len(times) + 1), -1, dtype=np.int64)
        np.maximum.at(key, (track, np.searchsorted(times, self.times_s) + 1), np.arange(len(self.times_s)))
        key = np.maximum.accumulate(key, axis=1)
        return times, np.maximum(key, self.starts[:-1, None])

    def neighbours(self, times_s: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the keys before and after times (F,), (F, T) each, and the fraction of the time between them, 0…1."""
        times, key = self._grid
        before = key[:, np.searchsorted(times, times_s, side="right")].T
        after = np.minimum(before + 1, self.starts[1:] - 1)
        t0, t1 = self.times_s[before], self.times_s[after]
        gap = t1 - t0
        share = np.divide(np.asarray(times_s)[:, None] - t0, gap, out=np.zeros(gap.shape), where=gap > 0.0)
        return before, after, np.clip(share, 0.0, 1.0)


class _Layered(Tracks):
    """Tracks of which some were replaced: their values stay in several arrays until all values are read."""

    @classmethod
    def of(cls, tracks: Tracks, others: Tracks) -> Tracks:
        """Return tracks with others in the place of those of the same joints."""
        kept = np.flatnonzero(~np.isin(tracks.joints, others.joints))
        joints = np.concatenate((tracks.joints[kept], others.joints))
        order = np.argsort(joints)
        counts = np.concatenate((np.diff(tracks.starts)[kept], np.diff(others.starts)))[order]
        behind = others.places + np.array((len(tracks.stored), 0))
        places = np.concatenate((tracks.places[kept], behind))[order]
        times = [tracks.keys(track)[0] for track in kept.tolist()] + [others.keys(i)[0] for i in range(len(others))]
        made = cls.__new__(cls)
        made.__dict__.update(
            joints=joints[order], starts=np.append(0, np.cumsum(counts)), places=places,
            times_s=np.concatenate([times[i] for i in order.tolist()]), stored=(*tracks.stored, *others.stored))
        return made

    @cached_property
    def values(self) -> FloatArray:
        """The value of each key, (N, C)."""
        values = np.concatenate([self.keys(track)[1] for track in range(len(self))])
        self.__dict__.update(stored=(values,), places=np.stack((np.zeros_like(self.joints), self.starts[:-1]), axis=1))
        return values
