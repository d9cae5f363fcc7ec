"""How long smooth curves with bounds take, for contacts of ten minutes: bench displacement.

Prints processor time, the best of three, for the wishes alone and with bounds, the rounds, and by how much the worst
curve misses a bound. 14,400 frames are ten minutes at 24 frames a second.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from takt.benchmarks.timing import say, seconds
from takt.core.maths.displacement import DisplacementProblem, solve_displacement

FPS = 24.0
SIZES = ((14_400, 24), (14_400, 1), (72_000, 24))
LIMIT_S = 0.3
SMOOTHING_S = 4.0 / FPS


def problem(frames: int, channels: int) -> DisplacementProblem:
    """Return wishes that count by turns, and a lower bound that stands up again and again."""
    times, channel = np.arange(frames) / FPS, np.arange(channels)[:, None]
    wish = 0.1 * np.sin(times * np.random.default_rng(0).uniform(0.5, 3.0, channels)[:, None])
    beat = np.sin(4.0 * times + channel)
    weight, lo = np.where(beat > 0.0, 1.0, 1e-3), np.where(beat > 0.2, -0.02, -1.0)
    return DisplacementProblem(wish, weight, lo, np.full_like(wish, np.inf), np.full(channels, SMOOTHING_S), 1.0 / FPS)


def main() -> None:
    """Measure and print."""
    for frames, channels in SIZES:
        bounded = problem(frames, channels)
        free = replace(bounded, lo=np.full_like(bounded.lo, -np.inf))
        made = solve_displacement(bounded)
        limit = f" (limit {LIMIT_S} s)" if (frames, channels) == SIZES[0] else ""
        say(f"{frames} frames × {channels} channels: wishes {seconds(partial(solve_displacement, free), 3):.3f} s, "
            f"with bounds {seconds(partial(solve_displacement, bounded), 3):.3f} s{limit} in {made.rounds} rounds, "
            f"worst miss {np.maximum(bounded.lo - made.curves, 0.0).max():.0e}")


if __name__ == "__main__":
    main()
