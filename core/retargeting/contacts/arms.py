"""Arms stay outside a broad trunk and a large head, as far as they do in the clip.

Limbs point as in the clip, so a slim body's arms would enter a stout body's belly and hips, and raised arms a large
head. If elbow, forearm or hand are deeper in the target's trunk or head than in the source's, shoulder and elbow move
the wrist out. The elbow swings aside about the line from shoulder to wrist; hands keep their rotation.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import ROUNDING, BoolArray, FloatArray, IntArray
from ...skeletons.hierarchy import is_descendant
from ...skeletons.maps import SkeletonMap
from ..ground.raised_elbows import LEAST_BENT
from ..limbs import Limb, LimbPoses, both_arms, largest
from ..skin_points import SkinPoints
from .hands_and_body import head_of
from .hull import Hull, Hulls
from .trunk import BentTrunk, Trunk, limb_radius

_ONSET: Final = 0.01
"""Share of the trunk's length by which an arm may be nearer than in the clip before it moves: trunks that bend at
different joints do not match more closely. The move sets in over about this distance.
"""
_FARTHEST: Final = 3.0 * _ONSET
"""Share of the trunk's length: no arm has to be farther outside."""
_PLACES: Final = 4
"""Points of an arm: elbow, forearm, wrist and palm."""
_CENTRE: Final = 0.1
_USUAL_RADIUS: Final = 0.07
"""Radius of an arm, in trunk lengths."""
_LONG: Final = (0.9, 0.99)
"""Reach of an arm as a share of its length: from the first value on it begins to move as a whole instead of swinging
its elbow, from the second on it does so completely."""
_BY_FOREARM: Final = 1.5
"""Factor by which a wrist moves farther than its forearm's middle has to: the elbow hardly moves along."""
_TIMES_MOVED: Final = 3


@dataclass(frozen=True, eq=False)
class ArmsBesideTrunk:
    """Arms, trunk and head of a body.

    trunks: the trunk for each arm, with its centre moved towards the other arm, so that no hand passes it. arms: the
    limbs. palms: the joint of each hand. radius: of an arm, in trunk lengths. head: None if unknown. most: (2, N)
    greatest distances that elbow, forearm, wrist and palm of each arm have to keep from the trunk, and then from the
    head; N is 4 without a head, else 8.
    """

    trunks: tuple[Trunk, ...]
    arms: tuple[Limb, Limb]
    palms: tuple[int, ...]
    radius: float
    head: Hull | None
    most: FloatArray

    @classmethod
    def of(cls, found: SkeletonMap, skin: SkinPoints | None) -> ArmsBesideTrunk | None:
        """Return the arms and trunk of a map's skeleton, or None if the trunk or an arm is unknown."""
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
        body = cls(trunks, arms, tuple(palms), radius, head_of(found, skin), np.zeros((2, 0)))
        most = np.stack([body._outside_half_aside(skeleton.rest_world, side) for side in range(2)])
        return replace(body, most=np.minimum(most, _FARTHEST))

    @property
    def joints(self) -> set[int]:
        """The joints that determine these shapes."""
        head = () if self.head is None else (self.head.joint,)
        return {*self.trunks[0].joints.tolist(), *self.palms, *self.arms[0], *self.arms[1], *head}

    def numbered(self, row: Mapping[int, int]) -> ArmsBesideTrunk:
        """Return a copy with other joint numbers."""
        left, right = (Limb(*(row[joint] for joint in arm)) for arm in self.arms)
        joints = np.array([row[int(joint)] for joint in self.trunks[0].joints])
        head = None if self.head is None else replace(self.head, joint=row[self.head.joint])
        return replace(self, trunks=tuple(replace(trunk, joints=joints) for trunk in self.trunks), arms=(left, right),
                       palms=tuple(row[palm] for palm in self.palms), head=head)

    def allowed(self, outside: FloatArray, side: int) -> FloatArray:
        """Return the least distance of an arm from the trunk, (..., N), for its distance in the source (..., N).

        It is at most that of an arm stretched half aside and half down, since short and thick arms are inside the trunk
        even then. If one of the two heads is unknown, the head is ignored.
        """
        most = self.most[side]
        missing = np.full((*outside.shape[:-1], max(len(most) - outside.shape[-1], 0)), -np.inf)
        return np.asarray(np.minimum(np.concatenate((outside[..., :len(most)], missing), axis=-1), most) - _ONSET)

    def _outside_half_aside(self, rest: FloatArray, side: int) -> FloatArray:
        """Return the distances outside of elbow, forearm, wrist and palm of an arm stretched half aside, (N,)."""
        trunk, first, *_ = self.trunks[side], *(at := rest[[*self.arms[side], self.palms[side]], :, 3])
        lengths = np.linalg.norm(np.diff(at, axis=0), axis=1)
        left, up = trunk.axes[:2]
        aside = (np.sign((first - trunk.origin) @ left) * left - up) / np.sqrt(2.0)
        far = np.array((lengths[0], lengths[0] + lengths[1] / 2.0, lengths[:2].sum(), lengths.sum()))
        points = (first + far[:, None] * aside)[None]
        outside: FloatArray = ArmsInFrames(self, rest[None]).outside_at(side, points)[0][0]
        return outside


