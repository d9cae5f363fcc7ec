"""The one turn between a file's axes and Blender's."""

import bpy
import numpy as np

from ..core import rotations as rot
from ..core.arrays import FloatArray

BLENDER_FROM_HANIM: FloatArray = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)
"""Turns H-Anim's axes (Y up, facing +Z, left is +X) into Blender's (Z up, facing −Y, left is +X)."""
BLENDER_FROM_HANIM.setflags(write=False)

_UP: FloatArray = np.array((0.0, 0.0, 1.0))


def armature_from_hanim(armature_object: bpy.types.Object) -> FloatArray:
    """Return the turn (4,) from H-Anim's axes to an armature's own.

    An object that stands up only because it is tilted, as FBX files are imported, has its bones lying down: its
    tilt counts. Where on the stage it faces does not.
    """
    turn = rot.normalized(np.array(armature_object.matrix_world.to_quaternion(), dtype=np.float64))
    tilt = rot.multiply(rot.conjugate(rot.twist(turn, _UP)), turn)
    return rot.multiply(rot.conjugate(tilt), BLENDER_FROM_HANIM)
