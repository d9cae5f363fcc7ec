"""What the preview's own vertex shader computes, read back from the GPU."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gpu
import numpy as np

from takt.core.arrays import FloatArray
from takt.core.skinning import Palette
from takt.preview.batch import Geometry, variant_of, vertex_buffer
from takt.preview.draw import object_block
from takt.preview.palettes import GpuPalette, palette_rows
from takt.preview.shader import CHARACTER, METHODS, SKINNED_ATTRIBUTES, shader

_HERE = Path(__file__).parent
_WIDTH = 256

READBACK = replace(
    CHARACTER,
    attributes=(*SKINNED_ATTRIBUTES, ("VEC2", "pixel")),
    varyings=(("VEC3", "computed_position"), ("VEC3", "computed_normal")),
    outputs=(("VEC4", "position_out"), ("VEC4", "normal_out")),
    vertex=("skinning.glsl", "posed.glsl", str(_HERE / "readback.vert.glsl")),
    fragment=(str(_HERE / "readback.frag.glsl"),),
)


def posed_on_gpu(geometry: Geometry, palette: Palette, method: str,
                 armature_from_mesh: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return positions and normals (N, 3) in the armature's space, as the shader computed them."""
    count = len(geometry.positions)
    height = -(-count // _WIDTH)
    place = np.stack(np.divmod(np.arange(count), _WIDTH)[::-1], axis=-1)
    pixel = ((place + 0.5) / (_WIDTH, height) * 2.0 - 1.0).astype(np.float32)
    batch = gpu.types.GPUBatch(type="POINTS", buf=vertex_buffer(geometry, pixel=pixel))
    on_gpu = GpuPalette()
    on_gpu.write(palette_rows(palette), palette.stretches is not None)
    program = shader(READBACK, replace(variant_of(geometry), stretched=on_gpu.stretched,
                                       palette_in_texture=on_gpu.texture is not None))
    mesh = np.eye(4) if armature_from_mesh is None else armature_from_mesh
    block: Any = object_block(np.eye(4), mesh)
    placed = gpu.types.GPUUniformBuf(block)
    targets = [gpu.types.GPUTexture((_WIDTH, height), format="RGBA32F") for _ in range(2)]
    framebuffer: Any = gpu.types.GPUFrameBuffer(color_slots=targets)
    with framebuffer.bind():
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")
        framebuffer.clear(color=(np.nan,) * 4)
        program.bind()
        on_gpu.bind(program)
        program.uniform_block("object", placed)
        program.uniform_int("role_choice", (0, METHODS.index(method), -1, 0))
        batch.draw(program)
    positions, normals = (_texels(target, count) for target in targets)
    return positions, normals


def _texels(texture: gpu.types.GPUTexture, count: int) -> FloatArray:
    buffer: Any = texture.read()
    buffer.dimensions = texture.width * texture.height * 4
    return np.array(buffer, dtype=np.float64).reshape(-1, 4)[:count, :3]
