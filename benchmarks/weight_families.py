"""Families of characters, and choices that are tuned on some families and judged on the one left out.

Characters of one artist, from one exporter or of one kind of body resemble each other: a choice that gains on ten
characters by one artist may be worth nothing elsewhere. So `bench weights` prints the means by family, and

    python -m benchmarks.weight_families MODULE.NAME=VALUE,VALUE… [folder of .npz cases]

binds with each value of a constant of core/binding. For each family it takes the value that is best on all others,
and prints the error of that value on the family itself: what a body like none of those known may expect.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from takt.core.maths.arrays import FloatArray

_INFLUENCE: Final = 1e-4
"""Greater weights count as influences."""

_MOST_WORSE: Final = 0.05
"""No single character's L1 may rise by more."""

WAYS: Final = ("artist", "exporter", "body")
"""The ways of grouping characters into families."""

_ARTISTS: Final[Mapping[str, str]] = {
    "mpfb": "MakeHuman", "m2m": "Mesh2Motion", "hand": "WebXR", "Fox": "tomkranis", "cesium": "Cesium",
    "red": "Linietsky, Calabró", "mannequiny": "GDQuest", "gd": "Godot demos", "bab": "Babylon.js",
    "Mage": "KayKit", "Barbarian": "KayKit", "Rogue": "KayKit"}
"""By the first word of a case's name; Quaternius made the others."""

_BODIES: Final[Mapping[str, str]] = {
    "Fox": "four legs", "Q_Horse": "four legs", "m2m_fox-horse": "four legs", "m2m_panda": "four legs",
    "Rat": "four legs", "m2m_trex": "monster", "Q_Slime": "monster", "Q_Snake": "monster", "Q_Spider": "insect",
    "Q_Wasp": "insect", "hand_left": "hand", "hand_right": "hand", "red_robot": "pieces", "Q_Skeleton": "pieces",
    "gd_enemy": "pieces", "gd_player": "pieces", "Mage": "props", "Barbarian": "props", "Rogue_Hooded": "props"}
"""All others are human."""


class Score(NamedTuple):
    """How near weights are to the artist's.

    l1: mean Σ|Δw|, 0 to 2. precision, recall: of influences, 0 to 1. deformation: RMS displacement of skinned vertices
    over the case's poses, in % of the bounding box's diagonal.
    """

    l1: float
    precision: float
    recall: float
    deformation: float


@dataclass(frozen=True, eq=False)
class Run:
    """The scores (N, 4) of N cases, in the order of `Score`, with the family of each case for each of `WAYS`."""

    names: Sequence[str]
    families: Mapping[str, Sequence[str]]
    scores: FloatArray


def families_of(name: str, source: str) -> dict[str, str]:
    """Return the family of a case for each of `WAYS`, from its name and the name of the file that it came from."""
    exporter = source.rpartition(".")[2] if "." in source else "MPFB"
    exporter = "glTF" if exporter in ("glb", "gltf") else exporter
    artist = _ARTISTS.get(name.partition("_")[0], "Quaternius")
    return dict(zip(WAYS, (artist, exporter, _BODIES.get(name, "human")), strict=True))


def score(case: Any, weights: FloatArray) -> Score:
    """Compare weights (V, B) with the artist's; rows sum to 1 in both."""
    ours, theirs = weights > _INFLUENCE, case.weights > _INFLUENCE
    both = float((ours & theirs).sum())
    points = np.column_stack((case.vertices, np.ones(len(case.vertices))))
    diagonal = float(np.linalg.norm(np.ptp(case.vertices, axis=0)))
    squared = []
    for pose in np.asarray(case.poses, dtype=np.float64):
        of_vertex = ((weights - case.weights) @ pose.reshape(len(pose), -1)).reshape(-1, 3, 4)
        squared.append(((of_vertex @ points[:, :, None]) ** 2).sum(axis=1).mean())
    return Score(float(np.abs(weights - case.weights).sum(axis=1).mean()), both / max(1, int(ours.sum())),
                 both / max(1, int(theirs.sum())), 100.0 * float(np.sqrt(np.mean(squared))) / diagonal)


