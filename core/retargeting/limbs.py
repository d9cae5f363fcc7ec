"""Limbs of two bones that reach elsewhere with their ends: a wrist or an ankle is moved, hand or foot stay turned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import keys_of, packed, poses_at
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons.hierarchy import is_descendant
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Skeleton

_REACH: Final = 0.9995
"""Of a limb's length: none is straightened further."""
_STRAIGHT: Final = 1e-6
_EASED: Final = 4.0
"""Of offsets in several directions the larger count so much more."""
_FRAMES_AT_ONCE: Final = 256


@dataclass(frozen=True)
class Limb:
    """Joints of a limb, each an ancestor of the next: shoulder, elbow, wrist; or hip, knee, ankle."""

    first: int
    middle: int
    last: int

    @classmethod
    def of(cls, found: SkeletonMap, side: str, names: Sequence[str]) -> Limb | None:
        """Return the limb of a side, None where its joints are not known or not one chain below another joint."""
        parents, joints = found.skeleton.parents, [found.joint_of.get(f"{side}_{name}", -1) for name in names]
        first, middle, last = joints
        if min(joints) < 0 or int(parents[first]) < 0:
            return None
        is_chain = is_descendant(parents, middle, first) and is_descendant(parents, last, middle)
        return cls(first, middle, last) if is_chain else None

    @property
    def joints(self) -> tuple[int, int, int]:
        """All three."""
        return self.first, self.middle, self.last


def reach(clip: Clip, turns: FloatArray, world: FloatArray, limb: Limb, offset: FloatArray,
          bent_about: FloatArray | None = None, straight: float = _STRAIGHT) -> None:
    """Change the local rotations (F, J, 4) of a limb so that its end moves by offset (F, 3) without turning.

    world: (F, J, 3, 4) of the clip's joints as they are. bent_about: (F, 3) the axis that a limb bends about whose
    middle joint is bent by a sine below `straight`; None: any.
    With E the turn of the lower bone about the middle joint and S that of the whole limb about the first, both in the
    world, the new rotations are (W_above·R)⁻¹·S·W, (W_above·R)⁻¹·E·W, and for the end (S·E·W_above·R)⁻¹·W.
    """
    first, middle, last = (world[:, joint, :, 3] for joint in limb.joints)
    upper, lower, aim = middle - first, last - middle, last + offset - first
    a, b = np.linalg.norm(upper, axis=1), np.linalg.norm(lower, axis=1)
    long = np.clip(np.linalg.norm(aim, axis=1), np.abs(a - b) / _REACH, (a + b) * _REACH)
    long = np.where((np.abs(offset) > 0.0).any(axis=1), long, np.linalg.norm(last - first, axis=1))
    bend = np.arccos(np.clip((long**2 - a**2 - b**2) / (2.0 * a * b), -1.0, 1.0))
    axis = np.cross(upper, lower)
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    now = np.arctan2(length[:, 0], np.sum(upper * lower, axis=1))
    if bent_about is None:
        bent_about = np.where(np.abs(upper[:, :1]) < 0.7 * a[:, None], (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    along = upper / np.maximum(a, 1e-30)[:, None]
    side = bent_about - along * np.sum(bent_about * along, axis=1, keepdims=True)
    axis = np.where(length > straight * (a * b)[:, None], axis, side)
    about_middle = rot.from_axis_angle(axis, bend - now)
    about_first = rot.shortest_arc(upper + rot.rotate(about_middle, lower), aim)
    _turn(clip.skeleton, turns, world, limb, about_first, about_middle)


def turned_limb(skeleton: Skeleton, turns: FloatArray, world: FloatArray, limb: Limb, turn: FloatArray) -> None:
    """Change the local rotations (F, J, 4) of a limb so that it turns as a whole (F, 4) about its first joint.

    Its end does not turn. world: (F, J, 3, 4) of the skeleton's joints as they are.
    """
    _turn(skeleton, turns, world, limb, turn, rot.identities(len(turn)))


def _turn(skeleton: Skeleton, turns: FloatArray, world: FloatArray, limb: Limb, about_first: FloatArray,
          about_middle: FloatArray) -> None:
    """Turn a limb about its first and its middle joint, in the world; see reach."""
    both = rot.multiply(about_first, about_middle)
    for joint, before, after in ((limb.first, rot.IDENTITY, about_first), (limb.middle, rot.IDENTITY, about_middle),
                                 (limb.last, both, rot.IDENTITY)):
        above = _rotations(world[:, int(skeleton.parents[joint])])
        base = rot.multiply(before, rot.multiply(above, skeleton.rest_rotations[joint]))
        turns[:, joint] = rot.multiply(rot.conjugate(base), rot.multiply(after, _rotations(world[:, joint])))


def largest(offsets: FloatArray) -> FloatArray:
    """Return the largest of offsets (F, P, 3) as (F, 3); where two are nearly as large, what is between them."""
    size = np.linalg.norm(offsets, axis=-1, keepdims=True) ** _EASED
    return np.asarray((size * offsets).sum(axis=1) / np.maximum(size.sum(axis=1), 1e-30))


def runs_of_frames(frames: int) -> Iterator[slice]:
    """Return runs of frames short enough for what is worked on to stay in the processor's cache."""
    return (slice(start, min(start + _FRAMES_AT_ONCE, frames)) for start in range(0, frames, _FRAMES_AT_ONCE))


def keys_where_moved(clip: Clip, duration_s: float, limb: Limb, times: FloatArray, turns: FloatArray,
                     is_moved: BoolArray) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return times and rotations of a limb's joints that is moved in some frames, and plays its own keys elsewhere.

    times: (F,) with turns (F, J, 4) of all joints, which count where it is_moved (F,).
    """
    near = is_moved.copy()
    near[1:] |= is_moved[:-1]
    near[:-1] |= is_moved[1:]
    keys = [keys_of(clip.rotations, i)[0] for i in
            np.flatnonzero(np.isin(clip.rotations.joints, limb.joints)).tolist()]
    kept = np.unique(np.concatenate((times[near], *keys, (0.0, duration_s))))
    new = poses_at(clip, kept).rotations
    new[np.searchsorted(kept, times[is_moved])] = turns[is_moved]
    return {joint: (kept, new[:, joint]) for joint in limb.joints}


def with_rotations(clip: Clip, new: Mapping[int, tuple[FloatArray, FloatArray]]) -> Clip:
    """Return a clip of which some joints have other keys: times (K,) and rotations (K, 4)."""
    own = {int(joint): keys_of(clip.rotations, i) for i, joint in enumerate(clip.rotations.joints)}
    own |= {joint: (times, rot.continuous(turns)) for joint, (times, turns) in new.items()}
    return replace(clip, rotations=packed([(joint, *own[joint]) for joint in sorted(own)], 4))


def _rotations(world: FloatArray) -> FloatArray:
    linear = world[..., :3]
    return rot.from_exact_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True))
