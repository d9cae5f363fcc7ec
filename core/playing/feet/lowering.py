"""Lowering of the body around transitions so that legs reach their footholds: a displacement curve.

Frame by frame the body would drop or rise within a frame or two as a foothold comes within reach or leaves it. The
curve is nowhere less than feet need then, nor more than they ever need around that transition. It is as smooth as
displacement.py makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ...clips.thresholds import POSTURE_S
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...maths.displacement import DisplacementProblem, solve_displacement
from .rises import spline_counts

PER_S: Final = 30.0
"""Knots of the curve per second."""
BESIDE_S: Final = 0.75
"""Time before and after a transition in which the curve is computed: longer than it acts."""
_PINNED: Final = 3
"""Knots at both ends of a curve that are exactly what feet need then; two neighbours share them."""
_AT_ONCE: Final = 64


@dataclass(frozen=True, eq=False)
class Lowering:
    """The curves of S seams, in one row of knots of a cubic B-spline.

    per_s: knots per second. count: of all knots. is_loop: whether the first one follows the last one. chunks: (S, 2)
    first and last knot of each seam's curve; in a loop they may exceed the row.
    """

    per_s: float
    count: int
    is_loop: bool
    chunks: IntArray

    @classmethod
    def of(cls, window_begin_s: FloatArray, window_end_s: FloatArray, duration_s: float, is_loop: bool) -> Lowering:
        """Take the transitions of S seams, (S,); without a loop nothing follows the last segment.

        The curves of two near transitions meet in the middle between them.
        """
        count = max(int(np.ceil(duration_s * PER_S)), 1)
        per_s = count / duration_s if duration_s > 0.0 else PER_S
        before_s = np.roll(window_end_s, 1)
        before_s[0] = before_s[0] - duration_s if is_loop else 0.0
        middles_s = (before_s + window_begin_s) / 2.0
        after_s = np.roll(middles_s, -1)
        after_s[-1] = after_s[-1] + duration_s if is_loop else duration_s
        edges_s = np.stack((np.maximum(window_begin_s - BESIDE_S, middles_s),
                            np.minimum(window_end_s + BESIDE_S, after_s)), axis=1)
        beside = np.rint(edges_s * per_s).astype(np.int64)
        chunks = np.stack((beside[:, 0] - 1, np.maximum(beside[:, 1], beside[:, 0]) + 1), axis=1)
        return cls(per_s, count + (0 if is_loop else 1), is_loop, chunks if is_loop else chunks[:-1])

    def know(self, segments: IntArray, needed: Callable[[FloatArray], FloatArray],
             others: Lowering | None = None) -> None:
        """Compute the curves before and after segments (F,) that are unknown.

        needed: descent of the body that feet need at times (N,), in a loop also in its other rounds. others: known
        curves of the same seams, which are reused where feet need the same.
        """
        if not np.count_nonzero(self._is_new.take(segments)):
            return
        some = np.unique(segments)
        self._is_new[some] = False
        beside, count = np.concatenate((some - 1, some)), len(self.chunks)
        seams = np.unique(beside % count if self.is_loop else beside[(beside >= 0) & (beside < count)])
        seams = seams[self._is_unknown[seams]]
        self._is_unknown[seams] = False
        lengths = self.chunks[seams, 1] - self.chunks[seams, 0] + 1
        seams = seams[np.argsort(lengths, kind="stable")]  # those of one length together
        for start in range(0, len(seams), _AT_ONCE):
            self._find(self.chunks[seams[start:start + _AT_ONCE]], needed, others)

    def _find(self, chunks: IntArray, needed: Callable[[FloatArray], FloatArray], others: Lowering | None) -> None:
        at = chunks[:, :1] + np.arange(int((chunks[:, 1] - chunks[:, 0]).max()) + 1)
        own = at <= chunks[:, 1:]
        at = np.minimum(at, chunks[:, 1:])
        lo = np.zeros(at.shape)
        lo[own] = self.needs(at[own], needed)
        some = lo.any(axis=1)
        if others is not None:
            is_same = (others._needs.take(at - self._first) == lo).all(axis=1, where=own)
            same = self._rows(at[is_same][own[is_same]])
            self._knots[same] = others._knots[same]
            some &= ~is_same
        if not some.any():
            return
        at, own, lo, chunks = at[some], own[some], lo[some], chunks[some]
        lo = np.take_along_axis(lo, at - chunks[:, :1], axis=1)
        is_pinned = (at < chunks[:, :1] + _PINNED) | (at > chunks[:, 1:] - _PINNED)
        most = lo.max(axis=1, keepdims=True)
        later = np.maximum(lo[:, :-1], lo[:, 1:])  # a knot before a contact, the leg is nearly stretched
        lo[:, :-1] = np.where(is_pinned[:, :-1], lo[:, :-1], later)
        made = solve_displacement(DisplacementProblem(
            np.zeros(lo.shape), np.ones(lo.shape), lo, np.where(is_pinned, lo, most), np.full(len(lo), POSTURE_S),
            1.0 / self.per_s)).curves
        knots = np.clip(made[:, 1:-1] - np.diff(made, 2) / 6.0, 0.0, most)  # the spline is as high as `made`
        inside = own[:, 2:]
        self._knots[self._rows(at[:, 1:-1][inside])] = knots[inside]

    def needs(self, knots: IntArray, needed: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the descent of the body that feet need at knots (N,) of chunks, (N,); see know."""
        at = knots - self._first
        if len(at) and np.isnan(found := self._needs.take(at)).any():
            some = np.unique(at[np.isnan(found)])
            need = needed((some + self._first) / self.per_s)
            self._needs[some] = np.where(need > 0.0, need, 0.0)  # NaN counts as 0
        return self._needs.take(at)

    @cached_property
    def _first(self) -> int:
        """The first knot of any chunk."""
        return int(self.chunks.min(initial=0))

    @cached_property
    def _needs(self) -> FloatArray:
        """The needs of feet at knots of chunks, NaN if unknown."""
        return np.full(int(self.chunks.max(initial=0)) - self._first + 1, np.nan)

    def at(self, times_s: FloatArray) -> FloatArray:
        """Return the descent of the body at times (F,) within the motion, (F,)."""
        x = times_s * self.per_s
        span = np.floor(x)
        around = self._knots.take(self._rows(span.astype(np.int64)[:, None] + np.arange(-1, 3)))
        return np.asarray((spline_counts(x - span) * around).sum(axis=-1))

    def _rows(self, knots: IntArray) -> IntArray:
        return np.asarray(knots % self.count if self.is_loop else np.clip(knots, 0, self.count - 1))

    @cached_property
    def _knots(self) -> FloatArray:
        """The curves, as far as they are known, (K,)."""
        return np.zeros(self.count)

    @cached_property
    def _is_unknown(self) -> BoolArray:
        """Whose curves are unknown, (S,)."""
        return np.ones(len(self.chunks), dtype=np.bool_)

    @cached_property
    def _is_new(self) -> BoolArray:
        """Which segments have not been requested yet."""
        return np.ones(len(self.chunks) + 1, dtype=np.bool_)
