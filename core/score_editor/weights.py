"""The line over each lane of a block that shows its weight from begin to end."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray
from .lanes import Voice
from .stripes import TITLE_PX, Stripes
from .view import View

_INSET_PX = 3.0
HANDLE_PX = 6.0
"""Distance from an end of a line at which it can be grabbed, in pixels at an interface scale of 1."""


def counts_wholly(voice: Voice) -> bool:
    """Return whether a lane has full weight from end to end, as far as the score says."""
    return (voice.weight, voice.weight_end) == (1.0, 1.0) and not (voice.ease_in > 0.0 or voice.ease_out > 0.0)


def weight_line(voice: Voice, view: View, stripes: Stripes) -> FloatArray:
    """Return the points (4, 2) of a lane's line in pixels: its begin, end of ease in, begin of ease out, its end.

    Heights are the weights: 0 is at the lane's foot, 1 below its titles. Only eases given by the score are shown.
    """
    ease_in, ease_out = (0.0 if np.isnan(ease) else ease for ease in (voice.ease_in, voice.ease_out))
    share = np.array((0.0, ease_in, voice.length - ease_out, voice.length)) / max(voice.length, 1e-12)
    share = np.sort(np.clip(share, 0.0, 1.0))
    height = voice.weight + (voice.weight_end - voice.weight) * share
    height[0], height[-1] = (0.0 if ease_in else height[0]), (0.0 if ease_out else height[-1])
    low, high = weight_span(voice, view, stripes)
    top = max(float(height.max()), 1.0)
    return np.stack((view.x(voice.begin + share * voice.length), low + (high - low) * height / top), axis=-1)


def weight_span(voice: Voice, view: View, stripes: Stripes) -> tuple[float, float]:
    """Return the heights of weights 0 and 1, in pixels from the window's lower edge."""
    low = float(stripes.box_low[voice.lane]) + _INSET_PX * view.scale
    high = float(stripes.lane_high[voice.lane]) - (voice.depth - stripes.tops[voice.lane] + 1.0) * TITLE_PX * view.scale
    return low, max(high, low + view.scale)


def stroke(points: FloatArray, wide: float) -> FloatArray:
    """Return the corners (6 (P − 1), 2) of triangles that draw a line through points (P, 2)."""
    begin, end = points[:-1], points[1:]
    along = end - begin
    length = np.hypot(along[:, 0], along[:, 1])
    across = np.stack((-along[:, 1], along[:, 0]), axis=-1) / np.maximum(length, 1e-9)[:, None] * wide / 2.0
    corners = np.stack((begin - across, end - across, end + across, begin - across, end + across, begin + across),
                       axis=1)
    return np.asarray(corners.reshape(-1, 2))


def handle_at(voice: Voice, view: View, stripes: Stripes, x: float, y: float) -> bool | None:
    """Return whether a pixel is on the end (True) or the begin (False) of a lane's line, or None if on neither."""
    line = weight_line(voice, view, stripes)
    for is_right, ends in ((False, line[:2]), (True, line[2:])):
        if (np.hypot(ends[:, 0] - x, ends[:, 1] - y) <= HANDLE_PX * view.scale).any():
            return is_right
    return None
