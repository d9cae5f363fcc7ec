"""Drawing of characters into whatever framebuffer is bound: a viewport or an offscreen picture."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt

from ..core.arrays import FloatArray
from .character import Character, GpuPalette, Playable, method_of
from .shader import CHARACTER, PICTURES, Picture, shader


@dataclass(frozen=True, eq=False)
class View:
    """From where one looks: view_from_world and clip_from_view, (4, 4); encode: turn linear colours into sRGB."""

    view_from_world: FloatArray
    clip_from_view: FloatArray
    picture: Picture
    encode: bool


@dataclass(eq=False)
class Painter:
    """Draws characters; keeps their GPU buffers from frame to frame."""

    palettes: dict[int, GpuPalette] = field(default_factory=dict)
    drawings: dict[int, gpu.types.GPUUniformBuf] = field(default_factory=dict)

    def pose(self, character: Character, armature_object: bpy.types.Object, motion: Playable | None,
             time_s: float) -> None:
        """Compute and upload the palette: all that is done for each frame and character."""
        palette = self.palettes.setdefault(character.uid, GpuPalette())
        palette.write(character.palette(armature_object, motion, time_s))

    def draw(self, character: Character, armature_object: bpy.types.Object, meshes: list[bpy.types.Object],
             view: View) -> None:
        """Draw the character's meshes in the pose that was uploaded last."""
        palette = self.palettes[character.uid]
        for mesh in meshes:
            part = character.parts.get(mesh.session_uid)
            if part is None:
                continue
            variant = replace(part.variant, stretched=palette.stretched,
                              palette_in_texture=palette.texture is not None)
            program = shader(CHARACTER, variant)
            program.bind()
            palette.bind(program)
            program.uniform_block("drawing", self._drawing(mesh, armature_object, view))
            part.batch.draw(program)

    def _drawing(self, mesh: bpy.types.Object, armature_object: bpy.types.Object,
                 view: View) -> gpu.types.GPUUniformBuf:
        block: Any = drawing_block(np.array(armature_object.matrix_world, dtype=np.float64),
                                   np.array(mesh.matrix_world, dtype=np.float64), view, method_of(mesh))
        buffer = self.drawings.get(mesh.session_uid)
        if buffer is None:
            buffer = self.drawings[mesh.session_uid] = gpu.types.GPUUniformBuf(block)
        else:
            buffer.update(block)
        return buffer


def drawing_block(world_from_armature: FloatArray, world_from_mesh: FloatArray, view: View,
                  method: int) -> npt.NDArray[np.float32]:
    """Return the struct TaktDrawing: five matrices, column by column, and four whole numbers."""
    view_from_armature = view.view_from_world @ world_from_armature
    armature_from_mesh: FloatArray = np.asarray(np.linalg.solve(world_from_armature, world_from_mesh), dtype=np.float64)
    matrices = (view.clip_from_view, view_from_armature, _normals(view_from_armature),
                armature_from_mesh, _normals(armature_from_mesh))
    mirrored = np.linalg.det(world_from_mesh[:3, :3]) < 0.0
    choice = np.array((PICTURES.index(view.picture), method, view.encode, mirrored), dtype=np.int32)
    columns = [matrix.T.astype(np.float32).ravel() for matrix in matrices]
    return np.concatenate((*columns, choice.view(np.float32)))


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
        gpu.state.depth_test_set(depth_test)
        gpu.state.depth_mask_set(depth_mask)
        gpu.state.blend_set(blend)
