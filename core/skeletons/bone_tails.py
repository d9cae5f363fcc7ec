"""Find the tails of bones for a skeleton that stores only their heads."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .hierarchy import subtree_sizes
from .skeleton import Skeleton

_SAME_POSITION: Final = 1e-4
"""Share of the skeleton's size: joints closer than this are in the same position."""
_LEAF: Final = 0.5
"""Length of a bone without children, as a share of the distance to its parent."""
_ALONE: Final = 0.05
"""Length of a bone with neither parent nor children in other positions, as a share of the skeleton's size."""


def bone_tails(skeleton: Skeleton) -> tuple[FloatArray, FloatArray]:
    """Return the tails (J, 3) of all bones at rest, and their z axes (J, 3), in model space.

    A bone ends where its child begins. With several children, that is the one that continues the bone most straightly,
    or for a root the one with most descendants. A bone without children continues its parent's direction. No bone has
    length 0. The joint's own axes are rotated by the shortest arc so that y points along the bone.

    >>> skeleton = Skeleton.from_arrays(["hip", "knee"], [-1, 0], np.tile((1.0, 0, 0, 0), (2, 1)),
    ...                                 np.array(((0.0, 0, 2), (0, 0, -1))))
    >>> bone_tails(skeleton)[0].tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.5]]
    """
    heads = skeleton.rest_world[:, :, 3]
    if not len(heads):
        return heads, heads
    size = float(np.ptp(heads, axis=0).max()) or 1.0
    offsets = np.zeros_like(heads)
    sizes = subtree_sizes(skeleton.parents)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        children = np.flatnonzero(skeleton.parents == joint)
        before, after = (parent, joint) if parent >= 0 else (joint, max(children, key=sizes.__getitem__, default=joint))
        incoming = heads[after] - heads[before]
        offsets[joint] = _child_offset(heads[children] - heads[joint], incoming, size)
        if not offsets[joint].any():
            onward = incoming if np.linalg.norm(incoming) > _SAME_POSITION * size else offsets[parent]
            offsets[joint] = onward * _LEAF if onward.any() and parent >= 0 else (0.0, _ALONE * size, 0.0)
    axes = rot.to_matrix(skeleton.rest_world_rotations)
    sides = zip(axes[:, :, 1], axes[:, :, 2], offsets, strict=True)
    return heads + offsets, np.stack([rot.rotate(rot.shortest_arc(y, offset), z) for y, z, offset in sides])


def _child_offset(offsets: FloatArray, incoming: FloatArray, size: float) -> FloatArray:
    """Choose among offsets (C, 3) to children the one nearest to a direction; zero where all are in one position."""
    lengths = np.linalg.norm(offsets, axis=1)
    far = np.flatnonzero(lengths > _SAME_POSITION * size)
    if not len(far):
        return np.zeros(3)
    return np.asarray(offsets[far[np.argmax(offsets[far] @ incoming / lengths[far])]])
