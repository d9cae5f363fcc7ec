"""Seats: of a mesh that plays a place, the upper surface above or below its origin, and its footprint."""

from __future__ import annotations

from typing import Final, NamedTuple

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
_DIRECTIONS: Final = np.exp(2j * np.pi * (np.arange(16) + 0.3) / 16.0)
"""Directions over the ground in which the farthest points of a mesh are looked for."""


class Seat(NamedTuple):
    """A mesh as a seat, in its own axes.

    surface: a point on its upper surface; None: unseated says why, or "" if it has no faces. footprint: see ScenePlace.
    """

    surface: Point | None = None
    unseated: str = ""
    footprint: tuple[Point, ...] = ()


_seats: dict[int, tuple[Triangles, bytes, Seat]] = {}
"""Cache by an object's session_uid: its triangles, its up direction with its name, and what was found."""


def seat(ob: bpy.types.Object, model_from_own: FloatArray, armature_object: bpy.types.Object) -> Seat:
    """Return a mesh as a seat. model_from_own: (3, 4), into the armature's space. Other objects are no seats."""
    if ob.type != "MESH":
        return Seat()
    shape = floor_shapes.triangles(ob)
    if not len(shape.triangles):
        return Seat()
    up = (np.linalg.pinv(model_from_own[:, :3]) @ rot.rotate(axes.armature_from_hanim(armature_object), UP)).round(
        object_courses.DIGITS) + 0.0
    now, known = up.tobytes() + ob.name.encode(), _seats.get(ob.session_uid)
    if known is None or known[0] is not shape or known[1] != now:
        if len(_seats) >= _MOST_KNOWN:
            _seats.clear()
        known = _seats[ob.session_uid] = shape, now, _found(ob.name, shape, up)
    return known[2]


def _found(name: str, shape: Triangles, up: FloatArray) -> Seat:
    """Return a shape as a seat. up: (3,) in its own axes."""
    high = highest_along(shape.points, shape.triangles, up)
    if high is None:
        return Seat(unseated=f"{quoted(name)} has no surface above or below its origin to sit on: set its origin to "
                             "its seat, or choose an empty as high as the seat")
    return Seat(object_courses.point(high * up), footprint=_footprint(shape, up))


def _footprint(shape: Triangles, up: FloatArray) -> tuple[Point, ...]:
    """Return the points of a shape that are farthest out, as seen from above."""
    is_used = np.zeros(len(shape.points), dtype=np.bool_)
    is_used[shape.triangles] = True
    points, size = shape.points[is_used & np.isfinite(shape.points).all(axis=1)], float(np.linalg.norm(up))
    if not len(points) or not size:
        return ()
    unit = up / size
    aside = np.cross(unit, np.eye(3)[np.abs(unit).argmin()])
    aside /= np.linalg.norm(aside)
    across = np.cross(unit, aside)
    over = np.stack((points @ aside, points @ across))
    farthest = {int((direction.real * over[0] + direction.imag * over[1]).argmax()) for direction in _DIRECTIONS}
    return tuple(object_courses.point(points[number]) for number in sorted(farthest))
