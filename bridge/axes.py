"""The rotation between a file's axes and Blender's."""

import bpy
import numpy as np

from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray
from ..core.skeletons.hanim import UP
from ..core.skeletons.maps import SkeletonMap

BLENDER_FROM_HANIM: FloatArray = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)
"""Turns H-Anim's axes (Y up, facing +Z, left is +X) into Blender's (Z up, facing −Y, left is +X)."""
BLENDER_FROM_HANIM.setflags(write=False)

_Z: FloatArray = np.array((0.0, 0.0, 1.0))
_UNEVEN = 1e-3
"""Scales of different axes that differ by a larger share than this are uneven."""
_LIES = 0.7
"""Cosine of the angle between a body's up and the scene's below which it lies."""


def armature_from_hanim(armature_object: bpy.types.Object) -> FloatArray:
    """Return the rotation (4,) from H-Anim's axes to an armature's own.

    FBX files are imported with bones that lie on their backs and a tilted object that sets them upright; so the
    object's tilt counts, but not its heading. If the object or one of its parents is sheared, scaled unevenly or
    mirrored, the world's up in the object's own space is used.
    """
    up = np.linalg.pinv(_linear(armature_object)) @ _Z
    if np.linalg.norm(up) <= 0.0:  # its scale is zero
        return BLENDER_FROM_HANIM
    across = np.array((-up[1], up[0], 0.0)) if np.hypot(up[0], up[1]) > 0.0 else np.array((1.0, 0.0, 0.0))
    tilted = rot.from_axis_angle(across, np.arctan2(np.hypot(up[0], up[1]), up[2]))  # rotates Z to up
    return rot.multiply(tilted, BLENDER_FROM_HANIM)


def unit_m(armature_object: bpy.types.Object) -> float:
    """Return the metres in a unit of an armature's space."""
    size = float(np.cbrt(abs(np.linalg.det(_linear(armature_object)))))
    scene = bpy.context.scene
    return (size or 1.0) * (scene.unit_settings.scale_length if scene is not None else 1.0)


def lying_warning(armature_object: bpy.types.Object, found: SkeletonMap | None) -> str:
    """Return the warning for a body whose rest pose, and so its motion, lies on the ground; "" if it stands."""
    up = rot.rotate(armature_from_hanim(armature_object), UP)
    return "" if found is None or up @ found.up(up) > _LIES else (
        f"'{armature_object.name}' lies in the scene in its rest pose, and so does its motion; rotate the object "
        "until the body stands")


def distortions(armature_object: bpy.types.Object) -> tuple[str, ...]:
    """Return how an object's transform, with those of its parents, distorts the motion of its bones."""
    linear = _linear(armature_object)
    sizes = np.linalg.svd(linear, compute_uv=False)
    found = []
    if sizes[-1] < sizes[0] * (1.0 - _UNEVEN):
        found.append("is scaled unevenly or sheared: limbs change their shape as they turn")
    if np.linalg.det(linear) < 0.0:
        found.append("is mirrored: left and right are exchanged")
    return tuple(found)


def _linear(armature_object: bpy.types.Object) -> FloatArray:
    return np.array(armature_object.matrix_world, dtype=np.float64)[:3, :3]
