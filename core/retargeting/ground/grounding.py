"""Brings a body to the ground: lifts it as a whole, and raises feet by their own legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...clips.clip import Clip, Tracks
from ...clips.keyed import by_joint, key_times, packed_by_joint, turns_at
from ...clips.posed import PosedJoints
from ...maths import rotations as rot
from ...maths.arrays import FloatArray, merged, or_beside
from ...skeletons.hierarchy import path_to_root
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..limbs import Limb, LimbPoses, runs_of_frames, with_rotations

_MOST_DRAWN_LEGS: Final = 0.25
"""Farthest that a leg raises its foot; the rest lifts the body."""
_BELOW_HIP: Final = (0.3, 0.5)
"""Distance of an ankle below its hip, in leg lengths: up to the first value a leg does not draw up its foot, from the
second on it may completely."""
_STRAIGHTENED: Final = 0.985
"""Share of a leg's length up to which it is straightened to put down its foot."""
_BENT_FURTHER: Final = 0.5
"""Share of its own bend by which a knee may bend further while nothing else bears the body: beyond that it would
snap."""


@dataclass(frozen=True, eq=False)
class Ground:
    """Offsets that bring a body to the ground at times (F,): the height of the root, (F,), and of each foot, (F, L).

    legs: those that draw the feet up, or put them down if the offset is negative; None for a foot without a leg.
    """

    times_s: FloatArray
    lift: FloatArray
    legs: tuple[Limb | None, ...]
    drawn: FloatArray

    @classmethod
    def lifting(cls, times_s: FloatArray, lift: FloatArray, legs: tuple[Limb | None, ...] = ()) -> Ground:
        """Return offsets that lift the body alone."""
        return cls(times_s, lift, legs, np.zeros((len(times_s), len(legs))))


def most_drawn(below: FloatArray, leg: float) -> FloatArray:
    """Return how far feet may be drawn up. below: how far their ankles are below their hips, of any shape."""
    return np.asarray(_MOST_DRAWN_LEGS * leg * np.interp(below / leg, _BELOW_HIP, (0.0, 1.0)))


def most_put_down(clip: Clip, leg: Limb, times: FloatArray, below: FloatArray) -> FloatArray:
    """Return how far down a leg can put its foot at times (F,), (F,).

    below: (F,) how far its ankle is below its hip.
    """
    thigh, shin, whole = _bones(clip, leg, times)
    longest = _STRAIGHTENED * (thigh + shin)
    level = np.maximum(whole * whole - below * below, 0.0)
    return np.asarray(np.maximum(np.sqrt(np.maximum(longest * longest - level, 0.0)) - below, 0.0))


def most_bent(clip: Clip, leg: Limb, times: FloatArray, below: FloatArray) -> FloatArray:
    """Return how far a leg can draw up its foot at times (F,) without bending its knee much further, (F,).

    below: (F,) how far its ankle is below its hip. The knee of a straight leg bends far even if its foot is drawn up
    only a little.
    """
    thigh, shin, whole = _bones(clip, leg, times)
    both = np.maximum(2.0 * thigh * shin, 1e-30)
    bend = np.arccos(np.clip((whole * whole - thigh * thigh - shin * shin) / both, -1.0, 1.0))
    shortest = thigh * thigh + shin * shin + both * np.cos(np.minimum((1.0 + _BENT_FURTHER) * bend, np.pi))
    level = np.maximum(whole * whole - below * below, 0.0)
    return np.asarray(np.maximum(below - np.sqrt(np.maximum(shortest - level, 0.0)), 0.0))


def _bones(clip: Clip, leg: Limb, times: FloatArray) -> tuple[float | FloatArray, float | FloatArray, FloatArray]:
    """Return the lengths of thigh, shin, and the line from hip to ankle at times (F,), (F,) each, or one if constant.

    If no joint below the hip is scaled or translated, only the rotations of joints between hip and ankle count.
    """
    skeleton, path = clip.skeleton, path_to_root(clip.skeleton.parents, leg.last)
    chain = path[:path.index(leg.first)]
    is_scaled = len(clip.scales) > 0 or bool((skeleton.rest_scales != 1.0).any())
    if is_scaled or np.isin(clip.translations.joints, chain).any():
        _, (hip, knee, ankle) = (np.moveaxis(each, 1, 0) for each in PosedJoints.of(clip, np.array(leg)).placed(times))
        return _length(hip - knee), _length(knee - ankle), _length(hip - ankle)
    at, knee_at = skeleton.rest_translations[leg.last], np.zeros(3)
    shin: float | FloatArray = 0.0
    turns = turns_at(clip.rotations, chain[1:], times)
    for column, joint in enumerate(chain[1:]):
        own = rot.multiply(skeleton.rest_rotations[joint], turns[:, column])
        if joint == leg.middle:
            shin, knee_at = _length(at), skeleton.rest_translations[joint]
        else:
            knee_at = skeleton.rest_translations[joint] + rot.rotate(own, knee_at)
        at = skeleton.rest_translations[joint] + rot.rotate(own, at)
    return _length(knee_at), shin, np.broadcast_to(_length(at), len(times))


