"""Input and result of fitting a skeleton."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Final, Literal

import numpy as np

from ..binding.input import BindInput
from ..errors import TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import path_to_root

GUESSED: Final = 0.5
"""A joint with less certainty is a guess: it is placed by proportions of anatomy, since the mesh does not show it."""


BodyKind = Literal["auto", "humanoid", "shape"]
"""The kind of a body: found by its shape; a humanoid; or spine, head, tail and limbs as the shape has them."""


class FitError(TaktError):
    """No skeleton can be fitted into a mesh; the message says what was found instead."""


@dataclass(frozen=True, eq=False)
class FittingProblem:
    """The meshes of one body, in one space and unit.

    vertices: (V, 3) of all meshes, one after the other. face_vertices: (L,) the vertex of every face corner;
    face_sizes: (F,) corners of each face, summing to L. up, front: (3,) likely directions of its head and face; they
    decide only if the mesh leaves it open, and need not be right. kind: of the body to fit.
    Raises FitError if there is no face, or a coordinate is not finite; TaktError if arrays do not fit each other.
    """

    vertices: FloatArray
    face_vertices: IntArray
    face_sizes: IntArray
    up: FloatArray = field(default_factory=lambda: np.array((0.0, 0.0, 1.0)))
    front: FloatArray = field(default_factory=lambda: np.array((0.0, -1.0, 0.0)))
    kind: BodyKind = "auto"

    def __post_init__(self) -> None:
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3:
            raise TaktError(f"vertices has shape {self.vertices.shape}, expected (V, 3)")
        if not len(self.face_sizes):
            raise FitError("the mesh has no faces, and so no inside; choose a mesh that has some")
        if (self.face_sizes < 3).any() or int(self.face_sizes.sum()) != len(self.face_vertices):
            raise TaktError(f"face_sizes must be 3 or more and sum to the {len(self.face_vertices)} face corners; "
                            f"they sum to {int(self.face_sizes.sum())}")
        if int(self.face_vertices.min()) < 0 or int(self.face_vertices.max()) >= len(self.vertices):
            raise TaktError(f"a face names a vertex that is not there; there are {len(self.vertices)} vertices")
        bad = np.flatnonzero(~np.isfinite(self.vertices).all(axis=1))
        if len(bad):
            raise FitError(f"{len(bad)} of {len(self.vertices)} vertices have coordinates that are not finite, the "
                           f"first is vertex {bad[0]}; delete or mend them")

    @classmethod
    def from_faces(cls, vertices: FloatArray, faces: Sequence[Sequence[int]]) -> FittingProblem:
        """Build from vertices (V, 3) and a list of faces."""
        return cls(np.asarray(vertices, dtype=np.float64), np.array([v for face in faces for v in face], np.int64),
                   np.array([len(face) for face in faces], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class FittedSkeleton:
    """Joints found in a mesh, in the mesh's space.

    names: J names of H-Anim (version 1). parents: (J,) −1 for the root, parents come first. positions: (J, 3).
    ends: (J, 3) where each joint's bone ends. bend_axes: (J, 3) unit vectors about which each bone bends as knees and
    elbows do, positive to the side to which the joint can bend. certainty: (J,) 0 to 1. up, front: (3,) unit vectors.
    notes: sentences about what could not be found. carriers: names of joints that move no skin, only other joints.
    """

    names: tuple[str, ...]
    parents: IntArray
    positions: FloatArray
    ends: FloatArray
    bend_axes: FloatArray
    certainty: FloatArray
    up: FloatArray
    front: FloatArray
    notes: tuple[str, ...] = ()
    carriers: tuple[str, ...] = ()

    @property
    def guesses(self) -> tuple[str, ...]:
        """The joints that the mesh does not show, which are guesses."""
        return tuple(name for name, sure in zip(self.names, self.certainty, strict=True) if sure < GUESSED)

    def position(self, name: str) -> FloatArray:
        """Return the position (3,) of a joint; raise KeyError if it was not fitted."""
        if name not in self.names:
            raise KeyError(name)
        return np.asarray(self.positions[self.names.index(name)])

    def turned(self, turn: FloatArray) -> FittedSkeleton:
        """Return the skeleton turned about the origin by a rotation matrix (3, 3)."""
        def of(vectors: FloatArray) -> FloatArray:
            return np.asarray(vectors @ turn.T)

        return replace(self, positions=of(self.positions), ends=of(self.ends), bend_axes=of(self.bend_axes),
                       up=of(self.up), front=of(self.front))

    @property
    def moves_skin(self) -> BoolArray:
        """Which joints move skin, (J,)."""
        return np.array([name not in self.carriers for name in self.names], dtype=np.bool_)

    def body_bound_to(self, vertices: FloatArray, face_vertices: IntArray, face_sizes: IntArray, part: IntArray,
                      names: Sequence[str] | None = None) -> BindInput:
        """Return meshes, as in `BindInput`, with the bones that move skin; names: J names, if not those of H-Anim."""
        kept = self.moves_skin
        row = np.cumsum(kept) - 1
        parents = np.array([next((int(row[above]) for above in path_to_root(self.parents, joint)[1:] if kept[above]),
                                 -1) for joint in np.flatnonzero(kept).tolist()], dtype=np.int64)
        return BindInput(vertices, face_vertices, face_sizes, part, tuple(compress(names or self.names, kept)), parents,
                         self.positions[kept], self.ends[kept])
