"""The palette: the transform of each joint from the rest mesh, computed once a frame for the whole skeleton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Pose, Skeleton, world_from_pose

_RIGID_TOLERANCE = 1e-6
"""Matrices closer to a rotation than this carry no scale worth sending to the GPU."""


@dataclass(frozen=True, eq=False)
class Palette:
    """model_from_rest of J joints, at one or many instants: v ↦ rotate(rotation, stretch · v) + position.

    rotations: (..., J, 4) unit wxyz; positions: (..., J, 3), both in model space (Fecko 2010: a quaternion
        and a position for each bone are all that a rig without scale needs).
    stretches: (..., J, 3, 4) affine, rest to rest, applied first, or None if no joint scales.
    exact: (..., J, 3, 4) the affine matrices themselves, if known: the other three lose the shear of
    joints that are sheared at rest, as Blender's Preserve Volume does.
    """

    rotations: FloatArray
    positions: FloatArray
    stretches: FloatArray | None = None
    exact: FloatArray | None = None

    def __post_init__(self) -> None:
        batch = self.rotations.shape[:-1]
        if self.rotations.shape != (*batch, 4) or self.positions.shape != (*batch, 3):
            raise TaktError(f"rotations {self.rotations.shape} and positions {self.positions.shape} "
                            "must be (..., J, 4) and (..., J, 3)")
        for name, part in (("stretches", self.stretches), ("exact", self.exact)):
            if part is not None and part.shape != (*batch, 3, 4):
                raise TaktError(f"{name} has shape {part.shape}, expected {(*batch, 3, 4)}")

    @classmethod
    def from_pose(cls, skeleton: Skeleton, pose: Pose) -> Palette:
        """Return the palette of a pose; without scale only rotations and positions go down the hierarchy."""
        if not ((skeleton.rest_scales == 1.0).all() and (pose.scales == 1.0).all()):
            return cls.from_matrices(world_from_pose(skeleton, pose), skeleton.rest_world)
        batch, joints = pose.rotations.shape[:-2], len(skeleton)
        rotations, positions = np.empty((*batch, joints + 1, 4)), np.zeros((*batch, joints + 1, 3))
        rotations[..., :-1, :] = rot.multiply(skeleton.rest_rotations, pose.rotations)
        rotations[..., -1, :] = rot.IDENTITY  # the parent of roots
        for ancestor in skeleton.ancestors:
            rotations = rot.multiply(rotations.take(ancestor, axis=-2), rotations)
        # With all rotations known, each joint's offset from its parent is rotated once; then offsets only add up.
        offsets = skeleton.rest_translations + pose.translations
        positions[..., :-1, :] = rot.rotate(rotations[..., skeleton.parents, :], offsets)  # −1: the last
        for ancestor in skeleton.ancestors:
            positions += positions.take(ancestor, axis=-2)
        rotations, positions = rotations[..., :-1, :], positions[..., :-1, :]
        rotations = rot.multiply(rotations, rot.conjugate(skeleton.rest_world_rotations))
        return cls(rotations, positions - rot.rotate(rotations, skeleton.rest_world[..., 3]))

    @classmethod
    def from_matrices(cls, model_from_joint: FloatArray, rest_from_joint: FloatArray) -> Palette:
        """Return the palette of matrices (..., J, 3, 4) of the posed and the rest skeleton.

        As Blender's mat4_to_dquat does it: with the posed joint's matrix P, P made a rotation B, and the rest matrix M,
        the rotation is that of B · M⁻¹, and the stretch M · B⁻¹ · P · M⁻¹.
        Raises TaktError if a rest matrix cannot be inverted.
        """
        rest, posed = rest_from_joint[..., :3], model_from_joint[..., :3]
        if (np.abs(np.linalg.det(rest)) < np.finfo(np.float64).tiny).any():
            raise TaktError("a joint whose rest scale is zero cannot carry vertices; give it a scale")
        back = np.linalg.inv(rest)
        linear = posed @ back
        offset = model_from_joint[..., 3] - (linear @ rest_from_joint[..., 3:])[..., 0]
        if _is_rotation(linear):
            return cls(rot.from_exact_matrix(linear), offset)
        base = rot.to_matrix(_rotation_part(posed))
        turn = base @ back
        stretch = rest @ np.swapaxes(base, -1, -2) @ linear
        rest_positions = rest_from_joint[..., 3]
        kept = rest_positions - (stretch @ rest_positions[..., None])[..., 0]
        exact = np.concatenate((linear, offset[..., None]), axis=-1)
        return cls(rot.from_matrix(turn / np.linalg.norm(turn, axis=-2, keepdims=True)),
                   model_from_joint[..., 3] - (turn @ rest_positions[..., None])[..., 0],
                   np.concatenate((stretch, kept[..., None]), axis=-1), exact)

    def at(self, index: int) -> Palette:
        """Return the palette at an index of the first batch axis."""
        return Palette(self.rotations[index], self.positions[index],
                       *(None if part is None else part[index] for part in (self.stretches, self.exact)))

    @property
    def matrices(self) -> FloatArray:
        """The palette as affine matrices (..., J, 3, 4)."""
        if self.exact is not None:
            return self.exact
        linear, offset = rot.to_matrix(self.rotations), self.positions
        if self.stretches is not None:
            offset = offset + (linear @ self.stretches[..., 3:])[..., 0]
            linear = linear @ self.stretches[..., :3]
        return np.concatenate((linear, offset[..., None]), axis=-1)


def _is_rotation(linear: FloatArray) -> bool:
    """Return whether all matrices (..., 3, 3) are rotations, without scale or mirroring."""
    is_even = np.abs(linear @ np.swapaxes(linear, -1, -2) - np.eye(3)).max(initial=0.0) < _RIGID_TOLERANCE
    return bool(is_even and (np.linalg.det(linear) > 0.0).all())


def normal_matrices(linear: FloatArray) -> FloatArray:
    """Return the matrices for normals where (..., 3, 3) transform positions: the inverse transpose, times |det|.

    The cofactors need no division, so a joint that is scaled flat still has a normal; their lengths have no meaning.
    """
    x, y, z = linear[..., 0, :], linear[..., 1, :], linear[..., 2, :]
    cofactors = np.stack((np.cross(y, z), np.cross(z, x), np.cross(x, y)), axis=-2)
    mirrored = np.sum(cofactors[..., 0, :] * x, axis=-1) < 0.0
    return np.where(mirrored[..., None, None], -cofactors, cofactors)


def _rotation_part(matrix: FloatArray) -> FloatArray:
    """Return the quaternions of (..., 3, 3) without scale, shear and mirroring.

    As Blender does it: y keeps its direction, z stands upright on x and y. A matrix that is flat along one
    of them gets the nearest rotation instead.
    """
    x, y = matrix[..., :, 0], matrix[..., :, 1]
    z = unit(np.cross(x, y))
    y = unit(y)
    frame = np.stack((np.cross(y, z), y, z), axis=-1)
    return rot.from_matrix(np.where(np.abs(np.linalg.det(frame))[..., None, None] > 0.5, frame, matrix))


def unit(vectors: FloatArray) -> FloatArray:
    """Scale vectors (..., 3) to length 1; zero stays zero.

    >>> unit(np.array(((0.0, 3.0, 4.0), (0.0, 0.0, 0.0)))).tolist()
    [[0.0, 0.6, 0.8], [0.0, 0.0, 0.0]]
    """
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0.0))
