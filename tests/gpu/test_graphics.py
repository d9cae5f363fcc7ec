"""The ground that the other GPU tests stand on."""

import bpy
import gpu
import numpy as np

from takt.bridge.versions import start_gpu


def test_a_cleared_target_holds_its_colour() -> None:
    target = gpu.types.GPUOffScreen(4, 2)
    with target.bind():  # type: ignore[attr-defined]  # the stubs lack its __enter__
        buffer = gpu.state.active_framebuffer_get()
        buffer.clear(color=(0.0, 1.0, 0.0, 1.0))
        pixels = np.array(buffer.read_color(0, 0, 4, 2, 4, 0, "UBYTE").to_list(), dtype=np.uint8)
    target.free()
    assert pixels.reshape(-1, 4).tolist() == [[0, 255, 0, 255]] * 8


def test_graphics_start_again_and_leave_no_data() -> None:
    assert start_gpu() == ""
    assert not bpy.data.cameras
    assert len(bpy.data.scenes) == 1
