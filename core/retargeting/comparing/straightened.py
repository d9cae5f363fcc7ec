"""Standing poses for bodies that sit, crawl or bend in the whole clip: their legs are stretched below the trunk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons import hanim
from ...skeletons.bone_names import words
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.posture import STANDS, measure_posture
from ...skeletons.skeleton import Skeleton

_STRAIGHT: Final = 0.9
"""Cosine between thighs and shins above which knees are straight, so that the trunk is turned instead of the legs."""
_SPINE: Final = 0.75
"""Least straight distance from hips to head, as a share of the path along the joints."""
_LONGEST_ARM: Final = 0.85
"""Longest arm, as a share of a leg; forelegs of animals are about as long as their hind legs."""
_LEGS: Final = tuple(f"{side}_{joint}" for side in "lr" for joint in ("hip", "knee", "ankle"))
_ARMS: Final = tuple(f"{side}_{joint}" for side in "lr" for joint in ("shoulder", "elbow", "wrist"))


def straightened(skeleton: Skeleton, found: SkeletonMap) -> Skeleton | None:
    """Return a skeleton that rests in the given one's pose, with its legs stretched below its trunk.

    found: its map. Each segment turns by the shortest arc, as knees and hips unbend. The legs move, or the trunk if the
    knees are straight. None if the result is still no standing body. That is so if the spine is crooked, as in
    skeletons with all bones in one point, and for animals on four legs. These have a tail, or forelegs as long as hind
    legs.
    """
    at = found.joint_of
    if not may_be_human(skeleton, at) or not _has_straight_spine(skeleton, at):
        return None
    positions = skeleton.rest_world[:, :, 3]
    shoulders, hips = (positions[[at[f"{side}_{joint}"] for side in "lr"]].mean(axis=0)
                       for joint in ("shoulder", "hip"))
    trunk = shoulders - hips
    thighs, shins = ([positions[at[f"{side}_{b}"]] - positions[at[f"{side}_{a}"]] for side in "lr"]
                     for a, b in (("hip", "knee"), ("knee", "ankle")))
    lowest = next((at[name] for name in hanim.SPINE if name in at), None)
    if lowest is not None and min(map(_cosine, thighs, shins)) > _STRAIGHT:
        above = with_descendants(skeleton.parents, np.array([lowest]))
        above &= ~with_descendants(skeleton.parents, np.array([at["l_hip"], at["r_hip"]]))
        turns = rot.identities(len(skeleton))
        turns[above] = rot.shortest_arc(trunk, -sum(thighs, np.zeros(3)))
    else:
        turns = legs_along(skeleton, at, -trunk)
    stood = skeleton.in_pose(turns)
    posture = measure_posture(stood.rest_world[None, :, :, 3], at)
    return stood if posture is not None and posture.upright[0] >= STANDS else None


def may_be_human(skeleton: Skeleton, at: Mapping[str, int]) -> bool:
    """Return whether arms, legs and head are known, without an animal's tail or long forelegs.

    at: joints by their H-Anim names.
    """
    if not {*_LEGS, *_ARMS, "skullbase"} <= at.keys() or any("tail" in words(name) for name in skeleton.names):
        return False
    return _length(skeleton, at, _ARMS) <= _LONGEST_ARM * _length(skeleton, at, _LEGS)


def legs_along(skeleton: Skeleton, at: Mapping[str, int], down: FloatArray) -> FloatArray:
    """Return turns (J, 4) of the rest pose that stretch legs along a direction (3,), by the shortest arcs.

    at: joints by their H-Anim names. Each foot moves with its shin.
    """
    positions, turns = skeleton.rest_world[:, :, 3], rot.identities(len(skeleton))
    for side in "lr":
        for joint, end in (("hip", "knee"), ("knee", "ankle")):
            if {f"{side}_{joint}", f"{side}_{end}"} <= at.keys():
                first, last = at[f"{side}_{joint}"], at[f"{side}_{end}"]
                below = with_descendants(skeleton.parents, np.array([first]))
                turns[below] = rot.shortest_arc(positions[last] - positions[first], down)
    return turns


def _has_straight_spine(skeleton: Skeleton, at: Mapping[str, int]) -> bool:
    names = [name for name in (hanim.ROOT, *hanim.SPINE, "skullbase") if name in at]
    positions = skeleton.rest_world[[at[name] for name in names], :, 3]
    steps = np.linalg.norm(np.diff(positions, axis=0), axis=1).sum()
    return bool(np.linalg.norm(positions[-1] - positions[0]) >= _SPINE * steps)


def _length(skeleton: Skeleton, at: Mapping[str, int], limbs: tuple[str, ...]) -> float:
    """Return the length of a pair of limbs, of three joints each."""
    positions = skeleton.rest_world[[at[name] for name in limbs], :, 3].reshape(2, 3, 3)
    return float(np.linalg.norm(np.diff(positions, axis=1), axis=-1).sum())


def _cosine(a: FloatArray, b: FloatArray) -> float:
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-30))
