"""The waveform of a sound along a time axis, for drawing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import Float32Array, FloatArray

_FINEST = 64


@dataclass(frozen=True, eq=False)
class Waveform:
    """The lowest and highest samples in pieces of several lengths, so that each zoom needs about as many numbers.

    levels: each (P, 2), of pieces of 64 samples, of 128, and so on; rate_hz: samples per second; duration_s.
    """

    levels: tuple[FloatArray, ...]
    rate_hz: float
    duration_s: float

    @property
    def size(self) -> int:
        """The size of its arrays in bytes."""
        return sum(level.nbytes for level in self.levels)

    @classmethod
    def of(cls, samples: FloatArray | Float32Array, rate_hz: float) -> Waveform:
        """Return the waveform of samples (N,)."""
        pieces = np.pad(samples, (0, -len(samples) % _FINEST)).reshape(-1, _FINEST)
        level = np.stack((pieces.min(axis=1), pieces.max(axis=1)), axis=1).astype(float)
        levels = [level]
        while len(level) > 1:
            level = np.pad(level, ((0, len(level) % 2), (0, 0)), mode="edge").reshape(-1, 2, 2)
            level = np.stack((level[:, :, 0].min(axis=1), level[:, :, 1].max(axis=1)), axis=1)
            levels.append(level)
        return cls(tuple(levels), rate_hz, len(samples) / rate_hz)

    def columns(self, edges_s: FloatArray) -> FloatArray:
        """Return the lowest and highest sample between neighbours of C + 1 rising times, (C, 2); 0 beyond the ends.

        >>> Waveform.of(np.repeat((0.0, 0.5, -1.0, 0.0), 64), 64.0).columns(np.array((0.0, 2.0, 4.0, 9.0))).tolist()
        [[0.0, 0.5], [-1.0, 0.0], [0.0, 0.0]]
        """
        if len(edges_s) < 2 or not len(self.levels[0]):
            return np.zeros((max(len(edges_s) - 1, 0), 2))
        wanted = float(np.median(np.diff(edges_s))) * self.rate_hz / _FINEST
        number = int(np.clip(np.floor(np.log2(max(wanted, 1.0))), 0, len(self.levels) - 1))
        level = np.concatenate((self.levels[number], np.zeros((1, 2))))
        size = _FINEST * 2**number
        at = np.round(edges_s * self.rate_hz / size)
        first = np.clip(at[:-1], 0, len(level) - 1).astype(np.int64)
        last = np.clip(np.maximum(at[1:], at[:-1] + 1), 0, len(level) - 1).astype(np.int64)
        # reduceat takes pairs of ends; the piece of zeros at the end stands for all beyond.
        pairs = np.stack((first, np.maximum(last, first)), axis=1).ravel()
        low = np.minimum.reduceat(level[:, 0], pairs)[::2]
        high = np.maximum.reduceat(level[:, 1], pairs)[::2]
        heard = ((edges_s[1:] > 0.0) & (edges_s[:-1] < self.duration_s))[:, None]
        return np.where(heard, np.stack((low, high), axis=1), 0.0)
