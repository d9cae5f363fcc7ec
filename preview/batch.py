"""A mesh on the GPU: read once, uploaded once, drawn in any pose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import bpy
import gpu
import numpy as np
import numpy.typing as npt

from ..bridge.materials.materials import Surface, read_surfaces
from ..bridge.meshes.groups import read_influences
from ..bridge.meshes.shape import shaped
from ..core.maths.arrays import FloatArray
from ..core.skinning.influences import Influences
from .corners import Float32Array, Int32Array, corner_paint, corner_uv, read_array
from .shader import MORE_INFLUENCES, PAINTED, Variant

_NORMAL_STEPS = 512
"""Corners of a vertex whose normals agree to one part in this share a vertex on the GPU."""
_GREY = (0.6, 0.6, 0.6)
"""Zone colour of vertices that no bone moves."""
_BYTES = 4
"""Size of a number on the GPU."""

_SHARE_OF_INFLUENCES = 0.7
"""Share of influences in the time that reading a large mesh takes."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """The uploaded arrays, in the mesh object's space; N is V, or more if corners of a vertex differ.

    vertices: (N,) the mesh's vertex of each. positions, normals: (N, 3). bones, weights: (N, 4) or (N, 8).
    zone: (N, 3) linear colours. materials: (N,) indices into surfaces. uv: (N, 4) in two maps,
    and paint: (N, 4) linear colours, or None if no material uses them. triangles: (T, 3). edges: (E, 2).
    """

    vertices: Int32Array
    positions: Float32Array
    normals: Float32Array
    bones: Int32Array
    weights: Float32Array
    zone: Float32Array
    materials: Int32Array
    uv: Float32Array | None
    paint: Float32Array | None
    triangles: Int32Array
    edges: Int32Array
    surfaces: Sequence[Surface]

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants of the shader that it needs."""
        return (*((MORE_INFLUENCES,) if self.bones.shape[1] > 4 else ()), *((PAINTED,) if self.uv is not None else ()))


def read_geometry(mesh_object: bpy.types.Object, bone_names: Sequence[str], bone_colours: FloatArray,
                  tell: Callable[[float], None] = lambda _: None, moved_by: int | None = None) -> Geometry:
    """Read a mesh and its weights: the 4 strongest influences of each vertex, or 8 if any vertex has more.

    bone_names: as `read_influences` takes them; bone_colours: (J, 3). tell: called with the share of the work done.
    moved_by: the one bone that moves the whole mesh, −1 for none; None: the weights are used.
    """
    with shaped(mesh_object) as shape:
        mesh = cast(bpy.types.Mesh, shape.data)
        influences = (read_influences(shape, bone_names, limit=8) if moved_by is None
                      else _of_one_bone(len(mesh.vertices), moved_by))
        tell(_SHARE_OF_INFLUENCES)
        width = 4 if influences.joints.shape[1] <= 4 else 8
        padding = ((0, 0), (0, width - influences.joints.shape[1]))
        joints = np.pad(influences.joints, padding)
        weights = np.pad(influences.weights, padding)
        colours = bone_colours[joints] if len(bone_colours) else np.zeros((*joints.shape, 3))
        zone = np.einsum("vk,vkc->vc", weights, colours)
        zone[weights.sum(axis=1) == 0.0] = _GREY
        surfaces = read_surfaces(mesh_object, mesh)
        split = _split(mesh, surfaces)
        positions, vertices = read_array(mesh.vertices, "co", 3), split.vertices
        return Geometry(vertices, positions[vertices], split.normals, joints[vertices].astype(np.int32),
                        weights[vertices].astype(np.float32), zone[vertices].astype(np.float32), split.materials,
                        split.uv, split.paint, split.triangles, _edges(mesh, vertices), surfaces)


def _of_one_bone(vertices: int, bone: int) -> Influences:
    """Return influences by which one bone moves all vertices, or none if bone is −1."""
    joints, weights = np.full((vertices, 1), max(bone, 0)), np.full((vertices, 1), float(bone >= 0))
    return Influences(joints, weights)


def triangle_batch(buffer: gpu.types.GPUVertBuf, triangles: Int32Array) -> gpu.types.GPUBatch:
    """Return the batch that draws triangles (T, 3) between vertices on the GPU."""
    indices = gpu.types.GPUIndexBuf(type="TRIS", seq=cast(Any, np.ascontiguousarray(triangles)))
    return gpu.types.GPUBatch(type="TRIS", buf=buffer, elem=indices)


def edge_batch(buffer: gpu.types.GPUVertBuf, edges: Int32Array) -> gpu.types.GPUBatch:
    """Return the batch that draws the mesh's edges (E, 2) between vertices on the GPU."""
    indices = gpu.types.GPUIndexBuf(type="LINES", seq=cast(Any, edges))
    return gpu.types.GPUBatch(type="LINES", buf=buffer, elem=indices)


