"""Layout of blocks by which keys of tweaks are placed, in frames of a scene."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ...core.maths.arrays import FloatArray, IntArray
from ...core.playing import ties as ties_
from ...core.playing.moments import Timeline

_DIGEST_BYTES = 16
_LAST_FRAME: Final = 1_048_574.0
"""Blender's. A key far from a short block has a large share of it, so it would go far beyond if the block grew."""


@dataclass(frozen=True, eq=False)
class Layout:
    """When blocks play, the frame at which the first one begins, and frames per second."""

    timeline: Timeline
    frame_start: int
    fps: float

    @cached_property
    def said(self) -> str:
        """The first frame, frames per second, and a digest of the texts and of the blocks' times."""
        clock, digest = self.timeline.clock, hashlib.blake2b(digest_size=_DIGEST_BYTES)
        digest.update(repr(sorted(ties_.texts_of(self.timeline).items())).encode("utf-8", "replace"))
        edges_s = self.timeline.edges_s
        digest.update((edges_s if clock is None else clock.shown(edges_s)).tobytes())
        return f"{self.frame_start} {self.fps!r} {digest.hexdigest()}"

    def is_like(self, other: Layout) -> bool:
        """Return whether another one has the same blocks at the same frames."""
        return (self.timeline is other.timeline and self.frame_start == other.frame_start and self.fps == other.fps)

    def frames(self, blocks: IntArray, shares: FloatArray) -> FloatArray:
        """Return the frames of shares of blocks, none of them beyond those that Blender can play."""
        found = self.frame_start + self.timeline.times(blocks, shares) * self.fps
        return np.asarray(np.clip(found, -_LAST_FRAME, _LAST_FRAME))
