"""Legs as two-bone IK chains; the foot keeps its rotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...clips.clip import Clip, Tracks
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...maths.formulas import (
    Number,
    Quaternion,
    by_rows,
    chosen,
    conjugate,
    cosine_sine,
    direction,
    dot,
    greatest,
    holds_anywhere,
    joined,
    length,
    minus,
    product,
    quaternion,
    root,
    scaled,
    within,
    worked_out,
)
from ...retargeting.two_bone_ik import Overstretched, arc, two_bone_ik
from ...skeletons.hierarchy import is_descendant
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from .knees import kept_up

_BY = rot.multiply(np.eye(4)[:, None], np.eye(4)).swapaxes(1, 2).reshape(4, 16)
"""Turns a quaternion's components, (4, 16), into the matrix of left multiplication."""
_BACKWARDS = Overstretched(0.9, 1.3, straightens=True)
"""Transitions may turn a knee past straight up to the first angle; from the second on it is intended."""
_SHOWN = 0.02
"""A bend at rest with a smaller sine may be chance."""
_WIDE, _WIDEST = 0.7, 0.1
"""Legs that swing by more than the angle of this cosine swing through straight down, completely from the other on."""


@dataclass(frozen=True)
class Leg:
    """Joints of a leg. foot: the joint that is held in contact: the ball of the foot, else the ankle.

    is_loose: the ankle is not a descendant of the hip, as in rigs whose legs reach for their feet by IK.
    """

    hip: int
    knee: int
    ankle: int
    foot: int
    is_loose: bool = False
    side: str = "l"

    def length(self, skeleton: Skeleton) -> float:
        """Return the length of thigh and shin together."""
        rest = skeleton.rest_world[[self.hip, self.knee, self.ankle], :, 3]
        return float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())


def legs_of(skeleton_map: SkeletonMap) -> tuple[Leg, ...]:
    """Return the legs with known hip, knee and ankle whose knee is a descendant of the hip."""
    found, parents = [], skeleton_map.skeleton.parents
    for side in "lr":
        joints = [skeleton_map.joint_of.get(f"{side}_{part}", -1) for part in ("hip", "knee", "ankle", "metatarsal")]
        hip, knee, ankle, ball = joints
        if min(hip, knee, ankle) >= 0 and is_descendant(parents, knee, hip):
            found.append(Leg(hip, knee, ankle, ball if ball >= 0 and is_descendant(parents, ball, ankle) else ankle,
                             not is_descendant(parents, ankle, hip), side))
    return tuple(found)


def with_whole_legs(clips: Sequence[Clip], legs: Sequence[Leg]) -> list[Clip]:
    """Return clips of one skeleton in which a leg whose hip moves is keyed as a whole, at rest where it has no keys.

    Otherwise the foot would keep the bend of the clip before through the whole clip.
    """
    ever: BoolArray = np.logical_or.reduce([clip.moved for clip in clips])
    found = []
    for clip in clips:
        still = tuple(sorted({joint for leg in legs if clip.moved[leg.hip] for joint in (leg.knee, leg.ankle, leg.foot)
                              if ever[joint] and not clip.moved[joint]}))
        found.append(clip.derived(_resting, still) if still else clip)
    return found


def _resting(clip: Clip, joints: tuple[int, ...]) -> Clip:
    """Return a clip in which unmoved ones of the joints get a key at rest."""
    tracks, count = clip.rotations, len(joints)
    more = Tracks(np.append(tracks.joints, joints), np.append(tracks.starts, tracks.starts[-1] + 1 + np.arange(count)),
                  np.append(tracks.times_s, np.zeros(count)), np.concatenate((tracks.values, rot.identities(count))))
    return replace(clip, rotations=more)


