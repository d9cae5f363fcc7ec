"""OGRE's XML meshes (`.mesh.xml`). Source: OGRE's XMLMeshSerializer."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ..errors import FileError, quoted
from ..maths.arrays import FloatArray
from .format import MAX_BYTES
from .ogre_mesh import (
    TRIANGLE_FAN,
    TRIANGLE_LIST,
    TRIANGLE_STRIP,
    Geometry,
    OgreMesh,
    PartRecord,
    Weights,
    assemble,
    triangles_of,
)
from .ogre_xml_values import child, error, grandchildren, number
from .xml import Documents, Element, Rows, parse

_OPERATIONS: Final = {"triangle_list": TRIANGLE_LIST, "triangle_strip": TRIANGLE_STRIP, "triangle_fan": TRIANGLE_FAN,
                      "point_list": 1, "line_list": 2, "line_strip": 3}
_MAX_INDEX: Final = 2**32 - 1
MAX_ELEMENTS = 300_000
"""Greatest number of elements besides vertices, faces and weights: levels of detail, poses and the like, which are
skipped."""
_CORNERS: Final = ("v1", "v2", "v3")
_LineColumn = tuple[int, int]
_Wanted = tuple[str, Sequence[str], Sequence[str]]
_WANTED: Final[dict[str, _Wanted]] = {
    "positions": ("position", ("x", "y", "z"), ("x", "y", "z")),
    "normals": ("normal", ("x", "y", "z"), ("x", "y", "z")),
    "uvs": ("texcoord", ("u", "v"), ("u",)),
}
"""The elements of a vertex, the numbers to read from each, and those that must exist."""


def read(data: bytes, path: Path | None = None) -> OgreMesh:
    """Read an XML mesh.

    data: the whole file; path: for messages. Elements and attributes that are not known are passed over, as OGRE
    does. Raises FileError with line and column where something is missing or does not fit.
    """
    tables = _Tables(path)
    root = parse(data, path, Documents(MAX_ELEMENTS, MAX_BYTES), rows=Rows(tables.tag_paths, tables.tags, tables.take))
    return _Reader(path, tables).mesh(root)


class _Tables:
    """The vertices, faces and bone assignments, too many to be kept as elements, by line and column of their table."""

    tag_paths = frozenset((*parent, table) for parent in (("mesh",), ("mesh", "submeshes", "submesh"))
                          for table in ("boneassignments", "faces")) | {
        ("mesh", "sharedgeometry", "vertexbuffer"), ("mesh", "submeshes", "submesh", "geometry", "vertexbuffer")}

    tags = frozenset(("vertex", "face", "vertexboneassignment"))

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.vertices: dict[_LineColumn, dict[str, array[float]]] = {}
        self.corners: dict[_LineColumn, array[int]] = {}
        self.assigned: dict[_LineColumn, tuple[array[int], array[int], array[float]]] = {}

    def take(self, table_at: _LineColumn, row: Element) -> None:
        """Add a row to the table that begins at a line and column."""
        if row.tag == "vertex":
            self._take_vertex(table_at, row)
        elif row.tag == "face":
            corners = self.corners.setdefault(table_at, array("q"))
            corners.extend(_index(row, corner, self._path) for corner in _CORNERS if corner in row.attributes)
        else:
            table = self.assigned.setdefault(table_at, (array("q"), array("q"), array("d")))
            table[0].append(_index(row, "vertexindex", self._path))
            table[1].append(_index(row, "boneindex", self._path))
            table[2].append(number(row, "weight", self._path))

    def _take_vertex(self, table_at: _LineColumn, vertex: Element) -> None:
        """Store which attributes the first vertex of a buffer has; all other vertices must have the same."""
        if table_at not in self.vertices:
            self.vertices[table_at] = {what: array("d") for what, (tag, _, _) in _WANTED.items() if child(vertex, tag)}
        for what, values in self.vertices[table_at].items():
            tag, names, needed = _WANTED[what]
            element = child(vertex, tag)
            if element is None:
                raise error(vertex, f"a vertex without <{tag}>, which the first one has", self._path)
            values.extend(number(element, name, self._path, None if name in needed else 0.0) for name in names)


class _Reader:
    """Collects the contents of a document."""

    def __init__(self, path: Path | None, tables: _Tables) -> None:
        self._path, self._tables = path, tables

    def mesh(self, root: Element) -> OgreMesh:
        if root.tag != "mesh":
            raise self._error(root, f"this is no OGRE mesh: its root is <{quoted(root.tag)[1:-1]}>, where <mesh> is "
                                    "wanted")
        found = child(root, "sharedgeometry")
        shared = None if found is None else self._geometry(found, child(root, "boneassignments"))
        parts = [self._part(element) for element in grandchildren(root, "submeshes", "submesh")]
        link = child(root, "skeletonlink")
        names = {_index(element, "index", self._path): element.attributes.get("name", "")
                 for element in grandchildren(root, "submeshnames", "submeshname")}
        skeleton = "" if link is None else link.attributes.get("name", "")
        return assemble(shared, parts, skeleton, names, root.place(self._path))

    def _part(self, submesh: Element) -> PartRecord:
        operation = submesh.attributes.get("operationtype", "triangle_list")
        if operation not in _OPERATIONS:
            raise self._error(submesh, f"operationtype is {quoted(operation)}; {', '.join(_OPERATIONS)} are known")
        faces = child(submesh, "faces")
        indices = self._tables.corners.get(_line_column(faces), array("q")) if faces else array("q")
        geometry: Geometry | None = None
        if submesh.attributes.get("usesharedvertices", "true") not in ("true", "yes", "1", "on"):
            found = child(submesh, "geometry")
            if found is None:
                raise self._error(submesh, "a submesh without vertices: <geometry> is wanted")
            geometry = self._geometry(found, child(submesh, "boneassignments"))
        triangles = triangles_of(np.array(indices, dtype=np.int64), _OPERATIONS[operation])
        return PartRecord(submesh.attributes.get("material", ""), geometry, triangles, submesh.place(self._path))

    def _geometry(self, geometry: Element, assignments: Element | None) -> Geometry:
        columns: dict[str, FloatArray] = {}
        for buffer in geometry.children:
            if buffer.tag != "vertexbuffer":
                continue
            for what, numbers in self._tables.vertices.get(_line_column(buffer), {}).items():
                if what not in columns:
                    columns[what] = np.array(numbers).reshape(-1, len(_WANTED[what][1]))
        positions = columns.get("positions")
        if positions is None:
            positions = np.zeros((0, 3))
        for what, values in columns.items():
            if len(values) != len(positions):
                raise self._error(geometry, f"{len(values)} {what} for {len(positions)} positions; one for each is "
                                            "wanted")
        return Geometry(positions, columns.get("normals"), columns.get("uvs"), self._weights(assignments))

    def _weights(self, assignments: Element | None) -> Weights:
        table = self._tables.assigned.get(_line_column(assignments)) if assignments else None
        if table is None:
            return Weights.none()
        return Weights(np.array(table[0]), np.array(table[1]), np.array(table[2]))

    def _error(self, element: Element, message: str) -> FileError:
        return error(element, message, self._path)


def _index(element: Element, attribute: str, path: Path | None) -> int:
    text = element.attributes.get(attribute, "").strip()
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else -1
    if not 0 <= value <= _MAX_INDEX:
        raise error(element, f"{attribute} of <{element.tag}> is {quoted(text)}; a whole number of 0 or more is "
                              "wanted", path)
    return value


def _line_column(element: Element) -> _LineColumn:
    return element.line, element.column
