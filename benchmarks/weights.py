"""Ways to bind, as functions from a case with the fields of `BindInput` to dense weights (V, B)."""

from __future__ import annotations

from typing import Any

import numpy as np

from takt.core.arrays import FloatArray
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance


def body_of(case: Any) -> BindInput:
    """Return the case's arrays as what methods read."""
    return BindInput(np.asarray(case.vertices, dtype=np.float64), np.asarray(case.face_vertices, dtype=np.int64),
                     np.asarray(case.face_sizes, dtype=np.int64), np.asarray(case.part, dtype=np.int64),
                     tuple(map(str, case.bone_names)), np.asarray(case.bone_parents, dtype=np.int64),
                     np.asarray(case.bone_heads, dtype=np.float64), np.asarray(case.bone_tails, dtype=np.float64))


def default(case: Any) -> FloatArray:
    """The default method with default settings."""
    return bind_inside_distance(body_of(case)).dense(len(case.bone_names))
