"""Draw the pictures of characters on a stage, by the preview: `python3 docs/stage_pictures.py`.

Needs Blender's Python module (bpy) and graphics. Run it with the names of pictures to draw only those. any_rig.png
takes its glTF file from the test data beside the checkout, or from where TAKT_DATA says.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

import takt
from takt.bridge.files.film import write_picture
from takt.bridge.versions import start_gpu
from takt.preview.offscreen import Renderer
from takt.samples import dancer, film
from takt.samples.helix import build_helix

IMAGES = checkout.ROOT / "docs" / "images"
SIZE = 1660, 470
"""Twice as large as they are shown."""
LENS_RAD = 0.14
"""A long one, so that those at the edges look like those in the middle."""
MARGIN_M, FLOOR_M = 0.62, 0.5
DANCE_FRAMES = (61, 205, 349, 517, 541, 589, 757, 1645, 1693)
HELIX_FRAMES = (1, 25, 73, 217, 238, 284, 304)
RIG_MOMENTS_S = (0.0, 0.45, 1.0, 2.9, 3.4, 3.9, 4.4, 5.6, 5.9)
FRAMES_PER_SECOND = 24
_ops: Any = bpy.ops
_context: Any = bpy.context


def dance() -> film.Picture:
    """Draw moments of the dance."""
    armature, mesh = dancer.bound_dancer()
    dancer.play()
    return row(armature, mesh, DANCE_FRAMES, apart_m=1.08, height_m=1.98)


def helix() -> film.Picture:
    """Draw moments of the double helix' score."""
    armature, mesh = build_helix(_context)
    dancer.bind(armature, mesh)
    dancer.play(dancer.LIBRARY / "helix.pha")
    return row(armature, mesh, HELIX_FRAMES, apart_m=1.3, height_m=2.1, follow=False)


def any_rig() -> film.Picture:
    """Play a BVH file, a glTF file of another armature and an Action on a rig with Mixamo's names, in T-pose."""
    from takt.tests.blender import test_any_rig as example

    example.greeter()
    rig, mesh = example.mixamo_in_t_pose(dancer.bind)
    dancer.bind(rig, mesh)
    with tempfile.TemporaryDirectory() as folder:
        example.fill_library(Path(folder))
        dancer.play(Path(folder) / "show.pha")
        return row(rig, mesh, [1 + round(moment * FRAMES_PER_SECOND) for moment in RIG_MOMENTS_S], apart_m=0.95,
                   height_m=1.95, root="mixamorig:Hips")


def row(armature: Any, mesh: Any, frames: Sequence[int], apart_m: float, height_m: float, root: str = "",
        follow: bool = True) -> film.Picture:
    """Draw moments side by side on one stage.

    apart_m: from one figure to the next. height_m: what is seen above the floor. root: the bone that stands in the
    middle of each, or the first. follow: whether a figure is brought back from where it has gone.
    """
    offsets_m = (np.arange(len(frames)) - (len(frames) - 1) / 2.0) * apart_m
    reach = offsets_m[-1] + MARGIN_M
    camera = film.Camera.framing(np.array((-reach, 0.0, 0.0)), np.array((reach, FLOOR_M, height_m)), *SIZE,
                                 beside_rad=0.0, lens_rad=LENS_RAD)
    bone = armature.pose.bones[root or 0]
    pictures = []
    with Renderer(_context.scene, [mesh], *SIZE) as renderer:
        for frame, offset_m in zip(frames, offsets_m, strict=True):
            _context.scene.frame_set(frame)
            aside = np.eye(4)
            aside[:2, 3] = (offset_m, 0.0) - np.array(bone.head[:2]) * follow
            pictures.append(renderer.draw(camera.view_from_world @ aside, camera.clip_from_view))
    shown: Any = camera.ground(np.stack((offsets_m, np.zeros(len(offsets_m))), axis=1))
    for picture in pictures:
        shown = film.over(picture, shown / 255.0 if shown.dtype == np.uint8 else shown)
    return np.asarray(shown)


PICTURES: dict[str, Callable[[], film.Picture]] = {"dance.png": dance, "helix.png": helix, "any_rig.png": any_rig}


def main(names: Sequence[str]) -> None:
    """Draw each picture in an empty file."""
    if reason := start_gpu():
        raise RuntimeError(reason)
    for name in names:
        _ops.wm.read_factory_settings(use_empty=True)
        takt.register()
        write_picture(PICTURES[name](), IMAGES / name)
        takt.unregister()


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:] or list(PICTURES)))
