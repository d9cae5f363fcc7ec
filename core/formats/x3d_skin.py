"""A character's skin in the form that x3d_write needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import TaktError
from ..maths.arrays import FloatArray, IntArray
from ..skinning.influences import Influences
from .character import Look


@dataclass(frozen=True, eq=False)
class X3dSkin:
    """A character's skin while its skeleton rests: V vertices, T triangles.

    positions, normals: (V, 3) in the skeleton's model space; normals are of unit length. triangles: (T, 3).
    influences: which joints move which vertices. material: (T,) which of the looks each triangle has.
    uvs: (T, 3, 2) texture coordinates of corners, v up, where a look has an image.
    names: of the meshes that form the skin; mesh: (T,) the index of each triangle's mesh, None for 0. Raises TaktError
    if shapes do not fit, or if indices of vertices, looks or meshes do not exist.
    """

    positions: FloatArray
    normals: FloatArray
    triangles: IntArray
    influences: Influences
    material: IntArray
    looks: tuple[Look, ...]
    uvs: FloatArray | None = None
    names: tuple[str, ...] = ("",)
    mesh: IntArray | None = None

    def __post_init__(self) -> None:
        vertices = len(self.positions)
        if self.positions.shape != (vertices, 3) or self.normals.shape != (vertices, 3):
            raise TaktError(f"positions {self.positions.shape} and normals {self.normals.shape} must both be (V, 3)")
        if len(self.influences.joints) != vertices:
            raise TaktError(f"{len(self.influences.joints)} rows of weights for {vertices} vertices; one each is "
                            "wanted")
        if self.triangles.shape != (len(self.material), 3):
            raise TaktError(f"triangles {self.triangles.shape} and materials {self.material.shape} must be (T, 3), "
                            "(T,)")
        if self.of_mesh.shape != self.material.shape:
            raise TaktError(f"meshes {self.of_mesh.shape} and materials {self.material.shape} must both be (T,)")
        for what, index, count in (("vertex", self.triangles, vertices), ("look", self.material, len(self.looks)),
                                   ("mesh", self.of_mesh, len(self.names))):
            if index.size and not 0 <= index.min() <= index.max() < count:
                raise TaktError(f"a triangle has {what} {int(index.max())}; there are {count}")
        if self.uvs is not None and self.uvs.shape != (len(self.triangles), 3, 2):
            raise TaktError(f"texture coordinates {self.uvs.shape} must be (T, 3, 2)")

    @property
    def of_mesh(self) -> IntArray:
        """The index of each triangle's mesh, (T,)."""
        return np.zeros(len(self.material), np.int64) if self.mesh is None else self.mesh

    def split(self) -> tuple[X3dSkin, FloatArray | None]:
        """Return the skin with a point for each pair of vertex and texture coordinates, and the coordinates, (V, 2).

        The vertices stay the first points; vertices with several coordinates are repeated after them. If no look has an
        image, nothing is split, and the coordinates are None.
        """
        if self.uvs is None or not any(look.image or look.texture for look in self.looks):
            return self, None
        vertices, uvs = self.triangles.ravel(), self.uvs.reshape(-1, 2).astype(np.float32)
        pairs = np.column_stack((vertices, uvs.view(np.int32).astype(np.int64)))
        order = np.lexsort(pairs.T[::-1])
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (pairs[order[1:]] != pairs[order[:-1]]).any(axis=1)
        pair_of = np.empty(len(order), np.int64)
        pair_of[order] = np.cumsum(is_new) - 1
        first = order[is_new]
        is_again = np.concatenate(((False,), vertices[first[1:]] == vertices[first[:-1]]))[:len(first)]
        again = vertices[first[is_again]]
        point_of = np.where(is_again, len(self.positions) + np.cumsum(is_again) - 1, vertices[first])
        points = np.concatenate((np.arange(len(self.positions)), again))
        found = np.zeros((len(points), 2))
        found[point_of] = uvs[first]
        influences = Influences(self.influences.joints[points], self.influences.weights[points])
        return replace(self, positions=self.positions[points], normals=self.normals[points],
                       triangles=point_of[pair_of].reshape(-1, 3), influences=influences, uvs=None), found
