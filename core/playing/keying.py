"""Convert a motion to keys with linear interpolation: at every frame, or as few as are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..clips.clip import Clip
from ..clips.frames import last_frame
from ..clips.keyed import poses_at
from ..errors import CancelledError, TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray, differs_from_rest
from ..maths.reduction import rotation_keys, vector_keys
from ..skeletons.hierarchy import with_ancestors, with_descendants
from ..skeletons.inheritance import Inheritance
from ..skeletons.skeleton import Pose, Skeleton
from .motion import Motion
from .stage import Playable

ANGLE_RAD = np.radians(0.01)
"""Greatest deviation of a joint's keyed rotation from the motion."""
SHARE_OF_HEIGHT = 1e-4
"""Greatest deviation of translations, as a share of the skeleton's height, and of scales."""
MOST_FRAMES = 300_000
"""Longest Action, in frames; a longer one would take gigabytes, and Blender minutes."""
_ROOM = 0.9
"""Share of these deviations that the choice of keys may use; the rest is for rounding to float32."""
_STILL = 1e-9
"""Translations and scales that stay within this distance of rest get no keys."""
_NEAREST = 0.004
"""Least distance of keys in frames, since Blender stores times as float32; a jump takes twice as long."""
_OWN_KEYS_PER_FRAME = 0.5
"""A clip with more keys per frame than this, as played, is keyed only at whole frames, which are fewer."""
_FRAMES_AT_ONCE = 256
Progress = Callable[[float], bool]
"""Called with the share of frames sampled, 0 to 1; returns whether to continue."""


@dataclass(frozen=True, eq=False)
class Channel:
    """One property of J′ joints at F times: values (F, J′, C), and which of them are keys, (F, J′)."""

    joints: IntArray
    values: FloatArray
    keys: BoolArray


@dataclass(frozen=True, eq=False)
class Keyed:
    """The keys of a motion, as in Pose, or adapted to joints that do not inherit their parents' whole transform.

    frames: (F,) from the motion's beginning; they may be fractional. Signs of rotations are continuous. Joints that no
    clip moves have no keys. Nor have translations and scales that stay at rest, and rotations at rest of joints that
    are translated.
    """

    frames: FloatArray
    rotations: Channel
    translations: Channel
    scales: Channel


def key_every_frame(motion: Motion, fps: float, inheritance: Inheritance | None = None,
                    progress: Progress | None = None) -> Keyed:
    """Return a key for each joint that moves, at every frame up to the first at or after the end.

    A loop ends where its next round begins, which may be between two frames. inheritance: how joints inherit rotation
    and scale, if some do not inherit both; the keys are then adapted to it. Raises CancelledError if progress returns
    False, and TaktError if the motion lasts more than MOST_FRAMES.
    """
    frames = _whole_frames(motion.duration_s, fps, is_loop=motion.is_loop)
    return _keyed(motion, frames, _times(motion, frames, fps), None, inheritance, progress)


def key_clip(clip: Playable, fps: float, inheritance: Inheritance | None = None,
             progress: Progress | None = None) -> Keyed:
    """Return a key for each joint that moves, at every frame up to the first at or after the end.

    clip: a motion that does not loop. inheritance, progress, errors: see key_every_frame.
    """
    frames = _whole_frames(clip.duration_s, fps, is_loop=False)
    return _keyed(clip, frames, np.minimum(frames / fps, clip.duration_s), None, inheritance, progress)


def key_sparsely(motion: Motion, fps: float, inheritance: Inheritance | None = None,
                 progress: Progress | None = None) -> Keyed:
    """Return few keys that stay within ANGLE_RAD and SHARE_OF_HEIGHT at every frame and every key of the clips.

    They are at frames, and at the clips' own keys, even between two frames. inheritance, progress, errors: see
    key_every_frame.
    """
    whole = _whole_frames(motion.duration_s, fps, is_loop=motion.is_loop)
    found = motion.instants(fps, _OWN_KEYS_PER_FRAME)
    frames = np.concatenate((whole, found.edges, found.jumps - 2.0 * _NEAREST, found.keys))
    frames = np.unique(frames[(frames >= 0.0) & (frames <= frames.max(initial=0.0))])
    frames = frames[np.append(True, np.diff(frames) > _NEAREST)]
    return _keyed(motion, frames, _times(motion, frames, fps), np.isin(frames, found.edges), inheritance, progress)


