"""A hand that closes around what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from .turned_chain import turns_of

_FINGERS: Final = ("index", "middle", "ring", "pinky")
_BENT_RAD: Final = np.radians((45.0, 50.0, 30.0))
"""How far the joints of a finger are bent around something, from the knuckle to the tip."""


@dataclass(frozen=True, eq=False)
class Grip:
    """Fingers around something: joints (N,), and how they are turned from where they rest, quaternions (N, 4)."""

    joints: IntArray
    turns: FloatArray

    @classmethod
    def of(cls, body: SkeletonMap, side: str) -> Grip | None:
        """Find the fingers of a side, l or r; None where fewer than two are known: they say where the palm is.

        With the knuckles in a line from the index finger to the little one, a left hand's fingers bend about that line,
        a right hand's the other way round.
        """
        joints, skeleton = body.joint_of, body.skeleton
        known = [finger for finger in _FINGERS if f"{side}_{finger}1" in joints]
        if len(known) < 2:
            return None
        first, last = (skeleton.rest_world[joints[f"{side}_{known[end]}1"], :, 3] for end in (0, -1))
        along = (last - first) * (1.0 if side == "l" else -1.0)
        axis = along / max(float(np.linalg.norm(along)), 1e-30)
        found, bent = list[int](), list[float]()
        for finger in known:
            for number, angle in enumerate(_BENT_RAD.tolist(), 1):
                if f"{side}_{finger}{number}" in joints:
                    found.append(joints[f"{side}_{finger}{number}"])
                    bent.append(angle)
        own = rot.rotate(rot.conjugate(turns_of(skeleton.rest_world[found])), axis)
        return cls(np.array(found, dtype=np.int64), rot.exp(np.array(bent)[:, None] * own))

    def close(self, pose: Pose, weights: FloatArray) -> None:
        """Close hands in poses (F, J, …) by weights (F,) from 0 to 1, in place."""
        now = pose.rotations[:, self.joints]
        way = rot.log(rot.multiply(rot.conjugate(now), np.broadcast_to(self.turns, now.shape)))
        pose.rotations[:, self.joints] = rot.multiply(now, rot.exp(weights[:, None, None] * way))
