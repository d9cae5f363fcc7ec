"""A hand that reaches for something: by its arm, and where that is too short, by leaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...retargeting.limbs import Limb, LimbPoses
from ...skeletons.hanim import SPINE
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose, world_from_pose
from .turned_chain import turn_chain

_FINGERS: Final = ("middle1", "index1", "ring1", "pinky1")
"""Between the wrist and the first of these that is known is the palm."""
_PALM: Final = 0.3
"""Without fingers: so much of the forearm behind the wrist."""
_ALMOST: Final = 0.97
"""Of its length an arm is stretched before the body leans."""
_MOST_RAD: Final = np.radians(55.0)
"""The body leans so far at most."""
_LEANS: Final = 6
"""Rounds in which it comes as near as it has to."""


@dataclass(frozen=True, eq=False)
class Reaching:
    """What brings a hand somewhere. limb: the arm; palm: (3,) in the wrist's axes. spine: (N,) what leans."""

    body: SkeletonMap
    limb: Limb
    palm: FloatArray
    spine: IntArray

    @classmethod
    def of(cls, body: SkeletonMap, side: str) -> Reaching | None:
        """Find the arm of a side, l or r; None where its joints are not known."""
        limb = Limb.of(body, side, ("shoulder", "elbow", "wrist"))
        if limb is None:
            return None
        rest = body.skeleton.rest_world
        wrist, elbow = rest[limb.last, :, 3], rest[limb.middle, :, 3]
        finger = next((body.joint_of[f"{side}_{name}"] for name in _FINGERS if f"{side}_{name}" in body.joint_of), None)
        away = _PALM * (wrist - elbow) if finger is None else (rest[finger, :, 3] - wrist) / 2.0
        spine = [body.joint_of[name] for name in SPINE if name[:2] != "vc" and name in body.joint_of]
        palm: FloatArray = np.linalg.inv(rest[limb.last, :, :3]) @ away
        return cls(body, limb, palm, np.array(spine, dtype=np.int64))

    @property
    def near(self) -> float:
        """How near a palm is to something that counts as touched: 1 % of the arm."""
        return 0.01 * float(np.linalg.norm(np.diff(self.body.skeleton.rest_world[list(self.limb), :, 3], axis=0)))

    def palms(self, world: FloatArray) -> FloatArray:
        """Return where palms are, (F, 3); world: (F, J, 3, 4)."""
        return self.palm_of(world[:, self.limb.last])

    def palm_of(self, wrist: FloatArray) -> FloatArray:
        """Return where a palm is, (…, 3); wrist: (…, 3, 4) where its wrist is."""
        return np.asarray(wrist[..., :3] @ self.palm + wrist[..., 3])

    def lean(self, pose: Pose, target: FloatArray, weights: FloatArray) -> None:
        """Turn spines in poses (F, J, …) so far that arms are long enough to reach positions, in place; see reach."""
        skeleton = self.body.skeleton
        world = world_from_pose(skeleton, pose)
        goal = self.palms(world) + weights[:, None] * (target - self.palms(world))
        for _ in range(_LEANS if len(self.spine) else 0):
            turns = self._leaning(world, goal, weights)
            if turns is None:
                break
            shares = np.full(len(self.spine), 1.0 / len(self.spine))
            turn_chain(skeleton, pose, world, self.spine, shares, turns)
            world = world_from_pose(skeleton, pose)

    def reach(self, pose: Pose, target: FloatArray, weights: FloatArray) -> None:
        """Bring palms in poses (F, J, …) to positions (F, 3) of the model, by weights (F,) from 0 to 1, in place.

        By the arm alone: as far as it is long.
        """
        world = world_from_pose(self.body.skeleton, pose)
        away = weights[:, None] * (target - self.palms(world))
        moved = LimbPoses.of(world, self.limb).at((slice(None), 0)).reaching(away)
        pose.rotations[:, list(self.limb)] = moved.rotations(self.body.skeleton, world, self.limb)

    def _leaning(self, world: FloatArray, goal: FloatArray, weights: FloatArray) -> FloatArray | None:
        """Return the turns (F, 3) of spines that bring shoulders as near as arms need, None where all are near."""
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.limb)
        length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        aim = goal - (self.palms(world) - wrist) - shoulder
        lacks = np.linalg.norm(aim, axis=1) - _ALMOST * length
        if (lacks <= 0.0).all():
            return None
        lever = shoulder - world[:, self.spine[0], :, 3]
        axis = rot.cross(lever, aim)
        size = np.linalg.norm(axis, axis=1)
        per_rad = size / np.maximum(np.linalg.norm(aim, axis=1), 1e-30)  # how fast the shoulder comes nearer
        angle = np.minimum(np.maximum(lacks, 0.0) / np.maximum(per_rad, 1e-3 * length), weights * _MOST_RAD / _LEANS)
        return np.asarray(axis / np.maximum(size, 1e-30)[:, None] * angle[:, None])

