"""The row under the lanes with a diamond at each key of tweaks that the user has set."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray
from .picture import Pen
from .stripes import Stripes
from .theme import Theme
from .view import View

_HALF_PX, _NEAR_PX = 5.0, 2.0
"""Pixels at an interface scale of 1: half of a diamond's width; distance beside it at which it can be pressed."""
_HOLLOW: Final = 0.6
"""Share of a silent key's diamond that is empty."""
_CORNERS = np.array(((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (1.0, 0.0), (0.0, -1.0)))


def draw_tweaks(pen: Pen, ticks: FloatArray, view: View, theme: Theme, stripes: Stripes,
                chosen: float | None = None, silent: BoolArray | None = None) -> None:
    """Draw diamonds at ticks (K,); of several at one pixel, only one. chosen: a tick whose diamond is highlighted.

    silent: (K,) diamonds drawn hollow, since only silent layers have these keys.
    """
    if stripes.tweaks is None:
        return
    x = view.x(ticks)
    seen = np.flatnonzero((x >= view.left) & (x <= view.width + _HALF_PX * view.scale))
    is_silent = np.zeros(len(x), dtype=np.bool_) if silent is None else silent
    seen = seen[np.argsort(is_silent[seen], kind="stable")]  # of several at one pixel, prefer one that is not silent
    seen = seen[np.unique(np.round(x[seen]), return_index=True)[1]]
    _draw(pen, x[seen], view, stripes, np.tile(theme.mixed(0.8), (len(seen), 1)))
    hollow = x[seen][is_silent[seen]]
    _draw(pen, hollow, view, stripes, np.tile(theme.mixed(0.0), (len(hollow), 1)), _HOLLOW)
    if chosen is not None:
        _draw(pen, view.x(np.array((chosen,))), view, stripes, np.array((theme.selected,)))


def tweak_at(ticks: FloatArray, view: View, stripes: Stripes, x: float, y: float) -> int | None:
    """Return the diamond nearest to a pixel, or None if none is near."""
    if stripes.tweaks is None or not stripes.tweaks[0] <= y <= stripes.tweaks[1] or not len(ticks):
        return None
    away = np.abs(view.x(ticks) - x)
    nearest = int(np.argmin(away))
    return nearest if away[nearest] <= (_HALF_PX + _NEAR_PX) * view.scale else None


def _draw(pen: Pen, x: FloatArray, view: View, stripes: Stripes, colours: FloatArray, size: float = 1.0) -> None:
    """Draw diamonds in the middle of the row; x: (N,) pixels, colours: (N, 4). size: 1 is the usual one."""
    assert stripes.tweaks is not None
    middles = np.stack((x, np.full(len(x), sum(stripes.tweaks) / 2.0)), axis=-1)
    corners = middles[:, None] + _CORNERS * _HALF_PX * view.scale * size
    pen.triangles(corners.reshape(-1, 2), np.repeat(colours, len(_CORNERS), axis=0))
