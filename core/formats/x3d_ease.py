"""Interpolators of X3D that take their fraction from a ScalarInterpolator, by which motion begins and ends softly.

Source: ISO/IEC 19775-1:2023, X3D, 19.4.10 (ScalarInterpolator); 19.2.1: how interpolators are put behind each other.
"""

from __future__ import annotations

import numpy as np

from ..clips.keyed import interpolated
from ..maths import rotations as rot
from .x3d_carrier import Keys


def eased(keys: Keys, ease: Keys) -> Keys:
    """Return keys that are played as an ease says: where it is at a time, in seconds of the keys.

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
