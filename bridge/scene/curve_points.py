"""Points along a curve object's first spline as Blender draws it, computed from its data without evaluation."""

from __future__ import annotations

from typing import Any, Final, cast

import bpy
import numpy as np

from ...core.errors import quoted
from ...core.maths.arrays import FloatArray
from ...core.playing.scene.b_spline import b_spline

_BETWEEN = 12
"""Number of points between two control points of a Bézier or NURBS spline."""
MOST_POINTS = 20_000
"""Most points of a spline that are used."""
_BENDING: Final = frozenset((
    "ARMATURE", "CAST", "CURVE", "HOOK", "LATTICE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "WARP",
    "WAVE"))
"""Types of modifiers that move the points of curves."""


def points_along(curve: bpy.types.Curve) -> FloatArray:
    """Return points (N, 3) along the first spline, in the object's space; none without a spline.

    Modifiers, bevels and shape keys are ignored; see ignored. A longer spline is cut after MOST_POINTS points.
    """
    if not len(curve.splines):
        return np.zeros((0, 3))
    spline: Any = curve.splines[0]
    if spline.type == "BEZIER":
        found = _bezier(spline)
    else:
        count = min(len(spline.points), MOST_POINTS)
        points = np.empty(len(spline.points) * 4, dtype=np.float32)
        spline.points.foreach_get("co", points)
        found = points.reshape(-1, 4)[:count].astype(np.float64)
        if spline.type == "NURBS" and count > 1:
            return b_spline(found[:, :3], found[:, 3], int(spline.order_u), is_cyclic=spline.use_cyclic_u,
                            reaches_ends=spline.use_endpoint_u, is_bezier=spline.use_bezier_u,
                            between=_BETWEEN)
        found = found[:, :3]
    return np.concatenate((found, found[:1])) if spline.use_cyclic_u and spline.type == "POLY" else found


def ignored(ob: bpy.types.Object) -> str:
    """Return a note on what belongs to a curve object, or bends it, in the viewport, but not in its path, or ""."""
    curve = cast(bpy.types.Curve, ob.data)
    keys = curve.shape_keys
    if len(curve.splines) > 1:
        return (f"{quoted(ob.name)} has {len(curve.splines)} splines, and only the first is the path: separate the "
                "others (P in Edit Mode)")
    if any(each.show_viewport and each.type in _BENDING for each in ob.modifiers):
        return f"the modifiers of {quoted(ob.name)} do not bend the path: apply them, or bend the curve itself"
    if keys is not None and any(key.value != 0.0 and not key.mute for key in list(keys.key_blocks)[1:]):
        return f"the shape keys of {quoted(ob.name)} do not bend the path: bend the curve itself"
    return ""


def _bezier(spline: Any) -> FloatArray:
    """Return points along a cubic Bézier spline."""
    count = min(len(spline.bezier_points), MOST_POINTS)
    corners = np.empty((3, len(spline.bezier_points) * 3), dtype=np.float32)
    for row, name in zip(corners, ("handle_left", "co", "handle_right"), strict=True):
        spline.bezier_points.foreach_get(name, row)
    before, at, after = corners.reshape(3, -1, 3)[:, :count].astype(np.float64)
    if spline.use_cyclic_u:
        before, at, after = (np.concatenate((each, each[:1])) for each in (before, at, after))
    if len(at) < 2:
        return np.asarray(at)
    x = np.linspace(0.0, 1.0, _BETWEEN, endpoint=False)[:, None]
    weights = (1.0 - x) ** 3, 3.0 * x * (1.0 - x) ** 2, 3.0 * x * x * (1.0 - x), x**3
    parts = sum(weight * each[:, None] for weight, each in zip(weights, (at[:-1], after[:-1], before[1:], at[1:]),
                                                               strict=True))
    return np.concatenate((np.asarray(parts).reshape(-1, 3), at[-1:]))
