"""Film the sample dancer in Blender's viewport and in X_ITE, side by side.

    blender --factory-startup -p 0 0 1400 900 --python docs/x3d_viewport.py -- VIEWPORT_FOLDER
    .dev/blender-5.2/bin/python -m docs.x3d_film VIEWPORT_FOLDER [FOLDER]

Needs Blender's Python module (bpy), Chromium, and X_ITE: npm ci --prefix benchmarks/x_ite. Leaves x3d.mp4, and x3d.png,
a moment of it. What X_ITE plays is docs/x3d.html as it stands; only its script comes from beside the benchmarks.
"""

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import checkout
import numpy as np

from takt.benchmarks import x_ite_player
from takt.benchmarks.chromium import Page
from takt.bridge.files.film import PictureFile, encode_film
from takt.docs.reel import pixels_of
from takt.samples import film

FPS, FIRST, FRAMES = 15, 24 * 15, 88
"""Frames per second, those before the film, and those of it."""
SIZE = 480, 520
EYE_M, ANGLE_RAD = (0.0, -3.895, 0.798), 0.5
"""Where the page's camera stands, in Blender's axes, and how much it sees from side to side."""
MOMENT = 21
_WORDS_PX = 120
"""Room for what stands below the scene."""
_BEGIN = """(async () => {
  const browser = X3D.getBrowser(), frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  const nodes = () => [...(browser.currentScene?.rootNodes ?? [])];
  while (!nodes().some(node => node.getNodeTypeName() === "TimeSensor")) await frame();
  const of = name => nodes().filter(node => node.getNodeTypeName().endsWith(name));
  of("TimeSensor")[0].enabled = false;
  of("Viewpoint")[0].fieldOfView = ANGLE;
  window.seconds = of("TimeSensor")[0].cycleInterval;
  window.show = async time_s => {
    for (const node of of("Interpolator")) node.set_fraction = time_s / seconds;
    for (let i = 0; i < 3; ++i) await frame();
  };
  for (let i = 0; i < 60; ++i) await frame();
})()"""
"""Wait for the scene and its texture; let it be shown at a time."""


def in_x_ite(folder: Path) -> Iterator[Path]:
    """Yield X_ITE's pictures of the page."""
    page = (checkout.ROOT / "docs" / "x3d.html").read_text(encoding="utf-8")
    server = x_ite_player.Server(re.sub(r'src="https://[^"]*/dist/', 'src="/x_ite/', page).encode())
    width, height = SIZE
    try:
        with Page(server.address, width, height + _WORDS_PX) as shown:
            shown.run('new Promise(resolve => document.readyState === "complete" ? resolve() : '
                      'addEventListener("load", resolve))')
            canvas = 'document.querySelector("x3d-canvas")'
            shown.run(f'{canvas}.style.flex = "0 0 {height}px"; {canvas}.setAttribute("notifications", "false")')
            shown.run(_BEGIN.replace("ANGLE", str(ANGLE_RAD)))
            for number in range(FRAMES):
                shown.run(f"show({(FIRST + number) / FPS})")
                path = folder / f"x{number:04}.png"
                path.write_bytes(shown.picture(0, 0, width, height))
                yield path
    finally:
        server.shutdown()


def main(viewport: Path, folder: Path) -> None:
    """Draw the film, and the picture of a moment."""
    folder.mkdir(parents=True, exist_ok=True)
    size = 2 * SIZE[0], SIZE[1]
    with tempfile.TemporaryDirectory() as made, film.quiet():
        files = list[Path]()
        with PictureFile(*size) as file:
            for number, theirs in enumerate(in_x_ite(Path(made))):
                sides = [pixels_of(path) for path in (viewport / f"{number:04}.png", theirs)]
                files.append(Path(made) / f"{number:04}.png")
                file.write(np.concatenate(sides, axis=1), files[-1])
        (folder / "x3d.png").write_bytes(files[MOMENT].read_bytes())
        encode_film(files, folder / "x3d.mp4", FPS, 1.0, size)


if __name__ == "__main__":
    checkout.run(lambda: main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else
                              checkout.ROOT / "docs" / "images"))
