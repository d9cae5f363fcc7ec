"""Draw the sample dancer in Blender's viewport, frame by frame, for docs/x3d_film.py, which has X_ITE's beside it.

    blender --factory-startup -p 0 0 1400 900 --python docs/x3d_viewport.py -- FOLDER

Needs a screen. The camera is that of docs/x3d.html, and frames are as long as there.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.docs import window
from takt.docs.window import context, operators
from takt.docs.x3d_film import ANGLE_RAD, EYE_M, FIRST, FPS, FRAMES, SIZE


def steps() -> Iterator[None]:
    """Set the scene; then draw a frame at a time."""
    window.PAUSE_S = 0.1
    operators.takt.add_sample()
    scene = context.scene
    scene.render.fps = FPS
    operators.takt.rebuild()
    scene.camera = camera()
    rig: Any = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    window.look_at((0.0, 0.0, 0.8), 4.0)
    space = window.viewport()[1].spaces.active
    space.region_3d.view_perspective, space.shading.type = "CAMERA", "SOLID"
    space.overlay.show_cursor = False
    rig.hide_set(True)
    render = scene.render
    render.resolution_x, render.resolution_y, render.resolution_percentage = *SIZE, 100
    render.image_settings.file_format = "PNG"
    for _ in range(20):
        yield
    begin: int = rig.takt.frame_start
    for number in range(FRAMES):
        scene.frame_set(begin + FIRST + number)
        yield
        render.filepath = str(window.IMAGES / f"{number:04}.png")
        operators.render.opengl(write_still=True, view_context=True)


def camera() -> Any:
    """Return a camera as the page's: it looks along Y, and sees so many radians from side to side."""
    data: Any = bpy.data.cameras.new("Camera")
    data.sensor_fit, data.angle = "HORIZONTAL", ANGLE_RAD
    made = bpy.data.objects.new("Camera", data)
    made.location, made.rotation_euler = EYE_M, (math.pi / 2.0, 0.0, 0.0)
    context.collection.objects.link(made)
    return made


window.run(steps())
