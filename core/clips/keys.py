"""The keys of several clips, arranged so that few steps over whole arrays sample many instants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray, side_by_side
from ..skeletons.skeleton import Pose, Skeleton
from .tracks import Tracks

Interpolation = Literal["SLERP", "LERP", "SQUAD"]
TranslationInterpolation = Literal["LINEAR", "SPLINE"]

INTERPOLATIONS: dict[Interpolation, tuple[str, str]] = {
    "SLERP": ("Spherical", "At constant angular speed between keys"),
    "LERP": ("Linear", "Linear and normalised (nlerp), as OGRE plays its clips"),
    "SQUAD": ("Smooth", "Smooth through the keys, without jumps of speed (Shoemake's SQUAD)"),
}
TRANSLATION_INTERPOLATIONS: dict[TranslationInterpolation, tuple[str, str]] = {
    "LINEAR": ("Linear", "Straight from key to key"),
    "SPLINE": ("Smooth", "Smooth through the keys, without jumps of speed"),
}
Difference = Callable[[IntArray, IntArray], FloatArray]
ClipTracks = tuple[float, bool, Tracks, Tracks, Tracks]
_GRID_ENTRIES = 2_000_000
"""Greatest number of entries in a clip's grid. Above it, as for tracks with few common times, the grid is coarser, and
keys are found by steps from it."""
_ROWS_AT_ONCE = 4096
"""Number of rows that are computed at once, so that they stay in the processor's cache, and take no more memory than
the result."""


@dataclass(frozen=True, eq=False)
class _Channel:
    """One kind of tracks of C clips: N keys of some of J joints, in rows 1 to N; row 0 is the rest value.

    column: (J,) the column of each joint among T: one for each joint with a track in any clip, and a last one at rest
    for all joints without tracks, if any. instants: (U,) clip + i·time, ascending: complex numbers sort by their real
    part first, so that one search finds clip and time, exactly.
    key: (U, T) the row of the last key at or before each instant. steps: the most keys that follow before the next
    instant. times_s, values: (N + 1,), (N + 1, C); per_s: (N + 1,) 1 ÷ the time to the next key, 0 at the last of a
    track. loops: for row 0 and each track, clip after clip, whether it loops; starts: the row of the first key of each,
    then the number of rows.
    """

    column: IntArray
    instants: npt.NDArray[np.complex128]
    key: npt.NDArray[np.intp]
    steps: int
    times_s: FloatArray
    values: FloatArray
    per_s: FloatArray
    loops: BoolArray
    starts: IntArray

    @classmethod
    def of(cls, clips: Sequence[tuple[Tracks, float, bool]], neutral: FloatArray, count: int) -> _Channel:
        """Lay out the tracks of clips, each with its duration and whether it loops; count: J."""
        tracks = [t.closed(duration) if loops else t for t, duration, loops in clips]
        joints = np.unique(np.concatenate([t.joints for t in tracks]))
        times = np.concatenate([(0.0,), *(t.times_s for t in tracks)])
        values = np.concatenate([neutral[None], *(t.values for t in tracks)])
        offsets = np.cumsum([1, *(len(t.times_s) for t in tracks)])
        starts = np.concatenate([(0,), *(t.starts[:-1] + at for t, at in zip(tracks, offsets[:-1], strict=True))])
        starts = np.append(starts, len(times)).astype(np.int64)
        loops = np.concatenate([(False,), *(np.full(len(t), loop) for t, (_, _, loop) in
                                            zip(tracks, clips, strict=True))]).astype(np.bool_)
        gap = np.append(np.diff(times), 0.0)
        gap[starts[1:] - 1] = 0.0
        per_s = np.divide(1.0, gap, out=np.zeros(len(gap)), where=gap > np.finfo(np.float64).tiny)
        instants, grids, steps = [], [], 0
        for clip, (own, offset) in enumerate(zip(tracks, offsets[:-1], strict=True)):
            at, grid, more = _grid(own)
            own_instants = np.empty(len(at), dtype=np.complex128)
            own_instants.real, own_instants.imag = clip, at
            instants.append(own_instants)
            wide = np.zeros((len(at), len(joints) + (len(joints) < count)), dtype=np.intp)
            wide[:, np.searchsorted(joints, own.joints)] = grid + offset
            grids.append(wide)
            steps = max(steps, more)
        column = np.full(count, len(joints), dtype=np.int64)
        column[joints] = np.arange(len(joints))
        return cls(column, np.concatenate(instants), np.concatenate(grids), steps, times, values, per_s, loops, starts)

    def find(self, instants: npt.NDArray[np.complex128]) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return the key (F, T) at or before each of instants clip + i·time (F,), and the seconds since; 0 before it.

        The next key, if there is one, is later.
        """
        key = self.key.take(self.instants.searchsorted(instants, side="right") - 1, axis=0)
        time = instants.imag[:, None]
        for _ in range(self.steps):
            following = np.minimum(key + 1, self._last[key])
            key = np.where(self.times_s[following] <= time, following, key)
        since_s = time - self.times_s.take(key)
        return key, np.maximum(since_s, 0.0, out=since_s)

    def straight(self, instants: npt.NDArray[np.complex128]) -> FloatArray:
        """Return the values (F, J, C) at instants (F,), linear between keys."""
        if len(self.values) == 1:
            return self._rest.repeat(len(instants), axis=0)
        key, since_s = self.find(instants)
        change = self._speeds.take(key, axis=0)
        change *= since_s[..., None]
        change += self.values.take(key, axis=0)
        return self.of_joints(change)

    def of_joints(self, found: FloatArray) -> FloatArray:
        """Return the values (F, J, C) of all joints from those of the T columns, (F, T, C)."""
        if self._are_all:
            return found
        if found.shape[2] == 4:  # numpy's take is fast for four
            return found.take(self.column, axis=1)
        out = self._rest.repeat(len(found), axis=0)
        out[:, self._moved] = found[:, :-1]
        return out

    @cached_property
    def _moved(self) -> slice | IntArray:
        """The joints with tracks, if some joints have none."""
        return side_by_side(np.flatnonzero(self.column < self.key.shape[1] - 1))

    @cached_property
    def _are_all(self) -> bool:
        """Whether the columns are all joints in their order."""
        return np.array_equal(self.column, np.arange(self.key.shape[1]))

    @cached_property
    def _rest(self) -> FloatArray:
        """The values of all joints at rest, (1, J, C)."""
        return self.values[:1].repeat(len(self.column), axis=0)[None]

    @cached_property
    def _speeds(self) -> FloatArray:
        """The change of values per second up to the next key, (N + 1, C); 0 at the last key of a track."""
        following = np.arange(len(self.values)) + (self.per_s > 0.0)
        return np.asarray((self.values[following] - self.values) * self.per_s[:, None])

    @cached_property
    def _last(self) -> IntArray:
        """The row of the last key of each key's track, (N + 1,)."""
        return np.repeat(self.starts[1:] - 1, np.diff(self.starts))

    @property
    def neighbours(self) -> tuple[IntArray, IntArray]:
        """The rows of the keys before and after each key, (N + 1,): itself at a track's ends, but wrapped in a loop."""
        rows = np.arange(len(self.times_s))
        first, last = self.starts[:-1], self.starts[1:] - 1
        before, after = rows - 1, rows + 1
        before[first], after[last] = first, last
        whole = self.loops & (last - first > 1)  # the last key of a loop repeats the first
        before[first[whole]], after[last[whole]] = last[whole] - 1, first[whole] + 1
        return before, after


