"""A hand that reaches for something: by its arm, and by leaning if the arm is too short."""

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
"""The palm is between the wrist and the first of these that is known."""
_PALM: Final = 0.3
"""Distance of a palm beyond the wrist, as a share of the forearm, without fingers."""
_ALMOST: Final = 0.97
"""Share of its length to which an arm is stretched before the body leans."""
_USELESS: Final = 0.2
"""Share of the arm: if a lean of a radian brings the shoulder nearer by less, bodies hardly lean."""
_SOFT: Final = 0.025
"""Share of the arm over which its limit is softened."""


@dataclass(frozen=True, eq=False)
class Reaching:
    """What brings a hand somewhere. limb: the arm. palm: (3,) in the wrist's axes. spine: (N,) joints that lean."""

    body: SkeletonMap
    limb: Limb
    palm: FloatArray
    spine: IntArray

    @classmethod
    def of(cls, body: SkeletonMap, side: str) -> Reaching | None:
        """Find the arm of a side, l or r; None if its joints are unknown."""
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
        """Distance below which a palm touches something: 1 % of the arm."""
        return 0.01 * float(np.linalg.norm(np.diff(self.body.skeleton.rest_world[list(self.limb), :, 3], axis=0)))

    def palms(self, world: FloatArray) -> FloatArray:
        """Return the positions of palms, (F, 3). world: (F, J, 3, 4)."""
        return self.palm_of(world[:, self.limb.last])

    def palm_of(self, wrist: FloatArray) -> FloatArray:
        """Return a palm's position, (…, 3). wrist: (…, 3, 4) its wrist's transform."""
        return np.asarray(wrist[..., :3] @ self.palm + wrist[..., 3])

    def within(self, world: FloatArray, goal: FloatArray) -> FloatArray:
        """Return positions of palms with goals (F, 3), within reach of the arms. world: (F, J, 3, 4)."""
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.limb)
        upper, lower = np.linalg.norm(elbow - shoulder, axis=1), np.linalg.norm(wrist - elbow, axis=1)
        now, aim = np.linalg.norm(wrist - shoulder, axis=1), goal - (self.palms(world) - wrist) - shoulder
        far = np.linalg.norm(aim, axis=1)
        shortest = np.minimum(np.abs(upper - lower) * (2.0 - REACH), now)
        lasts = np.clip(far, shortest, np.maximum((upper + lower) * REACH, now)) / np.maximum(far, 1e-30)
        return np.asarray(goal + (lasts - 1.0)[:, None] * aim)

    def short(self, world: FloatArray, goal: FloatArray) -> FloatArray:
        """Return vectors by which goals (F, 3) are too far for relaxed arms, (F, 3), with a soft onset.

        world: (F, J, 3, 4).
        """
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.limb)
        length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        aim = goal - (self.palms(world) - wrist) - shoulder
        far, soft = np.linalg.norm(aim, axis=1), _SOFT * length
        over = np.maximum(far - _ALMOST * length, 0.0)
        over = np.where(over < soft, over * over / (2.0 * soft), over - soft / 2.0)
        return np.asarray(-(over / np.maximum(far, 1e-30))[:, None] * aim)

    def lean(self, pose: Pose, world: FloatArray, goal: FloatArray, most: FloatArray) -> FloatArray | None:
        """Turn spines in poses (F, J, …) so that palms get nearer to goals (F, 3) where arms are too short.

        In place, by at most (F,) radians. Return the angles (F,), or None if no arm is too short. world: (F, J, 3, 4)
        of the poses.
        """
        shoulder, elbow, wrist = (world[:, joint, :, 3] for joint in self.limb)
        length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        hand = self.palms(world) - wrist
        aim = goal - hand - shoulder
        lacks = np.linalg.norm(aim, axis=1) - _ALMOST * length
        if not len(self.spine) or ((lacks <= 0.0) | (most <= 0.0)).all():
            return None
        lever = shoulder + hand - world[..., 3][:, self.spine].mean(axis=1)  # the hand turns with it
        axis = rot.cross(lever, aim)
        size = np.linalg.norm(axis, axis=1)
        per_rad = size / np.maximum(np.linalg.norm(aim, axis=1), 1e-30)  # speed of approach per radian
        angle = np.minimum(np.maximum(lacks, 0.0) * per_rad / (per_rad**2 + (_USELESS * length) ** 2), most)
        turns = axis / np.maximum(size, 1e-30)[:, None] * angle[:, None]
        turn_chain(self.body.skeleton, pose, world, self.spine, np.full(len(self.spine), 1.0 / len(self.spine)), turns)
        return np.asarray(angle)

    def reach(self, pose: Pose, world: FloatArray, goal: FloatArray) -> None:
        """Move palms in poses (F, J, …) to goals (F, 3) of the model, in place. world: (F, J, 3, 4) of them.

        Only by the arm: as far as it is long.
        """
        moved = LimbPoses.of(world, self.limb).at((slice(None), 0)).reaching(goal - self.palms(world))
        pose.rotations[:, list(self.limb)] = moved.rotations(self.body.skeleton, world, self.limb)
