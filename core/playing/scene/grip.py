"""Closing a hand around what it holds."""

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
"""Bend of a finger's joints around something, from knuckle to tip."""
_THUMB_RAD: Final = np.radians((20.0, 30.0, 30.0))
"""Bend of a thumb's joints towards the fingers, from root to tip."""


@dataclass(frozen=True, eq=False)
class Grip:
    """Fingers and a thumb around something: joints (N,), and their rotations from rest, quaternions (N, 4)."""

    joints: IntArray
    turns: FloatArray

    @classmethod
    def of(cls, body: SkeletonMap, side: str) -> Grip | None:
        """Find the fingers of a side, l or r; None if fewer than two are known, since they show the palm.

        With the knuckles in a line from the index finger to the little one, a left hand's fingers bend about that line,
        a right hand's the other way round. A thumb bends to where they close: in front of the palm, below their middle.
        """
        joints, skeleton = body.joint_of, body.skeleton
        known = [finger for finger in _FINGERS if f"{side}_{finger}1" in joints]
        if len(known) < 2:
            return None
        first, last = (skeleton.rest_world[joints[f"{side}_{known[end]}1"], :, 3] for end in (0, -1))
        along = (last - first) * (1.0 if side == "l" else -1.0)
        axis = along / max(float(np.linalg.norm(along)), 1e-30)
        found, bent = list[int](), list[FloatArray]()
        about = {**dict.fromkeys(known, axis), "thumb": _thumb_axis(body, side, axis, known)}
        for finger, way in about.items():
            for number, angle in enumerate((_THUMB_RAD if finger == "thumb" else _BENT_RAD).tolist(), 1):
                if f"{side}_{finger}{number}" in joints:
                    found.append(joints[f"{side}_{finger}{number}"])
                    bent.append(angle * way)
        own = rot.rotate(rot.conjugate(turns_of(skeleton.rest_world[found])), np.array(bent))
        return cls(np.array(found, dtype=np.int64), rot.exp(own))

    def close(self, pose: Pose, weights: FloatArray) -> None:
        """Close hands in poses (F, J, …) by weights (F,) from 0 to 1, in place."""
        now = pose.rotations[:, self.joints]
        way = rot.log(rot.multiply(rot.conjugate(now), np.broadcast_to(self.turns, now.shape)))
        pose.rotations[:, self.joints] = rot.multiply(now, rot.exp(weights[:, None, None] * way))


def _thumb_axis(body: SkeletonMap, side: str, axis: FloatArray, known: list[str]) -> FloatArray:
    """Return the bend axis of a thumb, (3,), zero if unknown. axis: that of the known fingers."""
    joints, rest = body.joint_of, body.skeleton.rest_world[..., 3]
    chain = [joints[f"{side}_thumb{number}"] for number in (1, 2, 3) if f"{side}_thumb{number}" in joints]
    if len(chain) < 2 or f"{side}_wrist" not in joints:
        return np.zeros(3)
    root, knuckles = rest[chain[0]], rest[[joints[f"{side}_{finger}1"] for finger in known]].mean(axis=0)
    fingers = knuckles - rest[joints[f"{side}_wrist"]]
    below = np.cross(axis, fingers)  # the direction in which fingers bend
    meets = knuckles + below * 0.5 - root
    about = np.cross(rest[chain[-1]] - root, meets)
    return np.asarray(about / max(float(np.linalg.norm(about)), 1e-30))