def knee_axis(skeleton_map: SkeletonMap, leg: Leg, up: FloatArray) -> FloatArray:
    """Return the axis (3,), a unit vector, about which a straight knee bends, in the hip joint's axes at rest.

    up: unit vector (3,) of model space. If the leg is bent forwards at rest, it is the axis of that bend. Otherwise it
    is the body's left: from hip to hip, or from the foot if there is only one hip.
    """
    skeleton, position = skeleton_map.skeleton, skeleton_map.skeleton.rest_world[:, :, 3]
    thigh, shin = position[leg.knee] - position[leg.hip], position[leg.ankle] - position[leg.knee]
    whole, bend, left = thigh + shin, rot.cross(thigh, shin), _leftwards(skeleton_map, leg, up)
    left = left - whole * (left @ whole) / max(float(whole @ whole), 1e-30)
    forward = bend @ left >= 0.0
    if np.linalg.norm(bend) > _SHOWN * np.linalg.norm(thigh) * np.linalg.norm(shin) and forward:
        axis = bend
    else:
        axis = left if left.any() else rot.cross(whole, np.eye(3)[np.argmin(np.abs(whole))])
    axis = axis / max(float(np.linalg.norm(axis)), 1e-30)
    return rot.rotate(rot.conjugate(skeleton.rest_world_rotations[leg.hip]), axis)


def _leftwards(skeleton_map: SkeletonMap, leg: Leg, up: FloatArray) -> FloatArray:
    """Return the direction of the body's left at rest, (3,), zero if unknown."""
    position = skeleton_map.skeleton.rest_world[:, :, 3]
    left, right = (skeleton_map.joint_of.get(f"{side}_hip", -1) for side in "lr")
    if min(left, right) >= 0 and (position[left] != position[right]).any():
        return np.asarray(position[left] - position[right])
    return rot.cross(up, position[leg.foot] - position[leg.ankle])


