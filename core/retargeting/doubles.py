"""Doubles: joints at the rest position of another joint, whose motion they copy.

Control rigs have several joints in one position: one deforms the skin, the others control it. Skin that H-Anim has no
name for, such as a face's, may belong to descendants of one of the others. That joint then has to follow the one that
clips move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import in_order, path_to_root, with_ancestors, with_descendants
from ..skeletons.skeleton import Pose, Skeleton
from .comparing.matching import SAME_POSITION, Pairing
from .loose import STILL, locals_of, square


def doubles(target: Skeleton, pairs: Pairing, skin: BoolArray) -> dict[int, int]:
    """Return which joints have to copy paired joints: joint → the pair's number.

    skin: (J,) joints that deform the skin. Skin joints without a paired ancestor would stay behind. If such a joint, or
    an ancestor of it, is the double of a paired joint, that double is returned, with its ancestors that are doubles
    too. Ancestors of the body itself are no doubles of its parts. Further limbs beside the body's are doubles too,
    joint for joint, such as the legs of MikuMikuDance that deform the skin.
    """
    played = with_descendants(target.parents, pairs.target)
    return _lost(target, pairs, skin, played) | _beside(target, pairs, skin & played)


def _beside(target: Skeleton, pairs: Pairing, skin: BoolArray) -> dict[int, int]:
    """Return doubles among skin joints (J,) that would only move with the trunk, if at least two form a chain."""
    twin = _twins(target, np.setdiff1d(np.flatnonzero(skin), pairs.target), pairs.target, in_any_axes=True)
    twin = {joint: p for joint, p in twin.items()
            if int(pairs.target[p]) not in path_to_root(target.parents, joint)}
    tops = {int(target.parents[joint]) for joint in twin} & twin.keys()
    return {joint: p for joint, p in twin.items() if joint in tops or int(target.parents[joint]) in twin}


def _lost(target: Skeleton, pairs: Pairing, skin: BoolArray, played: BoolArray) -> dict[int, int]:
    """Return doubles of joints that no clip moves: the joints themselves, or their ancestors."""
    lost = with_ancestors(target.parents, np.flatnonzero(skin & ~played))
    if not len(lost):
        return {}
    tops = pairs.target[~played[target.parents[pairs.target]] | (target.parents[pairs.target] < 0)]
    lost = np.setdiff1d(lost, with_ancestors(target.parents, tops))
    twin = _twins(target, lost, pairs.target)
    found: dict[int, int] = {}
    for joint in np.flatnonzero(skin & ~played).tolist():
        while joint >= 0 and joint not in twin:
            joint = int(target.parents[joint])
        while joint in twin and joint not in found:
            found[joint] = twin[joint]
            joint = int(target.parents[joint])
    return found


def _twins(target: Skeleton, joints: IntArray, paired: IntArray, *, in_any_axes: bool = False) -> dict[int, int]:
    """Return joint → number of the paired joint (P,) with the same rest position and axes, ancestors excepted."""
    rest, size = target.rest_world, target.size
    allowed = SAME_POSITION * np.array((np.inf,) * 3 + (size,) if in_any_axes else (1.0, 1.0, 1.0, size))
    twin: dict[int, int] = {}
    for p, joint in enumerate(paired.tolist()):
        same = joints[(np.abs(rest[joints] - rest[joint]) <= allowed).all(axis=(1, 2))]
        for other in np.setdiff1d(same, path_to_root(target.parents, joint)).tolist() if len(same) else ():
            twin.setdefault(other, p)
    return twin


@dataclass(frozen=True, eq=False)
class Doubles:
    """Joints that copy others, whatever their own tracks say.

    joints, followed: (D,) each joint and the one that it copies.
    """

    skeleton: Skeleton
    joints: IntArray
    followed: IntArray

    @classmethod
    def of(cls, skeleton: Skeleton, followed: Mapping[int, int]) -> Doubles:
        """Build it from joint → the joint that it copies."""
        return cls(skeleton, np.array(list(followed), dtype=np.int64), np.array(list(followed.values()), np.int64))

    def follow(self, pose: Pose) -> None:
        """Change poses (F, J, …) so that joints move as if fixed to those they follow.

        With rest matrices R: W = W_leader · R_leader⁻¹ · R, and the key is R_local⁻¹ · (W_parent⁻¹ · W).
        """
        skeleton, joints, kept = self.skeleton, self.joints, self._part[1]
        local = locals_of(self._part[0], Pose(pose.rotations[:, kept], pose.translations[:, kept],
                                              pose.scales[:, kept]))
        column = {joint: i for i, joint in enumerate(kept.tolist())}
        world = np.concatenate((local, np.broadcast_to(np.eye(4), (len(local), 1, 4, 4))), axis=1)
        for joint in self._order.tolist():
            leader, offset = self._fixed.get(joint, (int(skeleton.parents[joint]), local[:, column[joint]]))
            world[:, column[joint]] = world[:, column.get(leader, -1)] @ offset
        above = [column.get(parent, -1) for parent in skeleton.parents[joints].tolist()]
        found = np.linalg.solve(world[:, above], world[:, [column[joint] for joint in joints.tolist()]])
        linear = found[..., :3, :3]
        turned = rot.multiply(rot.conjugate(skeleton.rest_rotations[joints]),
                              rot.from_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True)))
        is_other = np.sum(pose.rotations[:, joints] * turned, axis=-1, keepdims=True) < 0.0
        pose.rotations[:, joints] = np.where(is_other, -turned, turned)
        away = found[..., :3, 3] - skeleton.rest_translations[joints]
        moves = np.abs(away - pose.translations[:, joints]).max(axis=(0, 2), initial=0.0) > STILL * skeleton.size
        pose.translations[:, joints[moves]] = away[:, moves]

    @cached_property
    def _fixed(self) -> dict[int, tuple[int, FloatArray]]:
        """For each joint, the joint that it follows, and the matrix leader_from_joint (4, 4) at rest."""
        rest = square(self.skeleton.rest_world)
        offsets: FloatArray = np.asarray(np.linalg.solve(rest[self.followed], rest[self.joints]), dtype=np.float64)
        return {joint: (leader, offset) for joint, leader, offset in
                zip(self.joints.tolist(), self.followed.tolist(), offsets, strict=True)}

    @cached_property
    def _order(self) -> IntArray:
        return in_order(self.skeleton.parents, {joint: on for joint, (on, _) in self._fixed.items()})

    @cached_property
    def _part(self) -> tuple[Skeleton, IntArray]:
        """The skeleton of leaders, followers and their ancestors only, and the indices of these joints."""
        kept = np.sort(self._order)
        return self.skeleton.part(kept), kept
