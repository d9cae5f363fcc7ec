"""Motion of the armature object itself, added to clips.

In clips of files, it becomes a joint above all others. Clips of Actions of the open file play on the same bones, so
there it becomes motion of the topmost bones.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from operator import itemgetter
from typing import Final

import bpy
import numpy as np

from ...core.clips.clip import Clip, Tracks
from ...core.clips.keyed import keys_of, packed, sampled, turns_at
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray, IntArray
from ...core.skeletons.skeleton import Skeleton
from ..actions import curves
from . import object_courses

_SAME: Final = 1e-4
"""Tolerance, as a share of the skeleton's size, and for rotations: smaller motion counts as still."""
_MOST_FRAMES: Final = 100_000
_PATHS: Final = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")


def carried(clip: Clip, fitted: curves.Fitted, fps: float) -> Clip:
    """Return a clip in armature space with the Action's motion of the armature object; the same clip if it rests.

    A new joint with the object's name has this motion; its rest pose is the object's current transform.
    """
    now = np.array(fitted.armature_object.matrix_basis, dtype=np.float64)
    found = _motion(clip, fitted, fps, now)
    return clip if found is None else _with_root(clip, fitted.armature_object.name, *found)


def travelling(clip: Clip, fitted: curves.Fitted, fps: float) -> Clip:
    """Return a clip whose topmost joints have the Action's motion of the armature object, on the same skeleton.

    It begins at the position of the bones without that motion. So the character starts at its own position, not at
    the one at which the Action was made.
    """
    found = _motion(clip, fitted, fps, None)
    return clip if found is None else _with_tops(clip, *found)


def going_along(clip: Clip, times_s: FloatArray, worlds: FloatArray) -> Clip:
    """Return a clip whose topmost joints follow an armature object relative to its first place; without its scale.

    worlds: the object's matrices (F, 4, 4) at times (F,).
    """
    found = _relative(clip.skeleton, times_s, worlds, worlds[0])
    return clip if found is None else _with_tops(clip, *found)


def fingerprint(fitted: curves.Fitted) -> Hashable:
    """Return a key that stays the same as long as `travelling` would return the same for the same curves."""
    ob = fitted.armature_object
    if not _curves(fitted):
        return None
    return ob.rotation_mode, np.array(ob.matrix_basis, dtype=np.float64)[:3, :3].tobytes()  # they may key a part of it


def _curves(fitted: curves.Fitted) -> list[bpy.types.FCurve]:
    return [] if fitted.bag is None else [curve for curve in fitted.bag.fcurves if curve.data_path in _PATHS]


def _motion(clip: Clip, fitted: curves.Fitted, fps: float,
            rest: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return times (F,), rotations (F, 4) and translations (F, 3) of the armature object, or None if it rests.

    rest: the matrix (4, 4) relative to which it moves; None: that at the clip's begin.
    """
    own = _curves(fitted)
    if not own:
        return None
    start = fitted.action.frame_range[0]
    times = np.append(np.arange(0.0, clip.duration_s * fps, 1.0)[:_MOST_FRAMES], clip.duration_s * fps)
    channels = dict[str, dict[int, bpy.types.FCurve]]()
    for curve in own:
        channels.setdefault(curve.data_path, {})[curve.array_index] = curve
    bases = np.broadcast_to(object_courses.basis(fitted.armature_object, channels, start + times), (len(times), 4, 4))
    times_s = np.asarray(times / fps, dtype=np.float64)
    return _relative(clip.skeleton, times_s, bases, bases[0] if rest is None else rest)


def _relative(skeleton: Skeleton, times_s: FloatArray, worlds: FloatArray,
              rest: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return times (F,), rotations (F, 4) and moves (F, 3) of matrices (F, 4, 4) relative to rest, or None if still."""
    moved = np.linalg.pinv(rest) @ worlds
    size = max(float(np.ptp(skeleton.rest_world[:, :, 3], axis=0).max()), 1e-9)
    moves: FloatArray = np.asarray(moved[:, :3, 3], dtype=np.float64)
    linear = moved[:, :3, :3] / np.maximum(np.linalg.norm(moved[:, :3, :3], axis=1, keepdims=True), 1e-30)
    turns = rot.continuous(rot.from_matrix(linear))
    if np.ptp(moves, axis=0).max() < _SAME * size and np.ptp(turns, axis=0).max() < _SAME:
        return None
    return times_s, turns, moves


def _with_tops(clip: Clip, times_s: FloatArray, turns: FloatArray, moves: FloatArray) -> Clip:
    """Return a clip whose topmost joints are rotated (F, 4) and translated (F, 3) at times (F,)."""
    tops = np.flatnonzero(clip.skeleton.parents < 0)
    rest, places = clip.skeleton.rest_rotations[tops], clip.skeleton.rest_translations[tops]
    turned = rot.multiply(turns[:, None], rot.multiply(rest, turns_at(clip.rotations, tops.tolist(), times_s)))
    shifts = np.zeros((len(times_s), len(tops), 3))
    for index, joint in enumerate(clip.translations.joints.tolist()):
        shifts[:, tops == joint] = sampled(clip.translations, index, times_s)[:, None]
    turned = rot.continuous(rot.multiply(rot.conjugate(rest), turned))
    shifts = rot.rotate(turns[:, None], places + shifts) + moves[:, None] - places
    return replace(clip, rotations=_keyed(clip.rotations, tops, times_s, turned),
                   translations=_keyed(clip.translations, tops, times_s, shifts))


def _keyed(tracks: Tracks, joints: IntArray, times_s: FloatArray, values: FloatArray) -> Tracks:
    """Return tracks in which some joints (N,) have only these keys: values (F, N, C) at times (F,)."""
    others = [(joint, *keys_of(tracks, index)) for index, joint in enumerate(tracks.joints.tolist())
              if joint not in joints]
    new = [(joint, times_s, values[:, column]) for column, joint in enumerate(joints.tolist())]
    return packed(sorted([*others, *new], key=itemgetter(0)), values.shape[2])


def _with_root(clip: Clip, name: str, times_s: FloatArray, turns: FloatArray, moves: FloatArray) -> Clip:
    """Return a clip with a new root joint that has rotations (F, 4) and translations (F, 3) at times (F,)."""
    old = clip.skeleton
    while name in old.index_of:
        name += "_object"
    skeleton = Skeleton((name, *old.names), np.append(-1, old.parents + 1),
                        np.concatenate((rot.identities(1), old.rest_rotations)),
                        np.concatenate((np.zeros((1, 3)), old.rest_translations)),
                        np.concatenate((np.ones((1, 3)), old.rest_scales)), old.name, old.meant)

    def below_root(tracks: Tracks, values: FloatArray | None) -> Tracks:
        """Return tracks of the old joints after one of the new root with these values."""
        if values is None:
            return Tracks(tracks.joints + 1, tracks.starts, tracks.times_s, tracks.values)
        return Tracks(np.append(0, tracks.joints + 1), np.append(0, tracks.starts + len(times_s)),
                      np.concatenate((times_s, tracks.times_s)), np.concatenate((values, tracks.values)))

    return Clip(clip.name, skeleton, clip.duration_s, below_root(clip.rotations, turns),
                below_root(clip.translations, moves), below_root(clip.scales, None), clip.is_looping)
