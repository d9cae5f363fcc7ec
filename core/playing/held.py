"""The clip that last moved each joint: a joint that the playing clip does not move holds that clip's last pose."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import BoolArray, IntArray

_BLOCK = 256
"""Segments between two stored states. Other states follow from the stored one before, so memory does not grow with
segments × joints, and a single instant stays cheap."""
_BLOCKS_AT_ONCE = 32
_MOST_KEPT = 1 << 20
"""Number of states, segments × columns, up to which all are stored, so that playing only looks them up."""


class Held:
    """Which clip last moved each joint, for S segments that play clips (S,). moved: (C, J) joints that each clip moves.

    Joints that the same clips move share a column. In a loop the end leads into the beginning, so every joint that
    any clip moves has a last clip, even in the first segment.
    """

    def __init__(self, clip: IntArray, moved: BoolArray, is_loop: bool) -> None:
        self._clip = clip
        bits = np.ascontiguousarray(np.packbits(moved, axis=0).T)
        _, first, self.column_of = np.unique(bits.view(f"V{bits.shape[1]}")[:, 0], return_index=True,
                                              return_inverse=True)
        self.columns = moved[:, first]
        """Which columns each clip moves, (C, columns). column_of: (J,) the column of each joint."""
        self.is_plain = bool((moved == moved.any(axis=0)).all())
        """Whether each clip moves every joint that any of them moves: then the playing clip always moved it last."""
        self._last_block = (len(clip) - 1) // _BLOCK
        self._before = np.full((self._last_block + 1, self.columns.shape[1]), -1, dtype=np.int64)
        for start in range(0, self._last_block + 1, _BLOCKS_AT_ONCE):
            blocks = np.arange(start, min(start + _BLOCKS_AT_ONCE, self._last_block + 1))
            newest = self._movers(blocks).max(axis=1)
            following = blocks + 1 <= self._last_block
            self._before[blocks[following] + 1] = newest[following]
            if not following.all():
                self._final = newest[-1]
        self._before = np.maximum.accumulate(self._before, axis=0)
        self._round = np.maximum(self._final, self._before[-1]) if is_loop else np.full_like(self._final, -1)
        self._kept = self._found(np.arange(len(clip))) if len(clip) * self.columns.shape[1] <= _MOST_KEPT else None

    def columns_after(self, segments: IntArray) -> IntArray:
        """Return for segments (N,) the clip that last moved each column at their end, (N, columns); −1: none."""
        return self._found(segments) if self._kept is None else self._kept.take(segments, axis=0)

    def _found(self, segments: IntArray) -> IntArray:
        out = np.empty((len(segments), self.columns.shape[1]), dtype=np.int64)
        blocks, inverse = np.unique(segments // _BLOCK, return_inverse=True)
        for start in range(0, len(blocks), _BLOCKS_AT_ONCE):
            part = blocks[start:start + _BLOCKS_AT_ONCE]
            state = np.maximum(np.maximum.accumulate(self._movers(part), axis=1), self._before[part][:, None])
            chosen = (inverse >= start) & (inverse < start + len(part))
            out[chosen] = state[inverse[chosen] - start, segments[chosen] % _BLOCK]
        mover = np.where(out >= 0, out, self._round)
        return np.where(mover >= 0, self._clip[mover], -1)

    def after(self, segments: IntArray) -> IntArray:
        """Return for segments (N,) the clip that last moved each joint at their end, (N, J); −1: none, at rest."""
        return self.columns_after(segments).take(self.column_of, axis=1)

    def _movers(self, blocks: IntArray) -> IntArray:
        """Return the segment itself if it moves a column, else −1: (B, _BLOCK, columns)."""
        segments = blocks[:, None] * _BLOCK + np.arange(_BLOCK)
        inside = np.minimum(segments, len(self._clip) - 1)
        return np.where(self.columns[self._clip[inside]], inside[..., None], -1)
