"""Limbs of two bones: their ends are moved, while hand or foot keep their rotation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import key_times, packed, turns_at
from ..clips.posed import PosedJoints
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, merged
from ..maths.formulas import Number, joined, worked_out
from ..skeletons.hierarchy import is_descendant
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Skeleton
from .two_bone_ik import Overstretched, two_bone_ik

_BACKWARDS: Final = Overstretched(0.2, 0.4, straightens=False)
"""Clips overstretch knees by 12° at most; a knee beyond the second angle is an animal's, or the leg is far aside."""
_ANY: Final = 1e6
"""Limb lengths: no limit on how far away the end may be."""
_EASED: Final = 4.0
"""Exponent by which larger offsets weigh more when several directions are combined."""
FRAMES_AT_ONCE: Final = 2048
"""Frames whose data stay in the processor's cache."""


class Limb(NamedTuple):
    """Joints of a limb, each an ancestor of the next: shoulder, elbow, wrist; or hip, knee, ankle."""

    first: int
    middle: int
    last: int

    @classmethod
    def of(cls, found: SkeletonMap, side: str, names: Sequence[str]) -> Limb | None:
        """Return the limb of a side, or None if its joints are unknown or not one chain below another joint."""
        parents, joints = found.skeleton.parents, [found.joint_of.get(f"{side}_{name}", -1) for name in names]
        first, middle, last = joints
        if min(joints) < 0 or int(parents[first]) < 0:
            return None
        is_chain = is_descendant(parents, middle, first) and is_descendant(parents, last, middle)
        return cls(first, middle, last) if is_chain else None


def both_arms(found: SkeletonMap) -> tuple[Limb, Limb] | None:
    """Return the left and the right arm, or None if one of them is unknown."""
    left, right = (Limb.of(found, side, ("shoulder", "elbow", "wrist")) for side in "lr")
    return None if left is None or right is None else (left, right)


@dataclass(frozen=True, eq=False)
class LimbPoses:
    """Limbs (...) whose ends are moved without rotating: joint positions, and rotations of their bones.

    first, middle, last: (..., 3) in model space. upper, lower: (..., 4) rotations of the two bones from their earlier
    ones, in model space. Joints between them, such as twist bones, move with them.
    """

    first: FloatArray
    middle: FloatArray
    last: FloatArray
    upper: FloatArray
    lower: FloatArray

    @classmethod
    def of(cls, world: FloatArray, *limbs: Limb) -> LimbPoses:
        """Return limbs (F, L) in given poses. world: (F, J, 3, 4) of the skeleton's joints."""
        first, middle, last = (world[..., 3][:, list(joints)] for joints in zip(*limbs, strict=True))
        none = rot.identities(*first.shape[:-1])
        return cls(first, middle, last, none, none)

    @classmethod
    def through(cls, positions: FloatArray) -> LimbPoses:
        """Return limbs (...) with given joint positions (..., 3, 3)."""
        none = rot.identities(*positions.shape[:-2])
        return cls(positions[..., 0, :], positions[..., 1, :], positions[..., 2, :], none, none)

    def at(self, index: Any) -> LimbPoses:
        """Return a part of the limbs."""
        return LimbPoses(*(values[index] for values in self._values))

    def replaced(self, index: Any, others: LimbPoses) -> LimbPoses:
        """Return the limbs with some replaced by others."""
        new = LimbPoses(*(values.copy() for values in self._values))
        for values, other in zip(new._values, others._values, strict=True):
            values[index] = other
        return new

    @property
    def _values(self) -> tuple[FloatArray, ...]:
        return self.first, self.middle, self.last, self.upper, self.lower

    def is_turned(self, still: float) -> BoolArray:
        """Return which limbs (...) have a bone that turns by more than about 2 still, in radians."""
        return np.asarray((np.abs(np.stack((self.upper, self.lower))[..., 1:]) > still).any(axis=(0, -1)))

    @property
    def line(self) -> FloatArray:
        """Return unit vectors from the first joint to the last, (..., 3)."""
        return np.asarray((self.last - self.first) / np.maximum(_length(self.last - self.first), 1e-30)[..., None])

    def reaching(self, offset: FloatArray, hinge: FloatArray | None = None) -> LimbPoses:
        """Return limbs with ends moved by offsets (..., 3), as far as they reach; see two_bone_ik.

        hinge: (..., 3) axis about which straight middle joints bend, or such that bend slightly the wrong way; None for
        any axis.
        """
        upper = self.middle - self.first
        along = upper / np.maximum(_length(upper), 1e-30)[..., None]
        any_side = _across(np.where(np.abs(along[..., :1]) < 0.7, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), along)
        side = any_side if hinge is None else _across(hinge, along)
        side = np.where(side.any(axis=-1, keepdims=True), side, any_side)
        side /= np.maximum(_length(side), 1e-30)[..., None]
        limbs = np.stack((self.first, self.middle, self.last), axis=-2).reshape(1, -1, 3, 3)
        if not limbs.size:
            return self
        offset = np.broadcast_to(offset, upper.shape).reshape(1, -1, 3)
        reached = partial(_reached, None if hinge is None else _BACKWARDS)
        found = worked_out(reached, limbs, offset, side.reshape(1, -1, 3)).reshape(*upper.shape[:-1], 8)
        return self.turned(found[..., :4], found[..., 4:])

    def turned(self, about_first: FloatArray, about_middle: FloatArray | None = None) -> LimbPoses:
        """Return limbs rotated about their middle joints, then as a whole about their first joints, by (..., 4) each.

        about_middle: None for no rotation there.
        """
        both = about_first if about_middle is None else rot.multiply(about_first, about_middle)
        middle = self.first + rot.rotate(about_first, self.middle - self.first)
        last = middle + rot.rotate(both, self.last - self.middle)
        return LimbPoses(self.first, middle, last, rot.multiply(about_first, self.upper),
                         rot.multiply(both, self.lower))

    def rotations(self, skeleton: Skeleton, world: FloatArray, limb: Limb) -> FloatArray:
        """Return local rotations (F, 3, 4) of one limb's joints; world: (F, J, 3, 4) earlier transforms of all."""
        joints = list(limb)
        above, own = (_rotations(world[:, which]) for which in (skeleton.parents[joints], joints))
        return self.rotations_from(skeleton.rest_rotations[joints], above, own)

    def rotations_from(self, rest: FloatArray, above: FloatArray, own: FloatArray) -> FloatArray:
        """Return the local rotations (F, 3, 4) of one limb's joints.

        rest: (3, 4) the joints' rest rotations, relative to their parents. above, own: (F, 3, 4) rotations in model
        space before the limb was turned, of the parents and of the joints.

        U and L are the turns of the upper and the lower bone. W is a joint's earlier rotation in model space, A its
        parent's, R its rest rotation. The results are (A·R)⁻¹·U·W for the first joint, (U·A·R)⁻¹·L·W for the middle one
        and (L·A·R)⁻¹·W for the end.
        """
        turns = []
        for i, (before, after) in enumerate(((None, self.upper), (self.upper, self.lower), (self.lower, None))):
            base = above[:, i] if before is None else rot.multiply(before, above[:, i])
            new = own[:, i] if after is None else rot.multiply(after, own[:, i])
            turns.append(rot.multiply(rot.conjugate(rot.multiply(base, rest[i])), new))
        return np.stack(turns, axis=1)


