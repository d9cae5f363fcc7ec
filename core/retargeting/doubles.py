"""Joints that stand at rest exactly where others stand that are played.

Control rigs have several joints in one place: one that deforms the skin, and others that lead it. Skin of which H-Anim
knows nothing, as a face, may hang on one of the others; then that one has to move with the one that is played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import in_order, way_up, with_ancestors, with_descendants
from ..skeletons.skeleton import Pose, Skeleton
from .loose import STILL, locals_of, loose_joints, square
from .matching import SAME_PLACE, Pairing


def doubles(target: Skeleton, pairs: Pairing, skin: BoolArray) -> dict[int, int]:
    """Return which joints shall move as paired ones do, by the pairs' numbers.

    skin: (J,) joints that matter. Those that hang on no paired joint would stay behind; where they are or hang on
    the double of one, that double is meant, and the joints right above it that are doubles too.
    What the body itself hangs on is no double of a part of it.
    """
    hangs = with_descendants(target.parents, pairs.target)
    lost = with_ancestors(target.parents, np.flatnonzero(skin & ~hangs))
    if not len(lost):
        return {}
    tops = pairs.target[~hangs[target.parents[pairs.target]] | (target.parents[pairs.target] < 0)]
    body = np.setdiff1d(tops, pairs.target[loose_joints(target, pairs)[:, 0]])
    lost = np.setdiff1d(lost, with_ancestors(target.parents, body))
    twin = _twins(target, lost, pairs.target)
    found: dict[int, int] = {}
    for joint in np.flatnonzero(skin & ~hangs).tolist():
        while joint >= 0 and joint not in twin:
            joint = int(target.parents[joint])
        while joint in twin and joint not in found:
            found[joint] = twin[joint]
            joint = int(target.parents[joint])
    return found


def _twins(target: Skeleton, joints: IntArray, paired: IntArray) -> dict[int, int]:
    """Return which of joints stand where paired ones (P,) stand that do not hang on them, by numbers of these."""
    rest, size = target.rest_world, float(np.ptp(target.rest_world[:, :, 3], axis=0).max())
    allowed = SAME_PLACE * np.array((1.0, 1.0, 1.0, size))
    twin: dict[int, int] = {}
    for p, joint in enumerate(paired.tolist()):
        same = joints[(np.abs(rest[joints] - rest[joint]) <= allowed).all(axis=(1, 2))]
        for other in np.setdiff1d(same, way_up(target.parents, joint)).tolist() if len(same) else ():
            twin.setdefault(other, p)
    return twin


@dataclass(frozen=True, eq=False)
class Doubles:
    """Joints that go where others go, whatever clips and transitions make of their own tracks.

    joints, followed: (D,) each joint and the one that it follows.
    """

    skeleton: Skeleton
    joints: IntArray
    followed: IntArray

    @classmethod
    def of(cls, skeleton: Skeleton, followed: Mapping[int, int]) -> Doubles:
        """Make them from joint → the joint that it follows."""
        return cls(skeleton, np.array(list(followed), dtype=np.int64), np.array(list(followed.values()), np.int64))

    def follow(self, pose: Pose) -> None:
        """Place them in poses (F, J, …), as if they were fixed to what they follow.

        With rest matrices R: W = W_on · R_on⁻¹ · R, and what is keyed is R_local⁻¹ · (W_above⁻¹ · W).
        """
        skeleton, joints, kept = self.skeleton, self.joints, self._part[1]
        local = locals_of(self._part[0], Pose(pose.rotations[:, kept], pose.translations[:, kept],
                                              pose.scales[:, kept]))
        column = {joint: i for i, joint in enumerate(kept.tolist())}
        world = np.concatenate((local, np.broadcast_to(np.eye(4), (len(local), 1, 4, 4))), axis=1)
        for joint in self._order.tolist():
            on, way = self._fixed.get(joint, (int(skeleton.parents[joint]), local[:, column[joint]]))
            world[:, column[joint]] = world[:, column.get(on, -1)] @ way
        above = [column.get(parent, -1) for parent in skeleton.parents[joints].tolist()]
        found = np.linalg.solve(world[:, above], world[:, [column[joint] for joint in joints.tolist()]])
        linear = found[..., :3, :3]
        turned = rot.multiply(rot.conjugate(skeleton.rest_rotations[joints]),
                              rot.from_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True)))
        is_other = np.sum(pose.rotations[:, joints] * turned, axis=-1, keepdims=True) < 0.0
        pose.rotations[:, joints] = np.where(is_other, -turned, turned)
        away = found[..., :3, 3] - skeleton.rest_translations[joints]
        size = float(np.ptp(skeleton.rest_world[:, :, 3], axis=0).max())
        moves = np.abs(away - pose.translations[:, joints]).max(axis=(0, 2), initial=0.0) > STILL * size
        pose.translations[:, joints[moves]] = away[:, moves]

    @cached_property
    def _fixed(self) -> dict[int, tuple[int, FloatArray]]:
        """For each joint what it follows, and the matrix (4, 4) that leads from there to it."""
        rest = square(self.skeleton.rest_world)
        ways: FloatArray = np.asarray(np.linalg.solve(rest[self.followed], rest[self.joints]), dtype=np.float64)
        return {joint: (on, way) for joint, on, way in
                zip(self.joints.tolist(), self.followed.tolist(), ways, strict=True)}

    @cached_property
    def _order(self) -> IntArray:
        return in_order(self.skeleton.parents, {joint: on for joint, (on, _) in self._fixed.items()})

    @cached_property
    def _part(self) -> tuple[Skeleton, IntArray]:
        """The joints that matter, alone, and which they are."""
        kept = np.sort(self._order)
        return self.skeleton.part(kept), kept
