"""Meshes as arrays."""

from dataclasses import dataclass
from typing import cast

import bpy
import numpy as np

from ..core.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MeshArrays:
    """The base mesh of an object (no modifiers, no shape keys), in object space.

    vertices: (V, 3). face_vertices: the corners' vertices, face after face. face_sizes: (F,) corners of each face.
    """

    vertices: FloatArray
    face_vertices: IntArray
    face_sizes: IntArray


def read_mesh(mesh_object: bpy.types.Object) -> MeshArrays:
    """Return the object's mesh; what is being edited in Edit Mode is read as it stands there."""
    if mesh_object.mode == "EDIT":
        mesh_object.update_from_editmode()
    mesh = cast(bpy.types.Mesh, mesh_object.data)
    vertices = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", vertices)
    face_vertices = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", face_vertices)
    face_sizes = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_total", face_sizes)
    return MeshArrays(vertices.reshape(-1, 3).astype(np.float64), face_vertices.astype(np.int64),
                      face_sizes.astype(np.int64))


def armature_from_object(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> FloatArray:
    """Return the matrix (4, 4) that leads from the mesh object's space to the armature's, as they stand now.

    Raises numpy.linalg.LinAlgError where the armature object is scaled to nothing.
    """
    world_from_armature = np.array(armature_object.matrix_world, dtype=np.float64)
    return np.asarray(np.linalg.solve(world_from_armature, np.array(mesh_object.matrix_world, dtype=np.float64)))


def transformed(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Apply an affine matrix (4, 4) to points (..., 3)."""
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])
