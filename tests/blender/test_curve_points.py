"""Points along splines against those that Blender draws."""

from itertools import product
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.scene.curve_points import points_along
from takt.core.maths.arrays import FloatArray

NEAR_M = 0.02
"""Both are polygons along the same curve, of other corners."""


def spline_of(rng: np.random.Generator, count: int, order: int, **flags: bool) -> bpy.types.Curve:
    curve = bpy.data.curves.new("Lane", "CURVE")
    curve.dimensions = "3D"
    spline: Any = curve.splines.new("NURBS")
    spline.points.add(count - 1)
    points = np.concatenate((rng.normal(size=(count, 3)), rng.uniform(0.5, 2.0, (count, 1))), axis=1)
    spline.points.foreach_set("co", points.astype(np.float32).ravel())
    spline.order_u, spline.resolution_u = order, 512
    for name, value in flags.items():
        setattr(spline, name, value)
    return curve


def drawn(curve: bpy.types.Curve) -> FloatArray:
    """Return the points (N, 3) that Blender draws along a curve."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert scene is not None and layer is not None
    ob = bpy.data.objects.new("Lane", curve)
    scene.collection.objects.link(ob)
    evaluated: Any = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    return points.reshape(-1, 3).astype(np.float64)


def away(points: FloatArray, line: FloatArray) -> float:
    """Return how far points (N, 3) are from a line through others (M, 3), at most."""
    begin, way = line[:-1], np.diff(line, axis=0)
    share = ((points[:, None] - begin) * way).sum(axis=2) / np.maximum((way * way).sum(axis=1), 1e-12)
    nearest = begin + np.clip(share, 0.0, 1.0)[..., None] * way
    return float(np.linalg.norm(points[:, None] - nearest, axis=2).min(axis=1).max())


@pytest.mark.usefixtures("extension")
@pytest.mark.parametrize("count", [4, 5, 6, 7, 9, 13])
@pytest.mark.parametrize("order", [3, 4, 5, 6])
def test_nurbs_go_where_blender_draws_them_whatever_their_knots_are(count: int, order: int) -> None:
    rng = np.random.default_rng(count)
    for reaches_ends, is_bezier, is_cyclic in product((False, True), repeat=3):
        curve = spline_of(rng, count, order, use_endpoint_u=reaches_ends, use_bezier_u=is_bezier,
                          use_cyclic_u=is_cyclic)
        line, points = drawn(curve), points_along(curve)
        if is_cyclic:
            line = np.concatenate((line, line[:1]))
        assert away(points, line) < NEAR_M
        assert away(line, points) < 5.0 * NEAR_M  # all of it, by fewer corners
