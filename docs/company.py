"""Film nine dancers who dance one score, each by a seed of their own: `python3 docs/company.py [FOLDER]`.

Needs Blender's Python module (bpy) and graphics. Leaves company.mp4 and company.png, a moment of it.
"""

import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

import takt
from takt.bridge import properties
from takt.bridge.versions import start_gpu
from takt.operators.render_film import rendered, seen
from takt.samples import dancer, film

IMAGES = checkout.ROOT / "docs" / "images"
APART_M, BEHIND_M = 1.55, 1.35
CAMERA_M, LENS_MM, TILT_RAD = (0.0, -14.4, 2.5), 62.0, np.radians(81.3)
"""They come forward for 4.5 m before they stay where they are."""
SIZE = 1660, 700
MOMENT_S = 8.46
"""When the picture is taken: all are in the middle of a figure of their own."""
FILM_SIZE, FRAMES_PER_SECOND = 0.34, 12
_ops: Any = bpy.ops
_context: Any = bpy.context


def nine() -> None:
    """Put a company on the stage: one dancer bound as a user does it, eight copies, a seed for each."""
    armature, mesh = dancer.bound_dancer()
    dancer.play(dancer.LIBRARY / "company.pha")
    for ob in _context.selected_objects:
        ob.select_set(False)
    for number in range(1, 9):
        own, body = armature.copy(), mesh.copy()
        own.animation_data_clear()
        properties.character(own).action = None
        body.parent = own if body.parent == armature else body.parent
        for modifier in body.modifiers:
            if modifier.type == "ARMATURE":
                modifier.object = own
        row, place = divmod(number, 3)
        own.location.x += APART_M * ((0, 1, -1)[place] + 0.33 * (row % 2))
        own.location.y += BEHIND_M * row
        for ob in (own, body):
            _context.collection.objects.link(ob)
        own.select_set(True)
    armature.select_set(True)
    _context.view_layer.objects.active = armature
    _ops.takt.seed_each()


def place_camera() -> None:
    """Look at where they arrive, from before them and a little above."""
    data = bpy.data.cameras.new("Camera")
    data.lens = LENS_MM
    camera = bpy.data.objects.new("Camera", data)
    camera.location, camera.rotation_euler = CAMERA_M, (TILT_RAD, 0.0, 0.0)
    _context.collection.objects.link(camera)
    _context.scene.camera = camera
    _context.scene.render.resolution_x, _context.scene.render.resolution_y = SIZE


def main(folder: Path) -> None:
    """Draw the film, and the picture of a moment."""
    if reason := start_gpu():
        raise RuntimeError(reason)
    _ops.wm.read_factory_settings(use_empty=True)
    _context.scene.render.fps = FRAMES_PER_SECOND
    takt.register()
    nine()
    place_camera()
    for name, size in (("company.png", 1.0), ("company.mp4", FILM_SIZE)):
        _context.scene.frame_set(1 + round(MOMENT_S * FRAMES_PER_SECOND))
        with film.quiet():
            for _ in rendered(_context, folder / name, seen(_context, "CAMERA", size)):
                pass


if __name__ == "__main__":
    checkout.run(lambda: main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES))