class ArmsInFrames:
    """Arms, trunk and head of a body in F frames, placed once for all queries."""

    def __init__(self, body: ArmsBesideTrunk, world: FloatArray) -> None:
        """Place a body. world: (F, J, 3, 4) of its joints."""
        self.body, self._at = body, world[..., 3]
        self._trunk = BentTrunk(body.trunks[0], world)
        self._head = None if body.head is None else Hulls.placed((body.head,), world)

    def at(self, frames: IntArray) -> ArmsInFrames:
        """Return some of the frames."""
        some = copy(self)
        some._at, some._trunk = self._at[frames], self._trunk.at(frames)
        some._head = None if self._head is None else self._head.at(frames)
        return some

    def outside(self, side: int, arm: LimbPoses | None = None) -> tuple[FloatArray, FloatArray]:
        """Return how far elbow, forearm, wrist and palm are outside, (F, N) in lengths, and directions out, (F, N, 3).

        First for the trunk, then for the head; infinite if far from the head. arm: (F,), if it has moved since the body
        was placed.
        """
        return self.outside_at(side, self._places(side, arm))

    def distance(self, side: int) -> FloatArray:
        """Return how far an arm is outside, (F, N); see outside."""
        points, trunk = self._places(side), self.body.trunks[side]
        outside = self._trunk.distance(points, trunk)
        if self._head is not None:
            of_head = self._head.distance(points, 0.0, (self.body.radius + _FARTHEST) * trunk.length)
            outside = np.concatenate((outside, of_head / trunk.length), axis=1)
        return outside - self.body.radius

    def outside_at(self, side: int, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far points (F, 4, 3) of an arm are outside, (F, N), and directions out, (F, N, 3); see outside."""
        trunk, radius = self.body.trunks[side], self.body.radius
        outside, directions = self._trunk.outside(points, trunk)
        if self._head is None:
            return outside - radius, directions
        of_head, out = self._head.outside(points, 0.0, (radius + _FARTHEST) * trunk.length)
        return (np.concatenate((outside, of_head / trunk.length), axis=1) - radius,
                np.concatenate((directions, out), axis=1))

    def may_be_deeper(self) -> BoolArray:
        """Return in which frames (F,) an arm is nearer to the body than the largest distance it may have to keep."""
        left, right = ((self.distance(side) < self.body.most[side] - _ONSET).any(axis=1) for side in range(2))
        return np.asarray(left | right)

    def pushes(self, side: int, allowed: FloatArray, arm: LimbPoses | None = None) -> FloatArray:
        """Return the vectors by which arms have to move out, (F, N, 3) in trunk lengths, with a soft onset."""
        outside, directions = self.outside(side, arm)
        deeper, soft = allowed - outside, _ONSET
        push = np.where(deeper < 2.0 * soft, np.maximum(deeper, 0.0) ** 2 / (4.0 * soft), deeper - soft)
        return np.where(push > ROUNDING, push, 0.0)[..., None] * directions

    def _places(self, side: int, arm: LimbPoses | None = None) -> FloatArray:
        """Return the positions of elbow, forearm, wrist and palm, (F, 4, 3)."""
        elbow, wrist, palm = (self._at[:, joint] for joint in (*self.body.arms[side][1:], self.body.palms[side]))
        if arm is not None:
            elbow, wrist, palm = arm.middle, arm.last, palm - wrist + arm.last
        return np.stack((elbow, (elbow + wrist) / 2.0, wrist, palm), axis=1)


def moved_out(placed: ArmsInFrames, side: int, arm: LimbPoses, allowed: FloatArray, pushes: FloatArray) -> LimbPoses:
    """Return an arm (F,) moved out to the least distances allowed (F, N), where it was nearer.

    placed: the body before arms were moved. pushes: (F, N, 3) of this arm; see ArmsInFrames.pushes.
    """
    length = placed.body.trunks[side].length
    for number in range(_TIMES_MOVED):
        pushes = length * (placed.pushes(side, allowed, arm) if number else pushes)
        bones = np.linalg.norm(arm.middle - arm.first, axis=1), np.linalg.norm(arm.last - arm.middle, axis=1)
        reached = np.linalg.norm(arm.last - arm.first, axis=1) / (bones[0] + bones[1])
        straight = np.clip((reached - _LONG[0]) / (_LONG[1] - _LONG[0]), 0.0, 1.0)
        of_wrist = pushes.copy()
        of_wrist[:, ::_PLACES] *= (straight * (bones[0] + bones[1]) / bones[0])[:, None, None]
        of_wrist[:, 1::_PLACES] *= _BY_FOREARM
        arm = arm.reaching(largest(of_wrist))
        arm = _swivelled(arm, largest(placed.pushes(side, allowed, arm)[:, ::_PLACES]) * length)
    return arm


def _swivelled(arm: LimbPoses, push: FloatArray) -> LimbPoses:
    """Return an arm (F,) turned about the line from shoulder to wrist, so that its elbow moves by push (F, 3).

    This is the arm's swivel angle. An almost straight arm turns less, since its elbow is on that line.
    """
    line = arm.line
    out = arm.middle - arm.first - line * np.sum((arm.middle - arm.first) * line, axis=1, keepdims=True)
    radius = np.linalg.norm(out, axis=1)
    least = LEAST_BENT * np.linalg.norm(arm.middle - arm.first, axis=1)
    aside = rot.cross(line, out) / np.maximum(radius, 1e-30)[:, None]
    angle = np.clip(np.sum(push * aside, axis=1) / np.maximum(radius, least), -np.pi, np.pi)
    return arm.turned(rot.from_axis_angle(line, angle * np.clip(radius / least, 0.0, 1.0)))
