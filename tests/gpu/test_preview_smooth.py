"""Smooth edges: what is laid into a viewport is the mean of what is drawn at twice its size, at the depth it has."""

from collections.abc import Callable
from functools import partial
from typing import Any

import bpy
import gpu
import numpy as np
import pytest
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from takt.core.maths.arrays import FloatArray
from takt.preview import smooth as smooth_module
from takt.preview.cast import Actor, Cast
from takt.preview.character import PreviewCharacter
from takt.preview.choices import Choices
from takt.preview.draw import CameraView
from takt.preview.floor import bound
from takt.preview.smooth import Smooth
from takt.tests.characters import context, own_character
from takt.tests.gpu.test_preview_playing import SIZE, camera_matrices

BEHIND = np.array((0.1, 0.5, 0.2, 1.0))
SELECTED = (1.0, 0.4, 0.0, 1.0)
HALF_FLOAT = 2e-3
NEAR, FAR = -0.99, 0.9999
"""Depths in clip space before and behind the character."""


Draw = Callable[..., FloatArray]


@pytest.fixture
def draw() -> Draw:
    """Return what draws a character; see drawn."""
    rig, mesh = own_character()
    view, projection = camera_matrices()
    return partial(drawn, rig, mesh, CameraView(np.array(view), np.array(projection), SIZE, SIZE, encode=False))


def drawn(rig: bpy.types.Object, mesh: bpy.types.Object, view: CameraView, smooth: Smooth | None, size: int = SIZE, *,
          choices: Choices | None = None, outline: Any = None, before: float | None = None,
          after: float | None = None) -> FloatArray:
    """Draw the character over a colour; before, after: when a white half of the picture is drawn, at that depth."""
    made = PreviewCharacter(rig.session_uid)
    made.note_settings([mesh])
    made.refresh(rig, [mesh])
    target = gpu.types.GPUOffScreen(size, size, format="RGBA32F")
    with bound(target):
        gpu.state.active_framebuffer_get().clear(color=tuple(BEHIND), depth=1.0)
        if before is not None:
            white_half(before)
        Cast().draw([Actor(made, rig, [mesh], None, 0.0, outline)], view, choices or Choices(), smooth=smooth)
        if after is not None:
            white_half(after)
        pixels: Any = gpu.state.active_framebuffer_get().read_color(0, 0, size, size, 4, 0, "FLOAT")
    pixels.dimensions = size * size * 4
    target.free()
    return np.array(pixels).reshape(size, size, 4)


def white_half(depth: float) -> None:
    """Fill the left half of the picture at a depth."""
    program = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = [(x, y, depth) for x, y in ((-1.0, -1.0), (0.0, -1.0), (-1.0, 1.0), (0.0, 1.0))]
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    kept: Any = gpu.matrix.get_projection_matrix()
    gpu.matrix.push()
    gpu.matrix.load_identity()
    gpu.matrix.load_projection_matrix(Matrix.Identity(4))
    program.bind()
    program.uniform_float("color", (1.0, 1.0, 1.0, 1.0))
    batch_for_shader(program, "TRI_STRIP", {"pos": corners}).draw(program)
    gpu.matrix.load_projection_matrix(kept)
    gpu.matrix.pop()
    gpu.state.depth_test_set("NONE")


@pytest.mark.parametrize("outline", [None, SELECTED], ids=["plain", "outlined"])
@pytest.mark.parametrize("choices", [Choices(), Choices(picture="ZONES"), Choices(see_through=True)],
                         ids=["shaded", "zones", "see-through"])
def test_it_is_the_mean_of_four(draw: Draw, choices: Choices, outline: Any) -> None:
    fine, smooth, coarse = (draw(how, size, choices=choices, outline=outline)
                            for how, size in ((None, 2 * SIZE), (Smooth(), SIZE), (None, SIZE)))
    mean = fine.reshape(SIZE, 2, SIZE, 2, 4).mean(axis=(1, 3))
    np.testing.assert_allclose(smooth[..., :3], mean[..., :3], atol=HALF_FLOAT)
    assert np.abs(coarse[..., :3] - mean[..., :3]).max() > 0.1


@pytest.mark.parametrize("outline", [None, SELECTED], ids=["plain", "outlined"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_it_has_its_depth(draw: Draw, when: str, outline: Any) -> None:
    """What is nearer hides it, what is farther does not, whichever was drawn first."""
    alone = draw(Smooth(), outline=outline)
    is_figure = np.abs(alone - BEHIND)[..., :3].max(axis=-1) > 1e-6
    is_half = np.arange(SIZE)[None] < SIZE // 2
    assert (is_figure & is_half).sum() > 20
    near, far = (draw(Smooth(), outline=outline, **{when: depth}) for depth in (NEAR, FAR))
    np.testing.assert_array_equal((near[..., :3] == 1.0).all(axis=-1), np.broadcast_to(is_half, (SIZE, SIZE)))
    np.testing.assert_array_equal((far[..., :3] == 1.0).all(axis=-1), is_half & ~is_figure)
    np.testing.assert_array_equal(far[:, SIZE // 2:], alone[:, SIZE // 2:])


def test_a_smaller_viewport_after_a_larger_one_is_the_same(draw: Draw) -> None:
    shared = Smooth()
    shared._grow(5 * SIZE, 4 * SIZE)
    np.testing.assert_array_equal(draw(shared), draw(Smooth()))


def test_it_is_as_blenders_preferences_say(monkeypatch: pytest.MonkeyPatch) -> None:
    system = context.preferences.system
    assert smooth_module.is_wanted(1920, 1080) and not smooth_module.is_wanted(3840, 2160)
    kept = system.viewport_aa
    system.viewport_aa = "OFF"
    assert not smooth_module.is_wanted(1920, 1080)
    system.viewport_aa = kept
