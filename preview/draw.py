"""Drawing of characters into whatever framebuffer is bound: a viewport or an offscreen picture."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ..core.maths.arrays import FloatArray
from .character import Part
from .figures import Rows, Tint, figure_rows, placement_rows, texture_of
from .roles import Posed, Role
from .shader import PASSES, RECORD_ROWS, Pass

SEE_THROUGH_ALPHA = 0.35
_WIRE: Tint = (0.62, 0.70, 0.80, 1.0)
_NUMBERS = {what: number for number, what in enumerate(PASSES)}


@dataclass(frozen=True, eq=False)
class View:
    """From where one looks: view_from_world and clip_from_view, (4, 4); encode: turn linear colours into sRGB."""

    view_from_world: FloatArray
    clip_from_view: FloatArray
    width: int
    height: int
    encode: bool


@dataclass(slots=True, eq=False)
class _Figure:
    """A mesh of a role; rows_at: where the rows begin that say what the role's bones do, each with rows_per_bone."""

    part: Part
    mesh: bpy.types.Object
    role: Role
    rows_at: int
    rows_per_bone: int


@dataclass(eq=False)
class Painter:
    """Draws roles: all of them are uploaded at once, and those who share a mesh are drawn by one call."""

    _placements: dict[int, tuple[Matrix, Matrix, Rows]] = field(default_factory=dict)
    _solid: list[tuple[Part, int, int]] = field(default_factory=list)
    """Mesh, number of the first figure, and how many follow each other."""
    _of_role: dict[tuple[int, int], list[tuple[Part, int]]] = field(default_factory=dict)
    """Mesh and number of a role's figures."""
    _rows: gpu.types.GPUTexture | None = None
    _view: gpu.types.GPUUniformBuf | None = None
    _bound: gpu.types.GPUShader | None = None

    def upload(self, roles: Sequence[Role], poses: Sequence[Posed], view: View) -> None:
        """Send what changes from frame to frame to the GPU; who is not among the roles can no longer be drawn."""
        begins = accumulate((len(posed.rows) for posed in poses), initial=0)
        figures = [_Figure(part, mesh, role, begin, posed.rows_per_bone)
                   for role, posed, begin in zip(roles, poses, begins, strict=False) for mesh in role.meshes
                   if (part := role.character.parts.get(mesh.session_uid)) is not None]
        figures.sort(key=lambda figure: (figure.role.is_ghost, id(figure.part)))
        self._of_role = {role.key: [] for role in roles}
        self._solid = []
        for number, figure in enumerate(figures):
            self._of_role[figure.role.key].append((figure.part, number))
        number = 0
        for part, same in groupby(figure.part for figure in figures if not figure.role.is_ghost):
            count = len(list(same))
            self._solid.append((part, number, count))
            number += count
        self._rows = texture_of((self._records(figures), *(posed.rows for posed in poses))) if figures else None
        self._bound = None
        block: Any = view_block(view)
        if self._view is None:
            self._view = gpu.types.GPUUniformBuf(block)
        else:
            self._view.update(block)

    def draw_solid(self, what: Pass) -> None:
        """Draw all roles but the ghosts."""
        for part, first, count in self._solid:
            self._draw(part, first, count, what)

    def draw(self, role: Role, what: Pass, opacity: float = 1.0) -> None:
        """Draw a role alone."""
        for part, number in self._of_role[role.key]:
            self._draw(part, number, 1, what, opacity)

    def _draw(self, part: Part, first: int, count: int, what: Pass, opacity: float = 1.0) -> None:
        program = part.program
        if program is not self._bound:
            assert self._view is not None and self._rows is not None
            program.bind()
            program.uniform_block("view", self._view)
            program.uniform_sampler("rows", self._rows)
            self._bound = program
        program.uniform_int("drawing", (first * RECORD_ROWS, _NUMBERS[what]))
        program.uniform_float("opacity", opacity)
        _draw_batch(part.edges if what == "WIREFRAME" else part.surface, program, count)

    def _records(self, figures: Sequence[_Figure]) -> Rows:
        roles, poses_at = [figure.role for figure in figures], len(figures) * RECORD_ROWS
        return figure_rows(
            [self._placement(figure.mesh, figure.role.armature) for figure in figures],
            [role.offset for role in roles],
            [role.tint or role.line or _WIRE for role in roles],
            [role.is_ghost for role in roles],
            [(poses_at + figure.rows_at, figure.rows_per_bone, figure.role.method_of(figure.mesh),
              figure.role.shown_bone) for figure in figures])

    def _placement(self, mesh: bpy.types.Object, armature_object: bpy.types.Object) -> Rows:
        armature_world, mesh_world = armature_object.matrix_world, mesh.matrix_world
        known = self._placements.get(mesh.session_uid)
        if known is None or known[0] != armature_world or known[1] != mesh_world:
            rows = placement_rows(*(np.array(world, dtype=np.float64) for world in (armature_world, mesh_world)))
            known = self._placements[mesh.session_uid] = armature_world.copy(), mesh_world.copy(), rows
        return known[2]


def _draw_batch(batch: gpu.types.GPUBatch, program: gpu.types.GPUShader, count: int) -> None:
    batch.draw_instanced(program, instance_count=count)


def view_block(view: View) -> npt.NDArray[np.float32]:
    """Return the struct TaktView: two matrices, column by column, and four numbers."""
    matrices = [matrix.T.astype(np.float32).ravel() for matrix in (view.clip_from_view, view.view_from_world)]
    return np.concatenate((*matrices, np.array((view.width, view.height, view.encode, 0.0), dtype=np.float32)))


@contextmanager
def solid_state() -> Iterator[None]:
    """Draw opaque surfaces against the depth that is there, and leave the GPU's state as it was."""
    depth_test: Any = gpu.state.depth_test_get()
    blend: Any = gpu.state.blend_get()
    depth_mask = gpu.state.depth_mask_get()
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set("NONE")
    gpu.state.face_culling_set("NONE")
    try:
        yield
    finally:
        gpu.state.color_mask_set(True, True, True, True)
        gpu.state.depth_test_set(depth_test)
        gpu.state.depth_mask_set(depth_mask)
        gpu.state.blend_set(blend)
