"""Drawing of characters into whatever framebuffer is bound: a viewport or an offscreen picture."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ..core.arrays import FloatArray
from .character import Part, method_of
from .palettes import GpuPalette
from .roles import Posed, Role, Tint
from .shader import PASSES, Pass

SEE_THROUGH_ALPHA = 0.35
_OPAQUE: Tint = (0.0, 0.0, 0.0, 1.0)
_OUTLINE_PX = 1.5
_NUMBERS = {what: number for number, what in enumerate(PASSES)}


@dataclass(frozen=True, eq=False)
class View:
    """From where one looks: view_from_world and clip_from_view, (4, 4); encode: turn linear colours into sRGB."""

    view_from_world: FloatArray
    clip_from_view: FloatArray
    width: int
    height: int
    encode: bool


@dataclass(eq=False)
class Painter:
    """Draws roles; keeps their GPU buffers from frame to frame."""

    palettes: dict[tuple[int, int], GpuPalette] = field(default_factory=dict)
    _objects: dict[int, tuple[Matrix, Matrix, gpu.types.GPUUniformBuf]] = field(default_factory=dict)
    _view: gpu.types.GPUUniformBuf | None = None
    _bound: gpu.types.GPUShader | None = None

    def upload(self, roles: Sequence[Role], poses: Sequence[Posed], view: View) -> None:
        """Send what changes from frame to frame to the GPU, and forget roles that are no longer played."""
        self._bound = None
        keys = {role.key for role in roles}
        self.palettes = {key: palette for key, palette in self.palettes.items() if key in keys}
        for role, posed in zip(roles, poses, strict=True):
            palette = self.palettes.get(role.key)
            if palette is None:
                palette = self.palettes[role.key] = GpuPalette()
            palette.write(posed.rows, posed.palette.stretches is not None)
        block: Any = view_block(view)
        if self._view is None:
            self._view = gpu.types.GPUUniformBuf(block)
        else:
            self._view.update(block)

    def draw(self, role: Role, what: Pass, tint: Tint | None = None, bone: int = -1) -> None:
        """Draw a role's meshes; tint: a colour and its alpha; bone: the one whose weights are shown."""
        palette = self.palettes[role.key]
        has_tint = role.tint is not None
        offset = *role.offset, _OUTLINE_PX if what == "OUTLINE" else 0.0
        tint, number, parts = tint or role.tint or _OPAQUE, _NUMBERS[what], role.character.parts
        for mesh in role.meshes:
            part = parts.get(mesh.session_uid)
            if part is None:
                continue
            program = part.program(palette.stretched, palette.texture is not None)
            if program is not self._bound:
                assert self._view is not None
                program.bind()
                program.uniform_block("view", self._view)
                self._bound = program
            palette.bind(program)
            program.uniform_block("object", self._object(mesh, role.armature))
            method = method_of(mesh) if role.method is None else role.method
            program.uniform_float("role_offset", offset)
            program.uniform_float("role_tint", tint)
            program.uniform_int("role_choice", (number, method, bone, has_tint))
            _batch(part, what).draw(program)

    def _object(self, mesh: bpy.types.Object, armature_object: bpy.types.Object) -> gpu.types.GPUUniformBuf:
        armature_world, mesh_world = armature_object.matrix_world, mesh.matrix_world
        known = self._objects.get(mesh.session_uid)
        if known is None or known[0] != armature_world or known[1] != mesh_world:
            block: Any = object_block(*(np.array(world, dtype=np.float64) for world in (armature_world, mesh_world)))
            known = armature_world.copy(), mesh_world.copy(), gpu.types.GPUUniformBuf(block)
            self._objects[mesh.session_uid] = known
        return known[2]


def _batch(part: Part, what: Pass) -> gpu.types.GPUBatch:
    return part.edges if what == "WIREFRAME" else part.surface


def view_block(view: View) -> npt.NDArray[np.float32]:
    """Return the struct TaktView: two matrices, column by column, and four numbers."""
    matrices = [matrix.T.astype(np.float32).ravel() for matrix in (view.clip_from_view, view.view_from_world)]
    return np.concatenate((*matrices, np.array((view.width, view.height, view.encode, 0.0), dtype=np.float32)))


def object_block(world_from_armature: FloatArray, world_from_mesh: FloatArray) -> npt.NDArray[np.float32]:
    """Return the struct TaktObject: four matrices, column by column, and four whole numbers."""
    armature_from_mesh: FloatArray = np.asarray(np.linalg.solve(world_from_armature, world_from_mesh), dtype=np.float64)
    matrices = (world_from_armature, _normals(world_from_armature), armature_from_mesh, _normals(armature_from_mesh))
    mirrored = np.linalg.det(world_from_mesh[:3, :3]) < 0.0
    traits = np.array((mirrored, 0, 0, 0), dtype=np.int32)
    columns = [matrix.T.astype(np.float32).ravel() for matrix in matrices]
    return np.concatenate((*columns, traits.view(np.float32)))


def _normals(matrix: FloatArray) -> FloatArray:
    """Return what turns normals where an object's matrix turns points; right under uneven scale."""
    turn = np.eye(4)
    turn[:3, :3] = np.linalg.pinv(matrix[:3, :3]).T
    return turn


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
