"""Curves that lie above others, with limited upward curvature."""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray


def bowl_above(times: FloatArray, values: FloatArray, opens_per_s2: float) -> FloatArray:
    """Return the lowest curve (F,) above values (F,) whose valleys are no narrower than a given parabola.

    times: (F,) ascending. opens_per_s2: the second derivative of the parabola, which opens upwards, above 0. This is a
    closing of mathematical morphology (Serra 1982): valleys are filled where they are narrower than the parabola; hills
    stay.

    >>> bowl_above(np.arange(5.0), np.array((2.0, 1.0, 0.0, 1.0, 2.0)), 1.0).tolist()
    [2.0, 1.0, 0.5, 1.0, 2.0]
    """
    deep, bowl = np.ptp(values), values
    if deep == 0.0:
        return values
    for sign in (-1.0, 1.0):
        found = bowl.copy()
        for apart in range(1, len(times)):
            opens = 0.5 * opens_per_s2 * (times[apart:] - times[:-apart]) ** 2
            if opens.min() > deep:
                break
            for near, far in ((slice(apart, None), slice(-apart)), (slice(-apart), slice(apart, None))):
                beyond = bowl[far] + sign * opens
                found[near] = np.maximum(found[near], beyond) if sign < 0.0 else np.minimum(found[near], beyond)
        bowl = found
    return bowl
