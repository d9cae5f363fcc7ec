"""Ways to bind, as functions from a case to dense weights (V, B); run as a module, it prints how robust and smooth
they are.

A case has the arrays of `BindInput` (bones' ends as bone_heads and bone_tails). The variants harm or move it
first, and answer for the case's own vertices:

    python -m benchmarks.weights [folder of .npz cases]

prints the default's means over all and by families (weight_families.py); each variant's mean L1 against the artists'
weights, and how far that lies from the unharmed one; then how rough the default's weights and the artists' are on each
character.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from takt.benchmarks.weight_families import print_families, run
from takt.core.binding.euclidean import bind_euclidean
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.settings import BindSettings
from takt.core.binding.surface import triangulate
from takt.core.binding.welding import weld
from takt.core.maths.arrays import BoolArray, FloatArray

_SEED = 7
_COINCIDENT = 1e-6
_FLIPPED, _MISSING = 0.2, 0.1
_AXIS, _ANGLE_RAD = np.array([0.48, -0.6, 0.64]), np.radians(33.0)


def body_of(case: Any) -> BindInput:
    """Return the case's arrays as what methods read."""
    return BindInput(np.asarray(case.vertices, dtype=np.float64), np.asarray(case.face_vertices, dtype=np.int64),
                     np.asarray(case.face_sizes, dtype=np.int64), np.asarray(case.part, dtype=np.int64),
                     tuple(map(str, case.bone_names)), np.asarray(case.bone_parents, dtype=np.int64),
                     np.asarray(case.bone_heads, dtype=np.float64), np.asarray(case.bone_tails, dtype=np.float64))


def default(case: Any) -> FloatArray:
    """The default method with default settings."""
    return _bound(body_of(case))


def seed(case: Any) -> FloatArray:
    """The reference: 1/d² of the four nearest bones, tails as they are (Fecko 2010)."""
    return bind_euclidean(body_of(case), BindSettings()).dense(len(case.bone_names))


def split(case: Any) -> FloatArray:
    """Every face with vertices of its own."""
    body = body_of(case)
    corners = body.face_vertices
    loose = np.setdiff1d(np.arange(len(body.vertices)), corners)
    source = np.concatenate((corners, loose))
    weights = _bound(replace(body, vertices=body.vertices[source], part=body.part[source],
                             face_vertices=np.arange(len(corners))))
    own = np.empty((len(body.vertices), weights.shape[1]))
    own[source] = weights
    return own


def flipped(case: Any) -> FloatArray:
    """Every face turned inside out."""
    body = body_of(case)
    return _bound(_turned_over(body, np.ones(len(body.face_sizes), dtype=np.bool_)))


def some_flipped(case: Any) -> FloatArray:
    """A fifth of the faces, at random, turned inside out."""
    body = body_of(case)
    return _bound(_turned_over(body, np.random.default_rng(_SEED).random(len(body.face_sizes)) < _FLIPPED))


def half_flipped(case: Any) -> FloatArray:
    """The faces of one side turned inside out."""
    body = body_of(case)
    first = body.vertices[body.face_vertices[np.cumsum(body.face_sizes) - body.face_sizes], 0]
    return _bound(_turned_over(body, first < np.median(body.heads[:, 0])))


def missing(case: Any) -> FloatArray:
    """A tenth of the faces, at random, missing; their vertices stay."""
    body = body_of(case)
    kept = np.random.default_rng(_SEED).random(len(body.face_sizes)) >= _MISSING
    return _bound(replace(body, face_vertices=body.face_vertices[np.repeat(kept, body.face_sizes)],
                          face_sizes=body.face_sizes[kept]))


def cut_off(case: Any) -> FloatArray:
    """All below the middle of the bones missing, vertices and faces: open at the waist. These count as unharmed."""
    body = body_of(case)
    own = body.vertices[:, 2] >= np.median(body.heads[:, 2])
    kept = np.logical_and.reduceat(own[body.face_vertices], np.cumsum(body.face_sizes) - body.face_sizes)
    corners = body.face_vertices[np.repeat(kept, body.face_sizes)]
    weights = default(case)
    weights[own] = _bound(replace(body, vertices=body.vertices[own], part=body.part[own],
                                  face_vertices=(np.cumsum(own) - 1)[corners], face_sizes=body.face_sizes[kept]))
    return weights


def tiny(case: Any) -> FloatArray:
    """All a thousand times smaller."""
    return _bound(_moved(body_of(case), np.eye(3) * 1e-3))


def huge(case: Any) -> FloatArray:
    """All a thousand times larger."""
    return _bound(_moved(body_of(case), np.eye(3) * 1e3))


def rotated(case: Any) -> FloatArray:
    """All turned by 33° about a slanted axis."""
    x, y, z = _AXIS
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return _bound(_moved(body_of(case), np.eye(3) + np.sin(_ANGLE_RAD) * cross
                         + (1.0 - np.cos(_ANGLE_RAD)) * cross @ cross))


