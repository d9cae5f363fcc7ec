"""Motion of the armature object itself, which a clip gets as a joint above all others."""

from __future__ import annotations

from typing import Any, Final

import bpy
import numpy as np

from ..core.clips.clip import Clip, Tracks
from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray
from ..core.skeletons.skeleton import Skeleton
from . import curves

_SAME: Final = 1e-4
"""Of the skeleton's size, and of rotations: what moves less stands still."""
_MOST_FRAMES: Final = 100_000
_PATHS: Final = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")


def carried(clip: Clip, fitted: curves.Fitted, fps: float) -> Clip:
    """Return a clip in armature space with what the Action does to the armature object; the same one where it rests.

    A joint that is called as the object moves instead of it, and is at rest where the object is now.
    """
    own = [] if fitted.bag is None else [curve for curve in fitted.bag.fcurves if curve.data_path in _PATHS]
    if not own:
        return clip
    start = fitted.action.frame_range[0]
    times = np.append(np.arange(0.0, clip.duration_s * fps, 1.0)[:_MOST_FRAMES], clip.duration_s * fps)
    now_from_parent = np.linalg.pinv(np.array(fitted.armature_object.matrix_basis, dtype=np.float64))
    moved = now_from_parent @ _bases(fitted.armature_object, own, start + times)
    size = max(float(np.ptp(clip.skeleton.rest_world[:, :, 3], axis=0).max()), 1e-9)
    moves: FloatArray = np.asarray(moved[:, :3, 3], dtype=np.float64)
    linear = moved[:, :3, :3] / np.maximum(np.linalg.norm(moved[:, :3, :3], axis=1, keepdims=True), 1e-30)
    turns = rot.continuous(rot.from_matrix(linear))
    if np.ptp(moves, axis=0).max() < _SAME * size and np.ptp(turns, axis=0).max() < _SAME:
        return clip
    times_s: FloatArray = np.asarray(times / fps, dtype=np.float64)
    return _with_root(clip, fitted.armature_object.name, times_s, turns, moves)


def _bases(armature_object: Any, own: list[bpy.types.FCurve], frames: FloatArray) -> FloatArray:
    """Return the object's own matrices parent_from_object (F, 4, 4) at frames (F,) of its curves."""
    values = {path: np.tile(np.array(getattr(armature_object, path), dtype=np.float64), (len(frames), 1))
              for path in _PATHS}
    for curve in own:
        values[curve.data_path][:, curve.array_index] = [curve.evaluate(frame) for frame in frames.tolist()]
    mode = armature_object.rotation_mode
    turns = curves.quaternions(values[curves.rotation_channel(mode)], mode)
    bases = np.tile(np.eye(4), (len(frames), 1, 1))
    bases[:, :3, :3] = rot.to_matrix(turns) * values["scale"][:, None, :]
    bases[:, :3, 3] = values["location"]
    return bases


def _with_root(clip: Clip, name: str, times_s: FloatArray, turns: FloatArray, moves: FloatArray) -> Clip:
    """Put a joint above all others that turns (F, 4) and moves (F, 3) at times (F,)."""
    old = clip.skeleton
    while name in old.index_of:
        name += "_object"
    skeleton = Skeleton((name, *old.names), np.append(-1, old.parents + 1),
                        np.concatenate((rot.identities(1), old.rest_rotations)),
                        np.concatenate((np.zeros((1, 3)), old.rest_translations)),
                        np.concatenate((np.ones((1, 3)), old.rest_scales)), old.name)

    def below_root(tracks: Tracks, values: FloatArray | None) -> Tracks:
        """Return tracks of the old joints, before them one of the new root with these values."""
        if values is None:
            return Tracks(tracks.joints + 1, tracks.starts, tracks.times_s, tracks.values)
        return Tracks(np.append(0, tracks.joints + 1), np.append(0, tracks.starts + len(times_s)),
                      np.concatenate((times_s, tracks.times_s)), np.concatenate((values, tracks.values)))

    return Clip(clip.name, skeleton, clip.duration_s, below_root(clip.rotations, turns),
                below_root(clip.translations, moves), below_root(clip.scales, None), clip.is_looping)
