"""What is unusual about a binding, for the one who asked for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skinning.influences import Influences
from .input import BindInput

_FLAT = 1e-3
"""A mesh whose thickness is less than this share of its size has no inside."""


@dataclass(frozen=True)
class BindReport:
    """What is unusual about a binding.

    idle_bones: bones that move no vertex. flat_parts: meshes without volume: no faces, or all in one plane.
    boneless_parts: other meshes whose bounding boxes no bone passes; they follow the nearest bones.
    """

    idle_bones: tuple[str, ...]
    flat_parts: tuple[int, ...]
    boneless_parts: tuple[int, ...]


def look_over(body: BindInput, influences: Influences) -> BindReport:
    """Find what is unusual about influences of this body.

    >>> bone_and_stray = BindInput.from_arrays([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], ["bone", "stray"],
    ...                                        [-1, -1], [[0, 0, 0], [9, 9, 9]], [[0, 0, 1], [9, 9, 8]])
    >>> look_over(bone_and_stray, Influences(np.zeros((3, 1), dtype=np.int64), np.ones((3, 1))))
    BindReport(idle_bones=('stray',), flat_parts=(0,), boneless_parts=())
    """
    used = np.zeros(len(body.bone_names), dtype=np.bool_)
    used[influences.joints[influences.weights > 0.0]] = True
    idle = tuple(name for name, is_used in zip(body.bone_names, used.tolist(), strict=True) if not is_used)
    flat, boneless = [], []
    for part in range(int(body.part.max()) + 1):
        own = body.part == part
        if _is_flat(body, own):
            flat.append(part)
        elif own.any() and not _holds_a_bone(body, body.vertices[own]):
            boneless.append(part)
    return BindReport(idle, tuple(flat), tuple(boneless))


def _is_flat(body: BindInput, own: BoolArray) -> bool:
    corners: IntArray = body.face_vertices[own[body.face_vertices]]
    if len(corners) == 0:
        return bool(own.any())
    offsets = body.vertices[own] - body.vertices[own].mean(axis=0)
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(offsets.T @ offsets), 0.0))
    return bool(spread[0] <= _FLAT * spread[2])


def _holds_a_bone(body: BindInput, points: FloatArray) -> bool:
    """Tell whether a bone, from head to tail or from its parent's head to its own, passes the points' box."""
    low, high = points.min(axis=0), points.max(axis=0)
    children = np.flatnonzero(body.bone_parents >= 0)
    starts = np.concatenate((body.heads, body.heads[body.bone_parents[children]]))
    ends = np.concatenate((body.tails, body.heads[children]))
    along = ends - starts
    with np.errstate(divide="ignore", invalid="ignore"):
        at_low, at_high = (low - starts) / along, (high - starts) / along
    still = along == 0.0
    outside = still & ((starts < low) | (starts > high))
    enters = np.where(still, -np.inf, np.minimum(at_low, at_high)).max(axis=1)
    leaves = np.where(still, np.inf, np.maximum(at_low, at_high)).min(axis=1)
    passes = (np.maximum(enters, 0.0) <= np.minimum(leaves, 1.0)) & ~outside.any(axis=1)
    return bool(passes.any())
