"""Draw fitted skeletons beside the artists': for each humanoid of a folder its mesh, with both.

    python -m benchmarks.fit_sheet PICTURE.png [folder of .npz cases]

Left of each pair what was fitted, right the artist's joints. Left limbs are blue, right ones red, the middle black.
Prints the order, row by row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from takt.benchmarks.fit_skeleton import artists
from takt.benchmarks.owners import Picture, draw_sheet, drawn, screen_from_body
from takt.core.binding.input import BindInput
from takt.core.fitting import FitError, FittingProblem, fit_skeleton
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim

_CELL, _PAIRS = 220, 4
_PALE = 0.85
_COLOURS = {"l": (30, 90, 230), "r": (220, 50, 40), "": (20, 20, 20)}
_DOT = 2


def main(arguments: list[str]) -> int:
    """Draw the sheet."""
    return draw_sheet("fit_sheet", arguments, _PAIRS, _pairs)


def _pairs(folder: Path) -> Iterator[tuple[str, Picture]]:
    for case in artists(folder):
        try:
            fitted = fit_skeleton(case.problem)
            joints = dict(zip(fitted.names, fitted.positions, strict=True))
        except FitError:
            joints = {}
        pictures = [_body_with(case.problem, some) for some in (joints, dict(case.joints))]
        yield case.name, np.concatenate(pictures, axis=1)


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
