"""The character's place in the scene, for formats that can store it, and warnings for others."""

import bpy
import numpy as np

from ...core.formats.format import Format
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray
from .. import axes

_SAME_M, _SAME_DEGREES = 1e-3, 0.1
"""Distances from the origin and from its axes within which a character counts as standing there."""


def place_of(world: FloatArray, turn: FloatArray) -> FloatArray:
    """Return the matrix (4, 4), without scale, that moves the written character to its place, in H-Anim's axes.

    world: the object's matrix (4, 4). turn: (4,) from the armature's axes to H-Anim's.
    """
    scene, back = bpy.context.scene, rot.to_matrix(rot.conjugate(axes.BLENDER_FROM_HANIM))
    left, _, right = np.linalg.svd(world[:3, :3] if np.linalg.det(world[:3, :3]) > 0.0 else np.eye(3))
    place = np.eye(4)
    place[:3, :3] = back @ left @ right @ rot.to_matrix(rot.conjugate(turn))
    place[:3, 3] = (scene.unit_settings.scale_length if scene is not None else 1.0) * back @ world[:3, 3]
    return place


def left_out(armature_object: bpy.types.Object, place: FloatArray, entry: Format) -> tuple[str, ...]:
    """Return warnings about a place in the scene if a format cannot store it."""
    x, height, depth = place[:3, 3].tolist()
    angle = float(np.degrees(rot.angle_between(rot.from_matrix(place[:3, :3]), rot.IDENTITY)))
    if max(abs(x), abs(height), abs(depth)) < _SAME_M and angle < _SAME_DEGREES:
        return ()
    return (f"'{armature_object.name}' stands at ({x:.3g}, {-depth:.3g}, {height:.3g}) m in the scene, turned by "
            f"{angle:.3g}°; {entry.endings[0]} cannot hold that, so its motion begins at the origin",)
