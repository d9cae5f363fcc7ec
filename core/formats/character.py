"""Characters in files: skeletons with the meshes that they move, and the materials of these.

A format can read clips without reading characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..errors import TaktError
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skeleton import Skeleton
from ..skinning.influences import Influences

MAX_MESHES: Final = 2_000
"""Greatest number of meshes of a file; more are refused."""
TRIANGLE_SPENT: Final = 40
"""Numbers for which a triangle counts, towards the limit of numbers made from a file."""


@dataclass(frozen=True)
class Look:
    """A material. colour: linear RGB from 0 to 1.

    texture: the path of an image as written in the file, or ""; image: its bytes, if the file contains them.
    """

    name: str
    colour: tuple[float, float, float] = (0.8, 0.8, 0.8)
    texture: str = ""
    image: bytes = b""


@dataclass(frozen=True, eq=False)
class SkinnedMesh:
    """A mesh in its skeleton's rest pose and model space: V vertices, T triangles.

    positions: (V, 3). triangles: (T, 3) vertices, counterclockwise from outside. material: (T,) the index of each
    triangle's look. uvs: (T, 3, 2) of each corner, v up; normals: (T, 3, 3), of unit length or zero; None if the file
    has none. influences: which joints move which vertices.
    Raises TaktError if shapes do not fit, or if triangles use vertices or looks that do not exist.
    """

    name: str
    positions: FloatArray
    triangles: IntArray
    material: IntArray
    looks: tuple[Look, ...]
    uvs: FloatArray | None
    normals: FloatArray | None
    influences: Influences

    def __post_init__(self) -> None:
        corners = len(self.triangles)
        for what, values, shape in (("triangles", self.triangles, (corners, 3)), ("materials", self.material,
                                    (corners,)), ("uvs", self.uvs, (corners, 3, 2)),
                                    ("normals", self.normals, (corners, 3, 3))):
            if values is not None and values.shape != shape:
                raise TaktError(f"{what} of mesh {self.name!r} have shape {values.shape}, expected {shape}")
        if len(self.influences.joints) != len(self.positions):
            raise TaktError(f"mesh {self.name!r} has {len(self.positions)} vertices, but weights for "
                            f"{len(self.influences.joints)}")
        for what, index, count in (("vertex", self.triangles, len(self.positions)),
                                   ("look", self.material, len(self.looks))):
            if index.size and not 0 <= index.min() <= index.max() < count:
                raise TaktError(f"a triangle of mesh {self.name!r} has {what} {int(index.max())}; there are {count}")


@dataclass(frozen=True, eq=False)
class Character:
    """A skeleton in H-Anim's axes, the meshes that it moves, and the clips that move it.

    placed: matrix (4, 4) from its model space to the file's scene, in metres.
    """

    name: str
    skeleton: Skeleton
    meshes: tuple[SkinnedMesh, ...]
    clips: tuple[Clip, ...]
    placed: FloatArray = field(default_factory=lambda: np.eye(4))


@dataclass(frozen=True, eq=False)
class CharacterFile:
    """The characters of a file. warnings: sentences about what is left out, and about faults that lose no data."""

    characters: tuple[Character, ...]
    warnings: tuple[str, ...] = ()


def influences_of(vertices: IntArray, joints: IntArray, weights: FloatArray, count: int) -> Influences:
    """Return the normalised influences of V vertices from assignments in any order.

    vertices, joints, weights: (A,); a vertex may have the same joint twice; weights of 0 and below are ignored. count:
    V. A vertex without assignments gets a row of zeros.

    >>> found = influences_of(np.array((0, 0, 2)), np.array((4, 1, 1)), np.array((1.0, 3.0, 2.0)), 3)
    >>> found.joints.tolist(), found.weights.tolist()
    ([[1, 4], [0, 0], [1, 0]], [[0.75, 0.25], [0.0, 0.0], [1.0, 0.0]])
    """
    most = int(joints.max(initial=0)) + 1
    pairs, pair_of = np.unique(vertices * most + joints, return_inverse=True)
    values = np.bincount(pair_of, np.maximum(weights, 0.0), len(pairs))
    vertex, joint = np.divmod(pairs[values > 0.0], most)
    values = values[values > 0.0]
    order = np.lexsort((-values, vertex))
    vertex, joint, values = vertex[order], joint[order], values[order]
    counts = np.bincount(vertex, minlength=count)
    rank = np.arange(len(vertex)) - (np.cumsum(counts) - counts)[vertex]
    width = max(1, int(counts.max(initial=0)))
    table, table_joints = np.zeros((count, width)), np.zeros((count, width), np.int64)
    table[vertex, rank], table_joints[vertex, rank] = values, joint
    total = table.sum(axis=1, keepdims=True)
    return Influences(table_joints, np.divide(table, total, out=np.zeros_like(table), where=total > 0.0))


def rigid(joint: int, count: int) -> Influences:
    """Return the influences of vertices that only one joint moves."""
    return Influences(np.full((count, 1), joint, np.int64), np.ones((count, 1)))


def fans(counts: IntArray) -> IntArray:
    """Return the corners (T, 3) of the triangles of polygons that are split as fans; counts: (P,) corners of each.

    Polygons with fewer than three corners have no triangles. Corners are numbered over all polygons.

    >>> fans(np.array((4, 2, 3))).tolist()
    [[0, 1, 2], [0, 2, 3], [6, 7, 8]]
    """
    first = np.cumsum(counts) - counts
    pieces = np.maximum(counts - 2, 0)
    begin = np.repeat(first, pieces)
    number = np.arange(len(begin)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return np.stack((begin, begin + number + 1, begin + number + 2), axis=1)


def strips(counts: IntArray) -> IntArray:
    """Return the corners (T, 3) of the triangles of strips, every second one reversed; counts: (P,) corners of each.

    >>> strips(np.array((4,))).tolist()
    [[0, 1, 2], [2, 1, 3]]
    """
    found = fans(counts)
    number = found[:, 1] - found[:, 0] - 1
    begin, is_odd = found[:, 0] + number, number % 2
    return np.stack((begin + is_odd, begin + 1 - is_odd, begin + 2), axis=1)


def unit_normals(vectors: FloatArray) -> FloatArray:
    """Scale vectors (..., 3) to unit length; zero vectors stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def joined(name: str, parts: Sequence[SkinnedMesh]) -> SkinnedMesh:
    """Join meshes of one skeleton, with their vertices in order; equal looks are merged."""
    looks = list(dict.fromkeys(look for part in parts for look in part.looks))
    number = {look: at for at, look in enumerate(looks)}
    first = np.cumsum([0, *(len(part.positions) for part in parts)])
    width = max(part.influences.joints.shape[1] for part in parts)

    def padded(rows: np.ndarray) -> np.ndarray:
        return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))

    def corners(values: Iterable[FloatArray | None], channels: int) -> FloatArray | None:
        found = list(values)
        return None if all(each is None for each in found) else np.concatenate(
            [np.zeros((len(part.triangles), 3, channels)) if each is None else each
             for each, part in zip(found, parts, strict=True)])

    own = [np.array([number[look] for look in part.looks], np.int64) for part in parts]
    return SkinnedMesh(name, np.concatenate([part.positions for part in parts]),
                       np.concatenate([part.triangles + at for part, at in zip(parts, first, strict=False)]),
                       np.concatenate([which[part.material] for which, part in zip(own, parts, strict=True)]),
                       tuple(looks), corners((part.uvs for part in parts), 2),
                       corners((part.normals for part in parts), 3),
                       Influences(np.concatenate([padded(part.influences.joints) for part in parts]),
                                  np.concatenate([padded(part.influences.weights) for part in parts])))
