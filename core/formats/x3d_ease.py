"""Interpolators of X3D that take their fraction from an easing node, so that motion begins and ends softly.

Source: ISO/IEC 19775-1:2023, X3D, 19.4 (EaseInEaseOut, ScalarInterpolator); 19.2.1 (chains of interpolators).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..clips.keyed import interpolated
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .x3d_carrier import Keys

_PARTS: Final = 64
"""Number of straight parts that replace a parabola, with an error of at most 6e-5 of the whole."""


def softened(shares: FloatArray, easing: FloatArray) -> Keys:
    """Return the fractions of an EaseInEaseOut as keys over a clock's fraction; shares: its key (K,); easing: (N, 2).

    Between two keys, its fraction goes from 0 to 1, along a parabola at each end and a line between them. If easing is
    shorter than shares, its last pair is repeated; if it is empty, there is no easing.

    >>> soft = softened(np.array((0.0, 1.0)), np.array(((0.0, 0.5), (0.5, 0.0))))
    >>> np.interp((0.25, 0.5, 0.75), soft.times, soft.values[:, 0]).round(3).tolist()
    [0.125, 0.5, 0.875]
    """
    if len(shares) == 1:
        return Keys(shares, np.zeros((1, 1)))
    pairs = np.concatenate((easing if len(easing) else np.zeros((1, 2)), np.repeat(easing[-1:], len(shares), axis=0)))
    index = np.arange(len(shares)).clip(max=len(pairs) - 1)
    leaving, coming = pairs[index[:-1], 1, None], pairs[index[1:], 0, None]
    total = leaving + coming
    leaving, coming = (each / np.maximum(total, 1.0) for each in (leaving, coming))
    grid = np.linspace(0.0, 1.0, _PARTS + 1)
    part = np.sort(np.concatenate((leaving * grid, 1.0 - coming * grid), axis=1).clip(0.0, 1.0), axis=1)
    part[:, 0], part[:, -1] = 0.0, 1.0
    steep = 1.0 / (2.0 - leaving - coming)
    begins, ends = (steep * each / np.where(by > 0.0, by, 1.0) for each, by in (
        (part ** 2, leaving), ((1.0 - part) ** 2, coming)))
    values = np.where(part <= 1.0 - coming, steep * (2.0 * part - leaving), 1.0 - ends)
    values = np.where(part < leaving, begins, values)
    values = np.where(total < 0.0, part, values)
    times = shares[:-1, None] + part * np.diff(shares)[:, None]
    return Keys(times.ravel(), values.reshape(-1, 1))


def eased(keys: Keys, ease: Keys) -> Keys:
    """Return keys played at the times of an ease, whose values (K, 1) are times of the keys, in seconds.

    Between the ease's own keys it goes straight, so that each key of the motion that it passes comes once there.

    >>> turned = eased(Keys(np.array((0.0, 1.0, 2.0)), np.array(((0.0,), (5.0,), (5.0,)))),
    ...                Keys(np.array((0.0, 1.0, 2.0)), np.array(((0.0,), (0.5,), (2.0,)))))
    >>> turned.times.round(3).tolist(), turned.values[:, 0].tolist()
    ([0.0, 1.0, 1.333, 2.0], [0.0, 2.5, 5.0, 5.0])
    """
    times, at = ease.times, ease.values[:, 0]
    begins, ends = at[:-1, None], at[1:, None]
    part, key = np.nonzero((keys.times > np.minimum(begins, ends)) & (keys.times < np.maximum(begins, ends)))
    share = (keys.times[key] - at[part]) / (at[part + 1] - at[part])
    passed = times[part] + share * (times[part + 1] - times[part])
    rank = np.where(at[part + 1] < at[part], -key, key)
    order = np.lexsort((np.concatenate((np.full(len(times), -np.inf), rank)),
                        np.concatenate((np.arange(len(times)), part))))
    values = np.concatenate((interpolated(keys.times, keys.values, at), keys.values[key]))[order]
    return Keys(np.concatenate((times, passed))[order], rot.continuous(values) if values.shape[1] == 4 else values)
