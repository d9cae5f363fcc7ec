"""Meshes that play floors: their triangles, read from their data alone, so without what modifiers make of it."""

from __future__ import annotations

from typing import Any, Final, cast

import bpy
import numpy as np

from ..core.errors import TaktError, quoted
from ..core.maths.arrays import FloatArray, IntArray
from ..core.playing.scene.cast import SceneFloor
from . import changes

_MOST_KNOWN: Final = 64
_meshes: dict[int, tuple[int, FloatArray, IntArray]] = {}
"""By the session_uid of a mesh: the number of `changes` for which it is valid, its points and its triangles."""
_floors: dict[tuple[int, bytes], tuple[FloatArray, SceneFloor]] = {}
"""By the session_uid of a mesh and where it is: the points that it was made of, and the floor."""


def floor(ob: bpy.types.Object, matrix: FloatArray, note: str) -> SceneFloor:
    """Return the floor that a mesh object is; matrix: (4, 4) to the model. Raises TaktError where it has no faces."""
    mesh = cast(bpy.types.Mesh, ob.data)
    points, triangles = _triangles(mesh)
    if not len(triangles):
        raise TaktError(f"the mesh {quoted(ob.name)} has no faces to stand on: make some in Edit Mode")
    key = mesh.session_uid, matrix.tobytes() + note.encode()
    if key not in _floors or _floors[key][0] is not points:
        if len(_floors) >= _MOST_KNOWN:
            _floors.clear()
        _floors[key] = points, SceneFloor(points @ matrix[:3, :3].T + matrix[:3, 3], triangles, note)
    return _floors[key][1]


def _triangles(mesh: bpy.types.Mesh) -> tuple[FloatArray, IntArray]:
    now, uid = changes.of_data((mesh.session_uid,)), mesh.session_uid
    if uid not in _meshes or _meshes[uid][0] != now or len(_meshes[uid][1]) != len(mesh.vertices):
        if len(_meshes) >= _MOST_KNOWN:
            _meshes.clear()
        data: Any = mesh
        data.calc_loop_triangles()
        points, triangles = (np.empty(3 * len(data.vertices), dtype=np.float32),
                             np.empty(3 * len(data.loop_triangles), dtype=np.int32))
        data.vertices.foreach_get("co", points)
        data.loop_triangles.foreach_get("vertices", triangles)
        _meshes[uid] = now, points.reshape(-1, 3).astype(np.float64), triangles.reshape(-1, 3).astype(np.int64)
    return _meshes[uid][1:]
