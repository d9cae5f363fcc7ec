"""Foot lock: holds feet in their footholds by IK of the legs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...clips.thresholds import ON_LEGS, ROUNDS, STRAIGHT
from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray, side_by_side
from ...maths.formulas import (
    Number,
    dot,
    eased,
    greatest,
    holds_anywhere,
    is_nothing,
    length,
    minus,
    plus,
    root,
    softly,
    worked_out,
)
from ...skeletons.hierarchy import with_ancestors, with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from ..joints import Joints
from .due_steps import LIFT_LEGS
from .footholds import Footholds, ground_axes
from .leading import Moment, led
from .legs import Chains, Leg
from .soles import Soles

_SOFT_LEGS: Final = 0.03
"""Range over which the body begins to go down, or a step to be lifted less; meanwhile feet give way."""
_MOST_DOWN_LEGS: Final = 0.05
"""Greatest descent of the body, approached softly."""


_LOW_LIFT: Final = 0.4
"""Highest lift of a step, by the leg's length, for a hip at leg height; it falls with the square of the hip's height.
"""
_STEPS_AROUND_LEGS: Final = 0.32, 0.6
"""Distance by which a foot led below its hip goes round it, in leg lengths, and the distance from which on it does not;
"""
_HELD_AROUND_LEGS: Final = 0.25, 0.3
"""the same for a held foot."""
_NO_GROUND: Final = (np.zeros((1, 1)),) * 3


class Floor(NamedTuple):
    """Limits for soles in F frames.

    heights: (L, F, N) least heights of points of the soles, along up, see soles.py. share: (F,) the limits' weight.
    rise: (L, F) how far sunken feet are raised anyway, see rises.py.
    """

    heights: FloatArray
    share: FloatArray
    rise: FloatArray


@dataclass(frozen=True, eq=False)
class FeetLock:
    """Holds the feet of L legs. up: unit vector (3,) of model space. soles: N points of each."""

    skeleton_map: SkeletonMap
    legs: tuple[Leg, ...]
    footholds: Footholds
    up: FloatArray
    soles: Soles

    def hold(self, pose: Pose, times_s: FloatArray, gaps: IntArray, upright: FloatArray, floor: Floor | None,
             knees: FloatArray, near: FloatArray, lowered: FloatArray) -> None:
        """Move the feet of poses (F, J, …) at times (F,), in any order, into their footholds.

        gaps: (L, F), see Footholds. upright: (F,) lock weight in height. floor: limits for soles, if any. knees: (L, F)
        least heights of knees. lowered: (F,) descent of the body near transitions. near: (F,) the weight of that;
        elsewhere the body goes down as each moment needs it. A foothold out of the leg's reach is followed as far as
        possible.
        """
        matrices, are_scaled = self.limbs(pose)
        outward = _outward(matrices)
        led = self._worked_out(_shift_and_down, matrices, outward, times_s, gaps, upright, floor)
        shift, downs, most = led[..., :3], led[..., 3], led[..., 4]
        for leg in self._loose:
            downs[leg] = 0.0
        lowest = np.maximum.reduce(downs)
        lowest += near * (lowered - lowest)
        if np.count_nonzero(lowest):
            pose.translations[:, self._tops] -= (lowest[:, None] * self.up)[:, None]
            matrices[..., 2, 3] -= lowest
            shift[..., 2] += lowest
        if not (np.count_nonzero(shift) or np.count_nonzero(upright)):
            return
        room = outward
        room[..., 2] = knees
        self.bend(pose, matrices[:3], are_scaled, shift, most, upright, room)
        if floor is not None and self.soles.have_shins:
            self._lift_shins(pose, floor, upright, room)

    def _lift_shins(self, pose: Pose, floor: Floor, upright: FloatArray, room: FloatArray) -> None:
        """Raise feet whose soles also follow the shin: their heights are known when their legs are bent."""
        for _ in range(ROUNDS):
            matrices, are_scaled = self.limbs(pose)
            below, share, _ = self._ground(matrices, floor)
            lift = share * np.maximum(below, 0.0)
            if not lift.any():
                return
            shift = lift[..., None] * np.array((0.0, 0.0, 1.0))
            self.bend(pose, matrices[:3], are_scaled, shift, np.full(lift.shape, np.inf), upright, room)

    def lacks(self, pose: Pose, times_s: FloatArray, gaps: IntArray, upright: FloatArray,
              floor: Floor | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the descent of the body that held feet need, (F,), and heights of feet above their footholds, (L, F).

        These heights keep soles out of the ground; see hold. Also the distances of ankles from hips then, as shares of
        the leg, (L, F).
        """
        matrices, _ = self.limbs(pose)
        found = self._worked_out(_lacks, matrices, _outward(matrices), times_s, gaps, upright, floor)
        for leg in self._loose:
            found[leg, :, 0] = 0.0
        return np.maximum.reduce(found[..., 0]), found[..., 1], found[..., 2]

    def _worked_out(self, formula: Callable[..., Sequence[Number]], matrices: FloatArray, outward: FloatArray,
                    times_s: FloatArray, gaps: IntArray, upright: FloatArray, floor: Floor | None) -> FloatArray:
        """Return the K values of a formula for each leg, (L, F, K).

        matrices: (4, L, F, 4, 4) of hips, knees, ankles and feet. outward: (L, F, 3).
        """
        limbs = matrices[..., :3, 3].transpose(1, 2, 0, 3)
        ground = _NO_GROUND if floor is None else self._ground(matrices, floor)
        return worked_out(formula, limbs, outward, self.footholds.led(gaps, times_s), upright[None], *ground,
                          self.sizes)

    def _ground(self, matrices: FloatArray, floor: Floor) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return how deep soles are below the floor, (L, F), the weight of that, (1, F), and the rise."""
        below = np.maximum.reduce(floor.heights - self.soles.heights(*matrices[1:]), axis=2)
        return below, floor.share[None], floor.rise

    def limbs(self, pose: Pose) -> tuple[FloatArray, bool]:
        """Return (4, L, F, 4, 4) transforms of hips, knees, ankles and feet in ground coordinates.

        Also whether any of them, or of their ancestors, is scaled.
        """
        world, are_scaled = self._joints.posed(pose)
        return world.reshape(4, len(self.legs), -1, 4, 4), are_scaled

    def bend(self, pose: Pose, matrices: FloatArray, are_scaled: bool, shift: FloatArray, most: FloatArray,
             upright: FloatArray, room: FloatArray | None = None) -> None:
        """Rotate the joints of legs so that ankles move by shift (L, F, 3). most, upright, room: see Chains.bent.

        matrices: (3, L, F, 4, 4) of hips, knees and ankles in the model; they are changed if they are scaled.
        """
        if are_scaled:
            _take_scale_out(matrices)
        joints, parents = self._chains.joints, self.skeleton_map.skeleton.parents
        rotations, short = self._chains.bent(matrices, pose.rotations.take(joints, axis=1).transpose(1, 2, 0, 3), shift,
                                             most, upright, room)
        for i in self._loose:
            aim = matrices[2, i, :, :3, 3] + shift[i] - matrices[0, i, :, :3, 3]
            away = shift[i] - short[i, :, None] * aim
            ankle, own = int(joints[2, i]), np.asarray(away @ ground_axes(self.up))
            if parents[ankle] >= 0:
                parent = Joints.of(self.skeleton_map.skeleton, [int(parents[ankle])]).matrices(pose)[0, :, :3, :3]
                own = np.asarray(np.linalg.solve(parent, own[..., None])[..., 0], dtype=np.float64)
            pose.translations[:, ankle] += own
        pose.rotations[:, joints] = (rot.normalized(rotations) if are_scaled else rotations).transpose(2, 0, 1, 3)

    @cached_property
    def _joints(self) -> Joints:
        feet = [leg.foot for leg in self.legs]
        joints = Joints.of(self.skeleton_map.skeleton, [*self._chains.joints.ravel().tolist(), *feet])
        return joints.turned(ground_axes(self.up))

    @cached_property
    def sizes(self) -> FloatArray:
        """Lengths in proportion to each leg, (L, 1, 6), positive.

        The soft range of feet above the ground; the length of bent legs, and where bending begins; the soft range of
        the body's descent, and its maximum; and the leg's length itself.
        """
        lengths = np.array([max(leg.length(self.skeleton_map.skeleton), 1e-30) for leg in self.legs])
        return lengths[:, None, None] * (ON_LEGS, STRAIGHT, STRAIGHT - _SOFT_LEGS / 2.0, _SOFT_LEGS,
                                         _MOST_DOWN_LEGS, 1.0)

    @cached_property
    def _loose(self) -> tuple[int, ...]:
        """The numbers of legs whose chain does not reach the foot."""
        return tuple(i for i, leg in enumerate(self.legs) if leg.is_loose)

    @cached_property
    def _chains(self) -> Chains:
        return Chains.of(self.skeleton_map, self.legs, self.up)

    @cached_property
    def tops(self) -> IntArray:
        """The topmost ancestors of the body's joints, which go down if legs do not reach; loose feet stay.

        A control rig may have legs and spine below different ones.
        """
        parents, joints = self.skeleton_map.skeleton.parents, np.array([*self.skeleton_map.joint_of.values()])
        if len(self._loose) == len(self.legs):
            return np.zeros(0, dtype=np.int64)
        stay = with_descendants(parents, np.array([self.legs[i].ankle for i in self._loose], dtype=np.int64))
        found = with_ancestors(parents, joints[~stay[joints]])
        return found[parents[found] < 0]

    @cached_property
    def roots(self) -> IntArray:
        """The topmost ancestors of all of the body's joints, including loose feet."""
        parents = self.skeleton_map.skeleton.parents
        found = with_ancestors(parents, np.array([*self.skeleton_map.joint_of.values()], dtype=np.int64))
        return found[parents[found] < 0]

    @cached_property
    def _tops(self) -> slice | IntArray:
        return side_by_side(self.tops)


