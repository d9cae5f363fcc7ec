"""Find the beats of a piece of music: the tempo by autocorrelation, the beats by dynamic programming (Ellis 2007).

The tempo may change: the autocorrelation is computed in windows, and the most likely path of the tempo through them is
found (Viterbi). Then the beats are placed along it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import Float32Array, FloatArray, IntArray
from .onsets import Onsets, find_onsets

SLOWEST_BPM, FASTEST_BPM = 55.0, 195.0
_TEMPI = 2.0 ** np.arange(np.log2(SLOWEST_BPM), np.log2(FASTEST_BPM), 1.0 / 96.0)
_WINDOW_S, _STEP_S = 8.0, 0.5
"""Length of the autocorrelation's windows, and the step between them."""
_FASTER, _BRISK_BPM = 1.35, 120.0
"""Power by which the faster of equally good tempi is preferred, and the brisk tempo up to which it is."""
_MOVE, _LEAP = 4.0, 1.5
"""What a change of tempo costs for each octave from one step to the next, and at most."""
_LOW_AND_ALL = (0.6, 0.4)
"""How much low sounds and all sounds count when the tempo is looked for."""
_LOW_AND_ALL_ON_BEATS = (0.85, 0.15)
"""And when beats are laid on onsets."""
_TIGHTNESS = 60.0
"""How much it costs that a beat is not one period after the one before (Ellis 2007, α)."""


@dataclass(frozen=True, eq=False)
class Beats:
    """Beats of music. times_s: (B,); confidence: 0 (noise) to 1, the share of the sound that begins on the beats."""

    times_s: FloatArray
    confidence: float

    @property
    def tempo_bpm(self) -> float:
        """The median number of beats per minute, or 0 if there are fewer than two beats."""
        return 60.0 / float(np.median(np.diff(self.times_s))) if len(self.times_s) > 1 else 0.0


def find_beats(samples: FloatArray | Float32Array) -> Beats:
    """Find the beats of samples (N,) at `onsets.RATE_HZ`; silence has none."""
    onsets = find_onsets(samples)
    if not onsets.strength.any():
        return Beats(np.zeros(0), 0.0)
    periods = _periods(onsets)
    strength = onsets.strength @ _LOW_AND_ALL_ON_BEATS
    frames = _trimmed(_tracked(strength, periods), strength)
    return Beats(_refined(frames, strength) / onsets.rate_hz, _confidence(frames, strength))


def _periods(onsets: Onsets) -> FloatArray:
    """Return how many instants the beat lasts at each instant, (F,)."""
    chosen = _smoothest(_likely_tempi(onsets))
    steps = np.arange(len(chosen)) * _STEP_S * onsets.rate_hz
    octaves = np.interp(np.arange(len(onsets.strength)), steps, np.log2(_TEMPI[chosen]))
    return np.asarray(60.0 * onsets.rate_hz / 2.0**octaves)


