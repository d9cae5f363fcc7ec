"""Find where sounds begin by how much louder each frequency band has just become (Bello et al. 2005, section III-B)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..maths.arrays import Float32Array, FloatArray

RATE_HZ = 22050.0
"""The rate of samples that is expected; whoever reads a sound resamples it."""

_WINDOW, _HOP, _BANDS = 1024, 128, 36
_LOWEST_HZ, _HIGHEST_HZ = 30.0, 10000.0
_FRAMES_AT_ONCE = 4096
_LEAST_RISE = 1e-3
_SPREAD_S = 0.015
"""Over so much the strength of onsets is smoothed."""
_NORMAL_S = 4.0
"""Over so much loud and soft parts are brought to one size."""
_LOUDEST = 1e6
"""Samples are from −1 to 1; what is far louder is no sound, and would drown all else."""


@dataclass(frozen=True, eq=False)
class Onsets:
    """Onsets at F instants. strength: (F, 2) of low sounds, which show the beat, and of all sounds; typically 1.

    rate_hz: instants per second. The first is at 0 s.
    """

    strength: FloatArray
    rate_hz: float


def find_onsets(samples: FloatArray | Float32Array) -> Onsets:
    """Measure how strongly sounds begin at each instant of N samples, (N,), at RATE_HZ."""
    loudness = np.log1p(_bands(samples))
    rise = np.maximum(loudness[2:] - loudness[:-2] - _LEAST_RISE, 0.0)
    # A rise from the frame before to the one behind belongs to the one between.
    rise = np.pad(rise, ((1, 1), (0, 0)))[:len(loudness)]
    rate = RATE_HZ / _HOP
    low = rise @ _share_of_low()
    return Onsets(_evened(np.stack((low, rise.mean(axis=1)), axis=1), rate), rate)


def _bands(samples: FloatArray | Float32Array) -> FloatArray:
    """Return the energies of bands at each instant, (F, B), the sound's usual energy of each band being 1."""
    # A window hears a sound that begins best when its rising half has passed it: a quarter of it earlier.
    heard = np.clip(np.nan_to_num(samples, nan=0.0), -_LOUDEST, _LOUDEST)
    padded = np.pad(heard, (_WINDOW * 3 // 4, _WINDOW // 4))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::_HOP]
    window, filters = np.hanning(_WINDOW), _filters()
    energy = np.concatenate([np.abs(np.fft.rfft(frames[start:start + _FRAMES_AT_ONCE] * window)) ** 2 @ filters
                             for start in range(0, len(frames), _FRAMES_AT_ONCE)])
    usual = np.mean(energy, axis=0)
    return np.asarray(np.sqrt(energy / np.where(usual > 0.0, usual, 1.0)) * 10.0)


@cache
def _filters() -> FloatArray:
    """Return which frequencies each band takes, (W // 2 + 1, B): triangles, evenly spread by ear (mel)."""
    mel = np.linspace(_mel(_LOWEST_HZ), _mel(_HIGHEST_HZ), _BANDS + 2)
    edges = 700.0 * np.expm1(mel / 1127.0)
    frequency = np.fft.rfftfreq(_WINDOW, 1.0 / RATE_HZ)[:, None]
    up = (frequency - edges[:-2]) / (edges[1:-1] - edges[:-2])
    down = (edges[2:] - frequency) / (edges[2:] - edges[1:-1])
    return np.asarray(np.maximum(np.minimum(up, down), 0.0))


def _mel(frequency_hz: float) -> float:
    return 1127.0 * float(np.log1p(frequency_hz / 700.0))


@cache
def _share_of_low() -> FloatArray:
    """Return how much each band counts among low sounds, (B,): drums do, cymbals do not."""
    middle = 700.0 * np.expm1(np.linspace(_mel(_LOWEST_HZ), _mel(_HIGHEST_HZ), _BANDS + 2)[1:-1] / 1127.0)
    share = 1.0 / (1.0 + (middle / 500.0) ** 2)
    return np.asarray(share / share.sum())


def _evened(strength: FloatArray, rate: float) -> FloatArray:
    """Smooth a little, take away what lies there always, and bring loud and soft parts to one size, (F, C)."""
    smooth = _convolved(strength, np.hanning(2 * max(1, round(_SPREAD_S * rate)) + 3)[1:-1])
    around = np.hanning(2 * round(_NORMAL_S * rate / 2.0) + 3)[1:-1]
    above = np.maximum(smooth - _convolved(smooth, around), 0.0)
    usual = np.sqrt(np.maximum(_convolved(above**2, around), 0.0))
    floor = 0.1 * np.sqrt(np.mean(above**2, axis=0)) + 1e-9
    return np.asarray(above / np.maximum(usual, floor))


def _convolved(values: FloatArray, kernel: FloatArray) -> FloatArray:
    """Return the means around each instant, weighted by a kernel; beyond the ends nothing is counted."""
    size = len(values) + len(kernel) - 1
    length = 1 << (size - 1).bit_length()
    columns = np.column_stack((values, np.ones(len(values))))
    spectrum = np.fft.rfft(columns, length, axis=0) * np.fft.rfft(kernel, length)[:, None]
    total = np.fft.irfft(spectrum, length, axis=0)[len(kernel) // 2:][:len(values)]
    return np.asarray(total[:, :-1] / np.maximum(total[:, -1:], 1e-12))