def _outward(matrices: FloatArray) -> FloatArray:
    """Return the outward directions from the hips of L legs, (L, F, 3); zero for a single leg.

    matrices: (..., L, F, 4, 4) of hips and others.
    """
    hips = matrices[0, ..., :3, 3]
    return np.asarray(hips - np.add.reduce(hips) / len(hips))


def _take_scale_out(matrices: FloatArray) -> None:
    """Normalise the columns of matrices (..., 4, 4)."""
    frames = matrices[..., :3, :3]
    frames /= np.maximum(np.linalg.norm(frames, axis=-2, keepdims=True), 1e-30)


def _shift_and_down(limb: Sequence[Sequence[Number]], outward: Sequence[Number], moment: Sequence[Number],
                    upright: Number, below: Number, share: Number, rise: Number,
                    sizes: Sequence[Number]) -> Sequence[Number]:
    """Return the offset (x, y, z) of a foot, the body's descent for it, and the greatest stretch of its leg.

    The stretch is a share of the leg. Others: see _shift.
    """
    how = Moment(*moment)
    x, y, z, _ = _shift(limb, outward, how, upright, below, share, rise, sizes)
    return x, y, z, how.borne * _wanted(limb, (x, y, z), sizes), how.stretch


def _lacks(limb: Sequence[Sequence[Number]], outward: Sequence[Number], moment: Sequence[Number], upright: Number,
           below: Number, share: Number, rise: Number, sizes: Sequence[Number]) -> Sequence[Number]:
    """Return the body's descent for a held foot, and the foot's height above its foothold.

    Also the ankle's distance from its hip then, as a share of the leg. Others: see _shift.
    """
    (hip, knee, ankle, _), how = limb, Moment(*moment)
    x, y, z, higher = _shift(limb, outward, how, upright, below, share, rise, sizes)
    wanted = _wanted(limb, (x, y, z), sizes)
    left, leg = plus(minus(ankle, hip), (x, y, z + wanted)), length(minus(knee, hip)) + length(minus(ankle, knee))
    return how.is_held * wanted, higher, length(left) / greatest(leg, 1e-30)


