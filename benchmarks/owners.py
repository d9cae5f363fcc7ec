"""Draw whose each place is: for each character of a folder the artist's owners beside those of the default method.

    python -m benchmarks.owners PICTURE.png [folder of .npz cases]

A place has the colour of the bone that moves it most. Prints the order of the characters, row by row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from takt.benchmarks.weights import Case, body_of, default
from takt.bridge.files.film import write_picture
from takt.core.binding.input import BindInput
from takt.core.binding.surface import triangulate
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.maths.rotations import IDENTITY
from takt.core.skeletons.skeleton import Skeleton
from takt.preview.colours import bone_colours
from takt.tests.beside import DATA

_CELL, _PAIRS = 128, 5
_FILLED = 0.9
_TURN_RAD, _TILT_RAD = 0.5, 0.2
_LIGHT = np.array((0.3, -0.8, 0.52))
_DARKEST = 0.45
_PAPER = 255

Picture = npt.NDArray[np.uint8]


def main(arguments: list[str]) -> int:
    """Draw the sheet."""
    return draw_sheet("owners", arguments, _PAIRS, _pairs)


def _pairs(folder: Path) -> Iterator[tuple[str, Picture]]:
    for path in sorted(folder.glob("*.npz")):
        case = Case.load(path)
        body, colours = body_of(case), colours_of(case)
        yield path.stem, np.concatenate([drawn(body, colours[weights.argmax(axis=1)], _CELL)
                                         for weights in (case.weights, default(case))], axis=1)


def draw_sheet(benchmark: str, arguments: list[str], across: int,
               pictures: Callable[[Path], Iterator[tuple[str, Picture]]]) -> int:
    """Write a picture of pictures, so many in a row, and print their names; return the exit code.

    arguments: where to write it, then the folder of cases, or none for that of the data. pictures: yields those of the
    cases in a folder, of one size, with their names.
    """
    if not arguments:
        sys.stderr.write(f"python -m benchmarks.{benchmark} PICTURE.png [folder of .npz cases]\n")
        return 2
    cells = list[Picture]()
    for name, picture in pictures(Path(arguments[1]) if arguments[1:] else DATA / "bind"):
        cells.append(picture)
        sys.stdout.write(name + ("\n" if len(cells) % across == 0 else ", "))
        sys.stdout.flush()
    while len(cells) % across:
        cells.append(np.full_like(cells[0], _PAPER))
    rows = [np.concatenate(cells[begin:begin + across], axis=1) for begin in range(0, len(cells), across)]
    write_picture(np.concatenate(rows), Path(arguments[0]))
    return 0


def screen_from_body(body: BindInput, points: FloatArray, pixels: int) -> FloatArray:
    """Return where points (N, 3) are in a picture of a body that is so many pixels wide: right, down, and away."""
    seen = body.vertices @ _view().T
    low, high = seen.min(axis=0), seen.max(axis=0)
    scale = _FILLED * pixels / max(high[0] - low[0], high[2] - low[2])
    points = points @ _view().T
    across = np.column_stack((points[:, 0], -points[:, 2], points[:, 1]))
    middle = 0.5 * np.array((low[0] + high[0], -low[2] - high[2], 0.0))
    return np.asarray((across - middle) * scale + np.array((0.5 * pixels, 0.5 * pixels, 0.0)))


def drawn(body: BindInput, colours: FloatArray, pixels: int) -> Picture:
    """Return a picture (pixels, pixels, 3) of a body with colours (V, 3), sRGB, seen from its front and a little above.

    Z is up, and the body faces −Y. Triangles are sampled two times a pixel, and the nearest sample of each pixel stays.
    """
    points, screen = body.vertices @ _view().T, screen_from_body(body, body.vertices, pixels)
    triangles = triangulate(body.vertices, body.face_vertices, body.face_sizes)
    first, second, third = (points[corner] for corner in triangles.T)
    normal = np.cross(second - first, third - first)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
    light = _DARKEST + (1.0 - _DARKEST) * np.abs(normal @ _LIGHT)
    longest = np.linalg.norm(screen[triangles] - screen[np.roll(triangles, 1, axis=1)], axis=2).max(axis=1)
    steps = 2 ** np.ceil(np.log2(np.maximum(2.0 * longest, 1.0))).astype(np.int64)
    samples = [_samples(screen, colours, triangles[steps == step], light[steps == step], int(step))
               for step in np.unique(steps)]
    places, seen = (np.concatenate(some) for some in zip(*samples, strict=True))
    pixel = np.clip(places[:, :2].astype(np.int64), 0, pixels - 1) @ np.array((1, pixels))
    order = np.lexsort((places[:, 2], pixel))
    kept = order[np.unique(pixel[order], return_index=True)[1]]
    picture = np.full((pixels * pixels, 3), _PAPER, dtype=np.uint8)
    picture[pixel[kept]] = np.clip(255.0 * seen[kept], 0.0, 255.0)
    return picture.reshape(pixels, pixels, 3)


def _samples(screen: FloatArray, colours: FloatArray, triangles: IntArray, light: FloatArray,
             steps: int) -> tuple[FloatArray, FloatArray]:
    """Return places and colours, (N, 3) each, of a grid of samples over each triangle, `steps` along an edge."""
    one, other = (values.reshape(-1) for values in np.mgrid[:steps + 1, :steps + 1])
    share = np.stack((one, other, steps - one - other), axis=1)[one + other <= steps] / steps
    places, seen = (np.einsum("sk,tkc->tsc", share, values[triangles]) for values in (screen, colours))
    return places.reshape(-1, 3), (seen * light[:, None, None]).reshape(-1, 3)


def _view() -> FloatArray:
    (c, s), (d, t) = ((np.cos(angle), np.sin(angle)) for angle in (_TURN_RAD, _TILT_RAD))
    tilted, turned = np.array(((1, 0, 0), (0, d, -t), (0, t, d))), np.array(((c, -s, 0), (s, c, 0), (0, 0, 1)))
    return np.asarray(tilted @ turned)


def colours_of(case: Case) -> FloatArray:
    """Return the bones' colours (B, 3), sRGB, as the preview draws zones."""
    body = body_of(case)
    heads = body.heads / float(np.ptp(body.vertices, axis=0).max())
    local = heads - np.where(body.bone_parents[:, None] >= 0, heads[body.bone_parents], 0.0)
    count = len(heads)
    rest = Skeleton(body.bone_names, body.bone_parents, np.tile(IDENTITY, (count, 1)), local, np.ones((count, 3)))
    return np.asarray(bone_colours(rest) ** (1.0 / 2.2))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
