"""Collect the joints of a skeleton that is being built."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray
from .problem import FittedSkeleton


class JointRows:
    """Collects joints, parents before children."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._parents: list[int] = []
        self._vectors: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self._certainty: list[float] = []

    def add(self, name: str, parent: int, position: FloatArray, end: FloatArray, bends: FloatArray,
            certainty: float) -> None:
        """Add a joint; parent: −1 for none; position, end, and bends, the bend axis: (3,)."""
        self.names.append(name)
        self._parents.append(parent)
        self._vectors.append((position, end, bends))
        self._certainty.append(certainty)

    def position(self, name: str) -> FloatArray:
        """Return the position (3,) of an added joint."""
        return self._vectors[self.names.index(name)][0]

    def skeleton(self, up: FloatArray, front: FloatArray, notes: tuple[str, ...],
                 carriers: tuple[str, ...] = ()) -> FittedSkeleton:
        """Return the skeleton of all joints that were added; see FittedSkeleton."""
        positions, ends, axes = (np.array(column) for column in zip(*self._vectors, strict=True))
        return FittedSkeleton(tuple(self.names), np.array(self._parents), positions, ends, axes,
                              np.array(self._certainty), up, front, notes, carriers)
