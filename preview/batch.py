"""A mesh on the GPU: read once, uploaded once, drawn in any pose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import bpy
import gpu
import numpy as np
import numpy.typing as npt

from ..bridge.groups import read_influences
from ..core.maths.arrays import FloatArray, IntArray

_NORMAL_STEPS = 512
"""Corners of a vertex whose normals agree to one part in this share a vertex on the GPU."""
_GREY = (0.6, 0.6, 0.6)
"""Colour of what nothing moves, and of what has no material: Blender's own is white, which light would burn out."""

_SHARE_OF_INFLUENCES = 0.7
"""Of the time that reading a large mesh takes."""

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Geometry:
    """What is uploaded, in the mesh object's space; N is V, or more where normals or materials split vertices.

    vertices: (N,) the mesh's vertex each comes from. positions, normals: (N, 3). bones, weights: (N, 4) or (N, 8).
    surface, zone: (N, 3) linear colours. triangles: (T, 3). edges: (E, 2).
    """

    vertices: Int32Array
    positions: Float32Array
    normals: Float32Array
    bones: Int32Array
    weights: Float32Array
    surface: Float32Array
    zone: Float32Array
    triangles: Int32Array
    edges: Int32Array


def read_geometry(mesh_object: bpy.types.Object, bone_names: Sequence[str], bone_colours: FloatArray,
                  tell: Callable[[float], None] = lambda _: None) -> Geometry:
    """Read a mesh and its weights; the 4 strongest influences of each vertex, 8 where some vertex has more.

    bone_names: as `read_influences` takes them; bone_colours: (J, 3). tell: takes the share of the work done.
    """
    mesh = cast(bpy.types.Mesh, mesh_object.data)
    influences = read_influences(mesh_object, bone_names, limit=8)
    tell(_SHARE_OF_INFLUENCES)
    width = 4 if influences.joints.shape[1] <= 4 else 8
    padding = ((0, 0), (0, width - influences.joints.shape[1]))
    joints = np.pad(influences.joints, padding)
    weights = np.pad(influences.weights, padding)
    zone = np.einsum("vk,vkc->vc", weights, bone_colours[joints] if len(bone_colours) else np.zeros((*joints.shape, 3)))
    zone[weights.sum(axis=1) == 0.0] = _GREY
    vertices, normals, materials, triangles = _split(mesh)
    surface = _material_colours(mesh_object)[materials]
    positions = _read(mesh.vertices, "co", 3)
    return Geometry(vertices.astype(np.int32), positions[vertices], normals, joints[vertices].astype(np.int32),
                    weights[vertices].astype(np.float32), surface, zone[vertices].astype(np.float32), triangles,
                    _edges(mesh, vertices))


def triangle_batch(buffer: gpu.types.GPUVertBuf, geometry: Geometry) -> gpu.types.GPUBatch:
    """Return what draws the surface of vertices on the GPU."""
    indices = gpu.types.GPUIndexBuf(type="TRIS", seq=cast(Any, np.ascontiguousarray(geometry.triangles)))
    return gpu.types.GPUBatch(type="TRIS", buf=buffer, elem=indices)


def edge_batch(buffer: gpu.types.GPUVertBuf, edges: Int32Array) -> gpu.types.GPUBatch:
    """Return what draws the mesh's edges (E, 2) between vertices on the GPU."""
    indices = gpu.types.GPUIndexBuf(type="LINES", seq=cast(Any, edges))
    return gpu.types.GPUBatch(type="LINES", buf=buffer, elem=indices)


