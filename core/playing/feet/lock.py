"""Holds feet in their footholds by a correction of the legs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

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
from ...retargeting.ground.clip_ground import STRAIGHT
from ...skeletons.hierarchy import with_ancestors, with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from ..joints import Joints
from .due_steps import LIFT_LEGS
from .footholds import Footholds, ground_axes
from .leading import BORNE, IS_HELD, LIFTED, OVER_GROUND, STRETCHED, WEIGHT, led
from .legs import Chains, Leg
from .soles import SOFT_LEGS, Soles

_SOFT_DOWN_LEGS: Final = 0.03
"""Over so much the body begins to go down, as it is heavy; feet give way meanwhile."""
BENT: Final = STRAIGHT
"""Legs that are straighter, and straighter than in the clips, have the body go down."""
_MOST_DOWN_LEGS: Final = 0.05
"""At most so far, and likewise without a jolt."""


_LOW_LIFT: Final = 0.4
"""So high a step lifts a foot at most, by the leg's length, where the hip is a leg's length higher: with its square."""
_SOFT_LIFT_LEGS: Final = 0.05
_STEPS_AROUND_LEGS: Final = 0.32, 0.6
"""A foot that is led by its hip at no distance goes so far aside, in leg lengths, and not at all from this one on;"""
_HELD_AROUND_LEGS: Final = 0.25, 0.3
"""and one that is held."""
_TIMES_BENT: Final = 3
"""A foot that is drawn up tilts its shin, and so what of its sole moves with that."""
_NO_GROUND: Final = (np.zeros((1, 1)),) * 3


class Floor(NamedTuple):
    """What soles are kept above in F frames.

    heights: (L, F, N) how low, along up, points of the soles may be, see soles.py; share: (F,) how much that holds.
    rise: (L, F) how far feet rise anyway that the clip has in the ground, see rises.py.
    """

    heights: FloatArray
    share: FloatArray
    rise: FloatArray


@dataclass(frozen=True, eq=False)
class FeetLock:
    """Holds the feet of L legs. up: unit vector (3,) of model space. soles: N points of each of them."""

    skeleton_map: SkeletonMap
    legs: tuple[Leg, ...]
    footholds: Footholds
    up: FloatArray
    soles: Soles

    def hold(self, pose: Pose, times_s: FloatArray, gaps: IntArray, upright: FloatArray, floor: Floor | None,
             knees: FloatArray, near: FloatArray, lowered: FloatArray) -> None:
        """Bring the feet of poses (F, J, …) at times (F,), in any order, into their footholds.

        gaps: (L, F), see Footholds; upright: (F,) how much they are held in height too. floor: what they are kept
        above, if there is anything; knees: (L, F) how low knees may be. lowered: (F,) by how much the body goes down
        near transitions, and near: (F,) how much that counts; elsewhere it goes down as the moment needs it. A foothold
        that the leg cannot reach is followed as far as it goes.
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
        """Draw feet up whose soles also move with the shin: how low these are is known when their legs are bent."""
        for _ in range(_TIMES_BENT):
            matrices, are_scaled = self.limbs(pose)
            below, share, _ = self._ground(matrices, floor)
            lift = share * np.maximum(below, 0.0)
            if not lift.any():
                return
            shift = lift[..., None] * np.array((0.0, 0.0, 1.0))
            self.bend(pose, matrices[:3], are_scaled, shift, np.full(lift.shape, np.inf), upright, room)

    def lacks(self, pose: Pose, times_s: FloatArray, gaps: IntArray, upright: FloatArray,
              floor: Floor | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return by how much the body has to go down for feet that are held, (F,), and how much higher feet are then.

        That is than their footholds, since their soles would be in the ground, (L, F); see hold. And how far from its
        hip the ankle is then, as a share of the leg, (L, F).
        """
        matrices, _ = self.limbs(pose)
        found = self._worked_out(_lacks, matrices, _outward(matrices), times_s, gaps, upright, floor)
        for leg in self._loose:
            found[leg, :, 0] = 0.0
        return np.maximum.reduce(found[..., 0]), found[..., 1], found[..., 2]

    def _worked_out(self, formula: Callable[..., Sequence[Number]], matrices: FloatArray, outward: FloatArray,
                    times_s: FloatArray, gaps: IntArray, upright: FloatArray, floor: Floor | None) -> FloatArray:
        """Return the K numbers that a formula makes of each leg, (L, F, K).

        matrices: (4, L, F, 4, 4) of hips, knees, ankles and feet. outward: (L, F, 3).
        """
        limbs = matrices[..., :3, 3].transpose(1, 2, 0, 3)
        ground = _NO_GROUND if floor is None else self._ground(matrices, floor)
        return worked_out(formula, limbs, outward, self.footholds.led(gaps, times_s), upright[None], *ground,
                          self.sizes)

    def _ground(self, matrices: FloatArray, floor: Floor) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return how deep soles are below the floor, (L, F), how much of that is to be lifted, (1, F), and the rise."""
        below = np.maximum.reduce(floor.heights - self.soles.heights(*matrices[1:]), axis=2)
        return below, floor.share[None], floor.rise

    def limbs(self, pose: Pose) -> tuple[FloatArray, bool]:
        """Return (4, L, F, 4, 4) what leads from hips, knees, ankles and feet to ground coordinates.

        And whether any of them, or of their ancestors, is scaled.
        """
        world, are_scaled = self._joints.posed(pose)
        return world.reshape(4, len(self.legs), -1, 4, 4), are_scaled

    def bend(self, pose: Pose, matrices: FloatArray, are_scaled: bool, shift: FloatArray, most: FloatArray,
             upright: FloatArray, room: FloatArray | None = None) -> None:
        """Turn the joints of legs so that ankles are shifted (L, F, 3); most, upright, room: see Chains.bent.

        matrices: (3, L, F, 4, 4) of hips, knees and ankles in the model, which are changed where they are scaled.
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
        """What goes with the length of each leg, (L, 1, 6), more than 0.

        Over how much feet are kept above the ground; how long legs are that are bent, and from where on they begin to
        be; over how much the body begins to go down, and how far it does at most; and the length itself.
        """
        lengths = np.array([max(leg.length(self.skeleton_map.skeleton), 1e-30) for leg in self.legs])
        return lengths[:, None, None] * (SOFT_LEGS, BENT, BENT - _SOFT_DOWN_LEGS / 2.0, _SOFT_DOWN_LEGS,
                                         _MOST_DOWN_LEGS, 1.0)

    @cached_property
    def _loose(self) -> tuple[int, ...]:
        """The numbers of legs that are no chains down to the foot."""
        return tuple(i for i, leg in enumerate(self.legs) if leg.is_loose)

    @cached_property
    def _chains(self) -> Chains:
        return Chains.of(self.skeleton_map, self.legs, self.up)

    @cached_property
    def tops(self) -> IntArray:
        """The topmost ancestors of the body's joints, which go down where legs do not reach; feet that are loose stay.

        A control rig may have its legs and its spine below different ones.
        """
        parents, joints = self.skeleton_map.skeleton.parents, np.array([*self.skeleton_map.joint_of.values()])
        if len(self._loose) == len(self.legs):
            return np.zeros(0, dtype=np.int64)
        stay = with_descendants(parents, np.array([self.legs[i].ankle for i in self._loose], dtype=np.int64))
        found = with_ancestors(parents, joints[~stay[joints]])
        return found[parents[found] < 0]

    @cached_property
    def roots(self) -> IntArray:
        """The topmost ancestors of all of the body's joints, feet that are loose among them."""
        parents = self.skeleton_map.skeleton.parents
        found = with_ancestors(parents, np.array([*self.skeleton_map.joint_of.values()], dtype=np.int64))
        return found[parents[found] < 0]

    @cached_property
    def _tops(self) -> slice | IntArray:
        return side_by_side(self.tops)


def _outward(matrices: FloatArray) -> FloatArray:
    """Return where outward is from the hips of L legs, (L, F, 3); nowhere of a single leg.

    matrices: (..., L, F, 4, 4) of hips and others.
    """
    hips = matrices[0, ..., :3, 3]
    return np.asarray(hips - np.add.reduce(hips) / len(hips))


def _take_scale_out(matrices: FloatArray) -> None:
    """Make the columns of matrices (..., 4, 4) as long as those of a rotation."""
    frames = matrices[..., :3, :3]
    frames /= np.maximum(np.linalg.norm(frames, axis=-2, keepdims=True), 1e-30)


def _shift_and_down(limb: Sequence[Sequence[Number]], outward: Sequence[Number], moment: Sequence[Number],
                    upright: Number, below: Number, share: Number, rise: Number,
                    sizes: Sequence[Number]) -> Sequence[Number]:
    """Return how far a foot is to be moved (x, y, z), how far the body is down for it, how far its leg is stretched.

    That is at most, as a share of the leg. For the rest see _shift.
    """
    x, y, z, _ = _shift(limb, outward, moment, upright, below, share, rise, sizes)
    return x, y, z, moment[BORNE] * _wanted(limb, (x, y, z), sizes), moment[STRETCHED]


def _lacks(limb: Sequence[Sequence[Number]], outward: Sequence[Number], moment: Sequence[Number], upright: Number,
           below: Number, share: Number, rise: Number, sizes: Sequence[Number]) -> Sequence[Number]:
    """Return how far the body has to be down for a foot that is held, how much higher that is than its foothold.

    And how far from its hip the ankle is then, as a share of the leg. For the rest see _shift.
    """
    hip, knee, ankle, _ = limb
    x, y, z, higher = _shift(limb, outward, moment, upright, below, share, rise, sizes)
    wanted = _wanted(limb, (x, y, z), sizes)
    left, leg = plus(minus(ankle, hip), (x, y, z + wanted)), length(minus(knee, hip)) + length(minus(ankle, knee))
    return moment[IS_HELD] * wanted, higher, length(left) / greatest(leg, 1e-30)


def _shift(limb: Sequence[Sequence[Number]], outward: Sequence[Number], moment: Sequence[Number], upright: Number,
           below: Number, share: Number, rise: Number,
           sizes: Sequence[Number]) -> tuple[Number, Number, Number, Number]:
    """Return how far a foot is to be moved (x, y, z), and how much higher than its foothold it is while it is held.

    So that its sole is not in the ground. limb: where hip, knee, ankle and foot are. outward: where that is over the
    ground, its first two numbers. moment: see leading.MOMENT.
    upright: how much the foot is held in height too. below: how deep its sole is below the floor, and how much that
    holds. rise: how far it rises anyway. sizes: see FeetLock.sizes.
    """
    foot, soft, clear, higher = limb[3], sizes[0], moment[OVER_GROUND], share
    if not is_nothing(share):
        higher = share * softly(below + foot[2] - moment[-1], soft)
    x, y, z = _around_the_hip(limb, outward, led(foot, moment, upright, higher, rise), moment, sizes[-1])
    if is_nothing(share):
        return x, y, z, higher
    return x, y, z + share * softly(below + clear - z, soft), higher


def _around_the_hip(limb: Sequence[Sequence[Number]], outward: Sequence[Number], shift: Sequence[Number],
                    moment: Sequence[Number], leg: Number) -> tuple[Number, Number, Number]:
    """Return how far a foot is to be moved, so that its leg is not folded up.

    A step lifts it less, the lower its hip is, and goes around the outside of one that is near. A hip that comes down
    to a foot that is held moves it aside, unless the clips have it there anyway.
    """
    (x, y, z), (hip, _, ankle, foot), lift = shift, limb, moment[LIFTED]
    if not holds_anywhere(hip[2] - greatest(ankle[2], foot[2]) - z - lift < _STEPS_AROUND_LEGS[1] * leg):
        return x, y, z  # so far below its hip nothing of what follows holds
    high = greatest(hip[2] - foot[2] - z + lift, 0.0)
    z = z - softly(lift - _LOW_LIFT * high * high / leg, _SOFT_LIFT_LEGS * leg)
    own = minus(ankle, hip)
    away = plus(own, (x, y, z))
    if not holds_anywhere(dot(away, away) < (_STEPS_AROUND_LEGS[1] * leg) ** 2):
        return x, y, z
    begun, aside = eased(lift / (2.0 * LIFT_LEGS * leg)), 0.0 * lift
    for most, reach, share in ((*_HELD_AROUND_LEGS, moment[WEIGHT] * (1.0 - begun)), (*_STEPS_AROUND_LEGS, begun)):
        near, at_most = (greatest(1.0 - dot(way, way) / (reach * leg) ** 2, 0.0) for way in (away, own))
        aside = aside + most * leg * share * greatest(near * near - at_most * at_most, 0.0)
    out_x, out_y, _ = outward
    aside = aside / greatest(root(out_x * out_x + out_y * out_y), 1e-30)
    return x + aside * out_x, y + aside * out_y, z


def _wanted(limb: Sequence[Sequence[Number]], shift: Sequence[Number], sizes: Sequence[Number]) -> Number:
    """Return how far the body has to go down for a foot that is moved.

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
