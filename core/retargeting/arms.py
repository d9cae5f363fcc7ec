"""Arms stay outside a stout trunk, as far as they are outside in the clip.

Limbs point as in the clip, so a slim body's arms go into a stout body's belly and hips. Where elbow, forearm or hand
would be deeper in the target's trunk than they are in the source's, the wrist is moved out by shoulder and elbow, and
the elbow swings aside about the line from shoulder to wrist; hands stay turned as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons.hierarchy import is_descendant
from ..skeletons.maps import SkeletonMap
from .limbs import Limb, LimbPoses, both_arms, largest
from .skin_points import SkinPoints
from .trunk import Trunk, limb_radius

_SOFT: Final = 0.01
"""Of the trunk's length: arms begin to be moved that little before they touch, where they are by as much nearer than in
the clip. Trunks that bend by different joints do not agree better."""
_STILL: Final = 1e-5
_CENTRE: Final = 0.1
_USUAL_RADIUS: Final = 0.07
"""Of an arm, in lengths of the trunk."""
_STRAIGHT: Final = (0.9, 0.99)
"""Of its length: an arm that is so long from shoulder to wrist moves as a whole rather than swing its elbow."""
_MOST_RAD: Final = np.radians(60.0)
_LEAST_BENT: Final = 0.1
"""Of the upper arm: an elbow that is nearer to the line from shoulder to wrist swings less."""
_BY_FOREARM: Final = 1.5
"""A wrist moves by so much more than the middle of its forearm has to: the elbow hardly goes along."""
_ROUNDS: Final = 3


@dataclass(frozen=True, eq=False)
class ArmsBesideTrunk:
    """Arms and trunk of a body.

    trunks: the trunk as each arm sees it: its centre is towards the other arm, so that no hand passes it. arms: their
    limbs; palms: for each the joint that counts for the hand. radius: of an arm, in lengths of the trunk. most: (2, 4)
    how far outside elbow, forearm, wrist and palm of each have to be at most.
    """

    trunks: tuple[Trunk, ...]
    arms: tuple[Limb, Limb]
    palms: tuple[int, ...]
    radius: float
    most: FloatArray

    @classmethod
    def of(cls, found: SkeletonMap, skin: SkinPoints | None) -> ArmsBesideTrunk | None:
        """Return it for a map's skeleton; None where the trunk or an arm is not known."""
        skeleton, arms = found.skeleton, both_arms(found)
        seen = [Trunk.of(found, skeleton, skin, centre) for centre in (-_CENTRE, _CENTRE)]
        trunks = tuple(trunk for trunk in seen if trunk is not None)
        if len(trunks) < 2 or arms is None:
            return None
        length = trunks[0].length
        palms = [found.joint_of.get(f"{side}_middle1", arm.last) for side, arm in zip("lr", arms, strict=True)]
        palms = [palm if is_descendant(skeleton.parents, palm, arm.last) else arm.last
                 for palm, arm in zip(palms, arms, strict=True)]
        radius = float(np.mean([limb_radius(skin, skeleton, arm[1:], _USUAL_RADIUS * length) for arm in arms])) / length
        most = np.stack([_outside_half_aside(trunk, skeleton.rest_world, (*arm, palm)) - radius
                         for trunk, arm, palm in zip(trunks, arms, palms, strict=True)])
        return cls(trunks, arms, tuple(palms), radius, np.minimum(most, 3.0 * _SOFT))

    @property
    def joints(self) -> set[int]:
        """The joints by which all this is known."""
        return {*self.trunks[0].joints.tolist(), *self.palms, *self.arms[0], *self.arms[1]}

    def numbered(self, row: Mapping[int, int]) -> ArmsBesideTrunk:
        """Return it with joints of other numbers."""
        left, right = (Limb(*(row[joint] for joint in arm)) for arm in self.arms)
        joints = np.array([row[int(joint)] for joint in self.trunks[0].joints])
        return replace(self, trunks=tuple(replace(trunk, joints=joints) for trunk in self.trunks), arms=(left, right),
                       palms=tuple(row[palm] for palm in self.palms))

    def outside(self, world: FloatArray, side: int, arm: LimbPoses | None = None) -> tuple[FloatArray, FloatArray]:
        """Return how far elbow, forearm, wrist and palm are outside, (F, 4) in lengths, and where is out, (F, 4, 3).

        world: (F, J, 3, 4) of all joints. arm: (F,), where it is not as there.
        """
        elbow, wrist, palm = (world[:, joint, :, 3] for joint in (*self.arms[side][1:], self.palms[side]))
        if arm is not None:
            elbow, wrist, palm = arm.middle, arm.last, palm - wrist + arm.last
        points = np.stack((elbow, (elbow + wrist) / 2.0, wrist, palm), axis=1)
        outside, directions = self.trunks[side].outside(world, points)
        return outside - self.radius, directions

    def allowed(self, outside: FloatArray, side: int) -> FloatArray:
        """Return how far outside an arm has to be at least, (F, 4), that is as far as (F, 4) elsewhere.

        No further than it is when it is stretched half aside and half down: short and thick arms are inside even so.
        """
        return np.asarray(np.minimum(outside, self.most[side]) - _SOFT)

    def may_be_deeper(self, world: FloatArray) -> BoolArray:
        """Tell in which frames (F,) an arm is less far outside than may be allowed."""
        left, right = ((self.outside(world, side)[0] < self.most[side] - _SOFT).any(axis=1) for side in range(2))
        return np.asarray(left | right)

    def pushes(self, world: FloatArray, side: int, allowed: FloatArray, arm: LimbPoses | None = None) -> FloatArray:
        """Return by how much they are to be moved out, (F, 4, 3) in lengths of the trunk: at first softly."""
        outside, directions = self.outside(world, side, arm)
        deeper, soft = allowed - outside, _SOFT
        push = np.where(deeper < 2.0 * soft, np.maximum(deeper, 0.0) ** 2 / (4.0 * soft), deeper - soft)
        return np.where(push > _STILL, push, 0.0)[..., None] * directions


