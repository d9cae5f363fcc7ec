"""Toes bend where a foot tips over them: they stay level on the ground, instead of going into it.

Many clips move no toes, or have none. While the ball of a foot is on the ground and its heel comes up, straight toes
would penetrate the ground by their own length. The body on them would have to be lifted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import beside, key_times, turns_at
from ...clips.posed import PosedJoints
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons.hierarchy import is_descendant, with_ancestors, with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..limbs import with_rotations
from ..skin_points import SkinPoints

_MOST_BENT_RAD: Final = np.radians(75.0)
_UPRIGHT_RAD: Final = (np.radians(100.0), np.radians(130.0))
"""Tilt of a foot. Beyond the second value it lies on its back, as in kneeling; from the first on, in part."""
_STILL_RAD: Final = 1e-3


@dataclass(frozen=True, eq=False)
class Toes:
    """The toes of one foot.

    joint: at which they begin. forward, up: (3,) these directions in the joint's space, while the body stands. height:
    of the joint above the ground then. long, thick: how far their skin extends in front of the joint and below it.
    """

    joint: int
    forward: FloatArray
    up: FloatArray
    height: float
    long: float
    thick: float

    @classmethod
    def of(cls, found: SkeletonMap, side: str, own: Skeleton, skin: SkinPoints, up: FloatArray) -> Toes | None:
        """Return the toes of a side, or None if there are none with skin. See with_toes_bent."""
        ankle, ball = (found.joint_of.get(f"{side}_{name}", -1) for name in ("ankle", "metatarsal"))
        stands = found.skeleton.rest_world
        if min(ankle, ball) < 0 or not is_descendant(found.skeleton.parents, ball, ankle):
            return None
        is_toe = with_descendants(found.skeleton.parents, np.array([ball]))[skin.joints[:, 0]]
        forward = stands[ball, :, 3] - stands[ankle, :, 3]
        forward = forward - (forward @ up) * up
        if not is_toe.any() or not forward.any():
            return None
        axes = rot.to_matrix(rot.conjugate(found.skeleton.rest_world_rotations[ball])) @ np.stack(
            (forward / np.linalg.norm(forward), up), axis=1)
        away = (skin.positions[is_toe] - own.rest_world[ball, :, 3]) @ rot.to_matrix(own.rest_world_rotations[ball])
        along, above = (away @ axes).T
        if along.max() <= 0.0 or above.min() >= 0.0:
            return None
        return cls(ball, axes[:, 0], axes[:, 1], float(stands[ball, :, 3] @ up), float(along.max()),
                   float(-above.min()))

    def bent_by(self, forward: FloatArray, normal: FloatArray, height: FloatArray) -> FloatArray:
        """Return the angles (F,) by which the toes bend upwards, in radians.

        forward, normal: (F,) heights of the ends of unit vectors; height: (F,) of the joint above its height while the
        body stands. Tipped by β, the lowest skin at their end is long·sin β + thick·cos β below the joint. It reaches
        the ground at sin(β + φ) = (height + thick) / hypot(long, thick), with tan φ = thick / long. Toes that point
        down stay as they are while they are clear of the ground, and bend gradually once they touch it.
        """
        tipped = np.arctan2(-forward, normal)
        clear = (height + self.thick) / np.hypot(self.long, self.thick)
        allowed = np.arcsin(np.clip(clear, 0.0, 1.0)) - np.arctan2(self.thick, self.long)
        allowed = allowed + np.maximum(clear - 1.0, 0.0) * np.pi
        share = np.interp(tipped, _UPRIGHT_RAD, (1.0, 0.0))
        return np.asarray(share * np.clip(tipped - np.maximum(allowed, 0.0), 0.0, _MOST_BENT_RAD))


def with_toes_bent(played: Clip, found: SkeletonMap, skin: SkinPoints, up: FloatArray, times: FloatArray) -> Clip:
    """Return a clip whose toes bend up where their skin would go into the ground.

    found: the map of the standing skeleton; skin: in its own rest pose. up: (3,) unit. times: (F,) at which toes get
    keys, besides those of their feet.
    """
    new: dict[int, tuple[FloatArray, FloatArray]] = {}
    skeleton = played.skeleton
    for toes in (Toes.of(found, side, skeleton, skin, up) for side in "lr"):
        if toes is None:
            continue
        kept = with_ancestors(skeleton.parents, np.array([toes.joint]))
        every = beside(key_times(played.rotations, played.translations, joints=kept), times)
        posed = PosedJoints.of(played, np.array((toes.joint,)))
        rows = np.concatenate([posed.height_rows(every[run], up)[:, 0] for run in posed.runs(len(every))], axis=1)
        upwards = rows[:3] / np.linalg.norm(rows[:3], axis=0)
        bends = toes.bent_by(toes.forward @ upwards, toes.up @ upwards, rows[3] - toes.height)
        if bends.max(initial=0.0) <= _STILL_RAD:
            continue
        own = played.rotations.closed(played.duration_s) if played.is_looping else played.rotations
        bent = rot.from_axis_angle(np.cross(toes.forward, toes.up), bends)
        new[toes.joint] = every, rot.multiply(turns_at(own, (toes.joint,), every)[:, 0], bent)
    return with_rotations(played, new) if new else played
