"""Hands that touch each other, or nearly do, keep touching on a body with other proportions: Keep Contacts.

Limbs point as in the clip, so on broader shoulders or with shorter arms clapping hands come apart. While a clip's
hands are near each other, those of the target are brought as near, by their shoulders and elbows; each hand goes half
of the way and stays turned as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import filled, keys_of, packed, poses_at
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.hierarchy import is_descendant
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import world_from_pose

_NEAR_HEIGHTS: Final = (0.12, 0.2)
"""Of the body's height: hands nearer than the first are kept as near; up to the second in part."""
_REACH: Final = 0.9995
"""Of the arm's length: no elbow is straightened further."""
_STILL: Final = 1e-4
_STRAIGHT: Final = 1e-6


@dataclass(frozen=True)
class _Arm:
    """Joints of an arm, each an ancestor of the next. palm: the joint whose position counts for the hand."""

    shoulder: int
    elbow: int
    wrist: int
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
    joints = [joint for arm in arms for joint in (arm.shoulder, arm.elbow, arm.wrist)]
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
        _reach(played, turns, world, arm, half * wanted)
    own = {int(joint): keys_of(played.rotations, i) for i, joint in enumerate(played.rotations.joints)}
    own |= {joint: (times, rot.continuous(turns[:, joint])) for joint in joints}
    return replace(played, rotations=packed([(joint, *own[joint]) for joint in sorted(own)], 4))


def _reach(clip: Clip, turns: FloatArray, world: FloatArray, arm: _Arm, offset: FloatArray) -> None:
    """Change the local rotations (F, J, 4) of an arm so that its wrist moves by offset (F, 3), the hand not turning.

    With E the turn of the forearm about the elbow and S that of the whole arm about the shoulder, both in the world,
    the new rotations are (W_above·R)⁻¹·S·W, (W_above·R)⁻¹·E·W, and for the wrist (S·E·W_above·R)⁻¹·W.
    """
    shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in (arm.shoulder, arm.elbow, arm.wrist))
    upper, fore, aim = elbow - shoulder, wrist - elbow, wrist + offset - shoulder
    a, b = np.linalg.norm(upper, axis=1), np.linalg.norm(fore, axis=1)
    reach = np.clip(np.linalg.norm(aim, axis=1), np.abs(a - b) / _REACH, (a + b) * _REACH)
    reach = np.where((np.abs(offset) > 0.0).any(axis=1), reach, np.linalg.norm(wrist - shoulder, axis=1))
    bend = np.arccos(np.clip((reach**2 - a**2 - b**2) / (2.0 * a * b), -1.0, 1.0))
    axis = np.cross(upper, fore)
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    now = np.arctan2(length[:, 0], np.sum(upper * fore, axis=1))
    side = np.cross(upper, np.where(np.abs(upper[:, :1]) < 0.7 * a[:, None], (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    axis = np.where(length > _STRAIGHT * (a * b)[:, None], axis, side)
    about_elbow = rot.from_axis_angle(axis, bend - now)
    hand = upper + rot.rotate(about_elbow, fore)
    about_shoulder = rot.shortest_arc(hand, aim)
    both = rot.multiply(about_shoulder, about_elbow)
    for joint, before, after in ((arm.shoulder, rot.IDENTITY, about_shoulder), (arm.elbow, rot.IDENTITY, about_elbow),
                                 (arm.wrist, both, rot.IDENTITY)):
        above = _rotations(world[:, int(clip.skeleton.parents[joint])])
        base = rot.multiply(before, rot.multiply(above, clip.skeleton.rest_rotations[joint]))
        turns[:, joint] = rot.multiply(rot.conjugate(base), rot.multiply(after, _rotations(world[:, joint])))


def _rotations(world: FloatArray) -> FloatArray:
    linear = world[..., :3]
    return rot.from_exact_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True))


def _arms(found: SkeletonMap) -> list[_Arm]:
    """Return the arms whose joints are known and are one chain, left and right."""
    parents, arms = found.skeleton.parents, []
    for side in "lr":
        joints = [found.joint_of.get(f"{side}_{part}", -1) for part in ("shoulder", "elbow", "wrist")]
        palm = found.joint_of.get(f"{side}_middle1", joints[2])
        if min(joints) >= 0 and int(parents[joints[0]]) >= 0 and all(
                is_descendant(parents, low, high) for high, low in zip(joints, (*joints[1:], palm), strict=True)
                if low != high):
            arms.append(_Arm(joints[0], joints[1], joints[2], palm))
    return arms


def _height(found: SkeletonMap) -> float:
    """Return the height of a body at rest from its ankles to the base of the skull, along its limbs; 0: not known."""
    position, joint_of = found.skeleton.rest_world[:, :, 3], found.joint_of
    chain = [joint_of.get(name, -1) for name in ("l_ankle", "l_knee", "l_hip", "skullbase")]
    return 0.0 if min(chain) < 0 else float(np.linalg.norm(np.diff(position[chain], axis=0), axis=1).sum())