def grid_entries(tracks: Tracks) -> int:
    """Return the number of entries in the grid of a clip's tracks, in addition to the keys themselves."""
    return min(len(tracks.different_times) * len(tracks), 2 * _GRID_ENTRIES)


def _grid(tracks: Tracks) -> tuple[FloatArray, IntArray, int]:
    """Return times (U,) from −∞ on, the last key of each track at or before them, (U, T), and the most steps between.

    Steps: the most keys of a track from one of these times to the next, or from the last one to the end. They can
    outnumber the omitted times, if several keys have the same time.
    """
    times = tracks.different_times
    stride = max(1, len(times) * len(tracks) // _GRID_ENTRIES)
    at = times[::stride]
    key = np.tile(tracks.starts[:-1], (len(at) + 1, 1))
    for own, alike in tracks.by_times:
        key[1:, alike] += np.maximum(own.searchsorted(at, side="right") - 1, 0)[:, None]
    steps = np.diff(np.concatenate((key, tracks.starts[None, 1:] - 1)), axis=0).max(initial=0) if stride > 1 else 0
    return np.concatenate(((-np.inf,), at)), key, int(steps)


class _Arcs(NamedTuple):
    """Arcs from each of N + 1 keys: begin and across, (N + 1, 4), and half-angles; see rotations.arc."""

    begin: FloatArray
    across: FloatArray
    half: FloatArray

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, is_on: BoolArray) -> _Arcs:
        """Return arcs from rotations a (N + 1, 4) to the next row of b, or to the same row if not is_on (N + 1,)."""
        across, half = np.empty((len(a), 4)), np.empty(len(a))
        for start in range(0, len(a), _ROWS_AT_ONCE):
            run = slice(start, start + _ROWS_AT_ONCE)
            half[run], across[run] = rot.arc(a[run], b[start + np.arange(len(a[run])) + is_on[run]])
        return cls(a, across, half)

    def along(self, key: npt.NDArray[np.intp], angle: FloatArray) -> FloatArray:
        """Return the rotations (..., 4) at angles (...) on the arcs from keys (...)."""
        cosine, sine = rot.cosine_sine(angle)
        turned, across = self.begin.take(key, axis=0), self.across.take(key, axis=0)
        turned *= cosine[..., None]
        across *= sine[..., None]
        turned += across
        return turned


