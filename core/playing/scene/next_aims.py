"""When aims act: a hand that reaches for something and then for something else goes straight from one to the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...maths.arrays import FloatArray, IntArray
from .aim import TimedAim

_SAME_S: Final = 1e-6
_HANDS: Final = ("l", "r")


def spans_s(aims: Sequence[TimedAim]) -> FloatArray:
    """Return begin_s, there_s, end_s and back_s of aims, (A, 4), as they act one after another.

    If a hand begins to reach for something before it is back from something else, it stays there until it has left for
    the next. Later aims override earlier ones. So of two aims the one below has full weight while the other one blends.

    >>> from ...errors import Place
    >>> from .cast import ScenePlace
    >>> spot = ScenePlace((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    >>> first, then = (TimedAim("cup", spot, "r", Place(), *span) for span in ((1, 2, 3, 3.5), (3, 4, 5, 5.5)))
    >>> spans_s((first, then)).tolist()
    [[1.0, 2.0, 4.0, 4.0], [3.0, 4.0, 5.0, 5.5]]
    """
    found = np.array([(aim.begin_s, aim.there_s, aim.end_s, aim.back_s) for aim in aims], dtype=np.float64)
    found = found.reshape(-1, 4)
    for hand in _HANDS:
        own = np.array([number for number, aim in enumerate(aims) if aim.hand == hand], dtype=np.int64)
        if len(own) > 1:
            found[own] = _one_after_another(found[own], *_pairs(found[own]))
    return found


def _pairs(given: FloatArray) -> tuple[IntArray, IntArray]:
    """Return aims (P,) that end where other aims (P,) take the hand on."""
    begin, there, end, back = given.T
    goes_on = (begin > begin[:, None]) & (begin < back[:, None] - _SAME_S) & (there >= end[:, None])
    first = np.flatnonzero(goes_on.any(axis=1))
    return first, np.where(goes_on, begin, np.inf)[first].argmin(axis=1)


def _one_after_another(given: FloatArray, first: IntArray, then: IntArray) -> FloatArray:
    found, is_below = given.copy(), first < then
    below, above = first[is_below], then[is_below]
    found[below, 2:] = given[above, 1:2]
    above, below = first[~is_below], then[~is_below]
    is_covered = given[below, 0] >= given[above, 1]
    above, below = above[is_covered], below[is_covered]
    found[above, 2], found[above, 3] = np.maximum(given[above, 2], given[below, 0]), given[below, 1]
    found[below, :2] = given[above, 2:3]
    return found
