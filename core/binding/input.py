"""What every binding method reads: meshes and bones as plain arrays, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..errors import BindError, TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class BindInput:
    """Meshes and bones to be bound to each other, all in the armature's space and one unit.

    vertices: (V, 3), the vertices of all meshes one after the other.
    face_vertices: (L,) the vertex of every face corner; face_sizes: (F,) corners of each face, summing to L.
        A mesh without faces is allowed: both are empty then.
    part: (V,) which mesh each vertex belongs to, from 0.
    bone_names: B different names. bone_parents: (B,) each bone's parent, −1 for a root, in any order.
    heads, tails: (B, 3) ends of the bones at rest; equal ends are allowed.
    chosen: (B,) bones that the user has chosen to move skin, whatever their names and positions say; None for none.
    Raises BindError where nothing can be bound (no bone, no vertex, a coordinate that is not finite) and TaktError
    where the arrays do not fit each other.

    >>> body = BindInput.from_arrays([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]],
    ...                              ["bone"], [-1], [[0, 0, 0]], [[0, 0, 1]])
    >>> body.part
    array([0, 0, 0])
    """

    vertices: FloatArray
    face_vertices: IntArray
    face_sizes: IntArray
    part: IntArray
    bone_names: tuple[str, ...]
    bone_parents: IntArray
    heads: FloatArray
    tails: FloatArray
    chosen: BoolArray | None = None

    def __post_init__(self) -> None:
        vertices, bones = len(self.vertices), len(self.bone_names)
        if bones == 0:
            raise BindError("the armature has no bone to bind to; add one, or let bones deform again")
        if vertices == 0:
            raise BindError("the meshes have no vertex to bind; choose a mesh that has some")
        for what, array, shape in (("vertices", self.vertices, (vertices, 3)), ("part", self.part, (vertices,)),
                                   ("bone_parents", self.bone_parents, (bones,)), ("heads", self.heads, (bones, 3)),
                                   ("tails", self.tails, (bones, 3)),
                                   ("chosen", self.is_chosen, (bones,)),
                                   ("face_vertices", self.face_vertices, (len(self.face_vertices),)),
                                   ("face_sizes", self.face_sizes, (len(self.face_sizes),))):
            if array.shape != shape:
                raise TaktError(f"{what} has shape {array.shape}, expected {shape}")
        self._check_faces()
        self._check_bones()
        bad = np.flatnonzero(~np.isfinite(self.vertices).all(axis=1))
        if len(bad):
            raise BindError(f"{len(bad)} of {vertices} vertices have coordinates that are not finite, the first is "
                            f"vertex {bad[0]} of mesh {self.part[bad[0]]}; delete or mend them")

    @classmethod
    def from_arrays(cls, vertices: npt.ArrayLike, faces: Sequence[Sequence[int]], bone_names: Sequence[str],
                    bone_parents: npt.ArrayLike, heads: npt.ArrayLike, tails: npt.ArrayLike,
                    part: npt.ArrayLike | None = None) -> BindInput:
        """Build from array-likes and a list of faces; without `part` everything is one mesh."""
        points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
        return cls(points, np.array([v for face in faces for v in face], dtype=np.int64),
                   np.array([len(face) for face in faces], dtype=np.int64),
                   np.zeros(len(points), dtype=np.int64) if part is None else np.asarray(part, dtype=np.int64),
                   tuple(bone_names), np.asarray(bone_parents, dtype=np.int64).reshape(-1),
                   np.asarray(heads, dtype=np.float64).reshape(-1, 3),
                   np.asarray(tails, dtype=np.float64).reshape(-1, 3))

    @property
    def is_chosen(self) -> BoolArray:
        """Which bones (B,) the user has chosen to move skin."""
        return np.zeros(len(self.bone_names), dtype=np.bool_) if self.chosen is None else self.chosen

    def only(self, vertices: BoolArray) -> BindInput:
        """Return a body of only these vertices, (V,) bools, with the faces between them and all bones."""
        number = np.cumsum(vertices) - 1
        own = vertices[self.face_vertices]
        kept = np.zeros(0, dtype=np.bool_)
        if len(self.face_sizes):
            kept = np.logical_and.reduceat(own, np.cumsum(self.face_sizes) - self.face_sizes)
        return replace(self, vertices=self.vertices[vertices], part=self.part[vertices],
                       face_vertices=number[self.face_vertices[np.repeat(kept, self.face_sizes)]],
                       face_sizes=self.face_sizes[kept])

    def _check_faces(self) -> None:
        corners = int(self.face_sizes.sum()) if len(self.face_sizes) else 0
        if corners != len(self.face_vertices) or (self.face_sizes < 3).any():
            raise TaktError(f"face_sizes must be 3 or more and sum to the {len(self.face_vertices)} face corners; "
                            f"they sum to {corners}")
        wrong = self.face_vertices[(self.face_vertices < 0) | (self.face_vertices >= len(self.vertices))]
        if len(wrong):
            raise TaktError(f"a face names vertex {wrong[0]}; there are {len(self.vertices)} vertices")

    def _check_bones(self) -> None:
        bones = len(self.bone_names)
        if len(set(self.bone_names)) != bones:
            twice = next(n for i, n in enumerate(self.bone_names) if n in self.bone_names[:i])
            raise TaktError(f"two bones are named {twice!r}; bone names must differ")
        wrong = np.flatnonzero((self.bone_parents < -1) | (self.bone_parents >= bones))
        if len(wrong):
            raise TaktError(f"bone {self.bone_names[wrong[0]]!r} has parent {self.bone_parents[wrong[0]]}; "
                            f"there are {bones} bones")
        ancestor = self.bone_parents.copy()
        for _ in range(bones.bit_length() + 1):  # doubles the steps each time: past every root after log2 B
            ancestor = np.where(ancestor >= 0, ancestor[ancestor], -1)
        if (ancestor >= 0).any():
            raise TaktError(f"bone {self.bone_names[int(np.argmax(ancestor >= 0))]!r} is its own ancestor")
        bad = np.flatnonzero(~(np.isfinite(self.heads) & np.isfinite(self.tails)).all(axis=1))
        if len(bad):
            raise BindError(f"bone {self.bone_names[bad[0]]!r} has a rest position that is not finite; reset it")
