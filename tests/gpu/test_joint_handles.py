"""Handles of fitted joints, drawn: orange where a joint is a guess, blue where it is none, yellow where it moved."""

from typing import Any

import bpy  # noqa: F401  # brings gpu along
import gpu
import numpy as np
from mathutils import Matrix

from takt.core.fitting import FittedSkeleton
from takt.preview.joint_handles import Handles, Lens, draw

SIZE = 120
NAMES = ("root", "sure", "guess", "moved")
COLOURS = {"sure": (64, 166, 255), "guess": (255, 140, 26), "moved": (255, 242, 102)}
NEAR = 12
"""Of 255: what colours may differ by."""


def picture(handles: Handles) -> np.ndarray:
    """Draw handles as they stand in pixels; return the colours (SIZE, SIZE, 3) from the lowest row up."""
    clip = np.array(((2.0 / SIZE, 0.0, 0.0, -1.0), (0.0, 2.0 / SIZE, 0.0, -1.0), (0.0, 0.0, -1.0, 0.0),
                     (0.0, 0.0, 0.0, 1.0)))
    target: Any = gpu.types.GPUOffScreen(SIZE, SIZE)
    with target.bind():
        buffer = gpu.state.active_framebuffer_get()
        buffer.clear(color=(0.0, 0.0, 0.0, 1.0))
        matrices: Any = gpu.matrix
        with matrices.push_pop(), matrices.push_pop_projection():
            matrices.load_matrix(Matrix.Identity(4))
            matrices.load_projection_matrix(Matrix(clip.tolist()))
            draw(handles, Lens(clip, SIZE, SIZE), 1.0)
        pixels = np.array(buffer.read_color(0, 0, SIZE, SIZE, 4, 0, "UBYTE").to_list(), dtype=np.uint8)
    target.free()
    return pixels.reshape(SIZE, SIZE, 4)[..., :3].astype(int)


def skeleton() -> FittedSkeleton:
    places = np.array(((20.0, 20.0, 0.0), (20.0, 90.0, 0.0), (60.0, 90.0, 0.0), (100.0, 90.0, 0.0)))
    return FittedSkeleton(NAMES, np.array((-1, 0, 0, 0)), places, places + np.array((0.0, 12.0, 0.0)),
                          np.tile((1.0, 0.0, 0.0), (4, 1)), np.array((0.6, 1.0, 0.25, 1.0)), np.array((0.0, 1.0, 0.0)),
                          np.array((0.0, 0.0, 1.0)))


def test_handles_have_the_colours_of_what_is_known_of_their_joints() -> None:
    fitted = skeleton()
    drawn = picture(Handles(fitted, NAMES, np.array([name == "moved" for name in NAMES])))
    for name, colour in COLOURS.items():
        column, row = fitted.position(name)[:2].astype(int)
        assert np.abs(drawn[row - 3, column] - colour).max() < NEAR, name  # below the bone that begins there


def test_a_ring_is_as_long_as_the_joint_is_certain() -> None:
    fitted = skeleton()
    drawn = picture(Handles(fitted, NAMES, np.zeros(4, dtype=np.bool_)))
    lengths = {}
    for name in ("sure", "guess"):
        column, row = fitted.position(name)[:2].astype(int)
        angles = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)
        rows, columns = (np.rint(middle + 10.2 * way(angles)).astype(int)
                         for middle, way in ((row, np.sin), (column, np.cos)))
        ring = drawn[rows, columns]
        lengths[name] = float((np.abs(ring - COLOURS[name]).max(axis=1) < 90).mean())
    assert lengths["sure"] > 0.7 and 0.1 < lengths["guess"] < 0.45


def test_the_joint_under_the_mouse_has_its_name_beside_it() -> None:
    fitted = skeleton()
    plain = picture(Handles(fitted, NAMES, np.zeros(4, dtype=np.bool_)))
    hovered = picture(Handles(fitted, NAMES, np.zeros(4, dtype=np.bool_), hovered=0))
    beside = np.abs(hovered - plain)[10:30, 34:110]
    assert beside.max() > 200