def numbered(case: Any) -> FloatArray:
    """Numbers for names."""
    body = body_of(case)
    return _bound(replace(body, bone_names=tuple(map(str, range(len(body.bone_names))))))


VARIANTS: tuple[Callable[[Any], FloatArray], ...] = (
    default, split, flipped, some_flipped, half_flipped, missing, cut_off, tiny, huge, rotated, numbered)


@dataclass(frozen=True)
class Case:
    """A character with its artist's weights (V, B), rows summing to 1, poses (P, B, 3, 4), and its file's name."""

    vertices: FloatArray
    face_vertices: FloatArray
    face_sizes: FloatArray
    part: FloatArray
    bone_names: FloatArray
    bone_parents: FloatArray
    bone_heads: FloatArray
    bone_tails: FloatArray
    weights: FloatArray
    poses: FloatArray
    source: FloatArray

    @classmethod
    def load(cls, path: Path) -> Case:
        """Read a case's .npz; weights are stored as triples."""
        data = np.load(path)
        weights = np.zeros((len(data["vertices"]), len(data["bone_names"])))
        weights[data["weight_vertex"], data["weight_bone"]] = data["weight_value"]
        arrays = {name: data[name] for name in cls.__dataclass_fields__ if name not in ("weights", "source")}
        return cls(weights=weights, source=data["note"], **arrays)


def main(arguments: list[str]) -> int:
    """Print a line for each variant: name, mean L1, rise over the default, the worst character's; and roughness."""
    shared = Path(os.environ.get("TAKT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    folder = Path(arguments[0]) if arguments else shared / "bind"
    cases = {path.stem: Case.load(path) for path in sorted(folder.glob("*.npz"))}
    if not cases:
        print(f"no .npz case in {folder}", file=sys.stderr)
        return 2
    print_families(run(cases, default))
    print()
    start: FloatArray | None = None
    for variant in VARIANTS:
        errors = np.array([np.abs(variant(case) - case.weights).sum(axis=1).mean() for case in cases.values()])
        start = errors if start is None else start
        worst = int(np.argmax(errors - start))
        print(f"{variant.__name__:14s} {errors.mean():.4f} {errors.mean() - start.mean():+.4f}   "
              f"{list(cases)[worst]} {errors[worst] - start[worst]:+.3f}", flush=True)
    _print_roughness(cases)
    return 0


def roughness(body: BindInput, weights: FloatArray) -> FloatArray:
    """Return for each vertex (V,) which share of its weights (V, B) differs from the mean of those around it, 0 to 1.

    Neighbours along edges count by the inverse of their distance, so that weights that change evenly are not
    rough, wherever the vertices lie; steps are. Vertices at the same position count as one; those without faces are 0.
    """
    point_of = weld(body.vertices, _COINCIDENT * float(np.ptp(body.vertices, axis=0).max()))
    points, at_points = (np.empty((int(point_of.max()) + 1, values.shape[1])) for values in (body.vertices, weights))
    points[point_of], at_points[point_of] = body.vertices, weights
    triangles = triangulate(points, point_of[body.face_vertices], body.face_sizes)
    edges = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    edges = edges[edges[:, 0] != edges[:, 1]]
    one, other = np.concatenate((edges, edges[:, ::-1])).T
    near = 1.0 / np.linalg.norm(points[one] - points[other], axis=1)
    total = np.bincount(one, near, len(points))
    around = np.stack([np.bincount(one, near * column[other], len(points)) for column in at_points.T], axis=1)
    away = at_points * total[:, None] - around
    return np.asarray((0.5 * np.abs(away).sum(axis=1) / np.maximum(total, np.finfo(float).tiny))[point_of])


def _print_roughness(cases: dict[str, Case]) -> None:
    print(f"\n{'roughness':16s} {'mean':>7} {'99 %':>6} {'most':>6}   artist's {'mean':>7} {'99 %':>6} {'most':>6}")
    for name, case in cases.items():
        found = [roughness(body_of(case), weights) for weights in (default(case), case.weights)]
        ours, theirs = (f"{rough.mean():7.4f} {np.percentile(rough, 99):6.3f} {rough.max():6.3f}" for rough in found)
        print(f"{name:16s} {ours}            {theirs}", flush=True)


def _bound(body: BindInput) -> FloatArray:
    return bind_inside_distance(body).dense(len(body.bone_names))


def _moved(body: BindInput, turn: FloatArray) -> BindInput:
    return replace(body, vertices=body.vertices @ turn.T, heads=body.heads @ turn.T, tails=body.tails @ turn.T)


def _turned_over(body: BindInput, faces: BoolArray) -> BindInput:
    """Reverse the corners of chosen faces (F,)."""
    start = np.repeat(np.cumsum(body.face_sizes) - body.face_sizes, body.face_sizes)
    size = np.repeat(body.face_sizes, body.face_sizes)
    step = np.arange(len(start)) - start
    source = start + np.where(np.repeat(faces, body.face_sizes), size - 1 - step, step)
    return replace(body, face_vertices=body.face_vertices[source])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
