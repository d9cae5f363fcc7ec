"""OGRE's XML meshes (`.mesh.xml`). Source: OGRE's XMLMeshSerializer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ..arrays import FloatArray, IntArray
from ..errors import FileError, Place, quoted
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
from .xml import Element, parse

_OPERATIONS: Final = {"triangle_list": TRIANGLE_LIST, "triangle_strip": TRIANGLE_STRIP, "triangle_fan": TRIANGLE_FAN,
                      "point_list": 1, "line_list": 2, "line_strip": 3}
_MAX_NUMBER: Final = float(np.finfo(np.float32).max)
"""OGRE reads numbers as float32."""
_MAX_INDEX: Final = 2**32 - 1
_CORNERS: Final = ("v1", "v2", "v3")
_Wanted = tuple[str, Sequence[str], Sequence[str]]
_WANTED: Final[dict[str, _Wanted]] = {
    "positions": ("position", ("x", "y", "z"), ("x", "y", "z")),
    "normals": ("normal", ("x", "y", "z"), ("x", "y", "z")),
    "uvs": ("texcoord", ("u", "v"), ("u",)),
}
"""An element of a vertex, the numbers to read of it, and those that must be there."""


def read(data: bytes, path: Path | None = None) -> OgreMesh:
    """Read an XML mesh.

    data: the whole file; path: for messages. Elements and attributes that are not known are passed over, as OGRE
    does. Raises FileError with line and column where something is missing or does not fit; a mesh of more elements
    than xml.MAX_ELEMENTS is to be converted to binary.
    """
    return _Reader(path).mesh(parse(data, path))


class _Reader:
    """Collects what a document says."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def mesh(self, root: Element) -> OgreMesh:
        if root.tag != "mesh":
            raise self._error(root, f"this is no OGRE mesh: its root is <{quoted(root.tag)[1:-1]}>, where <mesh> is "
                                    "wanted")
        found = _first(root, "sharedgeometry")
        shared = None if found is None else self._geometry(found, _first(root, "boneassignments"))
        parts = [self._part(element) for element in _below(root, "submeshes", "submesh")]
        link = _first(root, "skeletonlink")
        names = {self._index(element, "index"): element.attributes.get("name", "")
                 for element in _below(root, "submeshnames", "submeshname")}
        skeleton = "" if link is None else link.attributes.get("name", "")
        return assemble(shared, parts, skeleton, names, root.place(self._path))

    def _part(self, submesh: Element) -> PartRecord:
        operation = submesh.attributes.get("operationtype", "triangle_list")
        if operation not in _OPERATIONS:
            raise self._error(submesh, f"operationtype is {quoted(operation)}; {', '.join(_OPERATIONS)} are known")
        indices = [self._index(face, corner) for face in _below(submesh, "faces", "face")
                   for corner in _CORNERS if corner in face.attributes]
        geometry: Geometry | None = None
        if submesh.attributes.get("usesharedvertices", "true") not in ("true", "yes", "1", "on"):
            found = _first(submesh, "geometry")
            if found is None:
                raise self._error(submesh, "a submesh without vertices: <geometry> is wanted")
            geometry = self._geometry(found, _first(submesh, "boneassignments"))
        triangles = triangles_of(np.array(indices, dtype=np.int64), _OPERATIONS[operation])
        return PartRecord(submesh.attributes.get("material", ""), geometry, triangles, submesh.place(self._path))

    def _geometry(self, geometry: Element, assignments: Element | None) -> Geometry:
        columns: dict[str, FloatArray] = {}
        for buffer in geometry.children:
            if buffer.tag != "vertexbuffer":
                continue
            vertices = [child for child in buffer.children if child.tag == "vertex"]
            for what, (tag, names, needed) in _WANTED.items():
                if what not in columns and any(_first(vertex, tag) for vertex in vertices[:1]):
                    columns[what] = self._column(vertices, tag, names, needed)
        positions = columns.get("positions")
        if positions is None:
            positions = np.zeros((0, 3))
        for what, values in columns.items():
            if len(values) != len(positions):
                raise self._error(geometry, f"{len(values)} {what} for {len(positions)} positions; one for each is "
                                            "wanted")
        return Geometry(positions, columns.get("normals"), columns.get("uvs"), self._weights(assignments))

    def _column(self, vertices: Iterable[Element], tag: str, names: Sequence[str], needed: Sequence[str]) -> FloatArray:
        """Read the first element of a kind of every vertex, (V, C)."""
        rows = []
        for vertex in vertices:
            element = _first(vertex, tag)
            if element is None:
                raise self._error(vertex, f"a vertex without <{tag}>, which the first one has")
            rows.append([self._number(element, name, None if name in needed else 0.0) for name in names])
        return np.array(rows, dtype=np.float64).reshape(-1, len(names))

    def _weights(self, assignments: Element | None) -> Weights:
        found = [] if assignments is None else [child for child in assignments.children
                                                if child.tag == "vertexboneassignment"]
        return Weights(self._indices(found, "vertexindex"), self._indices(found, "boneindex"),
                       np.array([self._number(element, "weight") for element in found], dtype=np.float64))

    def _indices(self, elements: Iterable[Element], attribute: str) -> IntArray:
        return np.array([self._index(element, attribute) for element in elements], dtype=np.int64)

    def _index(self, element: Element, attribute: str) -> int:
        text = element.attributes.get(attribute, "").strip()
        value = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else -1
        if not 0 <= value <= _MAX_INDEX:
            raise self._error(element, f"{attribute} of <{element.tag}> is {quoted(text)}; a whole number of 0 or more "
                                       "is wanted")
        return value

    def _number(self, element: Element, attribute: str, default: float | None = None) -> float:
        text = element.attributes.get(attribute)
        if text is None and default is not None:
            return default
        try:
            value = float(text or "")
        except ValueError:
            value = np.nan
        if not abs(value) <= _MAX_NUMBER:
            found = "missing" if text is None else quoted(text)
            raise self._error(element, f"{attribute} of <{element.tag}> is {found}; a finite number is wanted")
        return value

    def _error(self, element: Element, message: str) -> FileError:
        place: Place = element.place(self._path)
        return FileError.at(message, place.path, place.line, place.column)


def _first(element: Element, tag: str) -> Element | None:
    return next((child for child in element.children if child.tag == tag), None)


def _below(element: Element, group: str, tag: str) -> list[Element]:
    """Return the tags in the first group."""
    found = _first(element, group)
    return [] if found is None else [child for child in found.children if child.tag == tag]