def vertex_buffer(geometry: Geometry, **extra: Float32Array) -> gpu.types.GPUVertBuf:
    """Copy the vertices to the GPU; extra: more attributes by name, (N, C)."""
    fields: dict[str, npt.NDArray[Any]] = {
        "position": geometry.positions, "normal": geometry.normals, "bones": geometry.bones[:, :4],
        "weights": geometry.weights[:, :4], "surface": geometry.surface, "zone": geometry.zone, **extra}
    if has_more_influences(geometry):
        fields |= {"more_bones": geometry.bones[:, 4:], "more_weights": geometry.weights[:, 4:]}
    layout = gpu.types.GPUVertFormat()
    for name, values in fields.items():
        is_index = values.dtype == np.int32
        layout.attr_add(id=name, comp_type="I32" if is_index else "F32", len=values.shape[1],
                        fetch_mode="INT" if is_index else "FLOAT")
    buffer = gpu.types.GPUVertBuf(layout, len(geometry.positions))
    for name, values in fields.items():
        if values.dtype not in (np.int32, np.float32):  # attr_fill would misread it without a word
            raise TypeError(f"{name} is {values.dtype}, the GPU takes int32 or float32")
        buffer.attr_fill(name, cast(Any, np.ascontiguousarray(values)))
    return buffer


def has_more_influences(geometry: Geometry) -> bool:
    """Tell whether vertices have 8 influences, for which there is a shader of its own."""
    return bool(geometry.bones.shape[1] > 4)


def _split(mesh: bpy.types.Mesh) -> tuple[IntArray, Float32Array, IntArray, Int32Array]:
    """Return vertex, normal and material of each vertex on the GPU, and the triangles of those.

    A vertex whose corners have different normals (a sharp edge) or materials becomes several.
    """
    mesh.calc_loop_triangles()
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    triangles = np.empty(len(mesh.loop_triangles) * 3, dtype=np.int32)
    mesh.loop_triangles.foreach_get("loops", triangles)
    faces = _material_of_faces(mesh)
    if mesh.normals_domain == "POINT" and not faces.any():
        every = np.arange(len(mesh.vertices), dtype=np.int64)
        return every, _read(mesh.vertex_normals, "vector", 3), np.zeros_like(every), corners[triangles].reshape(-1, 3)
    sizes = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    normals = _read(mesh.corner_normals, "vector", 3)
    keys = np.column_stack((corners, np.repeat(faces, sizes), np.rint(normals * _NORMAL_STEPS).astype(np.int32)))
    # Rows compared as plain bytes sort ten times faster than np.unique's axis=0.
    as_bytes = np.ascontiguousarray(keys, dtype=np.int32).view(np.dtype((np.void, 20))).ravel()
    _, first, place = np.unique(as_bytes, return_index=True, return_inverse=True)
    return (keys[first, 0].astype(np.int64), normals[first], keys[first, 1].astype(np.int64),
            place.ravel()[triangles].reshape(-1, 3).astype(np.int32))


def _material_of_faces(mesh: bpy.types.Mesh) -> Int32Array:
    """Return the place of each face's material. Asked one by one, each face would look through all vertex groups."""
    materials = np.zeros(len(mesh.polygons), dtype=np.int32)
    attribute = mesh.attributes.get("material_index")
    if attribute is not None:
        cast(Any, attribute).data.foreach_get("value", materials)
    return materials


def _edges(mesh: bpy.types.Mesh, vertices: IntArray) -> Int32Array:
    """Return the mesh's edges as vertices on the GPU: of those that stand for one of the mesh's, any will do."""
    ends = np.empty(len(mesh.edges) * 2, dtype=np.int32)
    mesh.edges.foreach_get("vertices", ends)
    place = np.zeros(len(mesh.vertices), dtype=np.int32)
    place[vertices] = np.arange(len(vertices), dtype=np.int32)
    return np.ascontiguousarray(place[ends].reshape(-1, 2))


def _material_colours(mesh_object: bpy.types.Object) -> Float32Array:
    """Return the viewport colour of each material slot."""
    materials = [slot.material for slot in mesh_object.material_slots]
    colours = [tuple(cast(Any, material.diffuse_color))[:3] if material else _GREY for material in materials]
    return np.array(colours or [_GREY], dtype=np.float32)


def _read(collection: Any, name: str, width: int) -> Float32Array:
    flat = np.empty(len(collection) * width, dtype=np.float32)
    collection.foreach_get(name, flat)
    return flat.reshape(-1, width)
