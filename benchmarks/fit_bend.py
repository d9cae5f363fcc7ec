"""How well weights bound to a fitted skeleton bend, beside those bound to the artist's own rig.

    python -m benchmarks.fit_bend [--data FOLDER]

For each humanoid of FOLDER: the artist's weights, those of Auto-bind on the artist's rig, and those of Auto-bind on the
skeleton fitted into the mesh alone. All three are folded onto the main bones that both skeletons have; the artist's
rig is bent at these by 50°, one after the other, about three axes, and `def` is the RMS distance of the vertices from
where the artist's weights put them, in % of the diagonal of the body's box. Prints both, and their ratio. What a fitted
joint is off counts as a fault of the weights.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import checkout
import numpy as np

from takt.benchmarks.fit_skeleton import is_inside, other_side
from takt.core.binding import BindInput
from takt.core.binding.inside import bind_inside
from takt.core.fitting import FitError, FittedSkeleton, FittingProblem, fit_skeleton
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.skeletons.hierarchy import path_to_root
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton

_ROOT = Path(__file__).resolve().parents[1]
_SHARED = Path(os.environ.get("TAKT_DATA", _ROOT / ".." / "shared" / "data"))
_MAIN = (*(f"{side}_{joint}" for side in "lr" for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")),
         "skullbase", "vc7")
_ANGLE_RAD = np.radians(50.0)
_FEWEST = 8


def main(arguments: list[str]) -> int:
    """Print a line for each humanoid, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=_SHARED / "bind")
    options = parser.parse_args(arguments)
    rows = []
    for path in sorted(options.data.glob("*.npz")):
        with np.load(path) as file:
            data = {key: file[key] for key in file.files}
        found = figures(data, path.stem)
        if found is not None:
            rows.append(found)
            print(f"{path.stem:20s} def on the artist's rig {found[0]:.3f}, on the fitted {found[1]:.3f}, "
                  f"ratio {found[1] / found[0]:.2f}", flush=True)
    own, fitted = np.array(rows).T
    print(f"{len(rows)} bodies: mean {own.mean():.3f} and {fitted.mean():.3f}, ratio {fitted.mean() / own.mean():.2f}; "
          f"median of the ratios {np.median(fitted / own):.2f}")
    return 0


def figures(data: dict[str, np.ndarray], name: str) -> tuple[float, float] | None:
    """Return def on the artist's rig and on the fitted one; None where the body is no humanoid."""
    heads, tails = data["bone_heads"].astype(np.float64), data["bone_tails"].astype(np.float64)
    names, parents = [str(bone) for bone in data["bone_names"]], data["bone_parents"].astype(np.int64)
    offsets = heads - np.where(parents[:, None] >= 0, heads[parents], 0.0)
    joint_of = find_map(Skeleton.from_arrays(names, parents, rot.identities(len(names)), offsets, name=name)).joint_of
    # bones outside the body are controls
    joint_of = {joint: bone for joint, bone in joint_of.items() if is_inside(heads[bone], data["vertices"])}
    mesh = (data["vertices"].astype(np.float64), data["face_vertices"].astype(np.int64),
            data["face_sizes"].astype(np.int64))
    try:
        fitted = fit_skeleton(FittingProblem(*mesh, kind="humanoid"))
    except FitError:
        return None
    if _calls_sides_the_other_way(fitted, joint_of, heads):
        joint_of = {other_side(joint): bone for joint, bone in joint_of.items()}
    shared = [joint for joint in ("HumanoidRoot", *_MAIN) if joint in joint_of and joint in fitted.names]
    if len(shared) < _FEWEST or shared[0] != "HumanoidRoot":
        return None
    part = data["part"].astype(np.int64)
    own = _weights(BindInput(*mesh, part, tuple(names), parents, heads, tails))
    bound = fitted.body_bound_to(*mesh, part)
    other = _weights(bound)
    fold_own = _folded(parents, [joint_of[joint] for joint in shared])
    fold_other = _folded(bound.bone_parents, [bound.bone_names.index(joint) for joint in shared])
    artist = np.zeros((len(mesh[0]), len(names)))
    np.add.at(artist, (data["weight_vertex"], data["weight_bone"]), data["weight_value"].astype(np.float64))
    artist /= np.maximum(artist.sum(axis=1, keepdims=True), 1e-9)
    kept = [joint_of[joint] for joint in shared]
    poses = _poses(parents, kept, heads[kept])
    truth = _bent(mesh[0], artist @ fold_own, poses)
    size = float(np.linalg.norm(np.ptp(mesh[0], axis=0)))
    first, second = (100.0 / size * float(np.sqrt(((_bent(mesh[0], weights, poses) - truth) ** 2).sum(-1).mean()))
                     for weights in (own @ fold_own, other @ fold_other))
    return first, second


def _calls_sides_the_other_way(fitted: FittedSkeleton, joint_of: Mapping[str, int], heads: FloatArray) -> bool:
    """Tell whether the artist calls left what is on the right, as seen from the feet."""
    names = [joint for joint in _MAIN if joint in joint_of and other_side(joint) in joint_of]
    if not names:
        return False
    away = np.array([fitted.position(joint) for joint in names])
    own, other = (heads[[joint_of[name] for name in those]] for those in (names, [other_side(name) for name in names]))
    return float(np.linalg.norm(away - other, axis=1).sum()) < float(np.linalg.norm(away - own, axis=1).sum())


def _weights(body: BindInput) -> FloatArray:
    bound = bind_inside(body).influences
    dense = np.zeros((len(body.vertices), len(body.bone_names)))
    for joints, shares in zip(bound.joints.T, bound.weights.T, strict=True):
        np.add.at(dense, (np.arange(len(dense)), joints), shares)
    return dense


def _folded(parents: IntArray, kept: list[int]) -> FloatArray:
    """Return the matrix (B, K) that gives each bone's weight to the nearest kept bone above it, or to the first."""
    fold = np.zeros((len(parents), len(kept)))
    for bone in range(len(parents)):
        fold[bone, next((kept.index(above) for above in path_to_root(parents, bone) if above in kept), 0)] = 1.0
    return fold


def _poses(parents: IntArray, kept: list[int], at: FloatArray) -> FloatArray:
    """Return poses (P, K, 3, 4): each kept bone but the first turned about each axis, with those below it."""
    poses = []
    for turned in range(1, len(kept)):
        below = [kept[turned] in path_to_root(parents, bone) for bone in kept]
        for axis in np.eye(3):
            matrices = np.tile(np.eye(3, 4), (len(kept), 1, 1))
            turn = rot.to_matrix(rot.from_axis_angle(axis, _ANGLE_RAD))
            matrices[below, :, :3] = turn
            matrices[below, :, 3] = at[turned] - turn @ at[turned]
            poses.append(matrices)
    return np.array(poses)


def _bent(vertices: FloatArray, weights: FloatArray, poses: FloatArray) -> FloatArray:
    """Return the vertices (P, V, 3), bent linearly by weights (V, K)."""
    ahead = np.append(vertices, np.ones((len(vertices), 1)), axis=1)
    return np.stack([np.einsum("vk,kij,vj->vi", weights, pose, ahead, optimize=True) for pose in poses])


if __name__ == "__main__":
    checkout.run(lambda: main(sys.argv[1:]))
