"""Legs as two-bone IK chains; the foot keeps its rotation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.hierarchy import is_descendant
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Skeleton
from .footholds import REACH, reaches

_STRAIGHT = 1e-4
"""A knee whose bend has a smaller sine has no axis of its own."""
_SHOWN = 0.02
"""A bend at rest with a smaller sine may be chance."""
_FORWARD = 0.5
"""A knee whose axis at rest has a smaller cosine to the body's left bends sideways or backwards there."""


@dataclass(frozen=True)
class Leg:
    """Joints of a leg; foot is the one that stands: the ball of the foot, or the ankle where there is none.

    is_loose: the ankle is no descendant of the hip, as in rigs whose legs reach for their feet by IK.
    """

    hip: int
    knee: int
    ankle: int
    foot: int
    is_loose: bool = False
    side: str = "l"

    def length(self, skeleton: Skeleton) -> float:
        """Return how long thigh and shin are together."""
        rest = skeleton.rest_world[[self.hip, self.knee, self.ankle], :, 3]
        return float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())


def legs_of(skeleton_map: SkeletonMap) -> tuple[Leg, ...]:
    """Return the legs of which hip, knee and ankle are known and the knee is a descendant of the hip."""
    found, parents = [], skeleton_map.skeleton.parents
    for side in "lr":
        joints = [skeleton_map.joint_of.get(f"{side}_{part}", -1) for part in ("hip", "knee", "ankle", "metatarsal")]
        hip, knee, ankle, ball = joints
        if min(hip, knee, ankle) >= 0 and is_descendant(parents, knee, hip):
            found.append(Leg(hip, knee, ankle, ball if ball >= 0 and is_descendant(parents, ball, ankle) else ankle,
                             not is_descendant(parents, ankle, hip), side))
    return tuple(found)


def knee_axis(skeleton_map: SkeletonMap, leg: Leg, up: FloatArray) -> FloatArray:
    """Return about which axis (3,) a straight knee bends, in the axes that the hip joint has in the model.

    up: unit vector (3,) of model space. It is the axis of the bend that the leg shows at rest, where that goes forward,
    else the body's left: from hip to hip, or by the foot where there is one hip alone.
    """
    skeleton, position = skeleton_map.skeleton, skeleton_map.skeleton.rest_world[:, :, 3]
    thigh, shin = position[leg.knee] - position[leg.hip], position[leg.ankle] - position[leg.knee]
    whole, bend, left = thigh + shin, rot.cross(thigh, shin), _leftwards(skeleton_map, leg, up)
    left = left - whole * (left @ whole) / max(float(whole @ whole), 1e-30)
    forward = bend @ left >= _FORWARD * np.linalg.norm(bend) * np.linalg.norm(left)
    if np.linalg.norm(bend) > _SHOWN * np.linalg.norm(thigh) * np.linalg.norm(shin) and forward:
        axis = bend
    else:
        axis = left if left.any() else rot.cross(whole, np.eye(3)[np.argmin(np.abs(whole))])
    return rot.rotate(rot.conjugate(skeleton.rest_world_rotations[leg.hip]), axis)


def _leftwards(skeleton_map: SkeletonMap, leg: Leg, up: FloatArray) -> FloatArray:
    """Return where the body's left is at rest, (3,), zero where nothing tells."""
    position = skeleton_map.skeleton.rest_world[:, :, 3]
    left, right = (skeleton_map.joint_of.get(f"{side}_hip", -1) for side in "lr")
    if min(left, right) >= 0 and (position[left] != position[right]).any():
        return np.asarray(position[left] - position[right])
    return rot.cross(up, position[leg.foot] - position[leg.ankle])


def reach(skeleton_map: SkeletonMap, leg: Leg, axis_of_knee: FloatArray, rotations: FloatArray,
          world: Mapping[int, FloatArray], goal: FloatArray) -> None:
    """Turn hip and knee (in position) so that the ankle comes to its goal (F, 3), and the ankle back below the knee.

    axis_of_knee: see knee_axis. world: model-space matrices of the leg's joints and their parents, (F, 3, 4) each.
    """
    hip, knee, ankle = (world[joint][:, :, 3] for joint in (leg.hip, leg.knee, leg.ankle))
    thigh, shin = np.linalg.norm(knee - hip, axis=1), np.linalg.norm(ankle - knee, axis=1)
    whole = np.clip(np.linalg.norm(goal - hip, axis=1), np.abs(thigh - shin) * (2.0 - REACH),
                    reaches(hip, ankle, thigh + shin))
    axis = np.cross(knee - hip, ankle - knee)
    is_bent = np.linalg.norm(axis, axis=1, keepdims=True) > _STRAIGHT * (thigh * shin)[:, None]
    axis = np.where(is_bent, axis, _rotation(world[leg.hip]) @ axis_of_knee)
    bend = rot.from_axis_angle(axis, _opening(thigh, shin, np.linalg.norm(ankle - hip, axis=1))
                               - _opening(thigh, shin, whole))
    swing = rot.shortest_arc(rot.rotate(bend, ankle - knee) + knee - hip, goal - hip)
    both = rot.multiply(swing, bend)
    _turn(skeleton_map, rotations, world, leg.hip, rot.identities(len(goal)), swing)
    _turn(skeleton_map, rotations, world, leg.knee, swing, both)
    if not leg.is_loose:
        _turn(skeleton_map, rotations, world, leg.ankle, both, rot.identities(len(goal)))


def _opening(thigh: FloatArray, shin: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the angle at the knee, π where the leg is straight."""
    cosine = (thigh**2 + shin**2 - whole**2) / np.maximum(2.0 * thigh * shin, 1e-30)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _turn(skeleton_map: SkeletonMap, rotations: FloatArray, world: Mapping[int, FloatArray], joint: int,
          above: FloatArray, own: FloatArray) -> None:
    """Turn a joint by `own` in the model, where its parent has turned by `above`.

    With W the joint's rotation before, P its parent's: new key = (above · P · rest)⁻¹ · own · P · rest · key.
    """
    skeleton = skeleton_map.skeleton
    parent = int(skeleton.parents[joint])
    frame = rot.from_matrix(_rotation(world[parent])) if parent >= 0 else rot.identities(len(rotations))
    frame = rot.multiply(frame, skeleton.rest_rotations[joint])
    turned = rot.multiply(rot.conjugate(rot.multiply(above, frame)), rot.multiply(own, frame))
    rotations[:, joint] = rot.multiply(turned, rotations[:, joint])


def _rotation(world: FloatArray) -> FloatArray:
    """Return the rotation in matrices (F, 3, 4) with scale."""
    linear = world[:, :, :3]
    return np.asarray(linear / np.maximum(np.linalg.norm(linear, axis=1, keepdims=True), 1e-30))
