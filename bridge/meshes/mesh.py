"""Meshes as arrays."""

from dataclasses import dataclass, replace
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Matrix

from ...core.maths.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class MeshArrays:
    """The base mesh of an object (no modifiers, no shape keys), in object space.

    vertices: (V, 3). face_vertices: the corners' vertices, face after face. face_sizes: (F,) corners of each face.
    """

    vertices: FloatArray
    face_vertices: IntArray
    face_sizes: IntArray


def read_mesh(mesh_object: bpy.types.Object) -> MeshArrays:
    """Return the object's mesh; in Edit Mode with the edits so far."""
    if mesh_object.mode == "EDIT":
        mesh_object.update_from_editmode()
    mesh = cast(bpy.types.Mesh, mesh_object.data)
    vertices = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", vertices)
    face_vertices = np.empty(len(mesh.loops), dtype=np.int32)
    corners: Any = mesh.attributes.get(".corner_vert")  # a hundred times as fast, but missing in Edit Mode
    if corners is None:
        mesh.loops.foreach_get("vertex_index", face_vertices)
    else:
        corners.data.foreach_get("value", face_vertices)
    face_sizes = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_total", face_sizes)
    return MeshArrays(vertices.reshape(-1, 3).astype(np.float64), face_vertices.astype(np.int64),
                      face_sizes.astype(np.int64))


def mirror_images(mesh_object: bpy.types.Object, mesh: MeshArrays) -> list[MeshArrays]:
    """Return the geometry that the object's Mirror modifiers add in the viewport, one copy for each image.

    Each mirrored axis doubles the geometry, and reverses the order of the faces' corners, so that they still
    face outward. Merging and bisecting are left to Blender.
    """
    images = [mesh]
    for modifier in mesh_object.modifiers:
        if isinstance(modifier, bpy.types.MirrorModifier) and modifier.show_viewport:
            other = modifier.mirror_object
            mirror_from_object = other.matrix_world.inverted_safe() @ mesh_object.matrix_world if other else Matrix()
            for axis in np.flatnonzero(np.array(modifier.use_axis)):
                flip = Matrix.Diagonal([-1.0 if axis == k else 1.0 for k in range(4)])
                mirrored = np.array(mirror_from_object.inverted_safe() @ flip @ mirror_from_object, dtype=np.float64)
                images += [replace(image, vertices=transformed(mirrored, image.vertices),
                                   face_vertices=image.face_vertices[::-1], face_sizes=image.face_sizes[::-1])
                           for image in images]
    return images[1:]


def armature_from_object(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> FloatArray:
    """Return the matrix (4, 4) from the mesh object's space to the armature's, at their current transforms.

    Raises numpy.linalg.LinAlgError if the armature object has a scale of 0.
    """
    world_from_armature = np.array(armature_object.matrix_world, dtype=np.float64)
    return np.asarray(np.linalg.solve(world_from_armature, np.array(mesh_object.matrix_world, dtype=np.float64)))


def transformed(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Apply an affine matrix (4, 4) to points (..., 3)."""
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])