def _shift(limb: Sequence[Sequence[Number]], outward: Sequence[Number], moment: Moment[Number], upright: Number,
           below: Number, share: Number, rise: Number,
           sizes: Sequence[Number]) -> tuple[Number, Number, Number, Number]:
    """Return the offset (x, y, z) of a foot, and its height above its foothold during contact.

    The height keeps its sole out of the ground. limb: positions of hip, knee, ankle and foot. outward: the outward
    direction over the ground. upright: lock weight in height. below: depth of its sole
    below the floor, and the weight of that. rise: its rise anyway. sizes: see FeetLock.sizes.
    """
    foot, soft, clear, higher = limb[3], sizes[0], moment.clear, share
    if not is_nothing(share):
        higher = share * softly(below + foot[2] - moment.ground, soft)
    x, y, z = _around_the_hip(limb, outward, led(foot, moment, upright, higher, rise), moment, sizes[-1])
    if is_nothing(share):
        return x, y, z, higher
    return x, y, z + share * softly(below + clear - z, soft), higher


def _around_the_hip(limb: Sequence[Sequence[Number]], outward: Sequence[Number], shift: Sequence[Number],
                    moment: Moment[Number], leg: Number) -> tuple[Number, Number, Number]:
    """Return the offset of a foot that keeps its leg from folding up.

    A step lifts it less if its hip is low, and passes on the outside of a near hip. A hip that comes down to a held
    foot moves it aside, unless the clips have it there anyway.
    """
    (x, y, z), (hip, _, ankle, foot), lift = shift, limb, moment.lift
    if not holds_anywhere(hip[2] - greatest(ankle[2], foot[2]) - z - lift < _STEPS_AROUND_LEGS[1] * leg):
        return x, y, z  # far enough below its hip nothing below applies
    high = greatest(hip[2] - foot[2] - z + lift, 0.0)
    z = z - softly(lift - _LOW_LIFT * high * high / leg, _SOFT_LEGS * leg)
    own = minus(ankle, hip)
    away = plus(own, (x, y, z))
    if not holds_anywhere(dot(away, away) < (_STEPS_AROUND_LEGS[1] * leg) ** 2):
        return x, y, z
    begun, aside = eased(lift / (2.0 * LIFT_LEGS * leg)), 0.0 * lift
    for most, reach, share in ((*_HELD_AROUND_LEGS, moment.weight * (1.0 - begun)), (*_STEPS_AROUND_LEGS, begun)):
        near, at_most = (greatest(1.0 - dot(way, way) / (reach * leg) ** 2, 0.0) for way in (away, own))
        aside = aside + most * leg * share * greatest(near * near - at_most * at_most, 0.0)
    out_x, out_y, _ = outward
    aside = aside / greatest(root(out_x * out_x + out_y * out_y), 1e-30)
    return x + aside * out_x, y + aside * out_y, z


def _wanted(limb: Sequence[Sequence[Number]], shift: Sequence[Number], sizes: Sequence[Number]) -> Number:
    """Return how far the body has to go down for a foot.

    With the hip at height h over the goal and d beside it, a leg of length r reaches it from √(r² − d²) above.
    """
    (_, bent, begin, soft, most, _), apart = sizes, minus(limb[0], limb[2])
    (x, y, z), own = apart, length(apart)
    x, y, z = x - shift[0], y - shift[1], z - shift[2]
    far = bent + softly(own - begin, soft)
    high = z - root(far * far - x * x - y * y)
    if not holds_anywhere(high > 0.0):
        return 0.0 * high
    return greatest(most - softly(1.5 * most - softly(high, soft), most), 0.0)