def largest(offsets: FloatArray) -> FloatArray:
    """Return the largest of offsets (..., P, 3), (..., 3); of two nearly equal ones, a value between them."""
    size = np.linalg.norm(offsets, axis=-1, keepdims=True) ** _EASED
    return np.asarray((size * offsets).sum(axis=-2) / np.maximum(size.sum(axis=-2), 1e-30))


def runs_of_frames(frames: int) -> Iterator[slice]:
    """Yield runs of frames short enough for their data to stay in the processor's cache."""
    return (slice(start, min(start + FRAMES_AT_ONCE, frames)) for start in range(0, frames, FRAMES_AT_ONCE))


def with_rotations(clip: Clip, new: Mapping[int, tuple[FloatArray, FloatArray]]) -> Clip:
    """Return a clip with new keys of some joints: times (K,) and rotations (K, 4)."""
    others = packed([(joint, times, rot.continuous(turns)) for joint, (times, turns) in new.items()], 4)
    return replace(clip, rotations=clip.rotations.with_others(others))


def with_joint_turned(clip: Clip, joint: int, times: FloatArray, axes: FloatArray, angles: FloatArray) -> Clip:
    """Return a clip with a joint turned about axes (F, 3) of model space by angles (F,) at times (F,)."""
    keys = merged(key_times(clip.rotations, joints=np.array([joint])), times)
    vector = np.stack([np.interp(keys, times, each, 0.0, 0.0) for each in (axes * angles[:, None]).T], axis=1)
    before, _ = PosedJoints.of(clip, np.array([joint])).placed(keys)
    own = turns_at(clip.rotations, [joint], keys)[:, 0]
    above = rot.multiply(before[:, 0], rot.conjugate(own))  # of the parent, with the joint's rest
    new = rot.multiply(rot.conjugate(above), rot.multiply(rot.exp(vector), rot.multiply(above, own)))
    return with_rotations(clip, {joint: (keys, new)})


def _reached(overstretched: Overstretched | None, limb: Sequence[Sequence[Number]], shift: Sequence[Number],
             hinge: Sequence[Number]) -> Sequence[Number]:
    """Return the rotations that swing limbs at their first joints and bend them at their middle ones."""
    none = 0.0 * shift[0]
    swing, bend, _ = two_bone_ik(limb, shift, none + _ANY, hinge, none, overstretched)
    return joined(swing, bend)


def _across(v: FloatArray, along: FloatArray) -> FloatArray:
    """Return the part of vectors (..., 3) that is perpendicular to unit vectors (..., 3)."""
    return np.asarray(v - along * _dot(v, along)[..., None])


def _length(v: FloatArray) -> FloatArray:
    return np.sqrt(_dot(v, v))


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,...i->...", a, b))


def _rotations(world: FloatArray) -> FloatArray:
    linear = world[..., :3]
    return rot.from_exact_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True))
