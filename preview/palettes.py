"""What bones do, on the GPU."""

from dataclasses import dataclass, field
from typing import Any, cast

import gpu
import numpy as np
import numpy.typing as npt

from ..core.skinning import Palette
from .shader import PALETTE_ROWS, PALETTE_TEXTURE_WIDTH

Rows = npt.NDArray[np.float32]


def palette_rows(palette: Palette) -> Rows:
    """Return palettes as the shaders read them, (..., J · rows, 4): quaternion as xyzw, position, stretch."""
    batch, joints = palette.rotations.shape[:-2], palette.rotations.shape[-2]
    rows = np.zeros((*batch, joints, 2 if palette.stretches is None else 5, 4), dtype=np.float32)
    rows[..., 0, :3], rows[..., 0, 3] = palette.rotations[..., 1:], palette.rotations[..., 0]
    rows[..., 1, :3] = palette.positions
    if palette.stretches is not None:
        rows[..., 2:, :] = palette.stretches
    return rows.reshape(*batch, -1, 4)


@dataclass(eq=False)
class GpuPalette:
    """A palette on the GPU: a uniform buffer that is written over, or a texture where there are too many bones."""

    buffer: gpu.types.GPUUniformBuf | None = None
    texture: gpu.types.GPUTexture | None = None
    stretched: bool = False
    block: Rows = field(default_factory=lambda: np.zeros((PALETTE_ROWS, 4), dtype=np.float32))

    def write(self, rows: Rows, stretched: bool) -> None:
        """Copy a palette's rows (R, 4) to the GPU; stretched: each bone has five of them, not two."""
        self.stretched = stretched
        if len(rows) > PALETTE_ROWS:
            height = -(-len(rows) // PALETTE_TEXTURE_WIDTH)
            texels = np.zeros((height * PALETTE_TEXTURE_WIDTH, 4), dtype=np.float32)
            texels[:len(rows)] = rows
            data = gpu.types.Buffer("FLOAT", texels.size, cast(Any, texels.ravel()))
            self.texture = gpu.types.GPUTexture((PALETTE_TEXTURE_WIDTH, height), format="RGBA32F", data=data)
            return
        self.texture = None
        self.block[:len(rows)] = rows
        if self.buffer is None:
            self.buffer = gpu.types.GPUUniformBuf(cast(Any, self.block))
        else:
            self.buffer.update(cast(Any, self.block))

    def bind(self, shader: gpu.types.GPUShader) -> None:
        """Let a shader read it."""
        if self.texture is not None:
            shader.uniform_sampler("palette", self.texture)
        elif self.buffer is not None:
            shader.uniform_block("palette", self.buffer)
