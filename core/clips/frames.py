"""Durations in seconds as whole frames."""

from typing import Final

import numpy as np

_SAME_FRAME: Final = 0.02
"""Tolerance in frames. Files store durations in few digits, or in single precision: the error is .004 of a frame after
ten minutes at 120 frames per second. An extra frame for so little would show no motion, and a loop would stop for an
instant.
"""

_MOST: Final = 1e15


def last_frame(duration_s: float, fps: float) -> int:
    """Return the first whole frame, from 0, at which a motion of duration_s that begins at frame 0 has ended.

    >>> last_frame(1.0, 24.0), last_frame(1.01, 24.0), last_frame(55 * 0.041667, 24.0)
    (24, 25, 55)
    """
    return int(np.clip(np.ceil(duration_s * fps - _SAME_FRAME), 0.0, _MOST))
