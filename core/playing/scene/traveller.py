"""A body that travels over the ground: its position, its facing direction, and how it is moved elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...clips.clip import Clip
from ...maths import rotations as rot
from ...maths.arrays import ComplexArray, FloatArray, IntArray
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose
from ..placing.placement import Bearing, Placement, Root
from ..placing.root_motion import carry_over_ground, root_chain, roots_carried
from ..placing.root_split import RootSplit
from .cast import Point


@dataclass(frozen=True, eq=False)
class Traveller:
    """The root of a body.

    freed: the root without the joints that carry it, None if there are none. roots: joints that are moved over the
    ground. ahead: (3,) the body's facing direction at rest, in the model. size: height of the root then.
    """

    bearing: Bearing
    freed: RootSplit | None
    roots: tuple[Root, ...]
    ahead: FloatArray
    size: float

    @classmethod
    def of(cls, clips: Sequence[Clip], up: FloatArray, followers: IntArray, body: SkeletonMap,
           ahead: FloatArray) -> Traveller | None:
        """Take the root that clips of one skeleton move, None if none is moved.

        up, ahead: (3,) of the model; ahead is not vertical.
        """
        chain = root_chain(clips, followers, body)
        if not len(chain):
            return None
        skeleton, freed = clips[0].skeleton, RootSplit.of(clips[0].skeleton, chain)
        own = skeleton if freed is None else freed.skeleton
        bearing = Bearing(own, chain[-1:], up)
        size = float(np.ptp(skeleton.rest_world[..., 3] @ up, axis=0)) or 1.0
        return cls(bearing, freed, roots_carried(clips, int(chain[-1]), own, up), ahead, size)

    @property
    def joints(self) -> IntArray:
        """The joints whose poses tell where the body is, (N,)."""
        return self.bearing.chain if self.freed is None else self.freed.chain

    def seen(self, pose: Pose) -> tuple[ComplexArray, FloatArray]:
        """Return the positions of bodies in poses (F, J, …) over the ground, and their facing angles, (F,)."""
        if self.freed is not None:
            self.freed.free(pose)
        found = self.bearing.placement(pose)
        if self.freed is not None:
            self.freed.bind(pose)
        return found.shift, np.unwrap(found.yaw_rad) + self._rests_rad

    def carry(self, pose: Pose, by: Placement) -> None:
        """Place poses (F, J, …) on the ground by placements (F,)."""
        if self.freed is not None:
            self.freed.free(pose)
        carry_over_ground(self.roots, pose, by.numbers)
        if self.freed is not None:
            self.freed.bind(pose)

    def over(self, position: Point) -> complex:
        """Return the position on the ground below a position in the model."""
        return complex(self.over_all((position,))[0])

    def over_all(self, positions: Sequence[Point]) -> ComplexArray:
        """Return the positions on the ground, (N,), below positions in the model (N, 3)."""
        return self.bearing.over_ground(np.array(positions, dtype=np.float64))

    def angle(self, direction: Point | FloatArray) -> float:
        """Return the angle of a direction (3,) over the ground."""
        return float(np.angle(self.bearing.over_ground(np.array(direction, dtype=np.float64)[None])[0]))

    @property
    def _rests_rad(self) -> float:
        return self.angle(self.ahead)


def ahead_of(body: SkeletonMap, turn: FloatArray) -> FloatArray:
    """Return the facing direction of a body at rest, (3,). turn: quaternion (4,) from H-Anim's axes, the fallback."""
    return rot.rotate(turn if body.turn is None else body.turn, np.array((0.0, 0.0, 1.0)))
