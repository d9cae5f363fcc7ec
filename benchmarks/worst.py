"""Draw whose each place is: the artist's owners, Takt's and those of Blender's Automatic Weights, side by side.

    python -m benchmarks.worst PICTURE.png [folder of .npz cases] [--made SEED,SEED…]

Above: the ten characters on which Takt is farthest from the artist, worst first. Below: ten rigs made by rule, where
the limb that a vertex was made for stands in the artist's place, and bones have the colours of their limbs. Grey has no
weights. Prints the order, row by row, each with the L1 to the artist or the share of vertices that follow another limb.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import checkout
import numpy as np
import numpy.typing as npt

import takt
from takt.benchmarks.bind import Scene, bone_heat
from takt.benchmarks.owners import colours_of, drawn
from takt.benchmarks.weights import Case, body_of, default
from takt.bridge.files.film import write_picture
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.maths.arrays import FloatArray
from takt.tests.beside import DATA
from takt.tests.core.made_rigs import Made, distances, draw

_WORST, _ACROSS, _CELL = 10, 5, 128
_SEEDS = tuple(range(10))
_NOTHING = np.full(3, 0.75)
"""The colour of what no bone moves."""

Picture = npt.NDArray[np.uint8]


def of_case(case: Case, ours: FloatArray) -> Picture:
    """Return three pictures of a character beside each other; ours: (V, B)."""
    colours, body = colours_of(case), body_of(case)
    return np.concatenate([drawn(body, _coloured(weights, colours), _CELL)
                           for weights in (case.weights, ours, _heat(body))], axis=1)


def of_made(made: Made) -> tuple[Picture, float]:
    """Return three pictures of a rig made by rule, and which share of its vertices follows another limb."""
    body, names = made.body, [limb.name for limb in made.limbs]
    limb_of = np.array([names.index(name) if name else len(names) for name in made.limb_of])
    hues = np.random.default_rng(3).permutation(len(names)) / len(names)
    colours = np.vstack((0.5 + 0.4 * np.cos(2.0 * np.pi * (hues[:, None] + (0.0, 1.0 / 3.0, 2.0 / 3.0))), _NOTHING))
    own = distances(made.limbs, made.rest_points).argmin(axis=1)
    ours = bind_inside_distance(body).dense(len(body.bone_names))
    of_limb = np.stack([ours[:, limb_of == limb].sum(axis=1) for limb in range(len(names))], axis=1)
    upright = replace(body, vertices=made.rest_points)
    columns = [colours[own], *(_coloured(weights, colours[limb_of]) for weights in (ours, _heat(body)))]
    wrong = float((of_limb.argmax(axis=1) != own).mean())
    return np.concatenate([drawn(upright, column, _CELL) for column in columns], axis=1), wrong


def _coloured(weights: FloatArray, colours: FloatArray) -> FloatArray:
    """Return the colour (V, 3) of the strongest of B bones."""
    return np.where(weights.any(axis=1, keepdims=True), colours[weights.argmax(axis=1)], _NOTHING)


def _heat(body: BindInput) -> FloatArray:
    """Return what Blender's Automatic Weights find, (V, B)."""
    case: Any = SimpleNamespace(
        vertices=body.vertices, face_vertices=body.face_vertices, face_sizes=body.face_sizes,
        bone_names=body.bone_names, bone_parents=body.bone_parents, bone_heads=body.heads, bone_tails=body.tails)
    scene = Scene.of(case)
    scene.bind(bone_heat)
    return np.asarray(scene.weights(), dtype=np.float64)


def _rows(pictures: list[Picture]) -> Picture:
    pictures = [np.pad(picture, ((2, 2), (2, 2), (0, 0)), constant_values=160) for picture in pictures]
    while len(pictures) % _ACROSS:
        pictures.append(np.full_like(pictures[0], 255))
    return np.concatenate([np.concatenate(pictures[begin:begin + _ACROSS], axis=1)
                           for begin in range(0, len(pictures), _ACROSS)])


def main(arguments: list[str]) -> int:
    """Draw the sheet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA / "bind")
    parser.add_argument("--made", default=",".join(map(str, _SEEDS)), help="seeds of rigs made by rule")
    options = parser.parse_args(arguments)
    takt.register()
    found = []
    for path in sorted(options.folder.glob("*.npz")):
        case = Case.load(path)
        ours = default(case)
        found.append((float(np.abs(ours - case.weights).sum(axis=1).mean()), path.stem, case, ours))
    sheets = []
    for l1, name, case, ours in sorted(found, key=lambda each: -each[0])[:_WORST]:
        sheets.append(of_case(case, ours))
        print(f"{name:20} {l1:.3f}", flush=True)
    for seed in map(int, options.made.split(",")):
        made = draw(seed)
        picture, wrong = of_made(made)
        sheets.append(picture)
        print(f"{seed:4d} {wrong:6.1%}  {made.says}", flush=True)
    write_picture(_rows(sheets), options.picture)
    return 0


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
