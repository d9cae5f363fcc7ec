"""Hands that touch something keep touching it on a body with other proportions: each other, trunk, head or a thigh.

Limbs point as in the clip, so on broader shoulders or with shorter arms clapping hands come apart, and hands on hips
float beside them. While a clip's hands are near something, those of the target are brought as near, by their shoulders
and elbows; of two hands each goes half of the distance. Hands stay turned as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import filled, poses_at
from ..maths.arrays import FloatArray, IntArray, smoothstep
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, world_from_pose
from .hands_and_body import HandsAndBody
from .limbs import keys_where_moved, largest, reach, runs_of_frames, with_rotations
from .skin_points import SkinPoints

_NEAR_HEIGHTS: Final = (0.12, 0.2)
"""Of the body's height: hands nearer to each other than the first are kept as near; up to the second in part."""
_ON_HEIGHTS: Final = (0.015, 0.035)
"""Likewise, hands that are so far from the body's skin, which clips do not show exactly."""
_STILL: Final = 1e-4
_ROUNDS: Final = 2


@dataclass(frozen=True, eq=False)
class _Touch:
    """What hands are near in F frames, in lengths of the target.

    apart: (F, 3) from right palm to left; together: (F,) how much that counts. outside: (F, 2, parts) how far hands are
    outside the body's parts, on: (F, 2, parts) how much that counts.
    """

    apart: FloatArray
    together: FloatArray
    outside: FloatArray
    on: FloatArray

    @classmethod
    def of(cls, body: HandsAndBody, pose: Pose, parts: Sequence[str], height: float) -> _Touch:
        """Look at a body's hands in poses (F,) for a target that is so high."""
        frames, size = len(pose.rotations), height / body.height
        apart, outside, on = np.empty((frames, 3)), np.empty((frames, 2, len(parts))), np.empty((frames, 2, len(parts)))
        for run in runs_of_frames(frames):
            world = world_from_pose(body.clip.skeleton, pose.at(run))
            palms = body.palms_at(world)
            apart[run] = size * (palms[:, 0] - palms[:, 1])
            for i, part in enumerate(parts):
                outside[run, :, i] = size * body.outside_near(world, palms, part, _ON_HEIGHTS[1] * body.height)
            on[run] = (1.0 - body.hanging(world))[..., None]
        on *= 1.0 - smoothstep(outside, *(share * height for share in _ON_HEIGHTS))
        together = 1.0 - smoothstep(np.linalg.norm(apart, axis=1), *(share * height for share in _NEAR_HEIGHTS))
        return cls(apart, together, outside, on)

    def at(self, frames: IntArray) -> _Touch:
        """Return some of the frames."""
        return _Touch(self.apart[frames], self.together[frames], self.outside[frames], self.on[frames])


def with_hands_kept(played: Clip, target_map: SkeletonMap, skin: SkinPoints | None, source: Clip,
                    source_map: SkeletonMap) -> Clip:
    """Return what is played with the hands as near each other and the body, for its height, as in the source.

    played: on the skeleton of target_map, as the skin rests. source: the clip as it was compared, in the target's axes,
    on that of source_map. Where an arm or the height of one of them is not known, or hands are never near anything, it
    stays as it is.
    """
    ours, theirs = HandsAndBody.of(played, target_map, skin), HandsAndBody.of(source, source_map, None)
    if ours is None or theirs is None:
        return played
    keyed = [tracks.times_s for body in (ours, theirs) for tracks in (body.clip.rotations, body.clip.translations)]
    times = filled(np.unique(np.concatenate([*keyed, (0.0, played.duration_s)])).clip(0.0, played.duration_s))
    parts = [name for name in ours.parts if name in theirs.parts]
    touch = _Touch.of(theirs, poses_at(theirs.clip, times), parts, ours.height)
    is_near = (touch.together > 0.0) | (touch.on > 0.0).any(axis=(1, 2))
    if not is_near.any():
        return played
    rows, pose = np.flatnonzero(is_near), poses_at(ours.clip, times)
    before = pose.rotations.copy()
    for run in runs_of_frames(len(rows)):
        pose.rotations[rows[run]] = _touching(ours, pose.at(rows[run]), parts, touch.at(rows[run]))
    new: dict[int, tuple[FloatArray, FloatArray]] = {}
    for arm in ours.arms:
        away = np.abs(pose.rotations[:, arm.joints] - before[:, arm.joints])
        is_moved = away.reshape(len(times), -1).max(axis=1) > _STILL
        if is_moved.any():
            keys = keys_where_moved(ours.clip, played.duration_s, arm, times, pose.rotations, is_moved)
            new |= {int(ours.kept[joint]): kept for joint, kept in keys.items()}
    return with_rotations(played, new) if new else played


def _touching(body: HandsAndBody, pose: Pose, parts: Sequence[str], touch: _Touch) -> FloatArray:
    """Return rotations (F, J, 4) of poses in which hands touch what they are to: each other, then the body.

    What is in between has the last word: a hand on a thigh stays outside of a belly that covers it.
    """
    turns = pose.rotations
    for _ in range(_ROUNDS):
        for step in (_to_each_other, _onto_body, _out_of_body):
            world = world_from_pose(body.clip.skeleton, pose)
            offsets = step(body, world, parts, touch)
            for side, arm in enumerate(body.arms):
                if offsets[:, side].any():
                    reach(body.clip, turns, world, arm, offsets[:, side])
    return turns


def _to_each_other(body: HandsAndBody, world: FloatArray, _: Sequence[str], touch: _Touch) -> FloatArray:
    """Return by how much hands are to be moved, (F, 2, 3): each goes half of the way."""
    palms = body.palms_at(world)
    nearer = touch.together[:, None] * (touch.apart - (palms[:, 0] - palms[:, 1]))
    return np.stack((0.5 * nearer, -0.5 * nearer), axis=1)


def _onto_body(body: HandsAndBody, world: FloatArray, parts: Sequence[str], touch: _Touch) -> FloatArray:
    """Return by how much hands are to be moved, (F, 2, 3), to be on the skin; none is pressed into it."""
    palms, offsets = body.palms_at(world), np.zeros((len(world), 2, len(parts), 3))
    for i, part in enumerate(parts):
        outside, out = body.outside(world, palms, part)
        theirs = touch.outside[..., i]
        wanted = np.clip(outside, theirs, np.maximum(theirs, 0.0))
        offsets[:, :, i] = (touch.on[..., i] * (wanted - outside))[..., None] * out
    return np.stack([largest(offsets[:, side]) for side in range(2)], axis=1)


def _out_of_body(body: HandsAndBody, world: FloatArray, parts: Sequence[str], touch: _Touch) -> FloatArray:
    """Return by how much hands are to be moved, (F, 2, 3), that are deeper in the body than in the clip."""
    palms, offsets = body.palms_at(world), np.zeros((len(world), 2, len(parts), 3))
    counts = np.maximum(touch.together[:, None], touch.on.max(axis=2))
    for i, part in enumerate(parts):
        outside, out = body.outside(world, palms, part)
        deeper = np.maximum(np.minimum(touch.outside[..., i], 0.0) - outside, 0.0)
        offsets[:, :, i] = (counts * deeper)[..., None] * out
    return np.stack([largest(offsets[:, side]) for side in range(2)], axis=1)
