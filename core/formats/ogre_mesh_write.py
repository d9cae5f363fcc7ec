"""OGRE meshes written: `.mesh` in the binary form of OGRE 1.8 and later, and `.mesh.xml`.

Each submesh gets vertices of its own. Source: OGRE's MeshSerializerImpl and XMLMeshSerializer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final
from xml.sax.saxutils import quoteattr

import numpy as np

from ..errors import TaktError, quoted
from ..maths.arrays import FloatArray
from .ogre_mesh import MOST_INFLUENCES, TRIANGLE_LIST, Geometry, OgreMesh, Submesh, Weights
from .ogre_mesh_binary import (
    BUFFER,
    BUFFER_DATA,
    DECLARATION,
    ELEMENT,
    GEOMETRY,
    HEADER,
    MESH,
    NAME,
    NAMES,
    OPERATION,
    SKELETON,
    SUBMESH,
    SUBMESH_WEIGHT,
)

VERSION: Final = "[MeshSerializer_v1.8]"
MOST_INDEX: Final = 0xFFFF
"""Largest index of 16 bits; a submesh with more vertices has indices of 32 bits."""
_BOUNDS: Final = 0x9000
_FLOAT2, _FLOAT3 = 1, 2
_POSITION, _NORMAL, _UV = 1, 4, 7
_BYTES: Final = 6


def strongest(weights: Weights, most: int = MOST_INFLUENCES) -> Weights:
    """Return the strongest assignments of each vertex, at most so many, sorted by vertex, as OGRE plays them.

    The weights of a vertex sum to 1.

    >>> kept = strongest(Weights(np.array((0, 0, 1)), np.array((3, 5, 2)), np.array((0.2, 0.6, 0.5))), 1)
    >>> kept.handles.tolist(), kept.values.tolist()
    ([5, 2], [1.0, 1.0])
    """
    order = np.lexsort((-weights.values, weights.vertices))
    vertex, handle, value = weights.vertices[order], weights.handles[order], weights.values[order]
    first = np.searchsorted(vertex, vertex, side="left")
    kept = (np.arange(len(vertex)) - first < most) & (value > 0.0)
    vertex, handle, value = vertex[kept], handle[kept], value[kept]
    total = np.bincount(vertex, value, minlength=int(vertex.max(initial=-1)) + 1)
    return Weights(vertex, handle, value / total[vertex] if len(vertex) else value)


def write_binary(mesh: OgreMesh) -> bytes:
    """Write a binary mesh, little-endian; numbers become float32.

    Raises TaktError if a name contains a line feed, or if a number is not finite or does not fit.
    """
    parts = [struct.pack("<?", bool(mesh.skeleton)), *(_submesh(mesh, submesh) for submesh in mesh.submeshes)]
    if mesh.skeleton:
        parts.append(_chunk(SKELETON, _string(mesh.skeleton)))
    low, high, radius = _bounds(mesh)
    parts.append(_chunk(_BOUNDS, _floats(np.array((*low, *high, radius)))))
    names = (_chunk(NAME, struct.pack("<H", number) + _string(submesh.name))
             for number, submesh in enumerate(mesh.submeshes) if submesh.name)
    parts.append(_chunk(NAMES, b"".join(names)))
    return struct.pack("<H", HEADER) + _string(VERSION) + _chunk(MESH, b"".join(parts))


def write_xml(mesh: OgreMesh) -> bytes:
    """Write an XML mesh, as OgreXMLConverter reads it; numbers with nine digits.

    Raises TaktError where a number is not finite or does not fit.
    """
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', "<mesh>", *_xml_lines(mesh), "</mesh>", "")).encode()


def _chunk(number: int, payload: bytes) -> bytes:
    return struct.pack("<HI", number, _BYTES + len(payload)) + payload


def _string(text: str) -> bytes:
    if "\n" in text:
        raise TaktError(f"the name {quoted(text)} holds a line feed, which ends a name in an OGRE file; rename it")
    return text.encode("utf-8") + b"\n"


def _floats(values: FloatArray) -> bytes:
    if not np.isfinite(values).all() or (np.abs(values) > np.finfo(np.float32).max).any():
        raise TaktError("a mesh holds a number that is not finite, or too large for an OGRE file; mend the mesh")
    return values.astype("<f4").tobytes()


def _submesh(mesh: OgreMesh, submesh: Submesh) -> bytes:
    geometry = mesh.geometries[submesh.geometry]
    is_wide = len(geometry.positions) > MOST_INDEX
    indices = submesh.triangles.astype("<u4" if is_wide else "<u2")
    weights = strongest(geometry.weights)
    record = np.zeros(len(weights.vertices), [("id", "<u2"), ("length", "<u4"), ("vertex", "<u4"), ("bone", "<u2"),
                                              ("weight", "<f4")])
    record["id"], record["length"] = SUBMESH_WEIGHT, record.itemsize
    record["vertex"], record["bone"], record["weight"] = weights
    return _chunk(SUBMESH, b"".join((
        _string(submesh.material), struct.pack("<?I?", False, indices.size, is_wide), indices.tobytes(),
        _geometry(geometry), _chunk(OPERATION, struct.pack("<H", TRIANGLE_LIST)), record.tobytes())))


def _geometry(geometry: Geometry) -> bytes:
    columns = [(_POSITION, _FLOAT3, geometry.positions), (_NORMAL, _FLOAT3, geometry.normals),
               (_UV, _FLOAT2, geometry.uvs)]
    offset, elements, rows = 0, [], []
    for semantic, kind, values in columns:
        if values is not None:
            elements.append(_chunk(ELEMENT, struct.pack("<5H", 0, kind, semantic, offset, 0)))
            offset += 4 * values.shape[1]
            rows.append(values)
    data = _chunk(BUFFER_DATA, _floats(np.concatenate(rows, axis=1)))
    return _chunk(GEOMETRY, struct.pack("<I", len(geometry.positions)) + _chunk(DECLARATION, b"".join(elements))
                  + _chunk(BUFFER, struct.pack("<HH", 0, offset) + data))


def _bounds(mesh: OgreMesh) -> tuple[FloatArray, FloatArray, float]:
    points = np.concatenate([np.zeros((0, 3)), *(geometry.positions for geometry in mesh.geometries)])
    if not len(points):
        return np.zeros(3), np.zeros(3), 0.0
    return points.min(axis=0), points.max(axis=0), float(np.linalg.norm(points, axis=1).max())


def _xml_lines(mesh: OgreMesh) -> Iterator[str]:
    yield "<submeshes>"
    for submesh in mesh.submeshes:
        geometry = mesh.geometries[submesh.geometry]
        is_wide = str(len(geometry.positions) > MOST_INDEX).lower()
        yield (f'<submesh material={quoteattr(submesh.material)} usesharedvertices="false" '
               f'use32bitindexes="{is_wide}" operationtype="triangle_list">')
        yield f'<faces count="{len(submesh.triangles)}">'
        yield _rows('<face v1="%d" v2="%d" v3="%d"/>\n', submesh.triangles)
        yield "</faces>"
        yield from _xml_geometry(geometry)
        weights = strongest(geometry.weights)
        if len(weights.vertices):
            yield "<boneassignments>"
            yield _rows('<vertexboneassignment vertexindex="%d" boneindex="%d" weight="%.9g"/>\n',
                        np.column_stack(weights))
            yield "</boneassignments>"
        yield "</submesh>"
    yield "</submeshes>"
    if mesh.skeleton:
        yield f"<skeletonlink name={quoteattr(mesh.skeleton)}/>"
    if any(submesh.name for submesh in mesh.submeshes):
        yield "<submeshnames>"
        for number, submesh in enumerate(mesh.submeshes):
            yield f'<submeshname name={quoteattr(submesh.name)} index="{number}"/>'
        yield "</submeshnames>"


def _xml_geometry(geometry: Geometry) -> Iterator[str]:
    normals, uvs = geometry.normals, geometry.uvs
    has_uvs = ' texture_coords="1" texture_coord_dimensions_0="float2"' if uvs is not None else ""
    yield f'<geometry vertexcount="{len(geometry.positions)}">'
    yield f'<vertexbuffer positions="true" normals="{str(normals is not None).lower()}"{has_uvs}>'
    form = '<vertex><position x="%.9g" y="%.9g" z="%.9g"/>'
    form += '<normal x="%.9g" y="%.9g" z="%.9g"/>' if normals is not None else ""
    form += '<texcoord u="%.9g" v="%.9g"/>' if uvs is not None else ""
    columns = [each for each in (geometry.positions, normals, uvs) if each is not None]
    values = np.concatenate(columns, axis=1)
    _floats(values)  # raises for values that cannot be written
    yield _rows(form + "</vertex>\n", values)
    yield "</vertexbuffer>"
    yield "</geometry>"


def _rows(form: str, values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> str:
    """Write each row (N, C) of values with a format string."""
    return ((form * len(values)) % tuple(values.ravel().tolist())).rstrip("\n")
