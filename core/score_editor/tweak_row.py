"""The row under the lanes with a diamond at each key of tweaks that the user has set."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .picture import Pen
from .stripes import Stripes
from .theme import Theme
from .view import View

_HALF_PX, _NEAR_PX = 5.0, 2.0
"""Pixels at an interface scale of 1: half of a diamond's width; distance beside it at which it can be pressed."""
_HOLLOW: Final = 0.6
"""Share of a silent key's diamond that is empty."""
_LARGER: Final = 1.3
"""Size of the diamond under the mouse."""
_MERGED, _APART = 0.01, 1e7
"""Frames within which Blender merges keys; frames between curves, more than any scene has."""
_CORNERS = np.array(((-1.0, 0.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (1.0, 0.0), (0.0, -1.0)))


def draw_tweaks(pen: Pen, ticks: FloatArray, view: View, theme: Theme, stripes: Stripes,
                silent: BoolArray | None = None, chosen: BoolArray | None = None) -> None:
    """Draw diamonds at ticks (K,); of several at one pixel, only one.

    silent: (K,) diamonds drawn hollow, since only silent layers have these keys. chosen: (K,) selected ones, in the
    theme's colour.
    """
    if stripes.tweaks is None:
        return
    x = view.x(ticks)
    seen = np.flatnonzero((x >= view.left) & (x <= view.width + _HALF_PX * view.scale))
    is_silent, is_chosen = (np.zeros(len(x), dtype=np.bool_) if each is None else each for each in (silent, chosen))
    seen = seen[np.lexsort((is_silent[seen], ~is_chosen[seen]))]  # of several at one pixel, the first of these
    seen = seen[np.unique(np.round(x[seen]), return_index=True)[1]]
    _draw(pen, x[seen], view, stripes, np.where(is_chosen[seen, None], theme.selected, theme.mixed(0.8)))
    hollow = x[seen][is_silent[seen]]
    _draw(pen, hollow, view, stripes, np.tile(theme.mixed(0.0), (len(hollow), 1)), _HOLLOW)


def draw_hovered(pen: Pen, tick: float, view: View, theme: Theme, stripes: Stripes, *, is_chosen: bool) -> None:
    """Draw the diamond under the mouse, larger than the others."""
    if stripes.tweaks is not None:
        colour = theme.selected if is_chosen else theme.mixed(1.0)
        _draw(pen, view.x(np.array((tick,))), view, stripes, np.array((colour,)), _LARGER)


def tweak_at(ticks: FloatArray, view: View, stripes: Stripes, x: float, y: float) -> int | None:
    """Return the diamond nearest to a pixel, or None if none is near."""
    if stripes.tweaks is None or not stripes.tweaks[0] <= y <= stripes.tweaks[1] or not len(ticks):
        return None
    away = np.abs(view.x(ticks) - x)
    nearest = int(np.argmin(away))
    return nearest if away[nearest] <= (_HALF_PX + _NEAR_PX) * view.scale else None


def tweaks_within(ticks: FloatArray, view: View, stripes: Stripes, start: tuple[float, float],
                  end: tuple[float, float]) -> BoolArray:
    """Return which diamonds (K,) have their middle in the rectangle between two corners."""
    if stripes.tweaks is None:
        return np.zeros(len(ticks), dtype=np.bool_)
    x, y = view.x(ticks), sum(stripes.tweaks) / 2.0
    is_in_row = min(start[1], end[1]) <= y <= max(start[1], end[1])
    is_seen = (x >= view.left) & (x >= min(start[0], end[0])) & (x <= max(start[0], end[0]))
    return np.asarray(is_seen & is_in_row)


def pulled(ticks: FloatArray, grabbed: int, to: float, most: float) -> FloatArray:
    """Return the ticks (S,) of diamonds that move together, all by as much as the grabbed one.

    to: the tick to which the grabbed one is pulled. All stop where the first one is at 0, or the last one at `most`;
    those beyond may only come nearer.

    >>> pulled(np.array((1.0, 3.0)), 1, 5.0, 16.0), pulled(np.array((1.0, 3.0)), 1, 0.5, 16.0)
    (array([3., 5.]), array([0., 2.]))
    """
    least, greatest = min(-float(ticks.min()), 0.0), max(most - float(ticks.max()), 0.0)
    return ticks + min(max(to - float(ticks[grabbed]), least), greatest)


def meets(curve: IntArray, frames: FloatArray, other: IntArray, others: FloatArray, near: float) -> IntArray:
    """Return which keys (N,), ascending, come to lie on others (M,) of their curve, or on each other.

    curve, frames: of the keys where they are moved to. other, others: of keys that stay. near: frames within which a
    key lies on one that stays. Keys that move together keep their distances, so these only must not merge.

    >>> meets(np.array((0, 1)), np.array((5.0, 5.0)), np.array((1,)), np.array((5.4,)), 0.5)
    array([1])
    """
    order = np.lexsort((frames, curve))
    is_same = (np.diff(curve[order]) == 0) & (np.diff(frames[order]) <= _MERGED)
    is_met = count_near(curve, frames, other, others, near) > 0
    is_met[order[1:][is_same]] = True
    return np.flatnonzero(is_met)


def count_near(kind: IntArray, frames: FloatArray, kinds: IntArray, others: FloatArray, near: float) -> IntArray:
    """Return for frames (N,), each of a kind, how many others (M,) of the same kind are near.

    >>> count_near(np.array((0, 1)), np.array((5.0, 5.0)), np.array((1, 1)), np.array((5.4, 4.8)), 0.5)
    array([0, 2])
    """
    number = np.unique(np.concatenate((kind, kinds)), return_inverse=True)[1] * _APART
    own, there = number[:len(kind)] + frames, np.sort(number[len(kind):] + others)
    return np.searchsorted(there, own + near, "right") - np.searchsorted(there, own - near, "left")


def _draw(pen: Pen, x: FloatArray, view: View, stripes: Stripes, colours: FloatArray, size: float = 1.0) -> None:
    """Draw diamonds in the middle of the row; x: (N,) pixels, colours: (N, 4). size: 1 is the usual one."""
    assert stripes.tweaks is not None
    middles = np.stack((x, np.full(len(x), sum(stripes.tweaks) / 2.0)), axis=-1)
    corners = middles[:, None] + _CORNERS * _HALF_PX * view.scale * size
    pen.triangles(corners.reshape(-1, 2), np.repeat(colours, len(_CORNERS), axis=0))