def _length(ways: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(ways, axis=-1))


def lifted(skeleton: Skeleton, translations: Tracks, ground: Ground, up: FloatArray, root: int | None) -> Tracks:
    """Return translations in which the body's root is lifted along up (3,), in the model.

    root: None if no joint carries all of the body; then it is the topmost that is translated. Joints above it may
    travel over the ground and turn there.
    """
    return moved(skeleton, translations, ground.times_s, ground.lift[:, None] * up, root)


def moved(skeleton: Skeleton, translations: Tracks, times: FloatArray, offsets: FloatArray, root: int | None) -> Tracks:
    """Return translations in which the body's root is moved by offsets (F, 3) at times (F,); see lifted."""
    tracks = by_joint(translations)
    if root is None:
        root = min(tracks, key=lambda joint: len(path_to_root(skeleton.parents, joint)))
    own_times, values = tracks.get(root, (np.zeros(1), np.zeros((1, 3))))
    every = merged(times, own_times)
    shift = np.stack([np.interp(every, times, offset) for offset in offsets.T], axis=1)
    parent = int(skeleton.parents[root])
    if parent >= 0:
        shift = np.asarray(np.linalg.solve(skeleton.rest_world[parent, :, :3], shift.T).T, dtype=np.float64)
    before = np.stack([np.interp(every, own_times, value) for value in values.T], axis=1)
    tracks[root] = (every, before + shift)
    return packed_by_joint(tracks, 3)


def with_feet_drawn_up(clip: Clip, found: SkeletonMap, ground: Ground, up: FloatArray,
                       across: tuple[str, str] = ("l_hip", "r_hip")) -> Clip:
    """Return a clip whose legs lift or lower the feet, which keep their rotation; arms do the same with the hands.

    found: the map of its skeleton. across: joints; straight limbs bend about the axis from the second to the first.
    """
    hips = [found.joint_of.get(name, -1) for name in across]
    new: dict[int, tuple[FloatArray, FloatArray]] = {}
    for leg, drawn in zip(ground.legs, ground.drawn.T, strict=True):
        if leg is None or not drawn.any():
            continue
        is_drawn = or_beside(drawn != 0.0)
        keys = key_times(clip.rotations, joints=np.array(leg))
        times = merged(ground.times_s[is_drawn], keys, np.array((0.0, clip.duration_s)))
        offset = np.interp(times, ground.times_s, drawn)[:, None] * up
        turns = turns_of_moved(clip, leg, hips, times, offset)
        new |= {joint: (times, turns[:, i]) for i, joint in enumerate(leg)}
    return with_rotations(clip, new) if new else clip


def turns_of_moved(clip: Clip, leg: Limb, hips: Sequence[int], times: FloatArray, offset: FloatArray) -> FloatArray:
    """Return local rotations (F, 3, 4) of a leg at times (F,) whose foot is moved by offset (F, 3)."""
    skeleton, joints = clip.skeleton, list(leg)
    wanted = np.array([*joints, *skeleton.parents[joints], *(hips if min(hips) >= 0 else ())])
    posed = PosedJoints.of_tracks(skeleton, clip.rotations, clip.translations, wanted)
    turns = turns_at(clip.rotations, leg, times)
    moved = np.flatnonzero(offset.any(axis=1))
    for rows in (moved[run] for run in runs_of_frames(len(moved))):
        before, at = posed.placed(times[rows])
        across = at[:, 6] - at[:, 7] if min(hips) >= 0 else None
        drawn = LimbPoses.through(at[:, :3]).reaching(offset[rows], across)
        turns[rows] = drawn.rotations_from(skeleton.rest_rotations[joints], before[:, 3:6], before[:, :3])
    return turns
