"""A mesh on the GPU: its vertices, and the batches for each colour mode."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import gpu
import numpy as np

from ..bridge.materials.materials import ColourMode, Surface
from .batch import Geometry, edge_batch, triangle_batch, vertex_buffer
from .corners import Int32Array
from .materials import Images, images_of, material_table
from .shader import CHARACTER, shader


@dataclass(frozen=True, eq=False)
class Group:
    """Faces drawn by one call: their materials use the same images; is_blended: some are transparent."""

    images: Images
    is_blended: bool
    batch: gpu.types.GPUBatch


class Coloured(NamedTuple):
    """A mesh in one colour mode: its materials, its faces in groups, and whether some are transparent."""

    table: gpu.types.GPUTexture
    groups: list[Group]
    is_blended: bool


@dataclass(frozen=True, eq=False)
class Indices:
    """The part of a geometry that is kept after its vertices are on the GPU; face_materials: (T,)."""

    triangles: Int32Array
    face_materials: Int32Array
    edges: Int32Array
    surfaces: Sequence[Surface]

    @classmethod
    def of(cls, geometry: Geometry) -> "Indices":
        """Return the indices of a geometry."""
        return cls(geometry.triangles, geometry.materials[geometry.triangles[:, 0]], geometry.edges, geometry.surfaces)


@dataclass(eq=False)
class MeshOnGpu:
    """A mesh on the GPU, and its sources; reach_m: its largest extent; made_at: see changes.of_data."""

    data_uids: tuple[int, ...]
    read_from: tuple[Hashable, ...]
    program: gpu.types.GPUShader
    buffer: gpu.types.GPUVertBuf
    geometry: Indices
    reach_m: float
    made_at: int
    _coloured: dict[ColourMode, Coloured] = field(default_factory=dict)

    @classmethod
    def of(cls, geometry: Geometry, data_uids: tuple[int, ...], read_from: tuple[Hashable, ...],
           made_at: int) -> "MeshOnGpu":
        """Upload a mesh."""
        reach_m = float(np.ptp(geometry.positions, axis=0).max()) if len(geometry.positions) else 0.0
        return cls(data_uids, read_from, shader(CHARACTER, *geometry.variants), vertex_buffer(geometry),
                   Indices.of(geometry), reach_m, made_at)

    @cached_property
    def surface(self) -> gpu.types.GPUBatch:
        """The batch of all faces."""
        return triangle_batch(self.buffer, self.geometry.triangles)

    @cached_property
    def edges(self) -> gpu.types.GPUBatch:
        """The batch of the edges, uploaded on first use."""
        return edge_batch(self.buffer, self.geometry.edges)

    def coloured(self, mode: ColourMode) -> Coloured:
        """Return its batches in a colour mode, made on first use."""
        found = self._coloured.get(mode)
        if found is None:
            groups = self._groups(mode)
            found = Coloured(material_table(self.geometry.surfaces, mode), groups,
                             any(group.is_blended for group in groups))
            self._coloured[mode] = found
        return found

    def _groups(self, mode: ColourMode) -> list[Group]:
        """Return its faces in as few groups as their images allow."""
        kinds: dict[tuple[Images, bool], list[int]] = {}
        for index, surface in enumerate(self.geometry.surfaces):
            material = surface.materials[mode]
            kinds.setdefault((images_of(material), material.is_blended), []).append(index)
        return [Group(images, is_blended, self._faces(members, len(kinds) == 1))
                for (images, is_blended), members in kinds.items()]

    def _faces(self, materials: list[int], all_of_them: bool) -> gpu.types.GPUBatch:
        """Return the batch of the faces with these materials."""
        if all_of_them:
            return self.surface
        return triangle_batch(self.buffer, self.geometry.triangles[np.isin(self.geometry.face_materials, materials)])
