"""The simplest method: the nearest bones, weighed by a power of their distance."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray
from ..skinning.influences import Influences
from .input import BindInput
from .settings import BindCancelledError, BindSettings, Progress

_DISTANCES_AT_ONCE = 1 << 20
"""Vertices are taken in runs of so many distances to bones: some 60 MB, whatever the mesh."""

_TOUCHES = 1e-9
"""A vertex nearer to a bone than this share of the whole's size lies on it; rounding is far smaller."""


def bind_euclidean(bind_input: BindInput, settings: BindSettings, progress: Progress | None = None) -> Influences:
    """Weigh the nearest bones by 1/distance^exponent (Fecko 2010, ch. 3: exponents ½, 1, 2; 2 and 4 bones).

    The distance is that from the vertex to the segment from the bone's head to its tail. Bones on which a
    vertex lies share it equally; of equally distant bones the earlier ones are taken. The weights do not
    change with the scale of the whole. `progress` is called with the share of the work done; when it answers
    False, BindCancelledError is raised.

    >>> mesh = BindInput.from_arrays([[1, 0, 0], [0, 0, 0.5]], [], ["down", "up"], [-1, 0],
    ...                              [[0, 0, -1], [0, 0, 2]], [[0, 0, 0], [0, 0, 3]])
    >>> bind_euclidean(mesh, BindSettings()).dense(2).round(3).tolist()
    [[0.833, 0.167], [0.9, 0.1]]
    """
    size = _size(bind_input)
    kept = min(settings.influences or len(bind_input.bone_names), len(bind_input.bone_names))
    joints = np.empty((len(bind_input.vertices), kept), dtype=np.int64)
    weights = np.empty(joints.shape)
    run = max(1, _DISTANCES_AT_ONCE // len(bind_input.bone_names))
    for start in range(0, len(joints), run):
        if progress is not None and not progress(start / len(joints)):
            raise BindCancelledError("the binding was cancelled")
        part = slice(start, start + run)
        distances = segment_distances(bind_input.vertices[part], bind_input.heads, bind_input.tails)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :kept]
        joints[part] = nearest
        weights[part] = _inverse_powers(np.take_along_axis(distances, nearest, axis=1), settings.exponent,
                                        _TOUCHES * size)
    return Influences(np.where(weights > 0.0, joints, 0), weights)


def segment_distances(points: FloatArray, heads: FloatArray, tails: FloatArray) -> FloatArray:
    """Return the distances (V, B) from points (V, 3) to segments between heads and tails (B, 3).

    Segments of length zero are points.

    >>> segment_distances(np.array([[3.0, 4.0, 0.5]]), np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]])).tolist()
    [[5.0]]
    """
    along = tails - heads
    squared = np.sum(along * along, axis=1)
    x, y, z = (points[:, axis, None] - heads[:, axis] for axis in range(3))  # (V, B) each: no array of (V, B, 3)
    share = x * along[:, 0] + y * along[:, 1] + z * along[:, 2]
    share = np.clip(np.divide(share, squared, out=np.zeros_like(share), where=squared > 0.0), 0.0, 1.0)
    x, y, z = (offset - share * along[:, axis] for axis, offset in enumerate((x, y, z)))
    return np.asarray(np.sqrt(x * x + y * y + z * z))


def _inverse_powers(distances: FloatArray, exponent: float, touches: float) -> FloatArray:
    """Return 1/d^exponent of ascending distances (V, K), in rows that sum to 1; bones that touch a vertex share it.

    Distances count relative to the row's nearest, so that nothing overflows.
    """
    on_bone = distances <= touches
    nearest = np.where(on_bone[:, :1], 1.0, distances[:, :1])
    apart = (nearest / np.where(on_bone, 1.0, distances)) ** exponent
    powers = np.where(on_bone[:, :1], on_bone.astype(np.float64), apart)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _size(bind_input: BindInput) -> float:
    points = np.concatenate((bind_input.vertices, bind_input.heads, bind_input.tails))
    return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