def _outside_half_aside(trunk: Trunk, rest: FloatArray, joints: Sequence[int]) -> FloatArray:
    """Return how far an arm's elbow, forearm, wrist and palm are outside that is stretched half aside, (4,)."""
    first, *_ = at = rest[list(joints), :, 3]
    lengths = np.linalg.norm(np.diff(at, axis=0), axis=1)
    left, up = trunk.axes[:2]
    aside = (np.sign((first - trunk.origin) @ left) * left - up) / np.sqrt(2.0)
    far = np.array((lengths[0], lengths[0] + lengths[1] / 2.0, lengths[:2].sum(), lengths.sum()))
    return np.asarray(trunk.outside(rest[None], (first + far[:, None] * aside)[None])[0][0])


def moved_out(body: ArmsBesideTrunk, side: int, world: FloatArray, arm: LimbPoses, allowed: FloatArray) -> LimbPoses:
    """Return an arm (F,) as far outside as is allowed (F, 4), where it was not.

    world: (F, J, 3, 4) of the body's joints before arms were moved.
    """
    length = body.trunks[side].length
    for _ in range(_ROUNDS):
        pushes = body.pushes(world, side, allowed, arm) * length
        bones = np.linalg.norm(arm.middle - arm.first, axis=1), np.linalg.norm(arm.last - arm.middle, axis=1)
        reached = np.linalg.norm(arm.last - arm.first, axis=1) / (bones[0] + bones[1])
        straight = np.clip((reached - _STRAIGHT[0]) / (_STRAIGHT[1] - _STRAIGHT[0]), 0.0, 1.0)
        of_wrist = pushes.copy()
        of_wrist[:, 0] *= (straight * (bones[0] + bones[1]) / bones[0])[:, None]
        of_wrist[:, 1] *= _BY_FOREARM
        arm = arm.reaching(largest(of_wrist))
        arm = _swung(arm, body.pushes(world, side, allowed, arm)[:, 0] * length)
    return arm


def _swung(arm: LimbPoses, push: FloatArray) -> LimbPoses:
    """Return an arm (F,) turned about the line from its shoulder to its wrist: its elbow goes by push (F, 3)."""
    line = arm.line
    out = arm.middle - arm.first - line * np.sum((arm.middle - arm.first) * line, axis=1, keepdims=True)
    radius = np.linalg.norm(out, axis=1)
    least = _LEAST_BENT * np.linalg.norm(arm.middle - arm.first, axis=1)
    aside = rot.cross(line, out) / np.maximum(radius, 1e-30)[:, None]
    angle = np.clip(np.sum(push * aside, axis=1) / np.maximum(radius, least), -_MOST_RAD, _MOST_RAD)
    return arm.turned(rot.from_axis_angle(line, angle * np.clip(radius / least, 0.0, 1.0)))
