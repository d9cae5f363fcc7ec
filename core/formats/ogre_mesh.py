"""OGRE meshes as values: geometry, materials and bones, from both formats, binary and XML.

Levels of detail, poses, vertex animations and shadow edges are ignored. Source: OGRE's MeshSerializer,
XMLMeshSerializer and Mesh.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from ..errors import FileError, Place, Problem, TaktError
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skeleton import Skeleton
from ..skinning.influences import Influences
from .character import Look, SkinnedMesh

MOST_INFLUENCES: Final = 4
"""OGRE keeps the four strongest for each vertex (Mesh::_rationaliseBoneAssignments)."""

TRIANGLE_LIST: Final = 4
TRIANGLE_STRIP: Final = 5
TRIANGLE_FAN: Final = 6


class Weights(NamedTuple):
    """Assignments of vertices to bones: vertices (A,), the file's bone handles (A,), weights (A,)."""

    vertices: IntArray
    handles: IntArray
    values: FloatArray

    @classmethod
    def none(cls) -> Weights:
        """Return an empty set of assignments."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Geometry:
    """V vertices. positions, normals: (V, 3); uvs: (V, 2), v pointing down; arrays missing in the file are None."""

    positions: FloatArray
    normals: FloatArray | None = None
    uvs: FloatArray | None = None
    weights: Weights = field(default_factory=Weights.none)


@dataclass(frozen=True, eq=False)
class Submesh:
    """T triangles (T, 3) of one material, over the vertices of one of the mesh's geometries."""

    name: str
    material: str
    geometry: int
    triangles: IntArray


@dataclass(frozen=True, eq=False)
class OgreMesh:
    """The visible contents of a mesh file. skeleton: the name of the skeleton's file, or ""."""

    geometries: tuple[Geometry, ...]
    submeshes: tuple[Submesh, ...]
    skeleton: str = ""

    def whole(self) -> Whole:
        """Join all submeshes into one, their vertices one after another as in the file."""
        sizes = [len(geometry.positions) for geometry in self.geometries]
        first = np.cumsum([0, *sizes])
        materials = list(dict.fromkeys(submesh.material for submesh in self.submeshes))
        triangles = [submesh.triangles + first[submesh.geometry] for submesh in self.submeshes]
        used = [np.full(len(submesh.triangles), materials.index(submesh.material)) for submesh in self.submeshes]
        weights = [geometry.weights for geometry in self.geometries]
        return Whole(
            np.concatenate([np.zeros((0, 3)), *(geometry.positions for geometry in self.geometries)]),
            _joined([geometry.normals for geometry in self.geometries], sizes, 3),
            _joined([geometry.uvs for geometry in self.geometries], sizes, 2),
            np.concatenate([np.zeros((0, 3), np.int64), *triangles]),
            tuple(materials), np.concatenate([np.zeros(0, np.int64), *used]),
            Weights(np.concatenate([np.zeros(0, np.int64), *(w.vertices + start for w, start in
                                                             zip(weights, first, strict=False))]),
                    np.concatenate([np.zeros(0, np.int64), *(w.handles for w in weights)]),
                    np.concatenate([np.zeros(0), *(w.values for w in weights)])))


@dataclass(frozen=True, eq=False)
class Whole:
    """A mesh in one piece: V vertices, T triangles (T, 3) with the index of the material of each, (T,).

    normals, uvs: None if no part has any; zero for parts without them.
    """

    positions: FloatArray
    normals: FloatArray | None
    uvs: FloatArray | None
    triangles: IntArray
    materials: tuple[str, ...]
    material: IntArray
    weights: Weights

    def influences(self, skeleton: Skeleton, handles: IntArray) -> Influences:
        """Return the influences of each vertex as OGRE plays them: the four strongest bones, with weights of sum 1.

        handles: (J,) the number by which the files know each joint. Raises TaktError for an unknown number.
        """
        joint_of = np.full(int(max(handles.max(initial=0), self.weights.handles.max(initial=0))) + 1, -1)
        joint_of[handles] = np.arange(len(handles))
        joints = joint_of[self.weights.handles]
        if (joints < 0).any():
            raise TaktError(f"the mesh is moved by bone {self.weights.handles[joints < 0][0]}, which the skeleton "
                            f"{skeleton.name!r} does not have; it has {len(skeleton)} bones. Is it another mesh's?")
        pair, pair_of = np.unique(self.weights.vertices * len(skeleton) + joints, return_inverse=True)
        weights = np.bincount(pair_of, self.weights.values, len(pair))
        vertex, joint = np.divmod(pair, max(len(skeleton), 1))
        order = np.lexsort((-weights, vertex))
        vertex, joint, weights = vertex[order], joint[order], weights[order]
        counts = np.bincount(vertex, minlength=len(self.positions))
        rank = np.arange(len(vertex)) - (np.cumsum(counts) - counts)[vertex]
        kept = (rank < MOST_INFLUENCES) & (weights > 0.0)
        width = max(1, int((rank[kept] + 1).max(initial=1)))
        table_joints = np.zeros((len(self.positions), width), dtype=np.int64)
        table = np.zeros((len(self.positions), width))
        table_joints[vertex[kept], rank[kept]], table[vertex[kept], rank[kept]] = joint[kept], weights[kept]
        total = table.sum(axis=1, keepdims=True)
        return Influences(table_joints, np.divide(table, total, out=np.zeros_like(table), where=total > 0.0))


    def skinned(self, name: str, influences: Influences | None, looks: tuple[Look, ...]) -> SkinnedMesh:
        """Return the mesh in the common form of all formats; influences: None if it has no skeleton."""
        none = Influences(np.zeros((len(self.positions), 1), np.int64), np.zeros((len(self.positions), 1)))
        uvs = None if self.uvs is None else (self.uvs * (1.0, -1.0) + (0.0, 1.0))[self.triangles]
        return SkinnedMesh(name, self.positions, self.triangles, self.material, looks, uvs,
                           None if self.normals is None else self.normals[self.triangles], influences or none)