def _likely_tempi(onsets: Onsets) -> FloatArray:
    """Return how well each tempo explains the sound around each step of time, (S, T); the best of a step is 1.

    Sounds that repeat after a beat repeat after two beats still better, and hardly after a half: of tempi that repeat,
    the fastest is the beat.
    """
    size, step = round(_WINDOW_S * onsets.rate_hz), _STEP_S * onsets.rate_hz
    lags = 60.0 * onsets.rate_hz / _TEMPI
    padded = np.pad(onsets.strength, ((size // 2, size // 2 + 1), (0, 0)))
    starts = np.arange(0.0, len(onsets.strength), step).astype(np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(padded, size, axis=0)
    repeats = np.array([_repeats(windows[start], lags) for start in starts])
    likely = np.maximum(repeats, 0.0) * np.minimum(_TEMPI, _BRISK_BPM) ** _FASTER
    best = likely.max(axis=1, keepdims=True)
    return np.asarray(likely / np.where(best > 0.0, best, 1.0))


def _repeats(strength: FloatArray, lags: FloatArray) -> FloatArray:
    """Return how alike (2, W) strengths are to themselves some instants later, (T,): 1 for the same."""
    size = strength.shape[1]
    around = strength - strength.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(around, 2 * size, axis=1)
    product = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :size]
    likeness = product / np.maximum(product[:, :1], 1e-12) * size / (size - np.arange(size))
    return np.asarray(np.interp(lags, np.arange(size), np.array(_LOW_AND_ALL) @ likeness))


def _smoothest(likely: FloatArray) -> IntArray:
    """Return the path, (S,), through S steps of T tempi that is likely and changes little (Viterbi)."""
    octaves = np.log2(_TEMPI)
    moved = np.minimum(_MOVE * np.abs(octaves[:, None] - octaves), _LEAP)
    total, before = likely[0], np.zeros(likely.shape, dtype=np.int64)
    for step in range(1, len(likely)):
        reached = total - moved
        before[step] = reached.argmax(axis=1)
        total = reached.max(axis=1) + likely[step]
    path = np.zeros(len(likely), dtype=np.int64)
    path[-1] = total.argmax()
    for step in range(len(likely) - 1, 0, -1):
        path[step - 1] = before[step, path[step]]
    return path


def _tracked(strength: FloatArray, periods: FloatArray) -> IntArray:
    """Return the instants of beats that lie on strong onsets and one period apart (Ellis 2007, equation 5), (B,).

    A beat comes at least half a period after the one before, so that many instants are looked at in one step.
    """
    size = max(1, int(periods.min() / 2.0))
    reach = int(np.ceil(periods.max() * 2.0))
    total = np.concatenate((np.zeros(reach), strength / max(float(strength.std()), 1e-12)))
    before = np.full(len(strength), -1, dtype=np.int64)
    back = np.arange(size, reach + 1)
    for start in range(0, len(strength), size):
        now = np.arange(start, min(start + size, len(strength)))
        cost = _TIGHTNESS * np.log(back / periods[now][:, None]) ** 2
        reached = total[now[:, None] - back + reach] - cost
        best = reached.argmax(axis=1)
        gain = reached[np.arange(len(now)), best]
        before[now] = np.where(gain > 0.0, now - back[best], -1)
        total[now + reach] += np.maximum(gain, 0.0)
    beats = [int(len(strength) - reach + np.argmax(total[-reach:]))] if len(strength) else []
    while beats and (earlier := int(before[beats[-1]])) >= 0:
        beats.append(earlier)
    return np.array(beats[::-1], dtype=np.int64)


def _trimmed(frames: IntArray, strength: FloatArray) -> IntArray:
    """Leave out beats at the ends, where nothing sounds."""
    if not len(frames):
        return frames
    around = np.clip(frames[:, None] + np.arange(-4, 5), 0, len(strength) - 1)
    loud = strength[around].max(axis=1)
    heard = np.flatnonzero(loud > 0.3 * np.sqrt(np.mean(loud**2)))
    return frames[heard[0]:heard[-1] + 1] if len(heard) else frames[:0]


def _refined(frames: IntArray, strength: FloatArray) -> FloatArray:
    """Return where between instants the strength is greatest, from a parabola through three."""
    inner = np.clip(frames, 1, len(strength) - 2)
    left, middle, right = strength[inner - 1], strength[inner], strength[inner + 1]
    bend = left - 2.0 * middle + right
    is_peak = (bend < 0.0) & (middle >= left) & (middle >= right)
    return np.asarray(frames + np.where(is_peak, 0.5 * (left - right) / np.where(is_peak, bend, 1.0), 0.0))


def _confidence(frames: IntArray, strength: FloatArray) -> float:
    """Return how much stronger onsets are on the beats than elsewhere, 0 to 1."""
    if not len(frames):
        return 0.0
    around = np.clip(frames[:, None] + np.arange(-2, 3), 0, len(strength) - 1)
    on_beats, usual = float(strength[around].max(axis=1).mean()), float(strength.mean())
    return max(0.0, 1.0 - 3.0 * usual / on_beats) if on_beats > 0.0 else 0.0
