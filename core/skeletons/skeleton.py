"""Skeletons (joints, hierarchy, rest pose) and poses of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final

import numpy as np

from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .hierarchy import Carried

MOST_BODIES: Final = 16
"""Number of bodies, as skeletons with their maps and skins, for which results are cached between clips."""
_NOTHING_SAID: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints with their parents and rest pose.

    names: J different names.
    parents: (J,) index of each joint's parent, −1 for a root; parents come before their children.
    rest_rotations: (J, 4) unit wxyz, and rest_translations, rest_scales: (J, 3), all in the parent's
        space (a root's: model space).
    meant: the H-Anim joint by joint name, if the file itself states it, as VRM does.
    Raises TaktError if names repeat, a parent comes after its child, or a value is not finite.
    """

    names: tuple[str, ...]
    parents: IntArray
    rest_rotations: FloatArray
    rest_translations: FloatArray
    rest_scales: FloatArray
    name: str = field(default="", compare=False)
    meant: Mapping[str, str] = field(default_factory=lambda: _NOTHING_SAID)

    def __post_init__(self) -> None:
        joints = len(self.names)
        _check_shape("parents", self.parents, (joints,))
        _check_shape("rest_rotations", self.rest_rotations, (joints, 4))
        _check_shape("rest_translations", self.rest_translations, (joints, 3))
        _check_shape("rest_scales", self.rest_scales, (joints, 3))
        if len(self.index_of) != joints:
            twice = next(n for i, n in enumerate(self.names) if n in self.names[:i])
            raise TaktError(f"skeleton {self.name!r} has two joints named {twice!r}; joint names must differ")
        late = np.flatnonzero((self.parents >= np.arange(joints)) | (self.parents < -1))
        if len(late):
            raise TaktError(f"joint {self.names[late[0]]!r} does not come after its parent")
        for values in (self.rest_rotations, self.rest_translations, self.rest_scales):
            if not np.isfinite(values).all():
                bad = self.names[int(np.argwhere(~np.isfinite(values))[0, 0])]
                raise TaktError(f"the rest pose of joint {bad!r} is not finite")

    @classmethod
    def from_arrays(cls, names: Sequence[str], parents: Sequence[int] | IntArray, rest_rotations: FloatArray,
                    rest_translations: FloatArray, rest_scales: FloatArray | None = None, name: str = "",
                    meant: Mapping[str, str] | None = None) -> Skeleton:
        """Build from array-likes; rest_scales default to one."""
        if rest_scales is None:
            rest_scales = np.ones((len(names), 3))
        return cls(tuple(names), np.asarray(parents, dtype=np.int64), np.asarray(rest_rotations, dtype=np.float64),
                   np.asarray(rest_translations, dtype=np.float64), np.asarray(rest_scales, dtype=np.float64), name,
                   meant or _NOTHING_SAID)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Joint index by name."""
        return {n: i for i, n in enumerate(self.names)}

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """Joint indices by depth: roots, their children, and so on. The order within a level does not matter."""
        depth = np.zeros(len(self), dtype=np.int64)
        for joint, parent in enumerate(self.parents):
            depth[joint] = 0 if parent < 0 else depth[parent] + 1
        return tuple(np.flatnonzero(depth == d) for d in range(max(depth.tolist(), default=-1) + 1))

    @cached_property
    def ancestors(self) -> tuple[IntArray, ...]:
        """The joints 1, 2, 4, 8… steps above each joint, each (J + 1,); J means none, and is its own ancestor.

        Composing with each of these in this order composes with all ancestors, in log₂ of the depth steps.
        """
        steps = []
        above = np.append(np.where(self.parents < 0, len(self), self.parents), len(self))
        while (above < len(self)).any():
            steps.append(above)
            above = above[above]
        return tuple(steps)

    @cached_property
    def carried(self) -> Carried:
        """The joints that each joint carries."""
        return Carried.of(self.parents)

    @cached_property
    def rest_world(self) -> FloatArray:
        """Rest matrices model_from_joint, (J, 3, 4)."""
        return world_from_pose(self, Pose.rest(self))

    @cached_property
    def size(self) -> float:
        """The largest extent of its joints at rest along an axis; 0 without joints."""
        return float(np.ptp(self.rest_world[:, :, 3], axis=0).max()) if len(self) else 0.0

    @cached_property
    def rest_world_rotations(self) -> FloatArray:
        """Rest rotations in model space, (J, 4)."""
        world = self.rest_rotations.copy()
        for level in self.levels[1:]:
            world[level] = rot.multiply(world[self.parents[level]], self.rest_rotations[level])
        return world

    def part(self, joints: IntArray) -> Skeleton:
        """Return the skeleton of some joints only (ascending indices), which must include their ancestors."""
        new = np.full(len(self) + 1, -1, dtype=np.int64)  # the last one stands for "none"
        new[joints] = np.arange(len(joints))
        names = tuple(self.names[joint] for joint in joints.tolist())
        return Skeleton(names, new[self.parents[joints]], self.rest_rotations[joints], self.rest_translations[joints],
                        self.rest_scales[joints], self.name, self.meant)

    def turned(self, turn: FloatArray) -> Skeleton:
        """Return the skeleton rotated in model space by a quaternion (4,), as when axes are converted."""
        if np.array_equal(turn, rot.IDENTITY):
            return self
        roots = self.parents < 0
        rotations, translations = self.rest_rotations.copy(), self.rest_translations.copy()
        rotations[roots] = rot.multiply(turn, rotations[roots])
        translations[roots] = rot.rotate(turn, translations[roots])
        return replace(self, rest_rotations=rotations, rest_translations=translations)

    def shifted(self, way: FloatArray) -> Skeleton:
        """Return the skeleton moved in model space by an offset (3,)."""
        moved = self.rest_translations + np.where(self.parents[:, None] < 0, way, 0.0)
        return replace(self, rest_translations=moved)

    def in_pose(self, turns: FloatArray) -> Skeleton:
        """Return the skeleton with a new rest pose: its joints are rotated from rest by turns (J, 4), in model axes."""
        world = rot.multiply(turns, self.rest_world_rotations)
        has_parent = self.parents >= 0
        local = np.where(has_parent[:, None], rot.multiply(rot.conjugate(world[self.parents]), world), world)
        return replace(self, rest_rotations=local)

    def turns_of(self, pose: Pose) -> FloatArray:
        """Return the rotations (J, 4) of joints from rest in a pose, in model axes; see in_pose."""
        posed = Skeleton(self.names, self.parents, rot.multiply(self.rest_rotations, pose.rotations),
                         self.rest_translations, self.rest_scales)
        return rot.multiply(posed.rest_world_rotations, rot.conjugate(self.rest_world_rotations))

    def with_model_axes(self) -> Skeleton:
        """Return the skeleton with its joints in the same positions and, at rest, the model's axes and no scales."""
        position = self.rest_world[:, :, 3]
        offsets = np.where(self.parents[:, None] >= 0, position - position[self.parents], position)
        return replace(self, rest_rotations=rot.identities(len(self)), rest_translations=offsets,
                       rest_scales=np.ones((len(self), 3)))


