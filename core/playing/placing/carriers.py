"""Joints that may carry a body over the ground: the hips and their ancestors, not their descendants."""

from __future__ import annotations

import numpy as np

from ...maths.arrays import BoolArray
from ...skeletons import hanim
from ...skeletons.hierarchy import path_to_root, subtree_sizes
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton

_LEGS = ("l_hip", "r_hip")


def carrying_hips(body: SkeletonMap) -> BoolArray | None:
    """Return which joints are the hips or their ancestors, (J,). In control rigs, so are common ancestors of both legs.

    None if it is uncertain which joint the hips are.
    """
    hips = body.joint_of.get(hanim.ROOT)
    if hips is None or not body.is_sure:
        return None
    parents, carrying = body.skeleton.parents, np.zeros(len(body.skeleton), dtype=np.bool_)
    carrying[path_to_root(parents, hips)] = True
    legs = [set(path_to_root(parents, body.joint_of[leg])[1:]) for leg in _LEGS if leg in body.joint_of]
    if len(legs) == len(_LEGS):
        carrying[sorted(set.intersection(*legs))] = True
    return carrying


def carrying_half(skeleton: Skeleton) -> BoolArray:
    """Return which joints carry at least half of the skeleton, (J,).

    A joint carries itself and its descendants; its ancestors do not count as part of the skeleton.
    """
    others = np.full(len(skeleton), len(skeleton))
    for depth, joints in enumerate(skeleton.levels):
        others[joints] -= depth
    return np.asarray(2 * np.array(subtree_sizes(skeleton.parents), dtype=np.int64) >= others)
