"""What lifts a body changes as gently as legs allow: near what is wanted, between what is lowest and highest.

Frame by frame each foot asks for a height of its own, and whoever follows that hops. So the lift is the curve c(t) that
bends least, for how far it is from what is wanted, w(t), and from where legs keep feet on the ground, low to high:

    minimum of  ∫ (c − w)² + τ⁴ c''² + μ (how far c is beyond low or high)²  dt

Without bounds that is a low pass without delay, 1 / (1 + (ω τ)⁴). Bounds count as μ says, not wholly: one that jumps
would make the body jump. Each step takes the bound that it is beyond as where it is to be, and solves the rest at once
by a Fourier transform (majorize and minimize; with the momentum of Nesterov 1983).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.keyed import SAMPLE_S
from ...maths.arrays import FloatArray

SOFT_S: Final = 0.12
"""τ above: what changes to and fro within 2 π times that is evened out by half."""
_FIRM: Final = 120.0
"""μ above."""
_STEPS: Final = 20
_BEYOND: Final = 45
"""Samples: what is farther beyond an end of the curve does not count."""


def smooth_between(times: FloatArray, wanted: FloatArray, low: FloatArray, high: FloatArray, *, is_cycle: bool,
                   soft_s: float = SOFT_S) -> FloatArray:
    """Return a curve (F,) at times (F,) that bends little, is near what is wanted (F,), and hardly leaves its bounds.

    low, high: (F,) each, the first no higher. is_cycle: what happens at the end is followed by the beginning; else the
    curve begins and ends where it is wanted, so that clips go on fitting together. soft_s: τ above.

    >>> times, hop = np.arange(61) / 60.0, 1.0 * (np.arange(61) == 30)
    >>> free, tight = (smooth_between(times, hop, hop - far, hop + far, is_cycle=False) for far in (9.0, 0.5))
    >>> float(free.max().round(2)), float(tight.max().round(2))
    (0.1, 0.47)
    """
    if len(times) < 3 or times[-1] - times[0] < 2.0 * SAMPLE_S:
        return wanted
    count = int(np.ceil((times[-1] - times[0]) / SAMPLE_S))
    every = np.linspace(times[0], times[-1], (_divisible(count) if is_cycle else count) + 1)
    line = wanted[0] + (0.0 if is_cycle else wanted[-1] - wanted[0]) * (every - times[0]) / (times[-1] - times[0])
    rounds = [np.interp(every, times, each) - line for each in (wanted, low, high)]
    goal, least, most = ([each[:-1] for each in rounds] if is_cycle else
                         [_turned(rounds[own], rounds[other]) for own, other in ((0, 0), (1, 2), (2, 1))])
    made = _bent_least(goal, least, most, (soft_s / (every[1] - every[0])) ** 4)
    return np.asarray(np.interp(times, every, np.append(made, made[:1])[:len(every)] + line))


def _bent_least(goal: FloatArray, least: FloatArray, most: FloatArray, stiff: float) -> FloatArray:
    """Return the curve (N,) through a round; stiff: what its second differences count, squared."""
    bends = stiff * (2.0 - 2.0 * np.cos(2.0 * np.pi * np.fft.rfftfreq(len(goal)))) ** 2
    found = np.fft.irfft(np.fft.rfft(goal) / (1.0 + bends), len(goal))
    ahead, share = found, 1.0 / (1.0 + _FIRM + bends)
    for turn in range(_STEPS):
        inside = np.minimum(np.maximum(ahead, least), most)
        inside *= _FIRM
        inside += goal
        new = np.fft.irfft(np.fft.rfft(inside) * share, len(goal))
        ahead, found = new + turn / (turn + 3.0) * (new - found), new
    return found


def _divisible(count: int) -> int:
    """Return the next number that is a power of two, or as a half, a quarter or an eighth more of one."""
    power = 1 << max(int(count - 1).bit_length(), 4)
    return next(each for each in (power * 9 // 16, power * 5 // 8, power * 3 // 4, power) if each >= count)


def _turned(values: FloatArray, others: FloatArray) -> FloatArray:
    """Return values (F,), and what stands for them beyond either end, turned about it, as one round.

    others: (F,) the values themselves, which are 0 at the ends; or, of bounds, the other ones. So a curve between them
    is 0 at the ends, too.
    """
    last = len(values) - 1
    size = min(_divisible(last + 1 + 2 * _BEYOND), 2 * last)
    after = last + 1 + (size - last - 1) // 2
    rows = np.concatenate((np.arange(after), np.arange(after - size, 0))) % (2 * last)
    is_turned = rows > last
    rows[is_turned] = 2 * last - rows[is_turned]
    made = np.where(is_turned, -others[rows], values[rows])
    made[[0, last]] = 0.5 * (values[[0, last]] - others[[0, last]])
    return made
