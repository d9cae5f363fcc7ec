"""Key reduction: select the samples of dense tracks that suffice as keys with linear interpolation."""

from __future__ import annotations

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray

_TRACKS_AT_ONCE = 8
_CLEARINGS = 3
"""How many times keys are looked through for some that are not needed; each time at most every second one goes."""


def rotation_keys(times_s: FloatArray, rotations: FloatArray, tolerance_rad: float, starts: BoolArray) -> BoolArray:
    """Return a mask (F, T) of the samples to keep as keys so that normalised LERP stays within a tolerance.

    times_s: (F,) ascending, all different; rotations: (F, T, 4) unit, neighbours in one hemisphere.
    starts: (F,) mask of samples that begin as keys in every track, which saves time; unneeded ones are removed at the
    end. The first and the last sample are always keys.
    """
    # The chord between unit quaternions is 2·sin(angle/4), so tolerance/2 for small ones.
    return _keys(times_s, rotations, tolerance_rad / 2.0, starts, is_rotation=True)


def vector_keys(times_s: FloatArray, vectors: FloatArray, tolerance: float, starts: BoolArray) -> BoolArray:
    """Return a mask (F, T) of the samples to keep as keys so that linear interpolation stays within a tolerance.

    vectors: (F, T, C); the rest as in rotation_keys.

    >>> bent = np.array((0.0, 1.0, 2.0, 1.0, 0.0))[:, None, None]
    >>> vector_keys(np.arange(5.0), bent, 0.01, np.zeros(5, dtype=np.bool_))[:, 0].tolist()
    [True, False, True, False, True]
    """
    return _keys(times_s, vectors, tolerance, starts, is_rotation=False)


def _keys(times_s: FloatArray, values: FloatArray, tolerance: float, starts: BoolArray, is_rotation: bool) -> BoolArray:
    """Split where a line misses most until none misses (Ramer 1972, Douglas and Peucker 1973), all tracks at once."""
    frames, tracks, channels = values.shape
    starts = starts.copy()
    starts[[0, -1]] = True
    keys = np.empty((tracks, frames), dtype=np.bool_)
    for start in range(0, tracks, _TRACKS_AT_ONCE):
        part = np.ascontiguousarray(values[:, start:start + _TRACKS_AT_ONCE].swapaxes(0, 1))
        chosen = np.tile(starts, (len(part), 1))
        flat = np.tile(times_s, len(part)), part.reshape(-1, channels), tolerance ** 2, chosen.reshape(-1), is_rotation
        _split(*flat)
        doubtful = np.tile(starts, (len(part), 1))
        doubtful[:, [0, -1]] = False
        for _ in range(_CLEARINGS):
            _drop(*flat, np.flatnonzero(doubtful.reshape(-1) & chosen.reshape(-1)))
        keys[start:start + _TRACKS_AT_ONCE] = chosen
    return keys.T


def _split(times_s: FloatArray, values: FloatArray, tolerance_squared: float, keys: BoolArray,
           is_rotation: bool) -> None:
    """Add to keys (N,), of one track after another, until all samples between them fit."""
    at = np.flatnonzero(~keys)
    rows = np.flatnonzero(keys)
    after = np.searchsorted(rows, at)
    low, high = rows[after - 1], rows[after]
    while len(at):
        error = _errors(times_s, values, at, low, high, is_rotation)
        is_first = np.append(True, low[1:] != low[:-1])
        segment = np.cumsum(is_first) - 1
        worst = np.maximum.reduceat(error, np.flatnonzero(is_first))
        misses = (worst > tolerance_squared)[segment]
        candidates = np.flatnonzero(misses & (error == worst[segment]))
        split = np.zeros(len(worst), dtype=np.int64)
        split[segment[candidates[::-1]]] = at[candidates[::-1]]  # of equal ones the first
        keys[split[worst > tolerance_squared]] = True
        at, low, high, middle = at[misses], low[misses], high[misses], split[segment[misses]]
        low, high = np.where(at > middle, middle, low), np.where(at < middle, middle, high)
        inside = at != middle
        at, low, high = at[inside], low[inside], high[inside]


def _drop(times_s: FloatArray, values: FloatArray, tolerance_squared: float, keys: BoolArray, is_rotation: bool,
          doubtful: IntArray) -> None:
    """Remove those of the doubtful keys that a line between their neighbours comes close enough to."""
    rows = np.flatnonzero(keys)
    rank = np.searchsorted(rows, doubtful)
    run = np.maximum.accumulate(np.where(np.diff(rank, prepend=-2) > 1, rank, 0))
    of_two = (rank - run) % 2 == 0  # two neighbours are not removed at once: each needs the other
    doubtful, rank = doubtful[of_two], rank[of_two]
    low, high = rows[rank - 1], rows[rank + 1]
    count = high - low - 1
    group = np.repeat(np.arange(len(count)), count)
    at = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count) + low[group] + 1
    error = _errors(times_s, values, at, low[group], high[group], is_rotation)
    if len(count):
        worst = np.maximum.reduceat(error, np.cumsum(count) - count)
        keys[doubtful[worst <= tolerance_squared]] = False


def _errors(times_s: FloatArray, values: FloatArray, at: IntArray, low: IntArray, high: IntArray,
            is_rotation: bool) -> FloatArray:
    """Return the squared distances of samples from the lines between the keys around them."""
    start = times_s[low]
    share = (times_s[at] - start) / (times_s[high] - start)
    first = values[low]
    guess = first + (values[high] - first) * share[:, None]
    if is_rotation:
        guess /= np.sqrt(np.einsum("nc,nc->n", guess, guess))[:, None]
    guess -= values[at]
    return np.asarray(np.einsum("nc,nc->n", guess, guess))