def run(cases: Mapping[str, Any], bind: Callable[[Any], FloatArray]) -> Run:
    """Bind all cases and score them."""
    families = [families_of(name, str(case.source)) for name, case in cases.items()]
    return Run(list(cases), {way: [of[way] for of in families] for way in WAYS},
               np.array([score(case, bind(case)) for case in cases.values()]))


def print_families(found: Run) -> None:
    """Print the mean scores over all cases, of each family, and with each family counted once."""
    print(f"{'family':28s}{'n':>4}" + "".join(f"{name:>12}" for name in Score._fields))
    print(_row("all", len(found.names), found.scores.mean(axis=0)))
    for way in WAYS:
        of_case = np.array(found.families[way])
        means = {family: found.scores[of_case == family].mean(axis=0) for family in dict.fromkeys(of_case)}
        for family, mean in means.items():
            print(_row(f"  {way}: {family}", int((of_case == family).sum()), mean))
        print(_row(f"each {way} once", len(means), np.mean(list(means.values()), axis=0)), flush=True)


def left_out(values: Sequence[Any], runs: Sequence[Run], way: str) -> tuple[FloatArray, list[Any]]:
    """Return the mean scores (4,) of cases bound with the value that is best without their family, and those values.

    runs: one for each value. Best is the least mean L1.
    """
    of_case = np.array(runs[0].families[way])
    scores, chosen = np.empty_like(runs[0].scores), []
    for family in dict.fromkeys(of_case):
        own = of_case == family
        best = int(np.argmin([each.scores[~own, 0].mean() for each in runs]))
        scores[own] = runs[best].scores[own]
        chosen.append(values[best])
    return scores.mean(axis=0), chosen


def print_choice(values: Sequence[Any], runs: Sequence[Run]) -> None:
    """Print each value's means and who loses by it against the first, then what families left out get."""
    print(f"{'value':28s}{'n':>4}" + "".join(f"{name:>12}" for name in Score._fields))
    for value, each in zip(values, runs, strict=True):
        rise = each.scores[:, 0] - runs[0].scores[:, 0]
        losers = [f"{each.names[k]} {rise[k]:+.3f}" for k in np.argsort(-rise)[:3] if rise[k] > 0.005]
        warning = "  TOO MUCH" if rise.max() > _MOST_WORSE else ""
        print(_row(str(value), len(each.names), each.scores.mean(axis=0)) + "   " + ", ".join(losers) + warning)
    for way in WAYS:
        mean, chosen = left_out(values, runs, way)
        print(_row(f"{way} left out", len(chosen), mean) + "   chosen " + " ".join(map(str, chosen)), flush=True)


def _row(name: str, count: int, means: FloatArray) -> str:
    return f"{name:28s}{count:4d}" + "".join(f"{value:12.4f}" for value in means)


def main(arguments: list[str]) -> int:
    """Try the values of one constant."""
    from takt.benchmarks.weights import Case, default

    if not arguments or "=" not in arguments[0]:
        print(__doc__, file=sys.stderr)
        return 2
    where, _, given = arguments[0].partition("=")
    module_name, _, constant = where.rpartition(".")
    module = importlib.import_module(f"takt.core.binding.{module_name}")
    values = [ast.literal_eval(value) for value in given.split(",")]
    shared = Path(os.environ.get("TAKT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    folder = Path(arguments[1]) if arguments[1:] else shared / "bind"
    cases = {path.stem: Case.load(path) for path in sorted(folder.glob("*.npz"))}
    runs = []
    before = getattr(module, constant)
    for value in [before, *values]:
        setattr(module, constant, value)
        runs.append(run(cases, default))
    setattr(module, constant, before)
    print_choice([before, *values], runs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
