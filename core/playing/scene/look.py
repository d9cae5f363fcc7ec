"""A head that looks at something: the turn is shared out among head, neck and chest, within what necks do."""

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
"""How much of the turn each part makes, where all of them are known."""
_FAR_RAD: Final = np.radians((72.0, 80.0))
"""A head turns as far as this from where the chest faces, and softly up to the other."""
_BEHIND_RAD: Final = np.radians((110.0, 150.0))
"""What is farther behind is looked at less, and not at all from the second on."""
_ROUNDS: Final = 3
"""The head goes along with the chest, so where it has to look changes a little."""
LookedAt = Callable[[FloatArray], FloatArray]
"""Tells the positions (F, 3) in the model that are looked at, by bodies (F, J, 3, 4)."""


@dataclass(frozen=True, eq=False)
class Neck:
    """What turns a head. chain: (N,) joints down to the head; shares: (N,) how much of a turn each makes.

    chest_joints: how many of them, at its beginning, are of the chest.
    ahead: (3,) where the head faces, in the head's own axes; chest: what carries the chain, and where that faces.
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
        """Find it; None without a head. ahead: (3,) where the body faces as it rests."""
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

    def look(self, pose: Pose, target: LookedAt, weights: FloatArray) -> None:
        """Turn heads in poses (F, J, …) to what they look at, by weights (F,) from 0 to 1, in place."""
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
        """Return where heads are and where they face, (F, 3) each in the model; world: (F, J, 3, 4) of bodies."""
        head = world[:, self.chain[-1]]
        return head[..., 3], rot.rotate(turns_of(head), self.ahead)

    def look_on(self, pose: Pose, target: LookedAt, weights: FloatArray,
                before: tuple[FloatArray, FloatArray]) -> None:
        """Turn heads of bodies that moved back to what they looked at, without the chest, in place; see look.

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
    """Return where heads look (F, 3) that want to look along ways (F, 3), and how much they do, (F,).

    front: (F, 3) where the chests face. Farther than a neck turns they look as far as it does; what is behind they let
    be.
    """
    arc = _arc(front, way)
    angle = np.linalg.norm(arc, axis=1)
    first, last = _FAR_RAD
    beyond = np.maximum(angle - first, 0.0)
    turned = np.minimum(angle, first) + (last - first) * (1.0 - np.exp(-beyond / (last - first)))
    aside = np.clip((angle - _BEHIND_RAD[0]) / (_BEHIND_RAD[1] - _BEHIND_RAD[0]), 0.0, 1.0)
    scaled = arc * (turned / np.maximum(angle, 1e-30))[:, None]
    return rot.rotate(rot.exp(scaled), front), 1.0 - aside * aside * (3.0 - 2.0 * aside)


def _arc(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the rotation vectors (F, 3) of the shortest arcs from directions (F, 3) to others."""
    return rot.log(rot.shortest_arc(one, other))
