"""Damage patches of artists' weights, and see what *Improve Weights* makes of them.

    python -m benchmarks.improve [folder of .npz cases] [--only NAME …]

Of each body one patch of 1 to 10 % of the vertices is damaged in each of four ways. Prints for each the mean L1 to the
artist's weights within the patches as damaged, after *Faults*, which has to find them, and after *Selected Vertices*,
which is told; by the default method alone; how many of all other vertices *Faults* changed, and how far; and how long
*Faults* takes in seconds of the processor for 10,000 vertices.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from takt.benchmarks.weights import Case, body_of
from takt.core.binding.faults import cured, find_faults, worsened
from takt.core.binding.inpainting import inpainted
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.settings import BindSettings
from takt.core.binding.sweep import far_bones
from takt.core.binding.welding import welded_surface
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.skinning.influences import Influences
from takt.tests.beside import DATA

_LEAST, _MOST = 0.01, 0.1
_NOISE_BONES = 4
_LEAK = 0.4
_NO_CHANGE = 1e-9
_BodyWeights = tuple[BindInput, FloatArray]


def exchanged(body: BindInput, rows: FloatArray, random: np.random.Generator) -> FloatArray:
    """All weight goes to a bone three or more links away, or to any other where there is none."""
    owner = int(rows.sum(axis=0).argmax())
    others = np.flatnonzero(far_bones(body.bone_parents)[:, owner])
    others = others if len(others) else np.setdiff1d(np.arange(rows.shape[1]), owner)
    return np.asarray(np.tile(np.eye(rows.shape[1])[random.choice(others)], (len(rows), 1)))


def zeroed(_body: BindInput, rows: FloatArray, _random: np.random.Generator) -> FloatArray:
    """No weights."""
    return np.zeros_like(rows)


def noise(_body: BindInput, rows: FloatArray, random: np.random.Generator) -> FloatArray:
    """Each vertex has random weights of four random bones."""
    found = np.zeros_like(rows)
    for row in found:
        bones = random.choice(rows.shape[1], min(_NOISE_BONES, rows.shape[1]), replace=False)
        row[bones] = random.dirichlet(np.ones(len(bones)))
    return found


def leaking(body: BindInput, rows: FloatArray, random: np.random.Generator) -> FloatArray:
    """Two fifths of the weight go to such a bone."""
    return np.asarray((1.0 - _LEAK) * rows + _LEAK * exchanged(body, rows, random))


DAMAGES: tuple[Callable[[BindInput, FloatArray, np.random.Generator], FloatArray], ...] = (
    exchanged, zeroed, noise, leaking)


def main(arguments: list[str]) -> int:
    """Print a line for each kind of damage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA / "bind")
    parser.add_argument("--only", nargs="+", choices=[damage.__name__ for damage in DAMAGES])
    options = parser.parse_args(arguments)
    cases = [(body_of(case), case.weights) for case in map(Case.load, sorted(options.folder.glob("*.npz")))]
    fresh = [bind_inside_distance(body).dense(len(body.bone_names)) for body, _ in cases]
    print(f"{'':10} {'damaged':>8} {'Faults':>8} {'Selected':>9} {'default':>8} {'others ‰':>9} {'by':>6} {'s':>6}")
    for number, damage in enumerate(DAMAGES):
        if options.only is None or damage.__name__ in options.only:
            rows = [_repaired(case, prior, damage, np.random.default_rng((number, index)))
                    for index, (case, prior) in enumerate(zip(cases, fresh, strict=True))]
            print(f"{damage.__name__:10} " + "{:8.3f} {:8.3f} {:9.3f} {:8.3f} {:9.2f} {:6.3f} {:6.2f}".format(
                *np.mean(rows, axis=0)), flush=True)
    return 0


def _repaired(case: _BodyWeights, prior: FloatArray,
              damage: Callable[[BindInput, FloatArray, np.random.Generator], FloatArray],
              random: np.random.Generator) -> list[float]:
    body, artist = case
    patch = _patch(body, random)
    before = artist.copy()
    before[patch] = damage(body, artist[patch], random)
    start = time.process_time()
    after = _without_faults(body, before, prior)
    took = (time.process_time() - start) / len(patch) * 1e4
    selected = inpainted(body, before, ~patch & (before.sum(axis=1) > 0.0), prior)
    moved = np.abs(after - before).sum(axis=1)[~patch]
    touched = moved > _NO_CHANGE
    return [*(float(np.abs(rows - artist).sum(axis=1)[patch].mean()) for rows in (before, after, selected, prior)),
            1e3 * float(touched.mean()), float(moved[touched].mean()) if touched.any() else 0.0, took]


def _patch(body: BindInput, random: np.random.Generator) -> BoolArray:
    """Return vertices, (V,): those that are reached first along edges from one of them, a hundredth to a tenth."""
    point_of, surface, _ = welded_surface(body)
    first, second, _ = surface.edges()
    most = random.uniform(_LEAST, _MOST) * len(point_of)
    at_points = np.zeros(len(surface.points), dtype=np.bool_)
    at_points[point_of[random.integers(len(point_of))]] = True
    while True:
        wider = at_points.copy()
        wider[first] |= at_points[second]
        wider[second] |= at_points[first]
        if wider[point_of].sum() > most or (wider == at_points).all():
            return np.asarray(at_points[point_of])
        at_points = wider


def _without_faults(body: BindInput, before: FloatArray, prior: FloatArray) -> FloatArray:
    """Do what *Faults* does."""
    faults, settings = find_faults(body, before, prior.argmax(axis=1)), BindSettings()
    new = Influences.fading(cured(body, before, faults, prior), settings.influences, settings.prune_below)
    after = np.where(faults.any[:, None], new.dense(before.shape[1]), before)
    return np.where(worsened(body, before, after, faults.owners, was=faults.swept)[:, None], before, after)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
