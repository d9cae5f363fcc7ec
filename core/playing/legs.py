"""Legs as two-bone IK chains; the foot keeps its rotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..clips.clip import Clip, Tracks
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import is_descendant
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Skeleton
from .footholds import REACH

_YZX, _ZXY = np.array((1, 2, 0)), np.array((2, 0, 1))
_OPPOSITE = 1e-6
"""Nearer to opposite than this, the turn from one direction to the other is looked for with more care."""
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


def with_whole_legs(clips: Sequence[Clip], legs: Sequence[Leg]) -> list[Clip]:
    """Return clips of one skeleton, in which a leg whose hip moves is moved as a whole: what has no keys is at rest.

    Else a foot would stand all through a clip with the bend that the clip before had as it pushed off.
    """
    ever: BoolArray = np.logical_or.reduce([clip.moved for clip in clips])
    found = []
    for clip in clips:
        still = tuple(sorted({joint for leg in legs if clip.moved[leg.hip] for joint in (leg.knee, leg.ankle, leg.foot)
                              if ever[joint] and not clip.moved[joint]}))
        found.append(clip.derived(_resting, still) if still else clip)
    return found


def _resting(clip: Clip, joints: tuple[int, ...]) -> Clip:
    """Return a clip in which joints that it does not move are at rest, by a key each."""
    tracks, count = clip.rotations, len(joints)
    more = Tracks(np.append(tracks.joints, joints), np.append(tracks.starts, tracks.starts[-1] + 1 + np.arange(count)),
                  np.append(tracks.times_s, np.zeros(count)), np.concatenate((tracks.values, rot.identities(count))))
    return replace(clip, rotations=more)


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

    joints: (3, L) hips, knees and ankles. knee_axes: (3, L, 1), see knee_axis. is_loose: (L,), see Leg.
    """

    joints: IntArray
    knee_axes: FloatArray
    is_loose: BoolArray

    @classmethod
    def of(cls, skeleton_map: SkeletonMap, legs: Sequence[Leg], up: FloatArray) -> Chains:
        """Take the chains of some legs; up: unit vector (3,) of model space."""
        joints = np.array([(leg.hip, leg.knee, leg.ankle) for leg in legs], dtype=np.int64).reshape(-1, 3).T
        axes = np.array([knee_axis(skeleton_map, leg, up) for leg in legs]).reshape(-1, 3).T
        return cls(joints, axes[..., None], np.array([leg.is_loose for leg in legs], dtype=np.bool_))

    def turns(self, positions: FloatArray, frames: FloatArray, goals: FloatArray) -> FloatArray:
        """Return by what joints turn, (3, L, F, 4), so that ankles come to their goals (3, L, F) without turning.

        positions: (3, 3, L, F) x, y and z of hips, knees and ankles; frames: (3, 3, 3, L, F) the rows of their
        rotations in the model. A joint's new rotation is the old one times its turn: with W its frame, T what turns it
        in the model and P what turns its parent there, W⁻¹·P⁻¹·T·W.
        """
        turns = np.empty((4, *positions.shape[1:]))  # P⁻¹·T: of hips, of knees against them, of ankles back
        turns[:, 0], turns[:, 1] = self._bent(positions, frames[:, :, 0], goals)
        (hip_w, *_), (knee_w, *_), hip, knee = turns[:, 0], turns[:, 1], turns[1:, 0], turns[1:, 1]
        turns[0, 2] = hip_w * knee_w - _dots(hip, knee)
        turns[1:, 2] = -(hip_w * knee + knee_w * hip + _cross(hip, knee))
        if self.is_loose.any():
            turns[:, 2, self.is_loose] = rot.IDENTITY[:, None, None]
        turns[1:] = turns[1] * frames[0] + turns[2] * frames[1] + turns[3] * frames[2]
        turns /= np.sqrt(_dots(turns, turns))
        return turns.transpose(1, 2, 3, 0)

    def _bent(self, positions: FloatArray, frames: FloatArray, goals: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how legs swing at the hip (of any length), and before that bend at the knee: (4, L, F)."""
        hip, knee, ankle = positions.swapaxes(0, 1)
        thigh, shin, aim = knee - hip, ankle - knee, goals - hip
        sides = np.stack((thigh, shin, ankle - hip, aim), axis=1)
        a, b, c, far = np.sqrt(_dots(sides, sides))
        whole = np.minimum(np.maximum(far, np.abs(a - b) * (2.0 - REACH)), np.maximum((a + b) * REACH, c))
        axis, along = _cross(thigh, shin), _dots(thigh, shin)
        size = np.sqrt(_dots(axis, axis))
        cosines = (whole * whole - a * a - b * b) / np.maximum(2.0 * a * b, 1e-30)
        wanted = np.arccos(np.minimum(np.maximum(cosines, -1.0), 1.0))  # 0 where the leg is straight
        half = np.where(whole == c, 0.0, (wanted - np.arctan2(size, along)) / 2.0)
        is_straight = size <= _STRAIGHT * a * b
        if is_straight.any():
            axis = np.where(is_straight, _dots(frames.swapaxes(0, 1), self.knee_axes[:, None]), axis)
            size = np.maximum(np.sqrt(_dots(axis, axis)), 1e-30)
        sine, cosine = np.sin(half), np.cos(half)
        bend = np.concatenate((cosine[None], axis * (sine / size)))
        # With n = thigh × shin, the shin's plane has n × shin = shin (thigh·shin) − thigh |shin|².
        part = 2.0 * sine * cosine / size
        line = thigh * (1.0 - part * b * b) + shin * (1.0 - 2.0 * sine * sine + part * along)
        cosine = _dots(line, aim)
        swing = np.concatenate(((whole * far + cosine)[None], _cross(line, aim)))  # half of the angle between them
        is_other = is_straight | (whole * far + cosine <= _OPPOSITE * whole * far)
        if is_other.any():
            line = np.where(is_straight, thigh + _rotated(bend, shin), line)
            arc = np.moveaxis(rot.shortest_arc(np.moveaxis(line, 0, -1), np.moveaxis(aim, 0, -1)), -1, 0)
            swing = np.where(is_other, arc, swing)
        return swing, bend


def _rotated(q: FloatArray, v: FloatArray) -> FloatArray:
    return np.moveaxis(rot.rotate(np.moveaxis(q, 0, -1), np.moveaxis(v, 0, -1)), -1, 0)


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the dot products of vectors (N, ...), (...)."""
    return np.asarray(np.einsum("i...,i...->...", a, b))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the cross products of vectors (3, ...)."""
    return np.asarray(a.take(_YZX, axis=0) * b.take(_ZXY, axis=0) - a.take(_ZXY, axis=0) * b.take(_YZX, axis=0))