def vertex_buffer(geometry: Geometry, **extra: Float32Array) -> gpu.types.GPUVertBuf:
    """Copy the vertices to the GPU; extra: more attributes by name, (N, C)."""
    fields: dict[str, npt.NDArray[Any]] = {
        "position": geometry.positions, "normal": geometry.normals, "bones": geometry.bones[:, :4],
        "weights": geometry.weights[:, :4], "material": geometry.materials[:, None], "zone": geometry.zone, **extra}
    if geometry.uv is not None and geometry.paint is not None:
        fields |= {"uv": geometry.uv, "paint": geometry.paint}
    if geometry.bones.shape[1] > 4:
        fields |= {"more_bones": geometry.bones[:, 4:], "more_weights": geometry.weights[:, 4:]}
    layout = gpu.types.GPUVertFormat()
    for name, values in fields.items():
        is_index = values.dtype == np.int32
        layout.attr_add(id=name, comp_type="I32" if is_index else "F32", len=values.shape[1],
                        fetch_mode="INT" if is_index else "FLOAT")
    buffer = gpu.types.GPUVertBuf(layout, len(geometry.positions))
    for name, values in fields.items():
        if values.dtype not in (np.int32, np.float32):  # attr_fill would misread it without an error
            raise TypeError(f"{name} is {values.dtype}, the GPU takes int32 or float32")
        buffer.attr_fill(name, cast(Any, np.ascontiguousarray(values)))
    return buffer


@dataclass(frozen=True, eq=False)
class _Split:
    """Vertices on the GPU; see `Geometry`."""

    vertices: Int32Array
    normals: Float32Array
    materials: Int32Array
    uv: Float32Array | None
    paint: Float32Array | None
    triangles: Int32Array


def _split(mesh: bpy.types.Mesh, surfaces: Sequence[Surface]) -> _Split:
    """Return vertices for the GPU: a vertex whose corners differ in normal, material, UV or paint is split."""
    mesh.calc_loop_triangles()
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    triangles = np.empty(len(mesh.loop_triangles) * 3, dtype=np.int32)
    mesh.loop_triangles.foreach_get("loops", triangles)
    faces = np.clip(_material_of_faces(mesh), 0, len(surfaces) - 1)
    is_textured = len(mesh.uv_layers) > 0 and any(surface.is_textured for surface in surfaces)
    needs_corners = is_textured or len(mesh.color_attributes) > 0
    if mesh.normals_domain == "POINT" and not faces.any() and not needs_corners:
        every = np.arange(len(mesh.vertices), dtype=np.int32)
        return _Split(every, read_array(mesh.vertex_normals, "vector", 3), np.zeros_like(every), None, None,
                      corners[triangles].reshape(-1, 3))
    sizes = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    materials, normals = np.repeat(faces, sizes), read_array(mesh.corner_normals, "vector", 3)
    keys = [corners[:, None], materials[:, None], np.rint(normals * _NORMAL_STEPS).astype(np.int32)]
    uv = paint = None
    if needs_corners:
        uv, paint = corner_uv(mesh, surfaces, materials), corner_paint(mesh, surfaces, materials, corners)
        keys += [(values + np.float32(0.0)).view(np.int32) for values in (uv, paint)]  # no negative zeros
    # Sorting rows as plain bytes is ten times faster than np.unique with axis=0.
    rows = np.ascontiguousarray(np.column_stack(keys))
    as_bytes = rows.view(np.dtype((np.void, rows.shape[1] * _BYTES))).ravel()
    _, first, index = np.unique(as_bytes, return_index=True, return_inverse=True)
    return _Split(corners[first], normals[first], materials[first], None if uv is None else uv[first],
                  None if paint is None else paint[first], index.ravel()[triangles].reshape(-1, 3).astype(np.int32))


def _material_of_faces(mesh: bpy.types.Mesh) -> Int32Array:
    """Return each face's material, (F,), without foreach_get on polygons, which would go through all vertex groups."""
    materials = np.zeros(len(mesh.polygons), dtype=np.int32)
    attribute = mesh.attributes.get("material_index")
    if attribute is not None:
        cast(Any, attribute).data.foreach_get("value", materials)
    return materials


def _edges(mesh: bpy.types.Mesh, vertices: Int32Array) -> Int32Array:
    """Return the mesh's edges with vertices on the GPU, any one of those that a vertex was split into."""
    ends = np.empty(len(mesh.edges) * 2, dtype=np.int32)
    mesh.edges.foreach_get("vertices", ends)
    on_gpu = np.zeros(len(mesh.vertices), dtype=np.int32)
    on_gpu[vertices] = np.arange(len(vertices), dtype=np.int32)
    return np.ascontiguousarray(on_gpu[ends].reshape(-1, 2))
