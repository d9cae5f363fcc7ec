"""Record a character as a clip of its skeleton: a pose, frames of the scene, or a part of its score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from ...core.clips.clip import Clip, Tracks
from ...core.clips.clip_file import ClipFile
from ...core.errors import TaktError
from ...core.formats import endings, format_of
from ...core.library.fitted import fitted
from ...core.library.whole_files import write_whole
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray, differs_from_rest
from ...core.playing.stage import Playable
from ...core.retargeting.comparing.upright import scaled, turned
from ...core.skeletons.skeleton import Pose, Skeleton
from .. import axes
from ..rigs.armature import read_pose, read_skeleton

POSE_S = 1.0
"""Duration of a clip of a single pose."""
MAX_FRAMES = 100_000
_STILL = 1e-7


def of_pose(armature_object: bpy.types.Object, name: str) -> Clip:
    """Return the current pose as a motionless clip, including constraints and drivers."""
    skeleton = read_skeleton(armature_object)
    return clip_of(name, skeleton, np.zeros(1), [read_pose(armature_object, skeleton)], POSE_S)


def of_frames(armature_object: bpy.types.Object, scene: bpy.types.Scene, name: str, first: int, last: int,
              fps: float) -> Clip:
    """Return the character's motion between two frames of the scene, whatever moves it; see with_worlds."""
    return with_worlds(armature_object, scene, name, first, last, fps)[0]


def with_worlds(armature_object: bpy.types.Object, scene: bpy.types.Scene, name: str, first: int, last: int,
                fps: float) -> tuple[Clip, FloatArray]:
    """Return the character's motion between two frames of the scene, and its object's matrices (F, 4, 4).

    The scene steps through these frames, and then returns to its current one. Raises TaktError if
    the last frame does not come after the first, or there are too many.
    """
    if not 0 < last - first < MAX_FRAMES:
        raise TaktError(f"frames {first} to {last} cannot be recorded; the last must be later than the first, by at "
                        f"most {MAX_FRAMES:,} frames")
    skeleton, before, poses, worlds = read_skeleton(armature_object), scene.frame_current_final, [], []
    try:
        for frame in range(first, last + 1):
            scene.frame_set(frame)
            poses.append(read_pose(armature_object, skeleton))
            worlds.append(np.array(armature_object.matrix_world, dtype=np.float64))
    finally:
        scene.frame_set(int(before), subframe=before - int(before))
    return clip_of(name, skeleton, np.arange(len(poses)) / fps, poses, (last - first) / fps), np.array(worlds)


def of_motion(motion: Playable, name: str, begin_s: float, end_s: float, fps: float) -> Clip:
    """Return a part of a motion between two times, with fps keys a second."""
    if not 0.0 < end_s - begin_s < MAX_FRAMES / fps:
        raise TaktError(f"{end_s - begin_s:.3g} s cannot be recorded; more than 0 and at most {MAX_FRAMES / fps:.0f} s")
    times = np.append(np.arange(0.0, end_s - begin_s - _STILL, 1.0 / fps), end_s - begin_s)
    return clip_of(name, motion.skeleton, times, [motion.sample(begin_s + times)], end_s - begin_s)


def clip_of(name: str, skeleton: Skeleton, times_s: FloatArray, poses: Sequence[Pose], duration_s: float) -> Clip:
    """Return a clip of poses (J, …), one at each time, or of one pose (F, J, …) for all times.

    Joints that always have their rest translation or scale get no keys for it.

    >>> from takt.samples.skeleton import build_skeleton
    >>> body = build_skeleton()
    >>> clip = clip_of("rest", body, np.zeros(1), [Pose(rot.identities(len(body)), np.zeros((len(body), 3)),
    ...                                                 np.ones((len(body), 3)))], 1.0)
    >>> len(clip.rotations), len(clip.translations), len(clip.scales)
    (53, 0, 0)
    """
    every = [np.concatenate([np.reshape(getattr(pose, part), (-1, len(skeleton), channels)) for pose in poses])
             for part, channels in (("rotations", 4), ("translations", 3), ("scales", 3))]
    joints = np.arange(len(skeleton))

    def tracks(values: FloatArray, rest: float) -> Tracks:
        chosen = differs_from_rest(values, rest, _STILL)
        return Tracks.uniform(joints[chosen], times_s, values[:, chosen]) if chosen.any() else Tracks.empty(3)

    return Clip(name, skeleton, duration_s, Tracks.uniform(joints, times_s, rot.continuous(every[0])),
                tracks(every[1], 0.0), tracks(every[2], 1.0))


def in_hanim_axes(armature_object: bpy.types.Object, clip: Clip) -> Clip:
    """Return a clip converted from an armature's space to H-Anim's axes and metres, as for files."""
    back = rot.conjugate(axes.armature_from_hanim(armature_object))
    return scaled(turned(clip, back), axes.unit_m(armature_object))


def check_is_new(path: Path, *, overwrite: bool) -> None:
    """Raise TaktError if the file exists and must not be overwritten."""
    if path.exists() and not overwrite:
        raise TaktError(f"'{path.name}' is there already: choose another name, or Overwrite")


def write(path: Path, clip: Clip, fps: float, *, overwrite: bool = False) -> tuple[str, ...]:
    """Write a clip into a file of its own; return warnings about what its format cannot hold.

    Raises TaktError if no format that can be written has its ending, the file cannot be written, or it exists and
    overwrite is false; an existing file is then unchanged.
    """
    entry = format_of(path)
    if entry is None or entry.write is None:
        raise TaktError(f"'{path.name}' does not name a format that is written; let it end in "
                        f"{', '.join(endings(written=True))}")
    held, warnings = fitted(ClipFile(clip.skeleton, (clip,)), entry)
    write_whole(path, entry.write(held, fps), partial(check_is_new, path, overwrite=overwrite))
    return warnings
