"""Looking: the turn is shared out among head, neck and chest, within the limits of a neck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...skeletons.hanim import SPINE
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Pose, world_from_pose
from .turned_chain import turn_chain, turns_of

_HEAD: Final = "skullbase"
_SHARES: Final = {"head": 0.5, "neck": 0.35, "chest": 0.15}
"""Share of the turn of each part, if all are known."""
_FAR_RAD: Final = np.radians((72.0, 80.0))
"""Soft limit of a head's turn from the chest's facing direction."""
BEHIND_RAD: Final = np.radians((110.0, 150.0))
"""What moves farther behind gets less weight, and none from the second angle on."""
TOLD_RAD: Final = np.radians(95.0)
"""A head that looks at what is farther aside misses it visibly."""
_ROUNDS: Final = 3
"""The head moves with the chest, so its direction to the target changes a little."""
LookedAt = Callable[[FloatArray], FloatArray]
"""Returns head targets (F, 3) in the model for bodies (F, J, 3, 4)."""


@dataclass(frozen=True, eq=False)
class Neck:
    """Joints that turn a head. chain: (N,) down to the head. shares: (N,) of the turn.

    chest_joints: how many of them, at the beginning, belong to the chest. ahead: (3,) the head's facing direction in
    its own axes. chest: the joint that carries the chain, and its facing direction.
    """

    body: SkeletonMap
    chain: IntArray
    shares: FloatArray
    chest_joints: int
    ahead: FloatArray
    chest: int
    chest_ahead: FloatArray

    @classmethod
    def of(cls, body: SkeletonMap, ahead: FloatArray) -> Neck | None:
        """Find the joints; None without a head. ahead: (3,) the body's facing direction at rest."""
        joints, skeleton = body.joint_of, body.skeleton
        if _HEAD not in joints or skeleton.parents[joints[_HEAD]] < 0:
            return None
        spine = [name for name in SPINE if name in joints]
        chest, neck = [name for name in spine if name[:2] == "vt"][-1:], [name for name in spine if name[:2] == "vc"]
        parts = {"chest": chest, "neck": neck, "head": [_HEAD]}
        known = {part: names for part, names in parts.items() if names}
        whole = sum(_SHARES[part] for part in known)
        shares = [_SHARES[part] / whole / len(names) for part, names in known.items() for _ in names]
        chain = np.array([joints[name] for names in known.values() for name in names], dtype=np.int64)
        carrier = int(skeleton.parents[chain[0]])
        if carrier < 0:
            return None
        own = [rot.rotate(rot.conjugate(skeleton.rest_world_rotations[joint]), ahead) for joint in (chain[-1], carrier)]
        return cls(body, chain, np.array(shares), len(chest), own[0], carrier, own[1])

    def beside(self, pose: Pose, points: FloatArray) -> FloatArray:
        """Return the angles (F,) between where chests face in poses (F, J, …) and points (F, 3), seen from heads."""
        world = world_from_pose(self.body.skeleton, pose)
        front = rot.rotate(turns_of(world[:, self.chest]), self.chest_ahead)
        return np.asarray(np.linalg.norm(_arc(front, points - world[:, self.chain[-1], :, 3]), axis=1))

    def look(self, pose: Pose, target: LookedAt, weights: FloatArray) -> None:
        """Turn heads in poses (F, J, …) to their targets, by weights (F,) from 0 to 1, in place."""
        skeleton, begun = self.body.skeleton, None
        for _ in range(_ROUNDS):
            world = world_from_pose(skeleton, pose)
            head, chest = (turns_of(world[:, joint]) for joint in (self.chain[-1], self.chest))
            faces, front = rot.rotate(head, self.ahead), rot.rotate(chest, self.chest_ahead)
            begun = faces if begun is None else begun
            wanted, share = _within_reach(target(world) - world[:, self.chain[-1], :, 3], front)
            goal = rot.rotate(rot.exp((weights * share)[:, None] * _arc(begun, wanted)), begun)
            turn_chain(skeleton, pose, world, self.chain, self.shares, _arc(faces, goal))

    def gaze(self, world: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return heads' positions and facing directions, (F, 3) each in the model. world: (F, J, 3, 4) of bodies."""
        head = world[:, self.chain[-1]]
        return head[..., 3], rot.rotate(turns_of(head), self.ahead)

    def look_on(self, pose: Pose, target: LookedAt, weights: FloatArray,
                before: tuple[FloatArray, FloatArray]) -> None:
        """Turn heads back to their targets after bodies moved, without the chest, in place; see look.

        before: the gaze before they moved.
        """
        was_at, faced = before
        world = world_from_pose(self.body.skeleton, pose)
        (now_at, faces), to = self.gaze(world), target(world)
        goal = rot.rotate(rot.exp(weights[:, None] * _arc(to - was_at, to - now_at)), faced)
        own = slice(self.chest_joints, None)
        turn_chain(self.body.skeleton, pose, world, self.chain[own],
                   self.shares[own] / self.shares[own].sum(), _arc(faces, goal))


def _within_reach(way: FloatArray, front: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions (F, 3) in which heads look for wanted directions (F, 3), and weights (F,).

    front: (F, 3) facing directions of chests. Beyond a neck's limit they look as far as it turns; targets behind get
    less weight.
    """
    arc = _arc(front, way)
    angle = np.linalg.norm(arc, axis=1)
    first, last = _FAR_RAD
    beyond = np.maximum(angle - first, 0.0)
    turned = np.minimum(angle, first) + (last - first) * (1.0 - np.exp(-beyond / (last - first)))
    aside = np.clip((angle - BEHIND_RAD[0]) / (BEHIND_RAD[1] - BEHIND_RAD[0]), 0.0, 1.0)
    scaled = arc * (turned / np.maximum(angle, 1e-30))[:, None]
    return rot.rotate(rot.exp(scaled), front), 1.0 - aside * aside * (3.0 - 2.0 * aside)


def _arc(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the rotation vectors (F, 3) of the shortest arcs between directions (F, 3)."""
    return rot.log(rot.shortest_arc(one, other))