def resting(skeleton: Skeleton, keyed: Keyed) -> IntArray:
    """Return the joints (N,) that need one key at rest, so that a motion does not start from another motion's pose.

    If more than half of the joints that a motion rotates are below the ones that it translates, the body travels. Then
    these are all joints without rotation keys above the keyed ones: left in another pose, they would displace the body.
    Otherwise, as for a motion of one arm, they are only the joints that it translates and never rotates.
    """
    parents, shifted, turned = skeleton.parents, keyed.translations.joints, keyed.rotations.joints
    if not len(shifted) or 2 * int(with_descendants(parents, shifted)[turned].sum()) <= len(turned):
        return np.setdiff1d(shifted, turned)
    return np.union1d(np.setdiff1d(with_ancestors(parents, turned), turned), with_ancestors(parents, shifted))


def _whole_frames(duration_s: float, fps: float, *, is_loop: bool) -> FloatArray:
    end = duration_s * fps
    if end > MOST_FRAMES:
        raise TaktError(f"this lasts {duration_s:,.0f} s; at {fps:g} frames a second an Action holds up to "
                        f"{MOST_FRAMES / fps:,.0f} s: make it shorter, or repeat it less often")
    frames = np.arange(last_frame(duration_s, fps) + 1, dtype=np.float64)
    if is_loop:
        frames[-1] = end
    return frames


def _times(motion: Motion, frames: FloatArray, fps: float) -> FloatArray:
    return frames / fps if motion.is_loop else np.minimum(frames / fps, motion.duration_s)


def _keyed(motion: Playable, frames: FloatArray, times: FloatArray, starts: BoolArray | None,
           inheritance: Inheritance | None, progress: Progress | None) -> Keyed:
    """Sample a motion at times (F,) for keys at frames (F,).

    starts: (F,) where sparse keys are certain, None: all frames are keys.
    """
    pose = _sampled(motion, times, progress)
    moved = motion.moved
    if inheritance is not None:
        pose = inheritance.as_keyed(motion.skeleton, pose)
        # Joints that do not inherit their parents' transform need keys to follow them.
        moved = (moved | inheritance.turns_alone & differs_from_rest(pose.rotations[..., 1:], 0.0, _STILL)
                 | inheritance.scales_alone & differs_from_rest(pose.scales, 1.0, _STILL))
    positions = motion.skeleton.rest_world[:, :, 3]
    height = float(np.ptp(positions, axis=0).max(initial=0.0)) or 1.0

    def channel(chosen: BoolArray, values: FloatArray, tolerance: float) -> Channel:
        joints = np.flatnonzero(chosen)
        values = values if len(joints) == values.shape[1] else values[:, joints]
        if starts is None:
            return Channel(joints, values, np.ones(values.shape[:2], dtype=np.bool_))
        choose = rotation_keys if values.shape[2] == 4 else vector_keys
        return Channel(joints, values, choose(frames, values, tolerance * _ROOM, starts))

    is_shifted = moved & differs_from_rest(pose.translations, 0.0, _STILL)
    is_turned = moved & ~(is_shifted & ~differs_from_rest(pose.rotations[..., 1:], 0.0, _STILL))  # see resting
    return Keyed(frames, channel(is_turned, rot.continuous(pose.rotations), ANGLE_RAD),
                 channel(is_shifted, pose.translations, SHARE_OF_HEIGHT * height),
                 channel(moved & differs_from_rest(pose.scales, 1.0, _STILL), pose.scales, SHARE_OF_HEIGHT))


def _sampled(motion: Playable, times_s: FloatArray, progress: Progress | None) -> Pose:
    """Sample in runs that fit the processor's cache, with memory only for the result."""
    pose = Pose.rest(motion.skeleton, len(times_s))
    for start in range(0, len(times_s), _FRAMES_AT_ONCE):
        if progress is not None and not progress(start / len(times_s)):
            raise CancelledError("the sampling was cancelled")
        run = slice(start, start + _FRAMES_AT_ONCE)
        # The clips' tables of all keys would be larger than the result.
        part = poses_at(motion, times_s[run]) if isinstance(motion, Clip) else motion.sample(times_s[run])
        pose.rotations[run], pose.translations[run], pose.scales[run] = part.rotations, part.translations, part.scales
    return pose
