"""Draw fitted skeletons beside the artists': for each humanoid of a folder its mesh, with both.

    python -m benchmarks.fit_sheet PICTURE.png [folder of .npz cases]

Left of each pair what was fitted, right the artist's joints. Left limbs are blue, right ones red, the middle black.
Prints the order, row by row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from takt.benchmarks.fit_skeleton import artists
from takt.benchmarks.owners import drawn, screen_from_body
from takt.bridge.film import write_picture
from takt.core.binding.input import BindInput
from takt.core.fitting import FitError, FittingProblem, fit_skeleton
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.tests.beside import DATA

_CELL, _PAIRS = 220, 4
_PAPER, _PALE = 255, 0.85
_COLOURS = {"l": (30, 90, 230), "r": (220, 50, 40), "": (20, 20, 20)}
_DOT = 2

Picture = npt.NDArray[np.uint8]


def main(arguments: list[str]) -> int:
    """Draw the sheet."""
    if not arguments:
        sys.stderr.write("python -m benchmarks.fit_sheet PICTURE.png [folder of .npz cases]\n")
        return 2
    folder = Path(arguments[1]) if arguments[1:] else DATA / "bind"
    pairs = []
    for case in artists(folder):
        try:
            fitted = fit_skeleton(case.problem)
            joints = dict(zip(fitted.names, fitted.positions, strict=True))
        except FitError:
            joints = {}
        pairs.append(np.concatenate([_body_with(case.problem, some) for some in (joints, dict(case.joints))], axis=1))
        sys.stdout.write(case.name + ("\n" if len(pairs) % _PAIRS == 0 else ", "))
        sys.stdout.flush()
    while len(pairs) % _PAIRS:
        pairs.append(np.full_like(pairs[0], _PAPER))
    rows = [np.concatenate(pairs[begin:begin + _PAIRS], axis=1) for begin in range(0, len(pairs), _PAIRS)]
    write_picture(np.concatenate(rows), Path(arguments[0]))
    return 0


def _body_with(problem: FittingProblem, joints: dict[str, FloatArray]) -> Picture:
    """Return a picture of a body, pale, with lines between joints and their parents among these."""
    body = BindInput(problem.vertices, problem.face_vertices, problem.face_sizes,
                     np.zeros(len(problem.vertices), dtype=np.int64), ("bone",), np.array((-1,)), np.zeros((1, 3)),
                     np.ones((1, 3)))
    picture = drawn(body, np.full((len(problem.vertices), 3), _PALE), _CELL)
    for name, point in joints.items():
        side = name[0] if name[:2] in ("l_", "r_") else ""
        above = hanim.PARENTS[name]
        while above is not None and above not in joints:
            above = hanim.PARENTS[above]
        ends = np.array([point] if above is None else [point, joints[above]])
        _draw(picture, screen_from_body(body, ends, _CELL)[:, :2], _COLOURS[side])
    return picture


def _draw(picture: Picture, ends: FloatArray, colour: Iterable[int]) -> None:
    """Draw a line between two places (2, 2), in place, with a dot at the first; or the dot alone."""
    steps = np.linspace(0.0, 1.0, 2 * _CELL)[:, None]
    line = ends[:1] + (ends[-1:] - ends[:1]) * steps
    around = np.stack(np.meshgrid(*(np.arange(-_DOT, _DOT + 1),) * 2), axis=-1).reshape(-1, 2)
    pixels = np.rint(np.concatenate((line, ends[0] + around))).astype(np.int64).clip(0, _CELL - 1)
    picture[pixels[:, 1], pixels[:, 0]] = np.array(tuple(colour), dtype=np.uint8)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
