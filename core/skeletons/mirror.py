"""Mirror poses in the plane between the left and the right side of a body at rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..errors import SkeletonMismatchError
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .maps import SkeletonMap
from .skeleton import Skeleton

_OTHER_SIDE: Final = {"l_": "r_", "r_": "l_"}
_LEFT: Final = np.array((1.0, 0.0, 0.0))
"""In H-Anim's axes."""
_NEAR: Final = 0.03
"""Share of the body's height: an unmapped joint is the partner of one whose mirror image is this near."""


@dataclass(frozen=True, eq=False)
class Mirror:
    """A reflection of the poses of a skeleton of J joints; applied twice, it gives the original pose.

    partner: (J,) the joint on the other side; a joint in the middle is its own partner. turns: (J, 4), shifts: (J, 3,
    3) and axes: (J, 3) convert the partner's motion to the joint's. alone: left or right joints without a partner.

    With W the joint's rest rotation in model space, q its rotation relative to rest, W·q·W⁻¹ is the same in the
    model's axes. Reflected in a plane with normal n, a rotation becomes h·q·h⁻¹, h being half a turn about n. So
    joint k does W⁻¹h W′·q′·(W⁻¹h W′)⁻¹, where q′ and W′ are its partner's.
    """

    skeleton: Skeleton
    partner: IntArray
    turns: FloatArray
    shifts: FloatArray
    axes: IntArray
    alone: tuple[int, ...]

    @classmethod
    def of(cls, skeleton_map: SkeletonMap) -> Mirror:
        """Find sides and middle; raise SkeletonMismatchError if the map does not show left and right."""
        skeleton = skeleton_map.skeleton
        partner, alone = _partners_by_name(skeleton_map)
        normal = _across(skeleton_map, partner)
        reflection = np.eye(3) - 2.0 * np.outer(normal, normal)
        _match_others(skeleton_map, partner, reflection)
        half_turn = np.concatenate(((0.0,), normal))
        world = skeleton.rest_world_rotations
        turns = rot.multiply(rot.multiply(rot.conjugate(world), half_turn), world[partner])
        linear = np.concatenate((skeleton.rest_world[:, :, :3], np.eye(3)[None]))[skeleton.parents]
        turned = rot.to_matrix(world)
        axes = np.abs(np.swapaxes(turned, 1, 2) @ reflection @ turned[partner]).argmax(axis=2)
        axes[(np.sort(axes, axis=1) != np.arange(3)).any(axis=1)] = np.arange(3)
        return cls(skeleton, partner, turns, np.linalg.inv(linear) @ reflection @ linear[partner], axes, alone)

    def rotations(self, joints: IntArray, values: FloatArray) -> FloatArray:
        """Return the rotations (N, 4) of joints (N,) whose partners rotate by values (N, 4)."""
        turns = self.turns[joints]
        return rot.multiply(rot.multiply(turns, values), rot.conjugate(turns))

    def translations(self, joints: IntArray, values: FloatArray) -> FloatArray:
        """Return the translations (N, 3) of joints (N,) whose partners are moved by values (N, 3)."""
        return np.asarray((self.shifts[joints] @ values[..., None])[..., 0])

    def scales(self, joints: IntArray, values: FloatArray) -> FloatArray:
        """Return the scales (N, 3) of joints (N,) whose partners have the scales (N, 3), along the nearest axes."""
        return np.take_along_axis(values, self.axes[joints], axis=-1)


def _partners_by_name(skeleton_map: SkeletonMap) -> tuple[IntArray, tuple[int, ...]]:
    """Return the partner (J,) of each joint by its H-Anim joint, and left or right joints without a partner."""
    partner, alone = np.arange(len(skeleton_map.skeleton)), []
    for name, joint in skeleton_map.joint_of.items():
        if name[:2] not in _OTHER_SIDE:
            continue
        other = skeleton_map.joint_of.get(_OTHER_SIDE[name[:2]] + name[2:])
        if other is None:
            alone.append(joint)
        else:
            partner[joint] = other
    return partner, tuple(sorted(alone))


def _across(skeleton_map: SkeletonMap, partner: IntArray) -> FloatArray:
    """Return the unit vector from a body's right to its left."""
    if skeleton_map.turn is not None:
        return rot.rotate(skeleton_map.turn, _LEFT)
    positions = skeleton_map.skeleton.rest_world[:, :, 3]
    left = [joint for name, joint in skeleton_map.joint_of.items() if name.startswith("l_") and partner[joint] != joint]
    across = (positions[left] - positions[partner[left]]).sum(axis=0)
    length = float(np.linalg.norm(across))
    if not length > 0.0:
        raise SkeletonMismatchError(f"{skeleton_map.skeleton.name!r} cannot be mirrored: which of its joints are left "
                                    "and right is not known; map its joints first")
    return np.asarray(across / length)


def _match_others(skeleton_map: SkeletonMap, partner: IntArray, reflection: FloatArray) -> None:
    """Find partners of unmapped joints by position, among the children of their parents' partners."""
    skeleton = skeleton_map.skeleton
    positions = skeleton.rest_world[:, :, 3]
    near = _NEAR * float(np.ptp(positions, axis=0).max(initial=0.0))
    unknown = np.array([meant is None for meant in skeleton_map.meant], dtype=np.bool_)
    for joint in np.flatnonzero(unknown).tolist():  # parents stand before children
        parent = int(skeleton.parents[joint])
        if parent < 0:
            continue
        across = int(partner[parent])
        among = np.flatnonzero(unknown & (skeleton.parents == across))
        if len(among):
            image = positions[across] + reflection @ (positions[joint] - positions[parent])
            away = np.linalg.norm(positions[among] - image, axis=1)
            nearest = int(among[away.argmin()])
            if away.min() <= near and partner[nearest] in (nearest, joint):
                partner[joint], partner[nearest] = nearest, joint
