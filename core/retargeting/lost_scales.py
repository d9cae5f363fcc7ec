"""Uneven scales that are lost in another skeleton's axes: of K · diag(s) · Kᵀ only the diagonal is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import keys_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton

_KEPT: Final = 1e-3
"""Difference in a scale below which it counts as kept."""


def lost_scales(clips: Iterable[Clip], target: Skeleton, turn: FloatArray = rot.IDENTITY) -> tuple[str, ...]:
    """Return the joints that clips scale along axes that the same joints of another skeleton do not have.

    turn: (4,) from the clips' model space to the target's.

    >>> from ..clips.clip import Tracks
    >>> turned = rot.from_axis_angle((0.0, 0, 1), np.array((0.5,)))
    >>> body = Skeleton.from_arrays(["hips"], [-1], turned, np.zeros((1, 3)))
    >>> grown = Tracks(np.zeros(1, np.int64), np.array((0, 1)), np.zeros(1), np.array(((1.0, 2.0, 1.0),)))
    >>> clip = Clip("grow", body, 1.0, Tracks.empty(4), Tracks.empty(3), grown)
    >>> lost_scales([clip], body), lost_scales([clip], body.with_model_axes())
    ((), ('hips',))
    """
    found = dict[str, None]()
    for clip in clips:
        source = clip.skeleton
        for index, joint in enumerate(clip.scales.joints.tolist()):
            name = source.names[joint]
            if name in target.index_of:
                axes = rot.to_matrix(rot.multiply(rot.conjugate(target.rest_world_rotations[target.index_of[name]]),
                                                  rot.multiply(turn, source.rest_world_rotations[joint])))
                _, scales = keys_of(clip.scales, index)
                whole = np.einsum("ij,kj,lj->kil", axes, scales, axes)
                off = np.abs(whole[:, ~np.eye(3, dtype=np.bool_)]).max(initial=0.0)
                if off > _KEPT * max(float(np.abs(scales).max()), 1e-9):
                    found[name] = None
    return tuple(found)
