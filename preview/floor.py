"""A floor under the characters of a film, with their soft shadow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ..core.maths.arrays import FloatArray
from .draw import CameraView, solid_state
from .shader import FLOOR, SOFTEN, Interface, shader

_SHADOW_PX = 256
_LEAN = np.array((0.25, 0.35))
"""Displacement of a shadow, in heights of the object that casts it: away from the viewer's upper left."""
_TALLEST_M = 4.0
WHOLE_PICTURE = ((-1.0, -1.0), (3.0, -1.0), (-1.0, 3.0))


@dataclass(frozen=True, eq=False)
class Floor:
    """A floor. middle: (3,) below the characters, at the floor's height. reach_m: radius within which shadows fall.
    scale: size of the characters relative to humans, for tiles and the softness of shadows."""

    middle: FloatArray
    reach_m: float
    scale: float = 1.0

    @property
    def shadow_view(self) -> CameraView:
        """The view for a shadow's picture: from below, lowest parts in front, sheared along the light's direction."""
        view = np.eye(4)
        view[:2, 2] = -_LEAN
        view[:3, 3] = -(view[:3, :3] @ self.middle)
        view[:3] /= self.scale
        reach = self.reach_m / self.scale
        clip = np.diag((1.0 / reach, 1.0 / reach, 1.0 / _TALLEST_M, 1.0))
        return CameraView(view, clip, _SHADOW_PX, _SHADOW_PX, encode=False)


class FloorPainter:
    """Paints a floor into pictures. Call `free` at the end."""

    def __init__(self) -> None:
        self._heights, self._shadow = (gpu.types.GPUOffScreen(_SHADOW_PX, _SHADOW_PX, format="RGBA16F")
                                       for _ in range(2))

    def free(self) -> None:
        """Free its GPU memory."""
        self._heights.free()
        self._shadow.free()

    def cast_shadow(self, floor: Floor, draw: Callable[[CameraView], None]) -> None:
        """Make the shadow of everything that `draw` draws in a view."""
        with bound(self._heights), solid_state():
            gpu.state.active_framebuffer_get().clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)
            draw(floor.shadow_view)
        with bound(self._shadow), solid_state():
            gpu.state.depth_test_set("NONE")
            program = shader(SOFTEN)
            program.bind()
            program.uniform_sampler("heights", self._heights.texture_color)
            program.uniform_float("texels_per_m", _SHADOW_PX / 2.0 / (floor.reach_m / floor.scale))
            _fill(SOFTEN)

    def paint(self, floor: Floor, view: CameraView) -> None:
        """Fill the bound framebuffer with the floor and its background."""
        program = shader(FLOOR)
        world_from_clip: Any = Matrix(np.linalg.inv(view.clip_from_view @ view.view_from_world).tolist())
        program.bind()
        program.uniform_sampler("shadow", self._shadow.texture_color)
        program.uniform_float("world_from_clip", world_from_clip)
        program.uniform_float("middle", (*floor.middle.tolist(), floor.scale))
        program.uniform_float("shadow_reach", (floor.reach_m, 0.0))
        _fill(FLOOR)


def _fill(interface: Interface) -> None:
    program = shader(interface)
    batch_for_shader(program, "TRIS", {"corner": WHOLE_PICTURE}).draw(program)


def bound(target: gpu.types.GPUOffScreen) -> Any:
    """Return a context in which a target is bound."""
    return cast(Any, target.bind())
