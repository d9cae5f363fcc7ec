"""Keys of bones written into an Action."""

from typing import Any

import bpy
import numpy as np

from ..core.arrays import FloatArray
from . import versions

_LINEAR = 1
"""Keyframe.interpolation LINEAR, as foreach_set wants it."""


def write_keys(bag: bpy.types.ActionChannelbag, bone: str, channel: str, frames: FloatArray,
               values: FloatArray) -> list[bpy.types.FCurve]:
    """Write keys (K, C) at frames (K,), straight lines between them, as one curve for each component of a channel.

    float32, since Blender copies that without conversion.
    """
    path = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].{channel}'
    keys = np.empty((len(frames), 2), dtype=np.float32)
    keys[:, 0] = frames
    linear = np.full(len(frames), _LINEAR, dtype=np.uint8)
    curves = []
    for index in range(values.shape[1]):
        keys[:, 1] = values[:, index]
        curve = versions.add_fcurve(bag, path, index, bone)
        points: Any = curve.keyframe_points
        points.add(len(frames))
        points.foreach_set("co", keys.ravel())
        points.foreach_set("interpolation", linear)
        curve.update()
        curves.append(curve)
    return curves
