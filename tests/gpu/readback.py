"""What the preview's own vertex shader computes, read back from the GPU."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gpu
import numpy as np

from takt.core.maths.arrays import FloatArray
from takt.core.skinning import Palette
from takt.preview.batch import Geometry, vertex_buffer
from takt.preview.instances import instance_rows, palette_rows, placement_rows, rows_per_bone, texture_of
from takt.preview.shader import CHARACTER, MORE_INFLUENCES, RECORD_ROWS, SKINNED_ATTRIBUTES, SKINNING_NUMBERS, shader

_HERE = Path(__file__).parent
_WIDTH = 256

READBACK = replace(
    CHARACTER,
    attributes=(*SKINNED_ATTRIBUTES, ("VEC2", "pixel")),
    varyings=(("VEC3", "computed_position"), ("VEC3", "computed_normal")),
    flat_varyings=(),
    outputs=(("VEC4", "position_out"), ("VEC4", "normal_out")),
    vertex=("instance.glsl", "skinning.glsl", "posed.glsl", str(_HERE / "readback.vert.glsl")),
    fragment=(str(_HERE / "readback.frag.glsl"),),
    samplers=("rows",),
)


def posed_on_gpu(geometry: Geometry, palette: Palette, method: str,
                 armature_from_mesh: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Return positions and normals (N, 3) in the armature's space, as the shader computed them."""
    count = len(geometry.positions)
    height = -(-count // _WIDTH)
    place = np.stack(np.divmod(np.arange(count), _WIDTH)[::-1], axis=-1)
    pixel = ((place + 0.5) / (_WIDTH, height) * 2.0 - 1.0).astype(np.float32)
    batch = gpu.types.GPUBatch(type="POINTS", buf=vertex_buffer(geometry, pixel=pixel))
    placement = placement_rows(np.eye(4), np.eye(4) if armature_from_mesh is None else armature_from_mesh)
    bones = RECORD_ROWS, rows_per_bone(palette), SKINNING_NUMBERS[method], -1
    record = instance_rows([placement], [(0.0, 0.0, 0.0)], [(0.0, 0.0, 0.0, 1.0)], [False], [bones])
    rows = texture_of((record, palette_rows(palette)))
    program = shader(READBACK, *(each for each in geometry.variants if each is MORE_INFLUENCES))
    targets = [gpu.types.GPUTexture((_WIDTH, height), format="RGBA32F") for _ in range(2)]
    framebuffer: Any = gpu.types.GPUFrameBuffer(color_slots=targets)
    with framebuffer.bind():
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")
        framebuffer.clear(color=(np.nan,) * 4)
        program.bind()
        program.uniform_sampler("rows", rows)
        program.uniform_int("drawing", (0, 0, 0, 0))
        batch.draw(program)
    positions, normals = (_texels(target, count) for target in targets)
    return positions, normals


def _texels(texture: gpu.types.GPUTexture, count: int) -> FloatArray:
    buffer: Any = texture.read()
    buffer.dimensions = texture.width * texture.height * 4
    return np.array(buffer, dtype=np.float64).reshape(-1, 4)[:count, :3]