@dataclass(frozen=True, eq=False)
class KeyTable:
    """The keys of C clips on one skeleton; sampled by clip and time.

    SLERP (Shoemake 1985) follows a·cos x + across·sin x along the great circle between two keys; both parts are
    computed once. LERP, normalised, passes the same arc at an uneven speed. Both take the shorter arc. SQUAD (Shoemake
    1987) bends it towards inner points such that the angular velocity is continuous at the keys, also where these are
    unevenly spaced. Translations: LINEAR, or SPLINE: cubic, the velocity at a key being that between its neighbours
    (Catmull and Rom 1974). Scales are linear.
    """

    skeleton: Skeleton
    _rotations: _Channel
    _translations: _Channel
    _scales: _Channel

    @classmethod
    def of(cls, skeleton: Skeleton, clips: Sequence[ClipTracks]) -> KeyTable:
        """Lay out clips, each (duration_s, is_looping, rotations, translations, scales)."""
        return cls(skeleton,
                   _Channel.of([(rotations, end, loops) for end, loops, rotations, _, _ in clips], rot.IDENTITY,
                               len(skeleton)),
                   _Channel.of([(translations, end, loops) for end, loops, _, translations, _ in clips], np.zeros(3),
                               len(skeleton)),
                   _Channel.of([(scales, end, loops) for end, loops, _, _, scales in clips], np.ones(3),
                               len(skeleton)))

    def sample(self, clip: IntArray, times_s: FloatArray, interpolation: Interpolation,
               translation: TranslationInterpolation) -> Pose:
        """Return the poses (F, J, …) of clips (F,) at their own times (F,)."""
        instants = np.empty(len(times_s), dtype=np.complex128)
        instants.real, instants.imag = clip, times_s
        moved = self._splined(instants) if translation == "SPLINE" else self._translations.straight(instants)
        return Pose(self._turned(instants, interpolation), moved, self._scales.straight(instants))

    def _turned(self, instants: npt.NDArray[np.complex128], interpolation: Interpolation) -> FloatArray:
        """Return rotations (F, J, 4) at instants (F,)."""
        channel = self._rotations
        key, since_s = channel.find(instants)
        if interpolation == "LERP":
            return channel.of_joints(self._straight(key, since_s * channel.per_s.take(key)))
        arcs = self._arcs
        if interpolation == "SLERP":
            return channel.of_joints(arcs.along(key, since_s * self._turning_per_s.take(key)))
        half, share, inner = arcs.half.take(key), since_s * channel.per_s.take(key), self._inner_arcs
        between = rot.slerp(arcs.along(key, half * share), inner.along(key, inner.half.take(key) * share),
                            2.0 * share * (1.0 - share))
        return channel.of_joints(between)

    def _straight(self, key: npt.NDArray[np.intp], share: FloatArray) -> FloatArray:
        """Return the rotations (..., 4) by normalised LERP from keys (...) to the next ones.

        share: (...) of the way, 0 if no key follows. Neighbours are in one hemisphere, so that the arc is the shorter
        one, and no interpolated quaternion has length 0.
        """
        turned, following = self._turns.take(key, axis=0), self._turns.take(key + 1, axis=0, mode="clip")
        turned *= (1.0 - share)[..., None]
        following *= share[..., None]
        turned += following
        turned /= np.sqrt(np.einsum("...i,...i->...", turned, turned))[..., None]
        return turned

    def _splined(self, instants: npt.NDArray[np.complex128]) -> FloatArray:
        """Return translations (F, J, 3) at instants (F,), by cubics."""
        key, since_s = self._translations.find(instants)
        x = (since_s * self._translations.per_s.take(key))[..., None]
        a, b, c, d = np.moveaxis(self._cubics[key], -2, 0)
        return self._translations.of_joints(a + x * (b + x * (c + x * d)))

    @cached_property
    def _turning_per_s(self) -> FloatArray:
        """The angle of arcs to the next key per second, (N + 1,); half of that of the rotation."""
        return self._arcs.half * self._rotations.per_s

    @cached_property
    def _arcs(self) -> _Arcs:
        """The arcs from each key to the next."""
        return _Arcs.of(self._turns, self._turns, self._rotations.per_s > 0.0)

    @cached_property
    def _turns(self) -> FloatArray:
        """Unit rotations at the keys, (N + 1, 4), neighbours of a track in one hemisphere: signs never jump."""
        return rot.continuous(rot.normalized(self._rotations.values), self._rotations.starts)

    @cached_property
    def _inner_arcs(self) -> _Arcs:
        """SQUAD's arcs from the inner point after each key to the inner point before the next key.

        With ω the angular velocity at a key, L the rotation vector of an interval and h its length: the inner point
        after the key is q·exp((ωh − L)/2), and that before it is q·exp((L − ωh)/2) with the previous interval's L and
        h. ω is the sum of both L over the sum of both h. Evenly spaced, this is Shoemake's q·exp(−(log q⁻¹q₊ + log
        q⁻¹q₋)/4).
        """
        keys, values = self._rotations, self._turns
        turn_in, turn_out, time_in, time_out = self._steps(
            keys, lambda a, b: rot.log(rot.multiply(rot.conjugate(values[a]), values[b])))
        velocity = _mean_velocity(turn_in, turn_out, time_in, time_out)
        out = rot.multiply(values, rot.exp((velocity * time_out - turn_out) / 2.0))
        into = rot.multiply(values, rot.exp((turn_in - velocity * time_in) / 2.0))
        return _Arcs.of(out, into, keys.per_s > 0.0)

    @cached_property
    def _cubics(self) -> FloatArray:
        """Coefficients of the cubic from each key to the next, (N + 1, 4, 3), lowest first."""
        keys, values = self._translations, self._translations.values
        step_in, step_out, time_in, time_out = self._steps(keys, lambda a, b: values[b] - values[a])
        velocity = _mean_velocity(step_in, step_out, time_in, time_out)
        following = np.arange(len(values)) + (keys.per_s > 0.0)
        leave, arrive = velocity * time_out, velocity[following] * time_out
        return np.stack((values, leave, 3.0 * step_out - 2.0 * leave - arrive, leave + arrive - 2.0 * step_out), axis=1)

    @staticmethod
    def _steps(keys: _Channel, difference: Difference) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return each key's differences, (N + 1, 3), and times, (N + 1, 1), from the previous key and to the next key.

        Both are zero if there is no such key.
        """
        rows = np.arange(len(keys.times_s))
        before, after = keys.neighbours
        gap = np.divide(1.0, keys.per_s, out=np.zeros(len(rows)), where=keys.per_s > 0.0)
        time_in = np.where(before == rows, 0.0, gap[before])
        last = keys.starts[1:] - 1
        time_out = gap.copy()
        time_out[last] = np.where(after[last] == last, 0.0, gap[keys.starts[:-1]])
        return difference(before, rows), difference(rows, after), time_in[:, None], time_out[:, None]


def _mean_velocity(step_in: FloatArray, step_out: FloatArray, time_in: FloatArray, time_out: FloatArray) -> FloatArray:
    time = time_in + time_out
    return np.divide(step_in + step_out, time, out=np.zeros_like(step_in), where=time > 0.0)
