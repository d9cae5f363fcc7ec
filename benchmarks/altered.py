"""Alter bodies that are bound well, and see what that does to their weights: bodies that nobody tuned to.

    python -m benchmarks.altered [folder of .npz cases] [--only NAME …]

Each alteration keeps what belongs to what: limbs grow and bodies bend as their artists' weights say, so these are the
altered body's as well. Prints for each the mean L1 between the default method's weights on the altered body and on the
body as it was, how far the L1 to the artist's rises, and the worst character; the sample's dancer is one of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from takt.benchmarks.weights import Case, body_of
from takt.core.binding.conventions import steering_names
from takt.core.binding.decimation import decimated
from takt.core.binding.hierarchy import rejoined
from takt.core.binding.input import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.maths.rotations import from_axis_angle, to_matrix
from takt.core.skeletons.bone_names import words
from takt.core.skeletons.hierarchy import children_of, parents_first, path_to_root
from takt.samples.body import build_body
from takt.samples.character import bone_tails
from takt.samples.skeleton import build_skeleton, rest_positions
from takt.tests.beside import DATA

_SEED = 11
_SHORT, _LONG = 0.6, 1.5
_BIG_HEAD = 2.0
_HEADS = frozenset(("head", "skullbase"))
_FAT, _LEAN = 1.35, 0.7
_BENT_RAD = np.radians(25.0)
_OFF_MIDDLE = 0.03
"""Limbs begin farther from the middle plane than this share of the body's width."""
_FEWER = 0.5
_Z_UP = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))


@dataclass(frozen=True, eq=False)
class Bound:
    """A body with weights (V, B) that are right."""

    body: BindInput
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Altered:
    """An altered body. vertex: (V,) which of its vertices each one became; bone: (B,) likewise."""

    body: BindInput
    vertex: IntArray
    bone: IntArray

    @classmethod
    def same(cls, body: BindInput) -> Altered:
        """Return a body whose vertices and bones are the ones that they were."""
        return cls(body, np.arange(len(body.vertices)), np.arange(len(body.bone_names)))

    def bound(self) -> FloatArray:
        """Bind it; return the weights (V, B) of the body as it was."""
        return bind_inside_distance(self.body).dense(len(self.body.bone_names))[self.vertex][:, self.bone]


def short_limbs(bound: Bound) -> Altered:
    """Limbs 0.6 times as long."""
    return _with_limbs(bound, _SHORT)


def long_limbs(bound: Bound) -> Altered:
    """Limbs 1.5 times as long."""
    return _with_limbs(bound, _LONG)


def big_head(bound: Bound) -> Altered:
    """Heads, and what they carry, twice as large."""
    parents = _held_by(bound.body)
    heads = {bone for bone, name in enumerate(bound.body.bone_names) if _HEADS & set(words(name))}
    scales = [_BIG_HEAD if heads & set(path_to_root(parents, bone)) else 1.0 for bone in range(len(parents))]
    return _carried(bound, np.array(scales)[:, None, None] * np.eye(3))


def fat(bound: Bound) -> Altered:
    """All skin 1.35 times as far from its bones."""
    return _with_girth(bound, _FAT)


def lean(bound: Bound) -> Altered:
    """All skin 0.7 times as far from its bones."""
    return _with_girth(bound, _LEAN)


