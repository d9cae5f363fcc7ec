"""Coincident vertices become one point: every import that splits vertices along seams needs it."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from .frame import Frame
from .input import BindInput
from .surface import Surface

COINCIDENT = 4e-6
"""Vertices closer than this share of the body's root mean square radius coincide."""


def welded_surface(body: BindInput, seams: bool = True) -> tuple[IntArray, Surface, Frame]:
    """Return each vertex's point (V,), the surface over these points in the body's frame, and that frame.

    Coincident vertices of all parts are one point; without `seams` each vertex is a point of its own.
    """
    point_of, points, frame = welded(body, seams)
    return point_of, Surface.of_faces(points, point_of[body.face_vertices], body.face_sizes), frame


def welded(body: BindInput, seams: bool = True) -> tuple[IntArray, FloatArray, Frame]:
    """Return each vertex's point (V,), the points (P, 3) in the body's frame, and that frame."""
    radius = float(np.sqrt(np.ascontiguousarray(body.vertices.T).var(axis=1).sum()))
    point_of = weld(body.vertices, COINCIDENT * radius) if seams else np.arange(len(body.vertices), dtype=np.int64)
    points = np.empty((int(point_of.max()) + 1, 3))
    points[point_of] = body.vertices
    frame = Frame.of_points(points)
    return point_of, frame.to_local(points), frame


def weld(vertices: FloatArray, tolerance: float) -> IntArray:
    """Return for each vertex (V, 3) the number of its welded point, (V,): 0 … P − 1 in no meaningful order.

    Vertices closer than `tolerance` along every axis always become one, whatever their order: groups are cut
    only at gaps wider than the tolerance, along one axis after the other, until no group breaks up any more.
    A chain of vertices that are each within the tolerance of the next is one point.

    >>> point_of = weld(np.array([[0., 0, 0], [1, 0, 0], [0, 0, 1e-9]]), 1e-6)
    >>> bool(point_of[0] == point_of[2]), bool(point_of[0] == point_of[1])
    (True, False)
    """
    point_of = np.zeros(len(vertices), dtype=np.int64)
    crowded = np.arange(len(vertices))  # vertices that still share their group with others
    columns = np.ascontiguousarray(vertices.T)
    unchanged = axis = 0
    while unchanged < 3 and len(crowded):
        order = crowded[np.argsort(columns[axis, crowded])]
        order = order[np.argsort(point_of[order], kind="stable")]
        apart = np.diff(point_of[order]) != 0
        cut = apart | (np.diff(columns[axis, order]) > tolerance)
        unchanged = unchanged + 1 if np.array_equal(cut, apart) else 0
        group = np.concatenate(([0], np.cumsum(cut)))
        alone = np.bincount(group)[group] == 1
        group += point_of.max() + 1  # new numbers, apart from those of vertices already alone
        point_of[order] = group
        crowded = order[~alone]
        axis = (axis + 1) % 3
    is_used = np.bincount(point_of) > 0
    return np.asarray((np.cumsum(is_used) - 1)[point_of])
