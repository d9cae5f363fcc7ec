"""Seats of the scene: the vertical displacement that puts the body on them.

Between standing and sitting the displacement is free, so it is as smooth as possible there (displacement.py). While the
body sits, the lowest skin of seat and back is on the surface. Feet stay on the ground; if legs are too short, feet
hang.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...clips.thresholds import BODY_S, BRIEF_S
from ...errors import Place
from ...maths.arrays import BoolArray, FloatArray
from ...maths.displacement import DisplacementProblem, solve_displacement
from ...retargeting.ground.bearing_trunk import ABOUT_LEGS, BACK, FEWEST, of_trunk
from ...retargeting.skin_points import SkinPoints
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from ..joints import Joints

_LEG: Final = "hip", "knee", "ankle"
_STANDS, SITS = 0.1, 0.15
"""Fold of both legs in leg lengths (see Thighs): below the first the body stands, above the second it may sit."""
_SLOW: Final = 0.2
"""The body sits only while it is no faster than this, in leg lengths per second."""
_ON, _NEAR = 0.01, 0.05
"""Height above the sitting position in leg lengths: below the first the body is on its seat, above the second it has
left it."""
_COMES: Final = 0.03
"""The body is on its seat only while it moves up or down no faster than this, in leg lengths per second."""
_FIRM: Final = 10.0


class Seat(NamedTuple):
    """A seat on which a body sits from one instant to another, in seconds. height: of its surface, along up.

    position: in the model; the hips should be vertically above or below it. role: its role in the score. place: of the
    call, in its file. over: height of the surface above the ground in front of it.
    """

    from_s: float
    to_s: float
    height: float
    position: tuple[float, float, float]
    role: str
    place: Place
    over: float = 0.0


@dataclass(frozen=True, eq=False)
class SeatSkin:
    """The lowest skin of seat and back. The height of points along up is linear in the joints' matrices.

    by_joint: (P, 4 N) for P points and N joints. below: distance of the skin below the points if only joints are known,
    else 0. stands: height of the lowest skin in the rest pose.
    """

    joints: Joints
    by_joint: FloatArray
    below: float
    stands: float

    @classmethod
    def of(cls, body: SkeletonMap, skin: SkinPoints | None, axes: FloatArray, leg: float) -> SeatSkin | None:
        """Return the skin of a body, or None if it has no trunk.

        axes: (3, 3) from the model to ground coordinates. leg: the length of a leg.
        """
        skeleton, below = body.skeleton, 0.0
        own = np.zeros(0, dtype=np.int64) if skin is None else np.flatnonzero(
            of_trunk(skin.positions, skin.joints[:, 0], skeleton, body))
        if skin is not None and len(own) >= FEWEST:
            points, owners, shares = skin.positions[own], skin.joints[own], skin.weights[own]
        else:
            owners = np.array([body.joint_of[name] for name in BACK if name in body.joint_of], dtype=np.int64)[:, None]
            points, shares, below = skeleton.rest_world[owners[:, 0], :, 3], np.ones(owners.shape), ABOUT_LEGS[BACK[0]]
        if not len(owners):
            return None
        chosen = np.unique(owners[shares > 0.0])
        rest = np.tile(np.eye(4), (len(chosen), 1, 1))
        rest[:, :3] = skeleton.rest_world[chosen]
        local = np.linalg.inv(rest) @ np.pad(points, ((0, 0), (0, 1)), constant_values=1.0).T  # (N, 4, P)
        weights = np.where(owners[:, :, None] == chosen, shares[:, :, None], 0.0).sum(axis=1)  # (P, N)
        by_joint = (weights.T[:, None] * local).reshape(-1, len(points)).T
        made = cls(Joints.of(skeleton, chosen.tolist()).turned(axes), by_joint, below * leg, 0.0)
        return cls(made.joints, by_joint, made.below, float(made.lowest(Pose.rest(skeleton, 1))[0]))

    def lowest(self, pose: Pose) -> FloatArray:
        """Return the height of the lowest skin (F,) in poses (F, J, …)."""
        rows = self.joints.matrices(pose)[..., 2, :].swapaxes(1, 2)  # (N, 4, F)
        return np.asarray((self.by_joint @ rows.reshape(-1, rows.shape[-1])).min(axis=0) - self.below)


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
        rest = body.skeleton.rest_world[[[body.joint_of[f"{side}_{joint}"] for side in sides] for joint in _LEG], :, 3]
        thighs, shins = np.linalg.norm(np.diff(rest, axis=0), axis=2)
        joints = [body.joint_of[f"{side}_{joint}"] for joint in _LEG[:2] for side in sides]
        return cls(Joints.of(body.skeleton, joints), thighs, float((thighs + shins).max()), up / np.linalg.norm(up))

    def seen(self, pose: Pose) -> tuple[FloatArray, FloatArray]:
        """Return the positions of the hips (F, 3) in poses (F, J, …), and how far their legs are folded, (F,).

        The fold of a leg is the length of its thigh minus the height of the hips above the knee; the smaller one of
        both legs counts. It works for seats of any height: the hips of short legs go up to a chair. A body that climbs
        stairs has one straight leg.
        """
        hips, knees = np.split(self.joints.positions(pose), 2, axis=1)
        return hips.mean(axis=1), (self.lengths - (hips - knees) @ self.up).min(axis=1)


def are_still(times_s: FloatArray, hips: FloatArray, fold: FloatArray, leg: float) -> BoolArray:
    """Return when a body rests with folded legs, (F,), at times (F,) that are evenly apart; see Thighs."""
    if not times_s[-1] > times_s[0]:
        return fold > SITS * leg
    speed = np.linalg.norm(np.gradient(hips, float(times_s[1] - times_s[0]), axis=0), axis=1)
    return np.asarray((fold > SITS * leg) & (speed < _SLOW * leg))


@dataclass(frozen=True, eq=False)
class Sitting:
    """How the body of a motion sits on seats, at evenly spaced times (F,).

    low: (F,) height of the lowest skin of seat and back without the displacement. free: (F,) whether the body sits down
    or gets up. on: (F,) whether it sits. surface: (F,) height of the seat, or −inf where the body does not sit.
    """

    low: FloatArray
    free: BoolArray
    on: BoolArray
    surface: FloatArray

    @classmethod
    def of(cls, seats: Sequence[Seat], times_s: FloatArray, hips: FloatArray, low: FloatArray, fold: FloatArray,
           leg: float) -> Sitting:
        """Find when a body sits.

        seats: in order of time. hips: (F, 3) positions. low: (F,) height of the lowest skin. fold: (F,), see Thighs.
        """
        spacing_s = float(times_s[1] - times_s[0])
        still = are_still(times_s, hips, fold, leg)
        resting = np.abs(np.gradient(low, spacing_s)) < _COMES * leg
        upright = fold < _STANDS * leg
        free, on = np.zeros(len(low), dtype=np.bool_), np.zeros(len(low), dtype=np.bool_)
        surface, after = np.full(len(low), -np.inf), 0
        for number, seat in enumerate(seats):
            first = np.flatnonzero(still & (times_s >= seat.from_s) & (times_s <= seat.to_s))
            if not len(first) or first[0] < after:
                continue
            later = times_s >= min((each.from_s for each in seats[number + 1:]), default=np.inf)
            begin = max(int(np.flatnonzero(upright[:first[0]])[-1:].sum()), after)
            end = first[0] + int(np.append(upright | later, True)[first[0]:].argmax())
            own = np.flatnonzero(still[:end])
            own = own[own >= first[0]]
            if len(own) * spacing_s < BRIEF_S:
                continue
            sits = float(np.median(low[own]))
            is_there = (low < sits + _ON * leg) & (low > sits - _NEAR * leg) & resting
            there = begin + np.flatnonzero(is_there[begin:end])
            if not len(there):
                continue
            here = slice(int(there[0]), int(there[-1]) + 1)
            surface[here], free[begin:end] = seat.height, ~upright[begin:end]
            on[here], after = low[here] < sits + _NEAR * leg, end
        return cls(low, free & ~on, on, surface)

    def rise(self, wish: FloatArray, most: FloatArray, spacing_s: float) -> FloatArray:
        """Return how far the body is raised, (F,).

        wish: (F,) the lift that puts it on the seat. most: (F,) the lift up to which feet reach the ground.
        """
        weight = np.where(self.free, 0.0, _FIRM)
        sits = np.isfinite(self.surface)
        lo = np.where(sits, wish, -np.inf)
        hi = np.full(len(wish), np.inf)
        if (wish <= most)[sits].all():
            hi = np.where(self.free & ~sits, np.maximum(most, 0.0), np.inf)
        return np.asarray(solve_displacement(DisplacementProblem(
            np.where(self.on, wish, 0.0)[None], weight[None], lo[None], hi[None], np.array((BODY_S,)),
            spacing_s)).curves[0])
