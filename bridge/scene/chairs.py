"""Seats: the upper surface, above or below its origin, of a mesh that plays a place."""

from __future__ import annotations

from typing import Final

import bpy
import numpy as np

from ...core.errors import quoted
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray
from ...core.playing.scene.cast import Point
from ...core.playing.scene.surface import highest_along
from ...core.skeletons.hanim import UP
from .. import axes
from ..rigs import object_courses
from . import floor_shapes
from .floor_shapes import Triangles

_MOST_KNOWN: Final = 256
_surfaces: dict[int, tuple[Triangles, bytes, float | None]] = {}
"""Cache by an object's session_uid: its triangles, its up direction, and its surface's height above its origin."""


def surface(ob: bpy.types.Object, model_from_own: FloatArray,
            armature_object: bpy.types.Object) -> tuple[Point | None, str]:
    """Return a point on the upper surface of a mesh, in its own axes. If there is none: None and the reason.

    model_from_own: (3, 4), into the armature's space. Objects without faces are no seats, and give the reason "".
    """
    if ob.type != "MESH":
        return None, ""
    shape = floor_shapes.triangles(ob)
    if not len(shape.triangles):
        return None, ""
    up = (np.linalg.pinv(model_from_own[:, :3]) @ rot.rotate(axes.armature_from_hanim(armature_object), UP)).round(
        object_courses.DIGITS) + 0.0
    known = _surfaces.get(ob.session_uid)
    if known is None or known[0] is not shape or known[1] != up.tobytes():
        if len(_surfaces) >= _MOST_KNOWN:
            _surfaces.clear()
        known = _surfaces[ob.session_uid] = shape, up.tobytes(), highest_along(shape.points, shape.triangles, up)
    if known[2] is None:
        return None, (f"{quoted(ob.name)} has no surface above or below its origin to sit on: set its origin to its "
                      "seat, or choose an empty as high as the seat")
    x, y, z = (known[2] * up).round(object_courses.DIGITS).tolist()
    return (x, y, z), ""
