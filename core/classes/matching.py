"""Similarity of clips: by poses and velocities over time, as in motion matching.

S. Clavet, Motion Matching and The Road to Next-Gen Animation, GDC 2016; the 27 numbers of D. Holden, O. Kanoun, M.
Perepichka, T. Popa, Learned Motion Matching, 2020, §3: positions and velocities of the feet, velocity of the hips, and
position and heading of the body in a third, two thirds and a whole second, all in body space.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from .measures import Followed

NUMBERS: Final = 27
MOMENTS: Final = 8
"""Evenly spread over each clip."""
_AHEAD_S: Final = (1.0 / 3.0, 2.0 / 3.0, 1.0)
_SCALES: Final = np.repeat((0.35, 1.2, 0.8, 0.7, 0.7), (6, 6, 3, 6, 6))
"""What differs by so much, in legs, legs per second and shares of a unit vector, differs alike: about the standard
deviations over walks, runs and dances."""


def features(body: Followed) -> FloatArray:
    """Return the 27 numbers of each frame, (F, 27); see above. After the end the body moves on at its last velocity."""
    times = body.times_s
    step_s = max(float(times[1] - times[0]), 1e-6)
    feet = np.concatenate([body.seen_from_body(body.at[f"{side}_ankle"]) for side in "lr"], axis=1)
    left = np.cross(np.array((0.0, 1.0, 0.0)), body.forward)
    axes = np.stack((left, np.broadcast_to((0.0, 1.0, 0.0), left.shape), body.forward), axis=1)
    hips = np.gradient(body.hips, step_s, axis=0)
    found = [feet, np.gradient(feet, step_s, axis=0), np.einsum("fij,fj->fi", axes, hips)]
    level, facing = body.hips, body.forward
    for part, is_way in ((level, True), (facing, False)):
        for ahead_s in _AHEAD_S:
            later = np.arange(len(times)) + round(ahead_s / step_s)
            inside = np.minimum(later, len(times) - 1)
            there = part[inside]
            if is_way:
                there = there + (later - inside)[:, None] * step_s * hips[-1] * np.array((1.0, 0.0, 1.0)) - part
            found.append(np.einsum("fij,fj->fi", axes, there)[:, [0, 2]])
    return np.concatenate(found, axis=1)


def fingerprint(body: Followed) -> FloatArray:
    """Return the features of a clip at MOMENTS moments, scaled to comparable sizes, (MOMENTS, 27)."""
    every = features(body)
    at = np.linspace(0, len(every) - 1, MOMENTS).round().astype(np.int64)
    return np.asarray(every[at] / _SCALES)


def distances(wanted: FloatArray, others: FloatArray) -> FloatArray:
    """Return the differences (N,) of clips (N, MOMENTS, 27) from one clip (MOMENTS, 27): 0 for itself.

    Each moment of either clip is compared with the nearest moment of the other one, whenever that is. So it makes no
    difference where clips begin.

    >>> moments = np.arange(8 * 27.0).reshape(8, 27)
    >>> distances(moments, np.stack((moments, np.roll(moments, 3, axis=0), moments + 1.0))).round(3).tolist()
    [0.0, 0.0, 5.196]
    """
    if not len(others):
        return np.zeros(0)
    flat = others.reshape(-1, NUMBERS)
    squares = np.square(flat).sum(axis=1)[:, None] + np.square(wanted).sum(axis=1) - 2.0 * flat @ wanted.T
    apart = np.sqrt(np.maximum(squares, 0.0)).reshape(len(others), -1, len(wanted))
    return np.asarray((apart.min(axis=1).mean(axis=1) + apart.min(axis=2).mean(axis=1)) / 2.0)
