"""Smooth edges in a viewport: figures are drawn at twice its resolution, and averaged into it.

`gpu` offers no multisampling. The average gets the nearest depth below it. So figures stay behind objects in front of
them, and in front of objects that Blender draws later.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from . import draw
from .floor import WHOLE_PICTURE
from .shader import OVERSAMPLING, SMOOTH, shader

_MOST_PX = 4_200_000
"""Viewports with more pixels (200 MB on the GPU) are drawn without smoothing, since steps in them are small."""


def is_wanted(width: int, height: int) -> bool:
    """Return whether Blender's preferences ask for smooth edges, and a viewport is not too large for that."""
    assert bpy.context.preferences is not None
    return bpy.context.preferences.system.viewport_aa != "OFF" and width * height <= _MOST_PX


class Smooth:
    """Textures of the size of the largest viewport so far, for all viewports."""

    def __init__(self) -> None:
        self._size = 0, 0
        self._colour: gpu.types.GPUTexture | None = None
        self._depth: gpu.types.GPUTexture | None = None
        self._target: Any = None
        self._picture: gpu.types.GPUBatch | None = None

    @contextmanager
    def smoothed(self) -> Iterator[None]:
        """Draw at a higher resolution inside of a `with`, then blend the result into the bound framebuffer.

        Colours with alpha must be blended, so that they are premultiplied. Parts drawn without depth must lie within
        two pixels of parts with depth, as outlines do.
        """
        _, _, width, height = gpu.state.viewport_get()
        fine = width * OVERSAMPLING, height * OVERSAMPLING
        self._grow(*fine)
        with cast(Any, self._target.bind()):
            gpu.state.viewport_set(0, 0, *fine)
            self._target.clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)
            yield
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        gpu.state.blend_set("ALPHA")
        program = shader(SMOOTH)
        self._picture = self._picture or batch_for_shader(program, "TRIS", {"corner": WHOLE_PICTURE})
        program.bind()
        program.uniform_sampler("fine", cast(gpu.types.GPUTexture, self._colour))
        program.uniform_sampler("fine_depth", cast(gpu.types.GPUTexture, self._depth))
        draw.draw_batch(self._picture, program, 1)
        gpu.state.blend_set("NONE")

    def _grow(self, width: int, height: int) -> None:
        if width <= self._size[0] and height <= self._size[1]:
            return
        self._size = max(width, self._size[0]), max(height, self._size[1])
        self._colour = gpu.types.GPUTexture(self._size, format="RGBA16F")
        self._depth = gpu.types.GPUTexture(self._size, format="DEPTH_COMPONENT32F")
        self._target = gpu.types.GPUFrameBuffer(depth_slot=self._depth, color_slots=self._colour)
