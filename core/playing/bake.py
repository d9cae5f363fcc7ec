"""Bake a motion into a clip with keys at even steps."""

from __future__ import annotations

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.frames import last_frame
from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, differs_from_rest
from ..skeletons.skeleton import Pose
from .stage import Playable

MAX_VALUES = 200_000_000
"""Greatest number of values, frames × joints × channels, that fits into the memory of a small machine."""
_FRAMES_AT_ONCE = 1024
_STILL = 1e-9
"""A translation or scale that stays within this distance of rest gets no track."""


def bake(motion: Playable, fps: float, name: str) -> Clip:
    """Return a motion as a clip with `fps` keys per second and one more at its end.

    Joints that no clip moves get no tracks. The clip equals the motion at the keys; between them it is linear
    (normalised LERP). Raises TaktError if fps is not greater than 0, or if the clip would hold more than MAX_VALUES
    values.
    """
    if not 0.0 < fps < np.inf:
        raise TaktError(f"{fps} frames per second; a number greater than 0 is wanted")
    joints = np.flatnonzero(motion.moved)
    frames = last_frame(motion.duration_s, fps) + 1
    if frames * len(joints) * 10 > MAX_VALUES:
        raise TaktError(f"{frames} frames of {len(joints)} joints are too many for one clip; at most "
                        f"{MAX_VALUES // (10 * max(len(joints), 1))} fit: take fewer frames per second")
    times = np.minimum(np.arange(frames) / fps, motion.duration_s)
    pose = Pose(np.empty((frames, len(joints), 4)), *(np.empty((frames, len(joints), 3)) for _ in range(2)))
    for start in range(0, frames, _FRAMES_AT_ONCE):
        run = slice(start, start + _FRAMES_AT_ONCE)
        part = motion.sample(times[run])
        pose.rotations[run], pose.translations[run], pose.scales[run] = (
            values[:, joints] for values in (part.rotations, part.translations, part.scales))

    def tracks(values: FloatArray, chosen: BoolArray) -> Tracks:
        return Tracks.uniform(joints[chosen], times, values[:, chosen]) if chosen.any() else Tracks.empty(
            values.shape[2])

    return Clip(name, motion.skeleton, motion.duration_s,
                tracks(rot.continuous(pose.rotations), np.ones(len(joints), dtype=np.bool_)),
                tracks(pose.translations, differs_from_rest(pose.translations, 0.0, _STILL)),
                tracks(pose.scales, differs_from_rest(pose.scales, 1.0, _STILL)))
