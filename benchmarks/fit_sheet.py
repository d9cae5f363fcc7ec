"""Draw fitted skeletons beside those that are known: for each body its mesh, with both.

    python -m benchmarks.fit_sheet PICTURE.png [folder of .npz cases, or made]

Left of each pair what was fitted, right the artist's joints. Left limbs are blue, right ones red, the middle black.
Prints the order, row by row. made: thirty bodies made by rule, whose joints are known: people, some as in comics, some
odd ones, and bodies that are no humanoids.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from takt.benchmarks.fit_skeleton import artists
from takt.benchmarks.owners import Picture, draw_sheet, drawn, screen_from_body
from takt.core.binding.input import BindInput
from takt.core.fitting import FitError, FittedSkeleton, FittingProblem, fit_skeleton
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.tests.core.made_people import Person, comic_person, random_person
from takt.tests.core.made_rigs import BODIES, skin
from takt.tests.core.odd_people import KINDS, odd_person

_CELL, _PAIRS = 220, 5
_PALE = 0.85
_COLOURS = {"l": (30, 90, 230), "r": (220, 50, 40), "": (20, 20, 20)}
_DOT = 2
_PEOPLE, _COMIC, _ODD = 12, 5, 8
_BLENDER_FROM_HANIM = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))

Lines = list[tuple[str, FloatArray, FloatArray]]
"""Of bones: the side of each, where it begins and where it ends."""


def main(arguments: list[str]) -> int:
    """Draw the sheet."""
    return draw_sheet("fit_sheet", arguments, _PAIRS,
                      lambda folder: _made() if folder == Path("made") else _pairs(folder))


def _pairs(folder: Path) -> Iterator[tuple[str, Picture]]:
    for case in artists(folder):
        yield case.name, _pair(case.problem, _of_joints(case.joints))


def _made() -> Iterator[tuple[str, Picture]]:
    people = [(f"person {seed}", random_person(seed)[0]) for seed in range(_PEOPLE)]
    people += [(f"comic {seed}", comic_person(seed)[0]) for seed in range(_COMIC)]
    people += [(kind, odd_person(kind, 0)) for kind in list(KINDS)[1:1 + _ODD]]
    for name, of in people:
        joints = {joint: _BLENDER_FROM_HANIM @ point for joint, point in of.joints.items()}
        yield name, _pair(_problem(of), _of_joints(joints))
    for kind, limbs in BODIES.items():
        if kind != "humanoid":
            points, faces, _ = skin(limbs)
            known = [("" if name[-2:] not in (".L", ".R") else name[-1].lower(), np.array(start), np.array(end))
                     for name, chain in ((limb.name, limb.joints) for limb in limbs) for start, end in pairwise(chain)]
            yield kind, _pair(FittingProblem.from_faces(points, faces), known)


def _problem(of: Person) -> FittingProblem:
    return FittingProblem(of.vertices @ _BLENDER_FROM_HANIM.T, of.quads.reshape(-1), np.full(len(of.quads), 4))


def _pair(problem: FittingProblem, known: Lines) -> Picture:
    try:
        fitted = _of_fitted(fit_skeleton(problem))
    except FitError:
        fitted = []
    return np.concatenate([_body_with(problem, lines) for lines in (fitted, known)], axis=1)


def _of_fitted(fitted: FittedSkeleton) -> Lines:
    return [(_side(name), start, end)
            for name, start, end in zip(fitted.names, fitted.positions, fitted.ends, strict=True)]


def _of_joints(joints: Mapping[str, FloatArray]) -> Lines:
    """Return lines between joints and their parents among these."""
    lines: Lines = []
    for name, point in joints.items():
        above = hanim.PARENTS[name]
        while above is not None and above not in joints:
            above = hanim.PARENTS[above]
        lines.append((_side(name), point, point if above is None else joints[above]))
    return lines


def _side(name: str) -> str:
    return name[0] if name[:2] in ("l_", "r_") else ""


def _body_with(problem: FittingProblem, lines: Lines) -> Picture:
    """Return a picture of a body, pale, with lines, and a dot where each begins."""
    body = BindInput(problem.vertices, problem.face_vertices, problem.face_sizes,
                     np.zeros(len(problem.vertices), dtype=np.int64), ("bone",), np.array((-1,)), np.zeros((1, 3)),
                     np.ones((1, 3)))
    picture = drawn(body, np.full((len(problem.vertices), 3), _PALE), _CELL)
    for side, start, end in lines:
        _draw(picture, screen_from_body(body, np.array((start, end)), _CELL)[:, :2], _COLOURS[side])
    return picture


def _draw(picture: Picture, ends: FloatArray, colour: Iterable[int]) -> None:
    """Draw a line between two places (2, 2), in place, with a dot at the first."""
    steps = np.linspace(0.0, 1.0, 2 * _CELL)[:, None]
    line = ends[:1] + (ends[-1:] - ends[:1]) * steps
    around = np.stack(np.meshgrid(*(np.arange(-_DOT, _DOT + 1),) * 2), axis=-1).reshape(-1, 2)
    pixels = np.rint(np.concatenate((line, ends[0] + around))).astype(np.int64).clip(0, _CELL - 1)
    picture[pixels[:, 1], pixels[:, 0]] = np.array(tuple(colour), dtype=np.uint8)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
