"""Hands that touch each other, or nearly do, keep touching on a body with other proportions: Keep Contacts.

Limbs point as in the clip, so on broader shoulders or with shorter arms clapping hands come apart. While a clip's
hands are near each other, those of the target are brought as near, by their shoulders and elbows; each hand goes half
of the way and stays turned as it is.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import filled, keys_of, poses_at
from ..skeletons.hierarchy import is_descendant
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import world_from_pose
from .limbs import Limb, reach, with_rotations

_NEAR_HEIGHTS: Final = (0.12, 0.2)
"""Of the body's height: hands nearer than the first are kept as near; up to the second in part."""
_STILL: Final = 1e-4


class _Arm(NamedTuple):
    """An arm. palm: the joint whose position counts for the hand."""

    limb: Limb
    palm: int


def with_hands_together(played: Clip, target_map: SkeletonMap, source: Clip, source_map: SkeletonMap) -> Clip:
    """Return what is played with the hands as near each other, for its height, as in the source where they are near.

    played: on the skeleton of target_map. source: the clip as it was compared, in the target's axes, on that of
    source_map. Where an arm or the height of one of them is not known, or hands are never near, it stays as it is.
    """
    arms, theirs = _arms(target_map), _arms(source_map)
    heights = _height(target_map), _height(source_map)
    if len(arms) < 2 or len(theirs) < 2 or min(heights) <= 0.0:
        return played
    joints = [joint for arm in arms for joint in arm.limb.joints]
    keyed = [keys_of(tracks, i)[0] for clip in (played, source) for tracks in (clip.rotations, clip.translations)
             for i in range(len(tracks.joints))]
    times = filled(np.unique(np.concatenate([*keyed, (0.0, played.duration_s)])))
    there = world_from_pose(source.skeleton, poses_at(source, times))[..., 3]
    apart = (there[:, theirs[0].palm] - there[:, theirs[1].palm]) * heights[0] / heights[1]
    near, far = (share * heights[0] for share in _NEAR_HEIGHTS)
    share = np.clip((far - np.linalg.norm(apart, axis=1)) / (far - near), 0.0, 1.0)
    share = (share * share * (3.0 - 2.0 * share))[:, None]
    pose = poses_at(played, times)
    world = world_from_pose(played.skeleton, pose)
    wanted = share * (apart - (world[:, arms[0].palm, :, 3] - world[:, arms[1].palm, :, 3]))
    if np.abs(wanted).max(initial=0.0) <= _STILL * heights[0]:
        return played
    turns = pose.rotations.copy()
    for arm, half in zip(arms, (0.5, -0.5), strict=True):
        reach(played, turns, world, arm.limb, half * wanted)
    return with_rotations(played, {joint: (times, turns[:, joint]) for joint in joints})


def _arms(found: SkeletonMap) -> list[_Arm]:
    """Return the arms whose joints are known and are one chain, left and right."""
    parents, arms = found.skeleton.parents, []
    for side in "lr":
        limb = Limb.of(found, side, ("shoulder", "elbow", "wrist"))
        palm = found.joint_of.get(f"{side}_middle1", -1 if limb is None else limb.last)
        if limb is not None and (palm == limb.last or is_descendant(parents, palm, limb.last)):
            arms.append(_Arm(limb, palm))
    return arms


def _height(found: SkeletonMap) -> float:
    """Return the height of a body at rest from its ankles to the base of the skull, along its limbs; 0: not known."""
    position, joint_of = found.skeleton.rest_world[:, :, 3], found.joint_of
    chain = [joint_of.get(name, -1) for name in ("l_ankle", "l_knee", "l_hip", "skullbase")]
    return 0.0 if min(chain) < 0 else float(np.linalg.norm(np.diff(position[chain], axis=0), axis=1).sum())
