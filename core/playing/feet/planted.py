"""Contacts of one foot in successive clips, before and after steps are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...maths.arrays import ROUNDING, ComplexArray, FloatArray, IntArray
from .due_steps import SLOWEST_LEGS_PER_S, Hold
from .footholds import NEVER_S, Loose


@dataclass(frozen=True, eq=False)
class Planted:
    """H contacts of one foot in successive clips, in ground coordinates (see footholds.py).

    spans_s: (H, 2) when. at: (H, 3) where. loose: (H, 2) the free foot then, NaN if unknown. first: (S + 1,) the first
    contact of each of S segments, and H. fast: (S,) foot speed in each segment. heights: (S, 2) height as each begins
    and ends. turned: (H,) complex, rotation over the ground. rounds: number of a loop's rounds included. astray: (H,)
    distance from the clips' own position, since the body is led elsewhere meanwhile; None for zero.
    """

    spans_s: FloatArray
    at: FloatArray
    loose: Loose
    first: IntArray
    fast: FloatArray
    heights: FloatArray
    turned: ComplexArray
    rounds: int = 1
    astray: FloatArray | None = None

    def holds(self) -> list[list[Hold]]:
        """Return them by segment."""
        over, fast = self.at @ np.array((1.0, 1j, 0.0)), self.fast.repeat(np.diff(self.first))
        found = list(map(Hold, *self.spans_s.T.tolist(), over.tolist(), range(len(over)), fast.tolist()))
        first = self.first.tolist()
        return [found[begin:end] for begin, end in pairwise(first)]

    def above(self) -> list[list[float]]:
        """Return heights of the foot above footholds on the other side of the seam before each segment.

        As the segment begins, above the last foothold before the seam; as the one before ends, above the first one
        here.
        """
        begin, end = self.first[:-1], self.first[1:]
        has, at = np.append(begin < end, False), np.append(self.at[:, 2], 0.0)
        before = np.arange(-1, len(begin) - 1)
        out = np.where(has[before], self.heights[:, 0] - at[begin - 1], 0.0)
        into = np.where(has[:-1], self.heights[before, 1] - at[begin], 0.0)
        found: list[list[float]] = np.stack((out, into), axis=1).tolist()
        return found


def gaps_between(holds: Sequence[Hold], foot: Planted, length: float) -> tuple[FloatArray, ...]:
    """Return the gaps between the footholds of one foot, as Footholds stores them."""
    start, stop, lift, clear, *most = np.array([(
        hold.start_s, hold.stop_s, hold.lift, hold.clear, hold.ease_in_s, hold.ease_out_s) for hold in holds]
    ).reshape(-1, 6).T
    number = np.array([hold.number for hold in holds], dtype=np.int64)

    def edges(before: FloatArray, after: FloatArray, none: float) -> FloatArray:
        """Return values before and after each gap, (..., 2, G)."""
        beside = np.full((*before.shape[:-1], 1), none)
        return np.stack((np.concatenate((beside, before), axis=-1), np.concatenate((after, beside), axis=-1)), axis=-2)

    edges_s = edges(stop, start, NEVER_S)
    edges_s[0, 0] = -NEVER_S
    lift, clear = np.append(0.0, lift), np.append(0.0, clear)
    gap_s = np.maximum(edges_s[1] - edges_s[0], ROUNDING)
    most_s = np.where(lift > 0.0, gap_s, np.minimum(edges(most[1], most[0], 1.0), gap_s))
    fastest = np.maximum(_fastest(number, foot), SLOWEST_LEGS_PER_S * length)
    over = np.array([hold.over for hold in holds], dtype=np.complex128)
    at = np.stack((over.real, over.imag, foot.at[number, 2]))
    loose, *rates = (each[number].transpose(2, 1, 0) for each in foot.loose)
    loose = np.where(np.stack((start, stop)) == foot.spans_s[number].T, loose, np.nan)
    found = (edges(each[:, 1], each[:, 0], 0.0) for each in (loose, *rates))
    into = np.append(_segments(number, foot), len(foot.fast))
    return edges_s, edges(at, at, 0.0), *found, lift, clear, most_s, fastest, into


def _fastest(number: IntArray, foot: Planted) -> FloatArray:
    """Return the foot's greatest speed in the clips between footholds (H,), (H + 1,)."""
    segment = _segments(number, foot)
    spans = np.stack((np.append(0, segment), np.append(segment, len(foot.fast) - 1) + 1), axis=1)
    return np.asarray(np.maximum.reduceat(np.append(foot.fast, 0.0), spans.ravel())[::2])


def _segments(number: IntArray, foot: Planted) -> IntArray:
    """Return the segments in which footholds (H,) begin, (H,)."""
    return np.searchsorted(foot.first, number, side="right") - 1
