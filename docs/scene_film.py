"""Make the film of two dancers on a stage out of pictures of the viewport: scene.mp4, and scene_film.png, a moment.

    .dev/blender-5.2/bin/python -m docs.scene_film PICTURES [FOLDER]

PICTURES is what scene_viewport.py has left. Needs Blender's Python module (bpy).
"""

import sys
from pathlib import Path
from typing import Final

import checkout

from takt.bridge.files.film import encode_film
from takt.samples import film

FPS, EVERY = 12, 2
"""Pictures of the film in a second, and every which frame of the scene is one of them."""
SIZE: Final = 960, 600
MOMENT: Final = 0.78
"""Of the film, when its picture is taken."""


def main(pictures: Path, folder: Path) -> None:
    """Encode the film, and keep the picture of a moment."""
    files = sorted(pictures.glob("*.png"))
    with film.quiet():
        encode_film(files, folder / "scene.mp4", FPS, 1.0, SIZE, quality="MEDIUM")
    (folder / "scene_film.png").write_bytes(files[int(MOMENT * len(files))].read_bytes())


if __name__ == "__main__":
    checkout.run(lambda: main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else
                              checkout.ROOT / "docs" / "images"))
