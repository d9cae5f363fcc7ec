"""Draw the dancers of docs/scene_stage.py in Blender's viewport, frame by frame, for docs/scene_film.py.

    blender --factory-startup -p 0 0 1400 900 --python docs/scene_viewport.py -- FOLDER

Needs a screen. What is drawn is the Action of each dancer.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.docs import scene_stage, window
from takt.docs.scene_film import EVERY, FPS, SIZE
from takt.docs.window import context, operators

EYE_M, SEEN_M, LENS_MM = (4.1, -10.4, 3.0), (0.45, -0.9, 0.8), 50.0
BACKGROUND = (0.36, 0.4, 0.45)


def steps() -> Iterator[None]:
    """Set the scene; then draw a frame at a time."""
    with TemporaryDirectory() as folder:
        yield from _drawn(Path(folder))


def _drawn(folder: Path) -> Iterator[None]:
    window.PAUSE_S = 0.05
    scene = context.scene
    scene.render.fps = FPS * EVERY
    armatures = scene_stage.build(folder)
    scene.camera = _camera()
    window.look_at((0.0, 0.0, 0.8), 4.0)
    space = window.viewport()[1].spaces.active
    space.region_3d.view_perspective, space.shading.type = "CAMERA", "SOLID"
    space.shading.color_type, space.shading.show_cavity, space.shading.show_shadows = "TEXTURE", True, True
    space.shading.background_type, space.shading.background_color = "VIEWPORT", BACKGROUND
    space.overlay.show_overlays = False
    for each in armatures:
        each.hide_set(True)
    render = scene.render
    render.resolution_x, render.resolution_y, render.resolution_percentage = *SIZE, 100
    render.image_settings.file_format = "PNG"
    for _ in range(20):
        yield
    for number, frame in enumerate(range(scene.frame_start, scene.frame_end + 1, EVERY)):
        scene.frame_set(frame)
        yield
        render.filepath = str(window.IMAGES / f"{number:04}.png")
        operators.render.opengl(write_still=True, view_context=True)


def _camera() -> Any:
    data: Any = bpy.data.cameras.new("Camera")
    data.lens = LENS_MM
    made = bpy.data.objects.new("Camera", data)
    made.location = EYE_M
    made.rotation_euler = (Vector(SEEN_M) - Vector(EYE_M)).to_track_quat("-Z", "Y").to_euler()
    context.collection.objects.link(made)
    return made


window.run(steps())
