"""Shortens steps that would be faster than the clips' own feet, by moving their footholds.

A step with too little time for its distance could otherwise only be hurried, or left out. The excess distance is shared
by the footholds before and after it, most of it by the one with the shorter contact. Each foothold's distance from the
clip's position is limited. All steps of a foot are solved together, since a foothold lies between two of them (position
based dynamics: Müller et al. 2007, with all constraints at once).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.thresholds import HELD_S
from ...maths.arrays import ROUNDING, BoolArray, ComplexArray, FloatArray, IntArray

BESIDE_LEGS: Final = 0.15
"""Greatest distance of a foothold from the clip's position, in leg lengths: legs reach that far.

If one clip continues another, a foot that slides in the clips stays where it was up to this distance.
"""
_PASSES: Final = 24
_CAREFUL: Final = 0.8
"""Share of the excess that is removed in each round: footholds pulled to both sides would oscillate."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """The correspondence of a loop's rounds, for H footholds.

    same: (H,) numbers; footholds with equal numbers are of the same clip in another round. turned: (H,) complex of
    length 1, each one's rotation over the ground. is_asked: (H,) one of each number; the others follow it.
    """

    same: IntArray
    turned: ComplexArray
    is_asked: BoolArray

    @classmethod
    def of(cls, number: IntArray, turned: ComplexArray, rounds: int) -> Rounds:
        """Take the footholds with these numbers (H,), in order, of successive rounds."""
        of_round = max(len(turned) // rounds, 1)
        return cls(number % of_round, turned[number], number // of_round == rounds // 2)


def shortened(at: ComplexArray, held_s: FloatArray, most: FloatArray, leg_length: float,
              rounds: Rounds, astray: FloatArray | None = None) -> ComplexArray:
    """Return footholds, (H,) complex over the ground, whose distances are limited.

    at: (H,) the clips' positions. held_s: (H,) contact durations. most: (H − 1,) greatest distance from each to the
    next. astray: (H,) distance from the clip's position already, None for zero. If footholds may not move far enough,
    distances stay longer.

    >>> one = Rounds.of(np.arange(2), np.ones(2, dtype=complex), 1)
    >>> at, held_s, most = np.array((0.0, 0.5), dtype=complex), np.array((3.0, 1.0)), np.array((0.4,))
    >>> shortened(at, held_s, most, 1.0, one).real.round(3).tolist()
    [0.025, 0.425]
    """
    held_s, moved = np.maximum(held_s, HELD_S), np.zeros(int(rounds.same.max(initial=-1)) + 1, dtype=np.complex128)
    share, found = held_s[1:] / (held_s[1:] + held_s[:-1]), at
    asked, limit = rounds.same[rounds.is_asked], np.full(len(moved), BESIDE_LEGS * leg_length)
    if astray is not None:
        limit[asked] = np.maximum(limit[asked] - astray[rounds.is_asked], 0.0)
    for _ in range(_PASSES):
        apart = np.diff(found)
        far = np.abs(apart)
        beyond = np.maximum(far - most, 0.0)
        if not np.count_nonzero(beyond > ROUNDING * leg_length):
            break
        push = _CAREFUL * apart * beyond / np.maximum(far, 1e-30)
        pushed = np.append(share * push, 0.0) - np.append(0.0, (1.0 - share) * push)
        moved[asked] += (pushed / rounds.turned)[rounds.is_asked]
        moved *= np.minimum(limit / np.maximum(np.abs(moved), 1e-30), 1.0)
        found = at + rounds.turned * moved[rounds.same]
    return found
