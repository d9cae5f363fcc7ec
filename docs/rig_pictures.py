"""Draw the pictures of characters other than the sample dancer, by the preview: `python3 docs/rig_pictures.py`.

Needs Blender's Python module (bpy) and graphics. Run it with the names of pictures to draw only those. any_rig.png
takes its glTF file from the test data beside the checkout, or from where TAKT_DATA says.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

import takt
from takt.bridge.versions import start_gpu
from takt.preview.offscreen import Stage
from takt.samples import film
from takt.samples.character import build_character
from takt.samples.helix import build_helix

IMAGES = checkout.ROOT / "docs" / "images"
LIBRARY = checkout.ROOT / "samples" / "library"
HELIX_SIZE = 220, 340
HELIX_FRAMES = (1, 25, 73, 217, 238, 284, 304)
HELIX_BOX = np.array((-0.72, -0.4, 0.0)), np.array((0.72, 0.4, 2.2))
RIG_SIZE = 160, 260
RIG_REACH_M = 0.5
RIG_MOMENTS_S = (0.0, 0.45, 1.0, 2.9, 3.4, 3.9, 4.4, 5.2, 5.6)
_ops: Any = bpy.ops
_context: Any = bpy.context


def helix(path: Path) -> None:
    """Bind the double helix, import its score, and draw it in a row."""
    armature, mesh = build_helix(_context)
    bind(armature, mesh)
    _ops.takt.import_pha(filepath=str(LIBRARY / "helix.pha"))
    camera = film.Camera.framing(*HELIX_BOX, *HELIX_SIZE)
    film.write_png(path, row(mesh, HELIX_FRAMES, [camera] * len(HELIX_FRAMES), np.zeros((len(HELIX_FRAMES), 2))))


def any_rig(path: Path) -> None:
    """Play a BVH file, a glTF file of another armature and an Action on a rig with Mixamo's names."""
    from takt.tests.blender import test_any_rig as example
    from takt.tests.core.rigs import RIGS

    example.greeter()
    made: tuple[Any, Any] = build_character(_context)
    rig, mesh = made
    for joint, name in RIGS["Mixamo"].items():
        rig.data.bones[joint].name = name
    bind(rig, mesh)
    with tempfile.TemporaryDirectory() as folder:
        example.fill_library(Path(folder))
        _ops.takt.import_pha(filepath=str(Path(folder) / "show.pha"))
        frames = [1 + round(moment * 24) for moment in RIG_MOMENTS_S]
        feet = []
        for frame in frames:
            _context.scene.frame_set(frame)
            feet.append(tuple(rig.pose.bones["mixamorig:Hips"].head)[:2])
        reach = np.array((RIG_REACH_M, RIG_REACH_M))
        cameras = [film.Camera.framing(np.append(foot - reach, 0.0), np.append(foot + reach, 2.0), *RIG_SIZE)
                   for foot in np.array(feet)]
        film.write_png(path, row(mesh, frames, cameras, np.array(feet)))


def bind(armature: Any, mesh: Any) -> None:
    """Select both and bind, as a user does."""
    for ob in (mesh, armature):
        ob.select_set(True)
    _context.view_layer.objects.active = armature
    _ops.takt.auto_bind()


def row(mesh: Any, frames: Sequence[int], cameras: Sequence[film.Camera], feet: film.Array) -> film.Picture:
    """Draw frames (F,) side by side, each through its camera and above its place on the ground, (F, 2)."""
    pictures = []
    with Stage(_context.scene, [mesh], cameras[0].width, cameras[0].height) as stage:
        for frame, camera, foot in zip(frames, cameras, feet, strict=True):
            _context.scene.frame_set(frame)
            picture = stage.draw(camera.view_from_world, camera.clip_from_view)
            pictures.append(film.over(picture, camera.ground(foot)))
    return np.concatenate(pictures, axis=1)


PICTURES: dict[str, Callable[[Path], None]] = {"helix.png": helix, "any_rig.png": any_rig}


def main(names: Sequence[str]) -> None:
    """Draw each picture in an empty file."""
    if reason := start_gpu():
        raise RuntimeError(reason)
    for name in names:
        _ops.wm.read_factory_settings(use_empty=True)
        takt.register()
        PICTURES[name](IMAGES / name)
        takt.unregister()


if __name__ == "__main__":
    code = 0
    try:
        main(sys.argv[1:] or list(PICTURES))
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    os._exit(code)  # Blender 4.5 may crash while it winds down