def _joined(parts: list[FloatArray | None], sizes: list[int], channels: int) -> FloatArray | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate([np.zeros((size, channels)) if part is None else part
                           for part, size in zip(parts, sizes, strict=True)])


def triangles_of(indices: IntArray, operation: int) -> IntArray:
    """Return the triangles (T, 3) of indices by drawing operation; points and lines have none.

    Every second triangle of a strip is reversed, so that all face the same side; degenerate ones are left out.

    >>> triangles_of(np.array((0, 1, 2, 3)), TRIANGLE_STRIP).tolist()
    [[0, 1, 2], [2, 1, 3]]
    """
    if operation == TRIANGLE_LIST:
        return indices[:len(indices) // 3 * 3].reshape(-1, 3)
    if operation not in (TRIANGLE_STRIP, TRIANGLE_FAN) or len(indices) < 3:
        return np.zeros((0, 3), dtype=np.int64)
    if operation == TRIANGLE_FAN:
        triangles = np.stack((np.full(len(indices) - 2, indices[0]), indices[1:-1], indices[2:]), axis=1)
    else:
        triangles = np.stack((indices[:-2], indices[1:-1], indices[2:]), axis=1)
        triangles[1::2] = triangles[1::2][:, (1, 0, 2)]
    a, b, c = triangles.T
    return np.asarray(triangles[(a != b) & (b != c) & (c != a)])


def check_geometry(geometry: Geometry, place: Place) -> Geometry:
    """Return the geometry without weights below 0; raise FileError if it cannot be shown."""
    for what, values in (("position", geometry.positions), ("normal", geometry.normals),
                         ("texture coordinate", geometry.uvs)):
        if values is not None and not np.isfinite(values).all():
            vertex = int(np.argmax(~np.isfinite(values).all(axis=1)))
            found = tuple(values[vertex].tolist())
            raise FileError(Problem(f"the {what} of vertex {vertex} is {found}; finite numbers are wanted", place))
    vertices, handles, weights = geometry.weights
    if not np.isfinite(weights).all():
        bad = weights[~np.isfinite(weights)][0]
        raise FileError(Problem(f"a bone assignment has the weight {bad}; a finite number is wanted", place))
    _check_range(vertices, len(geometry.positions), "a bone assignment names", place)
    return Geometry(geometry.positions, geometry.normals, geometry.uvs,
                    Weights(vertices, handles, np.maximum(weights, 0.0)))


def check_triangles(triangles: IntArray, geometry: Geometry, place: Place) -> None:
    """Raise FileError if a triangle uses a vertex that does not exist."""
    _check_range(triangles.ravel(), len(geometry.positions), "a face names", place)


def _check_range(vertices: IntArray, count: int, what: str, place: Place) -> None:
    if len(vertices) and (vertices.min() < 0 or vertices.max() >= count):
        bad = vertices[(vertices < 0) | (vertices >= count)][0]
        raise FileError(Problem(f"{what} vertex {bad}; there are {count} vertices", place))


class PartRecord(NamedTuple):
    """A submesh as a file states it; geometry None: it uses the shared vertices."""

    material: str
    geometry: Geometry | None
    triangles: IntArray
    place: Place


def assemble(shared: Geometry | None, parts: list[PartRecord], skeleton: str, names: dict[int, str],
             place: Place) -> OgreMesh:
    """Check what a reader found and build the mesh. names: of submeshes, by their number."""
    geometries: list[Geometry] = [] if shared is None else [check_geometry(shared, place)]
    submeshes = []
    for number, part in enumerate(parts):
        if part.geometry is None:
            if shared is None:
                raise FileError(Problem(f"submesh {number} uses the shared vertices, but the mesh has none",
                                        part.place))
            index = 0
        else:
            index = len(geometries)
            geometries.append(check_geometry(part.geometry, part.place))
        check_triangles(part.triangles, geometries[index], part.place)
        submeshes.append(Submesh(names.get(number, ""), part.material, index, part.triangles))
    return OgreMesh(tuple(geometries), tuple(submeshes), skeleton)
