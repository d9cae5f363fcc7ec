"""Keys of bones written into an Action."""

from typing import Any

import bpy
import numpy as np

from ...core.maths.arrays import Float32Array, FloatArray
from .. import versions

LINEAR = 1
"""Keyframe.interpolation LINEAR, as foreach_set takes it; all keys that are written here have it."""
_VECTOR = 2
"""Keyframe.handle_left_type VECTOR, likewise."""


def bone_path(bone: str, channel: str) -> str:
    """Return the data path of a bone's property from its object."""
    return f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'


def write_keys(bag: bpy.types.ActionChannelbag, bone: str, channel: str, frames: FloatArray,
               values: FloatArray | Float32Array, *,
               is_dense: bool = False) -> list[tuple[bpy.types.FCurve, Float32Array]]:
    """Write keys (K, C) at frames (K,), with linear interpolation, as one curve for each component of a channel.

    Returns each curve with its keys, frame and value in turn, (2 K,), in float32, which Blender copies without
    conversion. is_dense: there is a key at every frame; the handles then point to the next keys. So the curve stays the
    same if the user makes it Bézier. Blender need not compute the handles, which would take half of the time of
    writing.
    """
    path = bone_path(bone, channel)
    return [write_curve(bag, path, index, bone, frames, own, is_dense=is_dense) for index, own in enumerate(values.T)]


def write_curve(bag: bpy.types.ActionChannelbag, path: str, index: int, group: str, frames: FloatArray,
                values: FloatArray | Float32Array, *, is_dense: bool = False) -> tuple[bpy.types.FCurve, Float32Array]:
    """Write keys (K,) at frames (K,) as one curve; see write_keys."""
    keys = np.empty((len(frames), 2), dtype=np.float32)
    keys[:, 0], keys[:, 1] = frames, values
    own = keys.ravel()
    curve = versions.add_fcurve(bag, path, index, group)
    points: Any = curve.keyframe_points
    points.add(len(frames))
    points.foreach_set("co", own)
    points.foreach_set("interpolation", np.full(len(frames), LINEAR, dtype=np.uint8))
    if is_dense:
        vector = np.full(len(frames), _VECTOR, dtype=np.uint8)
        points.foreach_set("handle_left_type", vector)
        points.foreach_set("handle_right_type", vector)
    curve.update()
    return curve, own
