"""Eyes: bones that move little, even where no other bone is nearer to the face around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import parents_first
from .conventions import eye_names
from .segments import Segments
from .solid import Solid

_RADIUS: Final = 0.5
"""Riggers draw an eye's bone from the middle of the eyeball or longer: half of it is no less than the eyeball."""

_SMALLEST_CELLS: Final = 0.5
"""The smallest radius of an eye in cells: the solid shows nothing smaller."""


def eye_reach(names: Sequence[str], parents: IntArray, segments: Segments, heads: FloatArray, tails: FloatArray,
              solid: Solid) -> FloatArray:
    """Return the greatest radius (B,) of what each eye moves, ∞ for bones that are no eyes.

    names, parents (B,), heads and tails (B, 3). A bone is an eye if its name and those of all its descendants say so.
    Its length is that of its line, not yet lengthened to the skin; that from head to tail if the line has no length.
    Only the size of the bone tells where the eye ends if face and eyes are one part, or if a file has no eyeballs.
    """
    last: BoolArray = eye_names(names)
    for bone in reversed(parents_first(parents)):
        if parents[bone] >= 0 and not last[bone]:
            last[parents[bone]] = False
    lengths = np.linalg.norm(tails - heads, axis=1)
    drawn = segments.lengths > 0.0
    lengths[segments.bones[drawn]] = segments.lengths[drawn]
    return np.where(last, np.maximum(_RADIUS * lengths, _SMALLEST_CELLS * solid.cell), np.inf)
