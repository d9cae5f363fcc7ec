"""Remove the outer half of a solid's skin, so that parts that nearly touch are separated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..binding.solid import Solid, dilated
from ..maths.arrays import FloatArray


def carved(solid: Solid, samples: FloatArray, areas: FloatArray, deepest: int = 1) -> Solid:
    """Return a solid without those cells of its skin whose centres lie outside the surface.

    samples, areas: (S, 3) of the surface, as `Solid.build` reads them. `Solid` fills every cell that the surface
    crosses, and so is half a cell too thick; feet that stand side by side become one. Here a cell's centre is outside
    if the pieces of surface in the cell, weighted by area, face it. Cells with no other cells of the solid behind them,
    as in thin cloth, stay; so do inner cells, as where clothes hide skin.

    deepest: number of layers that are carved, for instance from the rim of a narrow gap into it.
    """
    half = np.array(solid.filled.shape) // 2
    cells = np.rint(samples / solid.cell).astype(np.int64)
    towards = ((cells * solid.cell - samples) * areas).sum(axis=1)
    flat = np.ravel_multi_index(tuple((cells + half).T), solid.filled.shape)
    outside = np.bincount(flat, towards, solid.filled.size).reshape(solid.filled.shape) > 0.0
    free = ~solid.filled
    for _ in range(deepest):
        wider = free | (outside & dilated(free, 1))
        if np.array_equal(wider, free):
            break
        free = wider
    kept = ~free
    return replace(solid, filled=kept | (solid.filled & ~dilated(kept, 1)))
