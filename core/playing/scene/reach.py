"""A hand that reaches for something: by its arm, and where that is too short, by leaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...retargeting.limbs import Limb, LimbPoses
from ...retargeting.two_bone_ik import REACH
from ...skeletons.hanim import SPINE
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from .turned_chain import turn_chain

_FINGERS: Final = ("middle1", "index1", "ring1", "pinky1")
"""Between the wrist and the first of these that is known is the palm."""
_PALM: Final = 0.3
"""Without fingers: so much of the forearm behind the wrist."""
_ALMOST: Final = 0.97
"""Of its length an arm is stretched before the body leans."""
_USELESS: Final = 0.2
"""Of the same: where a lean of a radian brings the shoulder nearer by no more than so much, bodies hardly lean."""
_SOFT: Final = 0.025
"""Of the same: over so much more it is stretched less and less."""


@dataclass(frozen=True, eq=False)
class Reaching:
    """What brings a hand somewhere. limb: the arm; palm: (3,) in the wrist's axes. spine: (N,) what leans."""

    body: SkeletonMap
    limb: Limb
    palm: FloatArray
    spine: IntArray

    @classmethod
    def of(cls, body: SkeletonMap, side: str) -> Reaching | None:
        """Find the arm of a side, l or r, or None if its joints are not known."""
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

    def within(self, world: FloatArray, goal: FloatArray) -> FloatArray:
        """Return where palms come that are to be at positions (F, 3): as far as arms are long; world: (F, J, 3, 4)."""
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.limb)
        upper, lower = np.linalg.norm(elbow - shoulder, axis=1), np.linalg.norm(wrist - elbow, axis=1)
        now, aim = np.linalg.norm(wrist - shoulder, axis=1), goal - (self.palms(world) - wrist) - shoulder
        far = np.linalg.norm(aim, axis=1)
        shortest = np.minimum(np.abs(upper - lower) * (2.0 - REACH), now)
        lasts = np.clip(far, shortest, np.maximum((upper + lower) * REACH, now)) / np.maximum(far, 1e-30)
        return np.asarray(goal + (lasts - 1.0)[:, None] * aim)

    def short(self, world: FloatArray, goal: FloatArray) -> FloatArray:
        """Return by how much positions (F, 3) would have to be nearer for arms to be stretched with ease, (F, 3).

        world: (F, J, 3, 4). That begins softly.
        """
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.limb)
        length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        aim = goal - (self.palms(world) - wrist) - shoulder
        far, soft = np.linalg.norm(aim, axis=1), _SOFT * length
        over = np.maximum(far - _ALMOST * length, 0.0)
        over = np.where(over < soft, over * over / (2.0 * soft), over - soft / 2.0)
        return np.asarray(-(over / np.maximum(far, 1e-30))[:, None] * aim)

    def lean(self, pose: Pose, world: FloatArray, goal: FloatArray, most: FloatArray) -> FloatArray | None:
        """Turn spines in poses (F, J, …) so that palms come nearer to positions (F, 3) where arms are too short.

        In place, so far (F,) at most, in radians. Return how far, (F,), or None if none is too short. world: (F, J, 3,
        4) of the poses.
        """
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.limb)
        length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        hand = self.palms(world) - wrist
        aim = goal - hand - shoulder
        lacks = np.linalg.norm(aim, axis=1) - _ALMOST * length
        if not len(self.spine) or ((lacks <= 0.0) | (most <= 0.0)).all():
            return None
        lever = shoulder + hand - world[..., 3][:, self.spine].mean(axis=1)  # the hand turns along
        axis = rot.cross(lever, aim)
        size = np.linalg.norm(axis, axis=1)
        per_rad = size / np.maximum(np.linalg.norm(aim, axis=1), 1e-30)  # how fast that comes nearer
        angle = np.minimum(np.maximum(lacks, 0.0) * per_rad / (per_rad**2 + (_USELESS * length) ** 2), most)
        turns = axis / np.maximum(size, 1e-30)[:, None] * angle[:, None]
        turn_chain(self.body.skeleton, pose, world, self.spine, np.full(len(self.spine), 1.0 / len(self.spine)), turns)
        return np.asarray(angle)

    def reach(self, pose: Pose, world: FloatArray, goal: FloatArray) -> None:
        """Bring palms in poses (F, J, …) to positions (F, 3) of the model, in place; world: (F, J, 3, 4) of them.

        By the arm alone: as far as it is long.
        """
        moved = LimbPoses.of(world, self.limb).at((slice(None), 0)).reaching(goal - self.palms(world))
        pose.rotations[:, list(self.limb)] = moved.rotations(self.body.skeleton, world, self.limb)
