"""Separate the joint that gives a body's position from the joints that carry it.

A game rig travels by a bone above the hips, captured motion by the hips themselves. If such clips were blended joint by
joint, the body would leave its path: one joint turns while the other moves away from it. So hips are blended in model
space, separately from the joints above them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...skeletons.skeleton import Pose, Skeleton


@dataclass(frozen=True, eq=False)
class RootSplit:
    """A skeleton, and a copy of it in which the last joint of a chain is a sibling of the first.

    chain: (N,) at least two joints, each the parent of the next. Poses are converted in place between the skeletons;
    all joints keep their model-space transforms.
    """

    chain: IntArray
    carrying: Skeleton
    skeleton: Skeleton

    @classmethod
    def of(cls, skeleton: Skeleton, chain: IntArray) -> RootSplit | None:
        """Return the skeleton with the last joint of a chain freed; None if the chain has no other joint."""
        if len(chain) < 2:
            return None
        last = int(chain[-1])
        parents = skeleton.parents.copy()
        parents[last] = skeleton.parents[chain[0]]
        rotations, translations, scales = (values.copy() for values in (
            skeleton.rest_rotations, skeleton.rest_translations, skeleton.rest_scales))
        found = _Frame.of(skeleton, chain[:-1], Pose.rest(skeleton, 1))
        rotations[last], translations[last], scales[last] = (values[0] for values in found.out(
            rotations[[last]], translations[[last]], scales[[last]]))
        freed = Skeleton(skeleton.names, parents, rotations, translations, scales, skeleton.name, skeleton.meant)
        return cls(chain, skeleton, freed)

    def free(self, pose: Pose) -> None:
        """Convert poses (F, J, …) of the original skeleton to the one in which the joint is free."""
        last = int(self.chain[-1])
        local = _local(self.carrying, pose, last)
        _set(self.skeleton, pose, last, _Frame.of(self.carrying, self.chain[:-1], pose).out(*local))

    def bind(self, pose: Pose) -> None:
        """Undo free()."""
        last = int(self.chain[-1])
        local = _local(self.skeleton, pose, last)
        _set(self.carrying, pose, last, _Frame.of(self.carrying, self.chain[:-1], pose).into(*local))


_Local = tuple[FloatArray, FloatArray, FloatArray]
"""Rotations (F, 4), translations (F, 3) and scales (F, 3) in the parent's space, rest included."""


@dataclass(frozen=True, eq=False)
class _Frame:
    """The combined transform of a chain of joints in F poses, as seen by a child of the last one.

    rotations: (F, 4). linear, inverse: (F, 3, 3), scales included. positions, scales: (F, 3).
    """

    rotations: FloatArray
    linear: FloatArray
    inverse: FloatArray
    positions: FloatArray
    scales: FloatArray

    @classmethod
    def of(cls, skeleton: Skeleton, joints: IntArray, pose: Pose) -> _Frame:
        count = len(pose.rotations)
        one = np.broadcast_to(np.eye(3), (count, 3, 3))
        frame = cls(rot.identities(count), one, one, np.zeros((count, 3)), np.ones((count, 3)))
        for joint in joints.tolist():
            rotations, translations, scales = _local(skeleton, pose, joint)
            turn = rot.to_matrix(rotations)
            frame = replace(
                frame, rotations=rot.multiply(frame.rotations, rotations),
                positions=frame.positions + (frame.linear @ translations[..., None])[..., 0],
                linear=frame.linear @ (turn * scales[:, None]), scales=frame.scales * scales,
                inverse=(_reciprocal(scales)[..., None] * np.swapaxes(turn, 1, 2)) @ frame.inverse)
        return frame

    def out(self, rotations: FloatArray, translations: FloatArray, scales: FloatArray) -> _Local:
        """Return a child's transform in the space of the first joint's parent."""
        return (rot.multiply(self.rotations, rotations),
                self.positions + (self.linear @ translations[..., None])[..., 0], self.scales * scales)

    def into(self, rotations: FloatArray, translations: FloatArray, scales: FloatArray) -> _Local:
        """Invert out()."""
        return (rot.multiply(rot.conjugate(self.rotations), rotations),
                (self.inverse @ (translations - self.positions)[..., None])[..., 0], scales * _reciprocal(self.scales))


def _local(skeleton: Skeleton, pose: Pose, joint: int) -> _Local:
    return (rot.multiply(skeleton.rest_rotations[joint], pose.rotations[:, joint]),
            skeleton.rest_translations[joint] + pose.translations[:, joint],
            skeleton.rest_scales[joint] * pose.scales[:, joint])


def _set(skeleton: Skeleton, pose: Pose, joint: int, local: _Local) -> None:
    rotations, translations, scales = local
    pose.rotations[:, joint] = rot.multiply(rot.conjugate(skeleton.rest_rotations[joint]), rotations)
    pose.translations[:, joint] = translations - skeleton.rest_translations[joint]
    pose.scales[:, joint] = scales * _reciprocal(skeleton.rest_scales[joint])


def _reciprocal(scales: FloatArray) -> FloatArray:
    """Return 1 ÷ scales, and 0 where a scale is 0."""
    return np.divide(1.0, scales, out=np.zeros_like(scales), where=scales != 0.0)
