"""Seats of the scene, the skin with which a body sits on them, and how to recognise that it sits; see sitting.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from ...clips.thresholds import LITTLE_LEGS
from ...errors import Place
from ...maths.arrays import BoolArray, FloatArray
from ...retargeting.ground.bearing_trunk import ABOUT_LEGS, BACK, FEWEST, of_trunk
from ...retargeting.skin_points import SkinPoints
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from ..joints import Joints

_LEG: Final = "hip", "knee", "ankle"
STANDS, SITS = 0.1, 0.15
"""Fold of both legs in leg lengths (see Thighs): below the first the body stands, above the second it may sit."""
_SLOW: Final = 0.2
"""The body sits only while it is no faster than this, in leg lengths per second."""
_THIGHS: Final = 0.5
"""Share of the thighs, from the hips, whose skin lies on a seat."""
_GIVES_LEGS: Final = 0.006
"""Skin of thighs may be LITTLE_LEGS below the surface. To keep it there, the body is raised by at most this."""


class Seat(NamedTuple):
    """A seat on which a body sits from one instant to another, in seconds. height: of its surface, along up.

    position: in the model; the hips should be vertically above or below it. role: its role in the score. place: of the
    call, in its file. over: height of the surface above the ground in front of it. until_s: latest time at which the
    body may come to rest, in clips that go on sitting.
    """

    from_s: float
    to_s: float
    height: float
    position: tuple[float, float, float]
    role: str
    place: Place
    over: float = 0.0
    until_s: float = -np.inf


@dataclass(frozen=True, eq=False)
class SeatSkin:
    """The lowest skin of buttocks and back. The height of points along up is linear in the joints' matrices.

    by_joint: (P, 4 N) for P points and N joints. of_thighs: (P,) which points are of thighs, beyond the buttocks.
    below: distance of the skin below the points if only joints are known, else 0. stands: height of the lowest skin of
    buttocks and back in the rest pose. leg: the length of a leg.
    """

    joints: Joints
    by_joint: FloatArray
    of_thighs: BoolArray
    below: float
    stands: float
    leg: float

    @classmethod
    def of(cls, body: SkeletonMap, skin: SkinPoints | None, axes: FloatArray, leg: float) -> SeatSkin | None:
        """Return the skin of a body, or None if it has no trunk.

        axes: (3, 3) from the model to ground coordinates. leg: the length of a leg.
        """
        skeleton, below = body.skeleton, 0.0
        is_seat = is_thigh = np.zeros(0, dtype=np.bool_)
        if skin is not None:
            is_seat, on_seat = (of_trunk(skin.positions, skin.joints[:, 0], skeleton, body, **far)
                                for far in ({}, {"thighs": _THIGHS}))
            is_thigh = on_seat & ~is_seat
        if skin is not None and is_seat.sum() >= FEWEST:
            own = skin.part(np.append(np.flatnonzero(is_seat), np.flatnonzero(is_thigh)))
        else:
            is_thigh = np.zeros(0, dtype=np.bool_)
            joints = np.array([body.joint_of[name] for name in BACK if name in body.joint_of], dtype=np.int64)[:, None]
            own = SkinPoints(skeleton.rest_world[joints[:, 0], :, 3], joints, np.ones(joints.shape))
            below = ABOUT_LEGS[BACK[0]]
        count = len(own.positions)
        if not count:
            return None
        chosen = np.unique(own.joints[own.weights > 0.0])
        by_joint = own.height_of_rows(skeleton).reshape(-1, 4, count)[chosen].reshape(-1, count).T
        of_thighs = np.arange(count) >= count - int(is_thigh.sum())
        made = cls(Joints.of(skeleton, chosen.tolist()).turned(axes), by_joint, of_thighs, below * leg, 0.0, leg)
        rest = made.heights(Pose.rest(skeleton, 1))[~of_thighs]
        return replace(made, stands=float(rest.min()))

    def lowest(self, pose: Pose) -> FloatArray:
        """Return the height of the seat's surface if the body sits on it in poses (F, J, …), (F,).

        That is the height of the lowest skin of buttocks and back, or a little less if thighs would be in the seat.
        """
        heights = self.heights(pose)
        seat = heights[~self.of_thighs].min(axis=0)
        thighs = heights[self.of_thighs].min(axis=0, initial=np.inf) + LITTLE_LEGS * self.leg
        return np.asarray(np.maximum(np.minimum(seat, thighs), seat - _GIVES_LEGS * self.leg))

    def heights(self, pose: Pose) -> FloatArray:
        """Return the heights of all points of the skin in poses (F, J, …), (P, F)."""
        rows = self.joints.matrices(pose)[..., 2, :].swapaxes(1, 2)  # (N, 4, F)
        return np.asarray(self.by_joint @ rows.reshape(-1, rows.shape[-1]) - self.below)


@dataclass(frozen=True, eq=False)
class Thighs:
    """Thighs, which show whether a body sits. lengths: (L,); leg: length of a leg; up: unit vector (3,)."""

    joints: Joints
    lengths: FloatArray
    leg: float
    up: FloatArray

    @classmethod
    def of(cls, body: SkeletonMap, up: FloatArray) -> Thighs | None:
        """Return the thighs of a body, or None if it has no legs. up: (3,) of the model."""
        sides = [side for side in "lr" if {f"{side}_{joint}" for joint in _LEG} <= body.joint_of.keys()]
        if not sides:
            return None
        joints = [body.joint_of[f"{side}_{joint}"] for joint in _LEG[:2] for side in sides]
        hips, knees = np.split(body.skeleton.rest_world[joints, :, 3], 2)
        return cls(Joints.of(body.skeleton, joints), np.linalg.norm(knees - hips, axis=1), body.leg_length,
                   up / np.linalg.norm(up))

    def seen(self, pose: Pose) -> tuple[FloatArray, FloatArray]:
        """Return the positions of the hips (F, 3) in poses (F, J, …), and how far their legs are folded, (F,).

        The fold of a leg is the length of its thigh minus the height of the hips above the knee; the smaller one of
        both legs counts. It works for seats of any height: the hips of short legs go up to a chair. A body that climbs
        stairs has one straight leg.
        """
        hips, knees = np.split(self.joints.positions(pose), 2, axis=1)
        return hips.mean(axis=1), (self.lengths - (hips - knees) @ self.up).min(axis=1)


def are_still(times_s: FloatArray, hips: FloatArray, fold: FloatArray, leg: float,
              paces: FloatArray | float = 1.0) -> BoolArray:
    """Return when a body rests with folded legs, (F,), at times (F,) at equal distances; see Thighs.

    paces: (F,) of clips relative to their own pace. If a clip plays slowly, the speed of a resting body must be lower
    in proportion, since a body that moves slowly does not rest.
    """
    if not times_s[-1] > times_s[0]:
        return fold > SITS * leg
    speed = np.linalg.norm(np.gradient(hips, float(times_s[1] - times_s[0]), axis=0), axis=1)
    return np.asarray((fold > SITS * leg) & (speed < _SLOW * paces * leg))