def posed(bound: Bound) -> Altered:
    """Another rest pose: each joint bent about an axis of its own by up to 25°."""
    random = np.random.default_rng(_SEED)
    parents = _held_by(bound.body)
    axes = random.normal(size=(len(parents), 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    own = to_matrix(from_axis_angle(axes, random.uniform(-_BENT_RAD, _BENT_RAD, len(parents))))
    turns = np.tile(np.eye(3), (len(parents), 1, 1))
    for bone in parents_first(parents):
        if parents[bone] >= 0:
            turns[bone] = turns[parents[bone]] @ own[bone]
    return _carried(bound, turns)


def mirrored(bound: Bound) -> Altered:
    """Left and right exchanged, names and all."""
    body, other = bound.body, np.array((-1.0, 1.0, 1.0))
    return Altered.same(replace(body, vertices=body.vertices * other, heads=body.heads * other,
                                tails=body.tails * other, face_vertices=body.face_vertices[::-1],
                                face_sizes=body.face_sizes[::-1]))


def shuffled(bound: Bound) -> Altered:
    """Vertices and bones in another order, all of one part."""
    body, random = bound.body, np.random.default_rng(_SEED)
    vertex, bone = random.permutation(len(body.vertices)), random.permutation(len(body.bone_names))
    at_vertex, at_bone = np.argsort(vertex), np.argsort(bone)
    above = body.bone_parents[bone]
    moved = replace(body, vertices=body.vertices[vertex], part=np.zeros_like(body.part),
                    face_vertices=at_vertex[body.face_vertices], heads=body.heads[bone], tails=body.tails[bone],
                    bone_names=tuple(body.bone_names[k] for k in bone),
                    bone_parents=np.where(above >= 0, at_bone[above], -1))
    return Altered(moved, at_vertex, at_bone)


def renamed(bound: Bound) -> Altered:
    """Names as another program writes them: a prefix, and words run together."""
    names = ["rig:" + "".join(word.capitalize() for word in words(name)) for name in bound.body.bone_names]
    unique = tuple(f"{name}_{index}" if names.count(name) > 1 else name for index, name in enumerate(names))
    return Altered.same(replace(bound.body, bone_names=unique))


def finer(bound: Bound) -> Altered:
    """Each face cut from its middle to the middles of its sides."""
    body = bound.body
    start, count = np.cumsum(body.face_sizes) - body.face_sizes, len(body.vertices)
    face = np.repeat(np.arange(len(body.face_sizes)), body.face_sizes)
    following = np.arange(1, len(face) + 1)
    following[start + body.face_sizes - 1] = start
    before = np.argsort(following)
    one, other = body.face_vertices, body.face_vertices[following]
    edges, middle = np.unique(np.minimum(one, other) * count + np.maximum(one, other), return_inverse=True)
    middles = 0.5 * (body.vertices[edges // count] + body.vertices[edges % count])
    centres = np.add.reduceat(body.vertices[one], start) / body.face_sizes[:, None]
    middle = count + middle.reshape(-1)
    quads = np.stack((one, middle, count + len(edges) + face, middle[before]), axis=1)
    part = np.concatenate((body.part, body.part[edges // count], body.part[one[start]]))
    cut = replace(body, vertices=np.concatenate((body.vertices, middles, centres)), part=part,
                  face_vertices=quads.reshape(-1), face_sizes=np.full(len(quads), 4))
    return Altered(cut, np.arange(count), np.arange(len(body.bone_names)))


def coarser(bound: Bound) -> Altered:
    """About half the vertices: what lies close together is joined."""
    body = bound.body
    found = decimated(body.vertices, body.face_vertices, body.face_sizes, int(_FEWER * len(body.vertices)))
    part = np.zeros(len(found.points), dtype=np.int64)
    part[found.label] = body.part
    fewer = replace(body, vertices=found.points, face_vertices=found.face_vertices, face_sizes=found.face_sizes,
                    part=part)
    return Altered(fewer, found.label, np.arange(len(body.bone_names)))


ALTERATIONS: tuple[Callable[[Bound], Altered], ...] = (
    short_limbs, long_limbs, big_head, fat, lean, posed, mirrored, shuffled, renamed, finer, coarser)


def _with_limbs(bound: Bound, times: float) -> Altered:
    """Stretch along themselves all bones that lie beside the middle plane."""
    body = bound.body
    aside = np.abs(body.heads[:, 0] - np.median(body.heads[:, 0])) > _OFF_MIDDLE * np.ptp(body.vertices[:, 0])
    along = _directions(body)
    return _carried(bound, np.eye(3) + (aside * (times - 1.0))[:, None, None] * along[:, :, None] * along[:, None])


def _with_girth(bound: Bound, times: float) -> Altered:
    """Scale all bones across themselves."""
    along = _directions(bound.body)
    return _carried(bound, times * np.eye(3) - (times - 1.0) * along[:, :, None] * along[:, None])


def _directions(body: BindInput) -> FloatArray:
    """Return unit vectors (B, 3) from bones' heads to the middle of their children's, or to their tails."""
    ends = body.tails.copy()
    for bone, own in enumerate(children_of(_held_by(body))):
        if own:
            ends[bone] = body.heads[own].mean(axis=0)
    lines = ends - body.heads
    return np.asarray(lines / np.maximum(np.linalg.norm(lines, axis=1, keepdims=True), np.finfo(float).tiny))


def _carried(bound: Bound, linear: FloatArray) -> Altered:
    """Move bones, each by a linear map (B, 3, 3) about its head, their children along, and the skin by its weights."""
    body = bound.body
    heads, parents = body.heads.copy(), _held_by(body)
    for bone in parents_first(parents):
        above = parents[bone]
        if above >= 0:
            heads[bone] = heads[above] + linear[above] @ (body.heads[bone] - body.heads[above])
    tails = heads + np.einsum("bij,bj->bi", linear, body.tails - body.heads)
    blended = np.einsum("vb,bij->vij", bound.weights, linear)
    offsets = heads - np.einsum("bij,bj->bi", linear, body.heads)
    vertices = np.einsum("vij,vj->vi", blended, body.vertices) + bound.weights @ offsets
    return Altered.same(replace(body, vertices=vertices, heads=heads, tails=tails))


def _held_by(body: BindInput) -> IntArray:
    """Return parents (B,) where feet that hang from the ground move with their legs."""
    return rejoined(body.bone_parents, body.heads, body.tails, steering_names(body.bone_names))


def dancer() -> Bound:
    """Return the sample's character, Z up, bound by the default method."""
    mesh, heads, tails, skeleton = build_body(), rest_positions(), bone_tails(), build_skeleton()
    points, starts, ends = (np.asarray(some) @ _Z_UP.T for some in (
        mesh.positions, [heads[name] for name in skeleton.names], [tails[name] for name in skeleton.names]))
    body = BindInput(points, mesh.quads.reshape(-1), np.full(len(mesh.quads), 4), np.zeros(len(points), np.int64),
                     skeleton.names, skeleton.parents, starts, ends)
    return Bound(body, bind_inside_distance(body).dense(len(skeleton.names)))


def main(arguments: list[str]) -> int:
    """Print a line for each alteration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA / "bind")
    parser.add_argument("--only", nargs="+", choices=[alteration.__name__ for alteration in ALTERATIONS])
    options = parser.parse_args(arguments)
    bodies = {"dancer": dancer()}
    for path in sorted(options.folder.glob("*.npz")):
        case = Case.load(path)
        bodies[path.stem] = Bound(body_of(case), case.weights)
    before = {name: Altered.same(bound.body).bound() for name, bound in bodies.items()}
    print(f"{'':14s} {'moved':>6} {'rise':>7}   most moved, and the greatest rises")
    for alteration in ALTERATIONS:
        if options.only is None or alteration.__name__ in options.only:
            _print_line(alteration, bodies, before)
    return 0


def _print_line(alteration: Callable[[Bound], Altered], bodies: dict[str, Bound],
                before: dict[str, FloatArray]) -> None:
    moved, rise = {}, {}
    for name, bound in bodies.items():
        after = alteration(bound).bound()
        moved[name] = _difference(after, before[name])
        rise[name] = _difference(after, bound.weights) - _difference(before[name], bound.weights)
    worst, dearest = (sorted(found, key=found.__getitem__, reverse=True)[:3] for found in (moved, rise))
    artists = float(np.mean([rise[name] for name in rise if name != "dancer"] or [0.0]))
    print(f"{alteration.__name__:14s} {np.mean(list(moved.values())):6.3f} {artists:+7.3f}   "
          f"dancer {moved['dancer']:.3f}, " + ", ".join(f"{name} {moved[name]:.3f}" for name in worst)
          + "; " + ", ".join(f"{name} {rise[name]:+.3f}" for name in dearest), flush=True)


def _difference(one: FloatArray, other: FloatArray) -> float:
    return float(np.abs(one - other).sum(axis=1).mean())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
