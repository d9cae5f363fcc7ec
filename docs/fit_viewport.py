"""Film a mesh that has nothing and soon dances, in Blender's window; fit_film.py makes the film.

    blender --factory-startup -p 0 0 1400 900 --python docs/fit_viewport.py -- FOLDER

Needs a screen of 1400 × 900, ImageMagick and xdotool. Leaves in FOLDER pictures of the window, 00000.png on, and in
times.json when each was taken, in seconds after the mesh was opened. The clock in them is a real one until the score
plays; then each frame is drawn in turn. The mesh is selected and the skeleton fitted with the mouse; the score is
imported by script.
"""

import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout  # noqa: F401  # makes takt known

from takt.docs import window
from takt.docs.fit_film import DANCE_FPS, SIZE
from takt.docs.window import context, operators
from takt.samples import dancer
from takt.samples.character import build_character

BODY_PX, BUTTON_PX = (462.0, 400.0), (714.0, 128.0)
"""Where the mesh and the button are in the window, from its upper left corner."""
DANCE_S: Final = 0.0, 8.0
"""The part of the score that is shown."""
_POINTER = "0,0 0,17 4,13.5 7,20 9.5,19 6.5,12.5 12,12"
_WAIT_PICTURES = 60


class Reel:
    """Pictures of the window with the mouse, a clock and words, and when they were taken."""

    def __init__(self) -> None:
        """Begin with the mouse beside the mesh."""
        self.times, self.labels, self.mouse, self.words = list[float](), list[list[str]](), (560.0, 560.0), ""
        self.begun, self.stopped = time.monotonic(), 0.0

    def shoot(self) -> None:
        """Take a picture; once the clock is stopped, it counts as taken one frame of the dance after the last."""
        self.times.append(self.times[-1] + 1.0 / DANCE_FPS if self.stopped else time.monotonic() - self.begun)
        x, y = (round(each) for each in self.mouse)
        self.labels.append(["-fill", "white", "-stroke", "black", "-draw", f"translate {x},{y} polygon {_POINTER}",
                            "-stroke", "none", "-pointsize", "26", "-undercolor", "#000000b0", "-gravity", "NorthWest",
                            "-annotate", "+80+150", f" {self.words} ", "-annotate", "+80+190",
                            f" {self.stopped or self.times[-1]:.0f} s "])
        subprocess.run(["import", "-window", "root", "-silent", str(self._file("bmp"))], check=True)

    def label(self) -> None:
        """Draw mouse, clock and words in what was taken."""
        part = f"{window.WIDTH}x{window.HEIGHT}+{window.LEFT}+{window.TOP}"
        for number, label in enumerate(self.labels):
            raw = self._file("bmp", number)
            subprocess.run(["magick", str(raw), "-crop", part, "+repage", *label, "-resize", f"{SIZE[0]}x{SIZE[1]}!",
                            "-define", "png:compression-level=1", str(raw.with_suffix(".png"))], check=True)
            raw.unlink()

    def _file(self, kind: str, number: int = -1) -> Path:
        return window.IMAGES / f"{len(self.times) - 1 if number < 0 else number:05}.{kind}"


reel = Reel()


def steps() -> Iterator[None]:
    """Make the mesh and open it; fit, and let it dance."""
    path = window.IMAGES / "mesh.blend"
    armature, _ = build_character(context)
    bpy.data.objects.remove(armature)
    for _ in range(3):
        yield
    window.make_small()
    window.show_sidebar()
    window.PAUSE_S = 0.2
    window.look_at((0.0, 0.0, 0.88), 3.3)
    overlay = window.viewport()[1].spaces.active.overlay
    overlay.show_bones = overlay.show_outline_selected = True
    for _ in range(3):
        yield
    window.open_tab()
    yield
    operators.wm.save_as_mainfile(filepath=str(path), copy=True)
    operators.wm.open_mainfile(filepath=str(path), load_ui=False)
    reel.begun, reel.words = time.monotonic(), "A mesh, with no bones and no weights"
    yield from waits(2)
    yield from clicks(*BODY_PX)
    reel.words = "Fit Skeleton"
    yield from clicks(*BUTTON_PX)
    for _ in range(_WAIT_PICTURES):
        if bpy.data.armatures:
            break
        yield from waits(1)
    reel.words = "A skeleton that fits, and the mesh is bound to it"
    yield from waits(4)
    reel.words = "A score is imported"
    operators.takt.import_pha("EXEC_DEFAULT", filepath=str(dancer.DANCE))
    rig = next(ob for ob in context.scene.objects if ob.type == "ARMATURE")
    for _ in range(_WAIT_PICTURES):
        yield from waits(1)
        if rig.animation_data is not None and rig.animation_data.action is not None:
            break
    yield from dances()
    reel.label()
    (window.IMAGES / "times.json").write_text(json.dumps(reel.times), encoding="utf-8")
    logging.getLogger(__name__).warning("%d pictures, dances after %.1f s", len(reel.times), reel.stopped)


def dances() -> Iterator[None]:
    """Go through a part of the dance, frame by frame; after a moment the bones are not drawn."""
    reel.stopped, reel.words = time.monotonic() - reel.begun, "It dances"
    scene = context.scene
    rate = scene.render.fps / scene.render.fps_base
    for picture, seconds in enumerate(np.arange(*DANCE_S, 1.0 / DANCE_FPS).tolist()):
        scene.frame_set(scene.frame_start + round(seconds * rate))
        if picture == 2 * DANCE_FPS:
            overlay = window.viewport()[1].spaces.active.overlay
            overlay.show_bones = overlay.show_outline_selected = False
        yield
        yield
        reel.shoot()


def waits(pictures: int) -> Iterator[None]:
    """Let Blender draw, and take pictures."""
    for _ in range(pictures):
        yield
        reel.shoot()


def clicks(x: float, y: float) -> Iterator[None]:
    """Move the mouse to a place in the window, and click."""
    start = reel.mouse
    for share in (0.5, 1.0):
        reel.mouse = start[0] + share * (x - start[0]), start[1] + share * (y - start[1])
        window.mouse(*(round(each + edge) for each, edge in zip(reel.mouse, (window.LEFT, window.TOP), strict=True)))
        yield from waits(1)
    window.tell("click", "1")
    yield from waits(2)


window.run(steps())