@dataclass(frozen=True, eq=False)
class Chains:
    """L legs as chains of two bones each, solved together.

    joints: (3, L) hips, knees and ankles. knee_axes: (L, 1, 3), see knee_axis. is_loose: (L,), see Leg.
    """

    joints: IntArray
    knee_axes: FloatArray
    is_loose: BoolArray

    @classmethod
    def of(cls, skeleton_map: SkeletonMap, legs: Sequence[Leg], up: FloatArray) -> Chains:
        """Take the chains of some legs. up: unit vector (3,) of model space."""
        joints = np.array([(leg.hip, leg.knee, leg.ankle) for leg in legs], dtype=np.int64).reshape(-1, 3).T
        axes = np.array([knee_axis(skeleton_map, leg, up) for leg in legs]).reshape(-1, 1, 3)
        return cls(joints, axes, np.array([leg.is_loose for leg in legs], dtype=np.bool_))

    def bent(self, matrices: FloatArray, rotations: FloatArray, shift: FloatArray,
             most: FloatArray, upright: FloatArray, room: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return rotations (3, L, F, 4) that shift ankles by (L, F, 3) without rotating them in the model.

        Also by which share of its distance from the hip an ankle falls short of the target, (L, F). matrices: (3, L, F,
        4, 4) of hips, knees and ankles in the model, with columns of unit length; where these are not at right angles,
        the returned rotations are not of unit length. rotations: (3, L, F, 4) of these joints; unshifted legs keep
        them. most: (L, F) greatest distances of ankles from hips, as shares of the leg, unless they already are
        farther; the limit is soft. Overstretched knees, as in captured motion, bend forwards where legs are shortened.
        Since transitions may turn knees past straight, they also do so by the weight upright (F,). room: (L, F, 3)
        limits for knees, if any, see knees.py; then the model is in ground coordinates. A joint's new rotation is the
        old one times its turn: with W its frame, T its turn in the model and P its parent's turn, W⁻¹·P⁻¹·T·W.
        """
        found = worked_out(_bent, matrices[..., :3, 3].transpose(1, 2, 0, 3), matrices[0, ..., :3, :3], shift, most,
                           self.knee_axes, upright[None], *(() if room is None else (room,)))
        bent = _turned(rotations, matrices[..., :3, :3], found[..., :12])
        if self._loose:
            bent[2, self._loose] = rotations[2, self._loose]
        return bent, found[..., 12]

    @cached_property
    def _loose(self) -> list[int]:
        return np.flatnonzero(self.is_loose).tolist()


def _turned(rotations: FloatArray, frames: FloatArray, turns: FloatArray) -> FloatArray:
    """Return q·W⁻¹·T·W of rotations q (3, L, F, 4), frames W (3, L, F, 3, 3) and turns T, (L, F, 12) as in _bent."""
    legs, frame_count = turns.shape[:2]
    if frame_count == 1:
        few = turns.reshape(legs, 1, 3, 4, 1).transpose(2, 0, 1, 3, 4).copy()
        few[..., 1:, :] = frames.swapaxes(-1, -2) @ few[..., 1:, :]
        return np.asarray(((rotations @ _BY).reshape(*rotations.shape, 4) @ few)[..., 0])
    numbers = turns.transpose(2, 0, 1).reshape(3, 4, legs, frame_count).swapaxes(0, 1)  # makes its inner loops long
    own = numbers.copy()
    np.add.reduce(np.ascontiguousarray(frames.transpose(3, 4, 0, 1, 2)) * numbers[1:, None], out=own[1:])
    first: Any = np.ascontiguousarray(rotations.transpose(3, 0, 1, 2))
    found: Any = product(first, own)  # type: ignore[arg-type]  # an array is a sequence of its rows
    return np.asarray(found.transpose(1, 2, 3, 0))


def _bent(limb: Sequence[Sequence[Number]], frame: Sequence[Sequence[Number]], shift: Sequence[Number],
          most: Number, knee_axis: Sequence[Number], upright: Number, room: Sequence[Number] | None = None
          ) -> Sequence[Number]:
    """Return the turns of a leg's hip, knee and ankle in the model relative to the parent, and the share.

    All numbers in one sequence; see Chains.bent. limb: joint positions. frame: the rows of the hip's frame.
    """
    hip, knee, _ = limb
    hinge, thigh = by_rows(frame, knee_axis), minus(knee, hip)

    def above_ground(a: Sequence[Number], long: Number, aim: Sequence[Number], far: Number) -> Quaternion[Number]:
        assert room is not None
        return kept_up(_swung(a, long, aim, far), thigh, length(thigh), aim, far, hip[2], shift, room)

    swing, bend, share = two_bone_ik(limb, shift, most, hinge, upright, _BACKWARDS,
                                     arc if room is None else above_ground)
    return joined(swing, bend, conjugate(product(swing, bend)), (share,))


def _swung(a: Sequence[Number], long: Number, b: Sequence[Number], far: Number) -> Quaternion[Number]:
    """Return the rotation of a leg from the direction of a to that of b, both in ground coordinates.

    long, far: the lengths of a and b. Up to the angle whose cosine is _WIDE, it is the smallest rotation. Between
    opposite directions there are many smallest rotations, and knees would jump from one to another. So beyond that
    angle it blends into a rotation from a to straight down, and from there to b.
    """
    swing = arc(a, long, b, far)
    apart = dot(a, b) / greatest(long * far, 1e-30)
    if not holds_anywhere(apart < _WIDE):
        return swing
    w, x, y, z = product(product(_from_down(b, far), conjugate(_from_down(a, long))), conjugate(swing))
    along = (x * b[0] + y * b[1] + z * b[2]) / greatest(far, 1e-30)
    angle = direction(chosen(w < 0.0, -along, along), greatest(w, -w))
    share = within((_WIDE - apart) / (_WIDE - _WIDEST), 0.0, 1.0)
    cosine, sine = cosine_sine(angle * share * share * (3.0 - 2.0 * share))
    return product(quaternion(cosine, scaled(b, sine / greatest(far, 1e-30))), swing)


def _from_down(v: Sequence[Number], long: Number) -> Quaternion[Number]:
    """Return the smallest rotation from straight down to the direction of v. long: the length of v."""
    x, y, z = v
    w = greatest(long - z, 1e-30)
    by = 1.0 / root(w * w + x * x + y * y)
    return w * by, y * by, -x * by, 0.0 * by
