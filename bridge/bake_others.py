"""What is keyed above a score besides its own channels, as Blender plays it: objects, properties, constraints.

Blender alone knows how strips and layers of the NLA mix such values, so the scene is played once, frame by frame.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import bpy
import numpy as np

from ..core.maths.arrays import FloatArray
from . import curves, versions
from .action_users import strips_of
from .keys import LINEAR

_Curve = tuple[str, int]
"""A data path from the armature's object, and an index."""


def other_curves(armature_object: bpy.types.Object, written: Collection[str]) -> list[_Curve]:
    """Return what is keyed by anything that the armature plays, whose paths are not among those that are written."""
    animation = armature_object.animation_data
    strips = [] if animation is None else [strip.action for strip in strips_of(animation, are_heard=True)]
    assigned = None if animation is None else animation.action
    found: dict[_Curve, None] = {}
    for action in (*strips, assigned):
        for bag in () if action is None else curves.bags(action):
            found |= {(curve.data_path, curve.array_index): None for curve in bag.fcurves
                      if curve.data_path not in written and not curve.mute}
    return [each for each in found if _value(armature_object, *each) is not None]


def played(armature_object: bpy.types.Object, scene: bpy.types.Scene, wanted: list[_Curve],
           frames: FloatArray) -> FloatArray:
    """Return values (F, C) of curves at frames (F,), as Blender plays them; the scene is left at its frame."""
    values = np.empty((len(frames), len(wanted)))
    before = scene.frame_current, scene.frame_subframe
    try:
        for row, frame in enumerate(frames.tolist()):
            scene.frame_set(int(frame // 1.0), subframe=frame % 1.0)
            values[row] = [_value(armature_object, *each) for each in wanted]
    finally:
        scene.frame_set(before[0], subframe=before[1])
    return values


def write(bag: bpy.types.ActionChannelbag, wanted: list[_Curve], frames: FloatArray, values: FloatArray) -> None:
    """Write values (F, C) as curves, straight lines between their keys; those that never change have one key."""
    for (path, index), column in zip(wanted, values.T, strict=True):
        chosen = slice(None) if (column != column[0]).any() else slice(1)
        keys = np.stack((frames[chosen], column[chosen]), axis=1).astype(np.float32)
        curve = versions.add_fcurve(bag, path, index, _bone_of(path))
        points: Any = curve.keyframe_points
        points.add(len(keys))
        points.foreach_set("co", keys.ravel())
        points.foreach_set("interpolation", np.full(len(keys), LINEAR, dtype=np.uint8))
        curve.update()


def _value(armature_object: bpy.types.Object, path: str, index: int) -> float | None:
    """Return what a property is now, None where there is none of that path, or none that is a number."""
    try:
        found: Any = armature_object.path_resolve(path)
    except ValueError:
        return None
    if isinstance(found, (bool, int, float)):
        return float(found)
    try:
        return float(found[index])
    except (TypeError, ValueError, IndexError, KeyError):
        return None


def _bone_of(path: str) -> str:
    return path.split('"')[1] if path.startswith("pose.bones[") else ""
