"""Legs as two-bone IK chains; the foot keeps its rotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
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


@dataclass(frozen=True, eq=False)
class Chains:
    """L legs as chains of two bones each, bent all at once.

    joints: (3, L) hips, knees and ankles. rest: (3, L, 4) their rotations at rest; parents: (3, L), −1 for none.
    knee_axes: (L, 3), see knee_axis. is_loose: (L,), see Leg.
    """

    joints: IntArray
    rest: FloatArray
    parents: IntArray
    knee_axes: FloatArray
    is_loose: BoolArray

    @classmethod
    def of(cls, skeleton_map: SkeletonMap, legs: Sequence[Leg], up: FloatArray) -> Chains:
        """Take the chains of some legs; up: unit vector (3,) of model space."""
        skeleton = skeleton_map.skeleton
        joints = np.array([(leg.hip, leg.knee, leg.ankle) for leg in legs], dtype=np.int64).reshape(-1, 3).T
        axes = np.array([knee_axis(skeleton_map, leg, up) for leg in legs]).reshape(-1, 3)
        return cls(joints, skeleton.rest_rotations[joints], skeleton.parents[joints], axes,
                   np.array([leg.is_loose for leg in legs], dtype=np.bool_))

    def bent(self, rotations: FloatArray, world: FloatArray, above: FloatArray, goals: FloatArray) -> FloatArray:
        """Return rotations (F, 3, L, 4) with which ankles come to their goals (F, L, 3) without turning in the model.

        rotations: (F, 3, L, 4) of the joints as they are; world, above: (F, 3, L, 3, 4) the matrices of the joints and
        of their parents.
        """
        hip, knee, ankle = np.moveaxis(world[..., 3], 1, 0)
        thigh, shin = _length(knee - hip), _length(ankle - knee)
        whole = np.clip(_length(goals - hip), np.abs(thigh - shin) * (2.0 - REACH), reaches(hip, ankle, thigh + shin))
        axis = rot.cross(knee - hip, ankle - knee)
        is_bent = _length(axis) > _STRAIGHT * thigh * shin
        own = (_rotation(world[:, 0]) @ self.knee_axes[..., None])[..., 0]
        bend = rot.from_axis_angle(np.where(is_bent[..., None], axis, own),
                                   _opening(thigh, shin, _length(ankle - hip)) - _opening(thigh, shin, whole))
        swing = rot.shortest_arc(rot.rotate(bend, ankle - knee) + knee - hip, goals - hip)
        both, none = rot.multiply(swing, bend), np.broadcast_to(rot.IDENTITY, swing.shape)
        feet = np.where(self.is_loose[:, None], both, none)
        frames = rot.multiply(rot.from_exact_matrix(_rotation(above)), self.rest)
        return _turned(rotations, frames, np.stack((none, swing, both), axis=1), np.stack((swing, both, feet), axis=1))


def _turned(rotations: FloatArray, frames: FloatArray, above: FloatArray, own: FloatArray) -> FloatArray:
    """Return the rotations of joints that turn by `own` in the model, where their parents turn by `above`.

    With P the parent's rotation in the model before, frames = P · rest: new = (above · frames)⁻¹ · own · frames · old.
    """
    turned = rot.multiply(rot.conjugate(rot.multiply(above, frames)), rot.multiply(own, frames))
    return rot.multiply(turned, rotations)


def _opening(thigh: FloatArray, shin: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the angle at the knee, π where the leg is straight."""
    cosine = (thigh**2 + shin**2 - whole**2) / np.maximum(2.0 * thigh * shin, 1e-30)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _rotation(world: FloatArray) -> FloatArray:
    """Return the rotation in matrices (..., 3, 4) with scale."""
    linear = world[..., :3]
    return np.asarray(linear / np.maximum(np.sqrt((linear * linear).sum(axis=-2, keepdims=True)), 1e-30))


def _length(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors * vectors).sum(axis=-1)))
