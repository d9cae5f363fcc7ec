"""The one turn between a file's axes and Blender's."""

import numpy as np

from ..core import rotations as rot
from ..core.arrays import FloatArray

BLENDER_FROM_HANIM: FloatArray = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)
"""Turns H-Anim's axes (Y up, facing +Z, left is +X) into Blender's (Z up, facing −Y, left is +X)."""
BLENDER_FROM_HANIM.setflags(write=False)
