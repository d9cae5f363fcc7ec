"""Make the film of a mesh that gets a skeleton and dances: fit.mp4, and fit.png, a moment.

    .dev/blender-5.2/bin/python -m docs.fit_film PICTURES [FOLDER]

PICTURES is what fit_viewport.py has left. Each picture is shown for as long as it stood on the screen. Needs Blender's
Python module (bpy).
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

import checkout
import numpy as np

from takt.bridge.files.film import encode_film
from takt.samples import film

SIZE: Final = 848, 646
FPS, DANCE_FPS = 12, 12
MOMENT: Final = 40
"""So many pictures before the end is the one that is kept."""


def main(pictures: Path, folder: Path) -> None:
    """Encode the film in real time, and keep the picture of a moment."""
    times = np.array(json.loads((pictures / "times.json").read_text(encoding="utf-8")))
    shown = np.searchsorted(times, np.arange(times[0], times[-1], 1.0 / FPS), side="right") - 1
    with tempfile.TemporaryDirectory() as made, film.quiet():
        files = [Path(made) / f"{number:05}.png" for number in range(len(shown))]
        for file, picture in zip(files, shown.tolist(), strict=True):
            file.symlink_to((pictures / f"{picture:05}.png").resolve())
        encode_film(files, folder / "fit.mp4", FPS, 1.0, SIZE, quality="LOW")
        (folder / "fit.png").write_bytes(files[-MOMENT].read_bytes())


if __name__ == "__main__":
    checkout.run(lambda: main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]) if len(sys.argv) > 2 else
                              checkout.ROOT / "docs" / "images"))
