"""Drums that we play ourselves, so that every beat is known: patterns, tempi, swing, ramps, noise, chosen by a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from takt.core.maths.arrays import FloatArray

RATE = 22050

# Strokes of each drum in one bar: twelve steps a beat, so that sixteenths and triplets have theirs.
STEPS = 12
_EIGHTHS, _SIXTEENTHS = tuple(range(0, 48, 6)), tuple(range(0, 48, 3))
PATTERNS: dict[str, dict[str, tuple[int, ...]]] = {
    "rock": {"kick": (0, 24, 30), "snare": (12, 36), "hat": _EIGHTHS},
    "ballad": {"kick": (0, 24), "snare": (12, 36), "hat": _EIGHTHS},
    "plain": {"kick": (0, 24), "snare": (12, 36)},
    "house": {"kick": (0, 12, 24, 36), "snare": (12, 36), "hat": (6, 18, 30, 42)},
    "techno": {"kick": (0, 12, 24, 36), "hat": _SIXTEENTHS},
    "funk": {"kick": (0, 9, 24, 30), "snare": (12, 36), "hat": _SIXTEENTHS},
    "shuffle": {"kick": (0, 24), "snare": (12, 36), "hat": (0, 8, 12, 20, 24, 32, 36, 44)},
    "swing": {"kick": (0, 24), "hat": (12, 36), "ride": (0, 12, 20, 24, 36, 44)},
    "waltz": {"kick": (0,), "snare": (12, 24), "hat": (0, 6, 12, 18, 24, 30)},
}
BARS = {"waltz": 36}


@dataclass(frozen=True, eq=False)
class Loop:
    """samples: (N,) at RATE; beats_s: where its beats are; seconds of the first and of the last beat."""

    name: str
    samples: FloatArray
    beats_s: FloatArray
    first_s: float
    last_s: float


def loop(seed: int) -> Loop:
    """Play one: 60 to 180 beats a minute, straight or swung, even or changing tempo, clean or noisy to 0 dB."""
    rng = np.random.default_rng(seed)
    pattern = str(rng.choice(list(PATTERNS)))
    bpm = float(rng.uniform(60.0, 180.0))
    change = str(rng.choice(("even", "even", "ramp", "step")))
    other = float(np.clip(bpm * rng.uniform(0.8, 1.25), 60.0, 180.0)) if change != "even" else bpm
    noise_db = float(rng.choice((60.0, 20.0, 10.0, 0.0)))
    swing = float(rng.choice((0.5, 0.5, 0.58, 0.66)))
    lengths = _beat_lengths(60.0 / bpm, 60.0 / other, change)
    beats = float(rng.uniform(0.1, 2.0)) + np.concatenate(((0.0,), np.cumsum(lengths)))
    samples = _played(PATTERNS[pattern], BARS.get(pattern, 48), beats, swing, rng)
    samples += _noise(samples, noise_db, rng)
    name = f"{pattern} {bpm:.0f} to {other:.0f} ({change}), swing {swing}, {noise_db:.0f} dB"
    return Loop(name, samples / np.abs(samples).max(), beats[:-1], lengths[0], lengths[-1])


def _beat_lengths(first_s: float, last_s: float, change: str) -> FloatArray:
    """Return the lengths of beats for about half a minute."""
    number = int(30.0 / ((first_s + last_s) / 2.0)) // 4 * 4
    way = np.linspace(0.0, 1.0, number) if change == "ramp" else (np.arange(number) >= number // 2).astype(float)
    return first_s + (last_s - first_s) * way


def _played(pattern: dict[str, tuple[int, ...]], bar: int, beats: FloatArray, swing: float,
            rng: np.random.Generator) -> FloatArray:
    total = np.zeros(int((beats[-1] + 1.0) * RATE))
    for drum, strokes in pattern.items():
        steps = np.concatenate([np.array(strokes) + first for first in range(0, (len(beats) - 1) * STEPS, bar)])
        shares = steps / STEPS
        # The second eighth of a beat comes late; all between is stretched with it. Triplets are swung as they are.
        part = shares % 1.0
        late = np.where(part <= 0.5, part * 2.0 * swing, swing + (part - 0.5) * 2.0 * (1.0 - swing))
        shares = np.floor(shares) + np.where(np.isin(steps % STEPS, (4, 8)), part, late)
        shares = shares[shares < len(beats) - 1]
        at = np.interp(shares, np.arange(len(beats)), beats) + rng.normal(0.0, 0.004, len(shares))
        strengths = _LOUDNESS[drum] * rng.uniform(0.7, 1.0, len(shares))
        sound = _stroke(drum, rng)
        for start, strength in zip((np.maximum(at, 0.0) * RATE).astype(int), strengths, strict=True):
            end = min(start + len(sound), len(total))
            total[start:end] += strength * sound[:end - start]
    return total


_LOUDNESS = {"kick": 1.0, "snare": 0.7, "hat": 0.25, "ride": 0.35}


def _stroke(drum: str, rng: np.random.Generator) -> FloatArray:
    time = np.arange(int(0.3 * RATE)) / RATE
    noise = rng.normal(0.0, 0.5, len(time))
    bright = np.diff(noise, prepend=0.0)
    if drum == "kick":
        turns = 50.0 * time + 4.0 * (1.0 - np.exp(-time / 0.03))
        return np.asarray(np.sin(2.0 * np.pi * turns) * np.exp(-time / 0.09))
    if drum == "snare":
        return np.asarray((noise + 0.6 * np.sin(2.0 * np.pi * 190.0 * time)) * np.exp(-time / 0.06))
    return bright * np.exp(-time / (0.03 if drum == "hat" else 0.09))


def _noise(samples: FloatArray, noise_db: float, rng: np.random.Generator) -> FloatArray:
    level = np.sqrt(np.mean(samples**2)) * 10.0 ** (-noise_db / 20.0)
    return rng.normal(0.0, level, len(samples))


def f_measure(found_s: FloatArray, true_s: FloatArray, within_s: float = 0.07) -> float:
    """Return how well found beats agree with the true ones, 0 to 1: each counts once, within 70 ms (Dixon 2007)."""
    if not len(found_s) or not len(true_s):
        return 0.0
    nearest = np.abs(found_s[:, None] - true_s).argmin(axis=1)
    is_hit = np.abs(found_s - true_s[nearest]) <= within_s
    return 2.0 * len(np.unique(nearest[is_hit])) / (len(found_s) + len(true_s))