@dataclass(frozen=True, eq=False)
class Pose:
    """Poses of a skeleton at one or more instants, relative to rest, in each joint's parent space.

    rotations (..., J, 4): local rotation = rest · rotation.
    translations (..., J, 3): local position = rest position + translation (axes of the parent).
    scales (..., J, 3): local scale = rest scale × scale.
    """

    rotations: FloatArray
    translations: FloatArray
    scales: FloatArray

    @classmethod
    def rest(cls, skeleton: Skeleton, *batch: int) -> Pose:
        """Return the rest pose, repeated over a batch shape."""
        joints = len(skeleton)
        return cls(rot.identities(*batch, joints), np.zeros((*batch, joints, 3)), np.ones((*batch, joints, 3)))

    def at(self, index: int | slice | IntArray) -> Pose:
        """Index the first batch axis."""
        return Pose(self.rotations[index], self.translations[index], self.scales[index])


def world_from_pose(skeleton: Skeleton, pose: Pose) -> FloatArray:
    """Return matrices model_from_joint (..., J, 3, 4) of a posed skeleton; scale is inherited.

    The hierarchy is computed level by level over whole arrays (Zahradník 2024 asks for parent indices instead of node
    lookups).
    """
    turns, position, scales = _by_joint(skeleton, pose)
    world = np.empty((*position.shape[1:-1], len(skeleton), 3, 4))
    by_joint = np.moveaxis(world, -3, 0)
    if scales is None:  # quaternions are less work than matrices
        for level in skeleton.levels[1:]:
            parents = skeleton.parents[level]
            above = turns[parents]
            position[level] = rot.rotate(above, position[level]) + position[parents]
            turns[level] = rot.multiply(above, turns[level])
        rot.write_matrix(turns, by_joint[..., :3])
        by_joint[..., 3] = position
        return world
    linear = rot.to_matrix(turns) * scales[..., None, :]
    for level in skeleton.levels[1:]:
        parents = skeleton.parents[level]
        above = linear[parents]
        position[level] = (above @ position[level][..., None])[..., 0] + position[parents]
        linear[level] = above @ linear[level]
    by_joint[..., :3], by_joint[..., 3] = linear, position
    return world


def _by_joint(skeleton: Skeleton, pose: Pose) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return local rotations (J, ..., 4), positions and scales (J, ..., 3); None where nothing is scaled.

    A joint's own lie side by side, since work goes from joint to joint.
    """
    turns, moves, scales = (np.moveaxis(values, -2, 0) for values in (pose.rotations, pose.translations, pose.scales))

    def rest(values: FloatArray) -> FloatArray:
        return values.reshape(len(values), *(1,) * (turns.ndim - 2), values.shape[1])

    is_scaled = not ((pose.scales == 1.0).all() and (skeleton.rest_scales == 1.0).all())
    return (rot.multiply(rest(skeleton.rest_rotations), turns), np.ascontiguousarray(
        rest(skeleton.rest_translations) + moves), rest(skeleton.rest_scales) * scales if is_scaled else None)


def height_rows(skeleton: Skeleton, pose: Pose, up: FloatArray) -> FloatArray:
    """Return rows upᵀ · model_from_joint, (..., J, 4), which take a point (x, y, z, 1) to its height along up (3,).

    Only the direction is passed down the hierarchy, which is a third of the work of world_from_pose.
    """
    turns, positions, scales = _by_joint(skeleton, pose)
    turns, rows = rot.conjugate(turns), np.empty((*positions.shape[:-1], 4))
    for depth, level in enumerate(skeleton.levels):
        above = rows[skeleton.parents[level]] if depth else np.append(up, 0.0)
        own = rot.rotate(turns[level], above[..., :3])
        rows[level, ..., :3] = own if scales is None else own * scales[level]
        rows[level, ..., 3] = np.einsum("...i,...i->...", above[..., :3], positions[level]) + above[..., 3]
    return np.ascontiguousarray(np.moveaxis(rows, 0, -2))


def _check_shape(what: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise TaktError(f"{what} has shape {array.shape}, expected {shape}")
