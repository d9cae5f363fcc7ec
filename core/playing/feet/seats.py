"""Seats of the scene: how much higher or lower a body sits on them than its clips have it.

Between standing and sitting nothing is wished for, so the displacement is there as gently as can be (displacement.py).
While the body sits, the lowest skin of seat and back is on the surface; feet stay, and hang where legs are too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...clips.thresholds import BODY_S, BRIEF_S, LITTLE_LEGS, NEAR_LEGS
from ...errors import Place
from ...maths.arrays import BoolArray, FloatArray
from ...maths.displacement import DisplacementProblem, solve_displacement
from ...retargeting.ground.bearing_trunk import ABOUT_LEGS, BACK, FEWEST, of_trunk
from ...retargeting.ground.fitted_curves import SOFT_WEIGHT
from ...retargeting.skin_points import SkinPoints
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from ..joints import Joints

_LEG: Final = "hip", "knee", "ankle"
_STANDS, SITS = 0.1, 0.15
"""Who folds both legs by so much, in leg lengths (see Thighs), stands at most, or may sit."""
_SLOW: Final = 0.2
"""And sits where it goes no faster, in leg lengths a second,"""
_COMES: Final = 0.03
"""And once it comes down no faster, in leg lengths a second, until it goes up so fast."""


class Seat(NamedTuple):
    """A seat for a body that sits down, or sits, from one instant up to another. height: of its surface, along up.

    position: in the model; the hips are to be above or below it. role: what plays it; place: of what says so, in its
    file. over: how high it is above the ground before it.
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
    """The lowest skin of seat and back: how high points are along up is linear in the joints' matrices.

    by_joint: (P, 4 N). below: how far skin is below the points, where only joints are known. stands: how high the
    lowest is as the body rests.
    """

    joints: Joints
    by_joint: FloatArray
    below: float
    stands: float

    @classmethod
    def of(cls, body: SkeletonMap, skin: SkinPoints | None, axes: FloatArray, leg: float) -> SeatSkin | None:
        """Take a body's; None if it has no trunk. axes: (3, 3) to ground coordinates; leg: how long legs are."""
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
        """Return how high the lowest skin is in poses (F, J, …), (F,)."""
        rows = self.joints.matrices(pose)[..., 2, :].swapaxes(1, 2)  # (N, 4, F)
        return np.asarray((self.by_joint @ rows.reshape(-1, rows.shape[-1])).min(axis=0) - self.below)


@dataclass(frozen=True, eq=False)
class Thighs:
    """Thighs, by which a body is seen to sit. lengths: (L,); leg: how long a leg is; up: unit vector (3,)."""

    joints: Joints
    lengths: FloatArray
    leg: float
    up: FloatArray

    @classmethod
    def of(cls, body: SkeletonMap, up: FloatArray) -> Thighs | None:
        """Take a body's; None if it has no legs. up: (3,) of the model."""
        sides = [side for side in "lr" if {f"{side}_{joint}" for joint in _LEG} <= body.joint_of.keys()]
        if not sides:
            return None
        rest = body.skeleton.rest_world[[[body.joint_of[f"{side}_{joint}"] for side in sides] for joint in _LEG], :, 3]
        thighs, shins = np.linalg.norm(np.diff(rest, axis=0), axis=2)
        joints = [body.joint_of[f"{side}_{joint}"] for joint in _LEG[:2] for side in sides]
        return cls(Joints.of(body.skeleton, joints), thighs, float((thighs + shins).max()), up / np.linalg.norm(up))

    def seen(self, pose: Pose) -> tuple[FloatArray, FloatArray]:
        """Return where the hips of poses (F, J, …) are, (F, 3), and by how much their legs are folded, (F,).

        Folded: how much lower hips are above the lower knee than if that thigh hung straight down, the less of both
        legs. It tells a seat of any height: hips of short legs go up to a chair. Who climbs stairs has one leg
        straight.
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
    """How a body of a motion sits on seats, at times (F,) that are evenly apart.

    low: (F,) how high its lowest skin of seat and back is before. free: (F,) when it sits down or gets up. on: (F,)
    when it sits. surface: (F,) how high the seat is, −inf where nobody sits.
    """

    low: FloatArray
    free: BoolArray
    on: BoolArray
    surface: FloatArray

    @classmethod
    def of(cls, seats: Sequence[Seat], times_s: FloatArray, hips: FloatArray, low: FloatArray, fold: FloatArray,
           leg: float) -> Sitting:
        """Find when a body sits. seats: in order. hips: (F, 3); low: (F,) the lowest skin; fold: (F,), see Thighs."""
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
            is_there = (low < sits + LITTLE_LEGS * leg) & (low > sits - NEAR_LEGS[0] * leg) & resting
            there = begin + np.flatnonzero(is_there[begin:end])
            if not len(there):
                continue
            here = slice(int(there[0]), int(there[-1]) + 1)
            surface[here], free[begin:end] = seat.height, ~upright[begin:end]
            on[here], after = low[here] < sits + NEAR_LEGS[0] * leg, end
        return cls(low, free & ~on, on, surface)

    def rise(self, wish: FloatArray, most: FloatArray, spacing_s: float) -> FloatArray:
        """Return by how much the body is raised, (F,). wish: (F,) where it sits; most: (F,) what legs reach down."""
        weight = np.where(self.free, 0.0, SOFT_WEIGHT)
        sits = np.isfinite(self.surface)
        lo = np.where(sits, wish, -np.inf)
        hi = np.full(len(wish), np.inf)
        if (wish <= most)[sits].all():
            hi = np.where(self.free & ~sits, np.maximum(most, 0.0), np.inf)
        return np.asarray(solve_displacement(DisplacementProblem(
            np.where(self.on, wish, 0.0)[None], weight[None], lo[None], hi[None], np.array((BODY_S,)),
            spacing_s)).curves[0])
